"""An answer of the database as a file, written by the database itself: never in memory as a whole."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, BinaryIO, Literal

import duckdb
from duckdb import DuckDBPyConnection

if TYPE_CHECKING:
    from pandas import DataFrame  # type: ignore[import-untyped]  # pandas ships no types

FormName = Literal["csv", "parquet", "json"]
MOST_MEMORY = "1GB"  # beyond that DuckDB sorts on the disk
_OPTIONS: Mapping[FormName, str] = {
    "csv": "format csv, header true",
    "parquet": "format parquet, compression zstd",
    "json": "format json",
}
# owasp.org/www-community/attacks/CSV_Injection
_DEFUSED = "if(regexp_matches({0}, '^[=+\\-@\\t\\r]'), '''' || {0}, {0}) as {0}"


@dataclass(frozen=True, slots=True)
class Form:
    """``json``: one line per row. ``for_spreadsheets``: an apostrophe before texts that one would take for formulas."""

    name: FormName
    for_spreadsheets: bool = False


def copy(con: DuckDBPyConnection, select: str, values: Mapping[str, object], form: Form, file: BinaryIO) -> None:
    """Write the rows that ``select`` gives into ``file``, in UTF-8 where it is text, and go back to its beginning.

    Null is an empty cell of CSV, an empty text a quoted one. ``file``: a real one, with a descriptor.
    """
    con.execute(f"set memory_limit = '{MOST_MEMORY}'; set threads = 1")  # each thread would need as much again
    shown = ", ".join(_columns(con, select, values, form))
    # Into a file that is open already: where that one has no name, nothing is left behind however this ends.
    target = f"'/dev/fd/{file.fileno()}' ({_OPTIONS[form.name]}, use_tmp_file false)"
    con.execute(f"copy (select {shown} from ({select})) to {target}", values)  # noqa: S608 (ours, names are quoted)
    file.seek(0)


def copy_rows(rows: DataFrame, types: Mapping[str, str], form: Form, file: BinaryIO) -> None:
    """As ``copy``, of rows in memory; ``types``: SQL type of each column, in order."""
    with duckdb.connect() as con:
        con.register("rows", rows)
        columns = ", ".join(f"cast({quoted(name)} as {kind}) as {quoted(name)}" for name, kind in types.items())
        copy(con, f"select {columns} from rows", {}, form, file)  # noqa: S608 (ours, names are quoted)


def quoted(name: str) -> str:
    """A name as SQL has it, whatever it is."""
    doubled = name.replace('"', '""')
    return f'"{doubled}"'


def _columns(con: DuckDBPyConnection, select: str, values: Mapping[str, object], form: Form) -> list[str]:
    described = con.execute(f"select * from ({select}) limit 0", values).description or ()  # noqa: S608 (as above)
    return [_column(quoted(name), str(kind), form) for name, kind, *_ in described]


def _column(name: str, kind: str, form: Form) -> str:
    if kind == "JSON" and form.name != "json":  # elsewhere it is a text
        return f"cast({name} as varchar) as {name}"
    return _DEFUSED.format(name) if kind == "VARCHAR" and form.for_spreadsheets else name
