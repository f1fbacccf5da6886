"""The index of the journals: a DuckDB file that any process may bring up to date and that can always be rebuilt."""
