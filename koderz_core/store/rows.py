"""From SQL to records, and pieces of SQL that several questions share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import TypeVar

import msgspec
from duckdb import DuckDBPyConnection

from koderz_core.records.marks import SHOW_NO_ATTEMPTS

Record = TypeVar("Record")
Values = Sequence[object] | Mapping[str, object]


def records(con: DuckDBPyConnection, record: type[Record], sql: str, values: Values = ()) -> list[Record]:
    """The rows of an answer, each as the frozen record that its columns fit."""
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


_SILENT = ", ".join(f"'{name}'" for name in sorted(SHOW_NO_ATTEMPTS))
SAW_BASE_TESTS = f"""
(f.gate <> 'examples' and f.feedback = 'full' and f.strategy not in ({_SILENT})
    and coalesce(try_cast(f.parameters ->> '$.max_iterations' as double), 2) > 1
    and (coalesce(f.parameters ->> '$.previous_error', 'true') = 'true' or json_exists(f.models, '$.reviewer')))
"""
"""Of a configuration ``f``: whether its prompts hold base tests with their expected values once a program has failed.

Examples stand in the problem's text anyway. Feedback other than ``full`` says what a program did, not what is expected.
A strategy of somebody else's counts as one that shows what it is told. A spec is written before any test has run; who
reviews sees the same feedback as the coder, and may pass it on.
"""
