"""All of a store as text, to compare two of them bit for bit."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
from duckdb import DuckDBPyConnection

from koderz_core.store.schema import KEYS


def dump(con: DuckDBPyConnection) -> Iterator[bytes]:
    """One JSON line per row: the table's name and the columns in order; tables and rows sorted."""
    for table, key in sorted(KEYS.items()):
        found = con.execute(f"select * from {table} order by {', '.join(key)}")  # noqa: S608 (names of ours)
        while rows := found.fetchmany(1000):
            yield from (msgspec.json.encode((table, *row)) + b"\n" for row in rows)
