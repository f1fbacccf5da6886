"""The index of the journals: a DuckDB file that anyone may bring up to date and that can be rebuilt at any time."""
