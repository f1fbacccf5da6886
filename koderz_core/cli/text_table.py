"""Draws tables of texts in a terminal."""

from __future__ import annotations

from rich.table import Table as Drawn

from koderz_core.cli.tables import terminal_table
from koderz_core.report.comparison import SETTING
from koderz_core.report.formats import TextTable, plain

WORDS = ("", "configuration", "tier", "ended with", "the next with")


MOST_LEAST = 32  # minimum width of a column of names, in characters


def drawn(table: TextTable, *, known: bool, numbers: bool = True) -> Drawn:
    """A table that fits a terminal. ``known``: letters replace configurations. ``numbers`` False: cells are words."""
    made = terminal_table()
    shown = [place for place, name in enumerate(table.columns) if not (known and name == "configuration")]
    for place in shown:
        words = table.columns[place] in WORDS or not numbers
        made.add_column(
            table.columns[place],
            justify="left" if words else "right",
            no_wrap=not words,
            min_width=_least(table, place),
            overflow="fold",
        )
    for row in table.rows:
        made.add_row(*(plain(row[place]) for place in shown))
    return made


def _least(table: TextTable, place: int) -> int:
    """The minimum width of a column: neither its name nor the names of settings are cut."""
    if table.columns[place] == SETTING:
        return min(MOST_LEAST, max(len(row[place]) for row in table.rows))
    return len(table.columns[place])
