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
    """The rows of a query, each as a frozen record with its columns."""
    return msgspec.convert(mappings(con, sql, values), list[record])  # type: ignore[valid-type]  # known when it runs


def mappings(con: DuckDBPyConnection, sql: str, values: Values = ()) -> list[dict[str, object]]:
    """The rows of a query by column, with JSON decoded; equal texts are decoded once, as thousands may be equal."""
    result = con.execute(sql, values)
    columns = [name for name, *_ in result.description or ()]
    decoded = [name for name, kind, *_ in result.description or () if str(kind) == "JSON"]
    decode = cache(msgspec.json.decode)
    rows: list[dict[str, object]] = [dict(zip(columns, row, strict=True)) for row in result.fetchall()]
    for row in rows:
        row |= {name: decode(text) for name in decoded if (text := row[name]) is not None}
    return rows


_SILENT = ", ".join(f"'{name}'" for name in sorted(SHOW_NO_ATTEMPTS))
SAW_BASE_TESTS = f"""
(f.gate <> 'examples' and f.feedback = 'full' and f.strategy not in ({_SILENT})
    and coalesce(try_cast(f.parameters ->> '$.max_iterations' as double), 2) > 1
    and (coalesce(f.parameters ->> '$.previous_error', 'true') = 'true' or json_exists(f.models, '$.reviewer')))
"""
"""Whether the prompts of a configuration ``f`` contain base tests with their expected values after a failed program.

Examples are part of the problem's text anyway. Feedback other than ``full`` gives the program's result, not the
expected one. A strategy that koderz does not know counts as one that shows its feedback. A spec is written before the
first test; a reviewer sees the same feedback as the coder, and may repeat it.
"""
