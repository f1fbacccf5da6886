"""The data dictionary: every table that can be taken away, with what each of its columns means."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from koderz_core.errors import UnknownNameError
from koderz_core.export.dictionary_compared import COMPARISON, PAIRS
from koderz_core.export.dictionary_recorded import CALLS, EXPERIMENTS, ITERATIONS
from koderz_core.export.dictionary_wording import SQL_TYPES, Described

TABLES: Mapping[str, Described] = {
    "experiments": Described("one line per experiment: outcome, tests, tokens, cost, time", EXPERIMENTS),
    "iterations": Described(
        "one line per program that was tried, with the program and what the tests said", ITERATIONS
    ),
    "calls": Described("one line per request to a model: tokens, time, price and where it came from", CALLS),
    "comparison": Described("one line per configuration: rate, price, ceiling, with their intervals", COMPARISON),
    "pairs": Described("one line per configuration held against the baseline on the same problems", PAIRS),
}
"""By name; the columns of each stand in the order in which they are written."""

HEAD = """# Data dictionary

What the tables hold that the page Export and `koderz export` write. `koderz export --dictionary` prints this.

Times are seconds since 1970 (UTC), durations seconds, money US dollars, intervals 95 %. A missing value is an empty
cell in CSV and null elsewhere; it is never zero. SHA-256 names a text: a program, a message, an answer. Texts of
models, problems and tests are exported as they are: treat them as a stranger's. JSON stands as text in CSV and Parquet.
"""


def described(table: str) -> Described:
    """What a table is. Raises UnknownNameError."""
    if table not in TABLES:
        raise UnknownNameError("table", table, TABLES)
    return TABLES[table]


def checked(table: str, columns: Sequence[str]) -> tuple[str, ...]:
    """These columns, each once. Raises UnknownNameError for one that the table does not have."""
    known = described(table).names
    for name in columns:
        if name not in known:
            raise UnknownNameError(f"column of {table}", name, known)
    return tuple(dict.fromkeys(columns))


def sql_types(table: str) -> Mapping[str, str]:
    """The SQL type of each column."""
    return {column.name: SQL_TYPES[column.type] for column in described(table).columns}


def markdown() -> str:
    """The whole dictionary, as it stands in docs/data-dictionary.md."""
    parts = [HEAD]
    for name, table in TABLES.items():
        head = ("| column | type | unit | meaning | missing means |", "|---|---|---|---|---|")
        lines = [f"| `{one.name}` | {one.type} | {one.unit} | {one.meaning} | {one.missing} |" for one in table.columns]
        parts.append("\n".join((f"## {name}\n\n{table.about[0].upper()}{table.about[1:]}.\n", *head, *lines, "")))
    return "\n".join(parts)
