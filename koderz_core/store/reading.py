"""From SQL to records: every row of an answer as the frozen record that its columns fit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import TypeVar

import msgspec
from duckdb import DuckDBPyConnection

Record = TypeVar("Record")
Values = Sequence[object] | Mapping[str, object]


def records(con: DuckDBPyConnection, record: type[Record], sql: str, values: Values = ()) -> list[Record]:
    """The rows of an answer as records."""
    return msgspec.convert(mappings(con, sql, values), list[record])  # type: ignore[valid-type]  # known when it runs


def mappings(con: DuckDBPyConnection, sql: str, values: Values = ()) -> list[dict[str, object]]:
    """The rows of an answer by column, JSON decoded: what is equal only once, since thousands may share a text."""
    found = con.execute(sql, values)
    columns = [name for name, *_ in found.description or ()]
    decoded = [name for name, kind, *_ in found.description or () if str(kind) == "JSON"]
    decode = cache(msgspec.json.decode)
    rows: list[dict[str, object]] = [dict(zip(columns, row, strict=True)) for row in found.fetchall()]
    for row in rows:
        row |= {name: decode(text) for name in decoded if (text := row[name]) is not None}
    return rows
