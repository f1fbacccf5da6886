"""From SQL to records: every row of an answer as the frozen record that its columns fit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeVar

import msgspec
from duckdb import DuckDBPyConnection

Record = TypeVar("Record")
Values = Sequence[object] | Mapping[str, object]


def records(con: DuckDBPyConnection, record: type[Record], sql: str, values: Values = ()) -> list[Record]:
    """The rows of an answer as records."""
    return [msgspec.convert(row, record) for row in mappings(con, sql, values)]


def mappings(con: DuckDBPyConnection, sql: str, values: Values = ()) -> list[dict[str, object]]:
    """The rows of an answer by column, JSON decoded."""
    found = con.execute(sql, values)
    columns = [(name, str(kind) == "JSON") for name, kind, *_ in found.description or ()]
    return [
        {
            name: msgspec.json.decode(value) if is_json and value is not None else value
            for (name, is_json), value in zip(columns, row, strict=True)
        }
        for row in found.fetchall()
    ]
