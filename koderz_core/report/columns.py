"""Columns of tables: name, meaning, value and shown text, and the files and texts that are made from them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from math import isfinite, isnan
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar

from koderz_core.report.formats import NONE, TextTable, value_text

if TYPE_CHECKING:
    from koderz_core.analysis.configurations import ConfigurationFigures

Result = TypeVar("Result")
Type = Literal["text", "integer", "number", "yes/no", "JSON"]
Numbers = dict[str, object]
"""A row for programs: values by names of columns."""

LAST = 99
BESIDE = "_is"
"""The path of a column that ``json_row`` adds next to a number."""


@dataclass(frozen=True, slots=True)
class Shown:
    """A column in tables for people: terminal, Markdown, HTML and pages.

    ``header`` may name the ``{baseline}``. ``place`` orders the columns of a table; equal places keep the order of the
    files. ``text`` formats the value at ``path`` from a row, by default the column's value; an empty path means the
    whole row. None is shown as a dash. An ``optional`` column is omitted if no row has a text for it.
    """

    header: str
    place: int = LAST
    text: Callable[[Any], str | None] = value_text  # Any: columns have values of different types
    path: str | None = None
    optional: bool = False


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a table.

    ``missing``: what an empty cell means; empty if no cell can be. ``path``: the attributes that lead from a row to the
    value, by default ``of`` and the name; the store does not use it for its own tables. ``shown``: None if only files
    have the column.
    """

    name: str
    meaning: str
    missing: str = ""
    unit: str = ""
    path: str | None = None
    shown: Shown | None = None
    type: Type = field(kw_only=True)

    @property
    def source(self) -> str:
        """The path to its value."""
        return f"of.{self.name}" if self.path is None else self.path


text = partial(Column, type="text")
whole = partial(Column, type="integer")
number = partial(Column, type="number")
share = partial(Column, type="number", unit="share")
usd = partial(Column, type="number", unit="USD")
yes = partial(Column, type="yes/no")
json = partial(Column, type="JSON")


@dataclass(frozen=True, slots=True)
class Row(Generic[Result]):
    """A result of a configuration."""

    configuration: ConfigurationFigures
    of: Result


NAMED: Sequence[Column] = (
    text("letter", "the configuration's letter in this comparison", path="configuration.letter", shown=Shown("", 1)),
    text(
        "configuration",
        "ids of the benchmark and the configuration, as benchmark/configuration",
        path="configuration.full_id",
        shown=Shown("configuration", 2, path="configuration.label"),
    ),
    text("label", "short name of the configuration", path="configuration.label"),
)
"""How a ``Row`` names its configuration."""


def interval(column: Column, without_ends: str = "") -> Sequence[Column]:
    """A number with both ends of its 95 % interval; its path leads to the record that has all three.

    ``without_ends``: what it means if the ends alone are missing; empty if this does not happen.
    """
    ends = {end: f"{end} end of the 95 % interval of `{column.name}`" for end in ("lower", "upper")}
    bound = replace(column, missing=", or ".join(filter(None, (column.missing, without_ends))), shown=None)
    return (
        replace(column, path=f"{column.source}.value"),
        replace(bound, name=f"{column.name}_low", meaning=ends["lower"], path=f"{column.source}.low"),
        replace(bound, name=f"{column.name}_high", meaning=ends["upper"], path=f"{column.source}.high"),
    )


def reasons(*names: str) -> Sequence[Column]:
    """For each of these columns one that says why its number is missing if it is infinite or undefined."""
    meaning, missing = (
        "reason why `{}` is missing: `unbounded` or `undefined`",
        "`{}` is a finite number, or its value is unknown",
    )
    return [text(f"{name}_is", meaning.format(name), missing.format(name), path=BESIDE) for name in names]


def if_known(text: Callable[[Any], str]) -> Callable[[Any], str | None]:  # Any: as in ``Shown``
    """A format of values that leaves None to the table."""
    return lambda value: None if value is None else text(value)


def json_rows(columns: Sequence[Column], rows: Sequence[object]) -> list[Numbers]:
    """A flat row for programs per row of a table; see ``json_row``."""
    return [
        json_row({column.name: _at(row, column.source) for column in columns if column.path != BESIDE}) for row in rows
    ]


def json_row(row: Mapping[str, object]) -> Numbers:
    """JSON-safe: a number that is not finite is None, followed by ``..._is``: ``unbounded`` or ``undefined``."""
    safe: Numbers = {}
    for name, value in row.items():
        safe[name] = _json(value)
        if isinstance(value, float) and not isfinite(value):
            safe[f"{name}_is"] = "undefined" if isnan(value) else "unbounded"
    return safe


def shown(columns: Sequence[Column | Shown]) -> list[Shown]:
    """The columns that are shown, in the order of their places."""
    found = []
    for column in columns:
        if isinstance(column, Shown):
            found.append(column)
        elif column.shown:
            found.append(column.shown if column.shown.path is not None else replace(column.shown, path=column.source))
    return sorted(found, key=lambda column: column.place)


def text_table(title: str, columns: Sequence[Shown], rows: Sequence[object], baseline: str = "") -> TextTable:
    """A table in words; ``baseline``: the baseline's name in headers."""
    cells = [(column, [column.text(_at(row, column.path or "")) for row in rows]) for column in columns]
    kept = [(column, texts) for column, texts in cells if any(texts) or not column.optional]
    lines = zip(*([NONE if text is None else text for text in texts] for _, texts in kept), strict=True)
    return TextTable(title, tuple(column.header.format(baseline=baseline) for column, _ in kept), tuple(lines))


def _at(row: object, path: str) -> object:
    """None if an attribute on the way is None."""
    for name in path.split(".") if path else ():
        row = None if row is None else getattr(row, name)
    return row


def _json(value: object) -> object:
    if isinstance(value, Mapping):
        return json_row(value)
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_json(item) for item in value]
    return None if isinstance(value, float) and not isfinite(value) else value
