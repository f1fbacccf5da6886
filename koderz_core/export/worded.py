"""Tables in words, the same for a terminal, for markdown and for a page."""

from __future__ import annotations

from dataclasses import dataclass

from koderz_core.records import Scalar

NONE = "–"


@dataclass(frozen=True, slots=True)
class Table:
    """``title`` and columns are ours; cells may be a stranger's words."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def columns(names: str) -> tuple[str, ...]:
    """``letter | configuration | n``: names of columns; that of a configuration's letter is left empty."""
    return tuple("" if name == "letter" else name for name in names.split(" | "))


def worded(value: Scalar) -> str:
    """``yes``, ``no``, a number or a text as it is; nothing is a dash."""
    return NONE if value is None else {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)
