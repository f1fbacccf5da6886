"""Rows of a user's table, whose columns may have any names, become lines of koderz' own format of problems."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from datetime import date
from decimal import Decimal
from pathlib import Path

from koderz_core.datasets.own_checks import ROWS
from koderz_core.datasets.own_fields import Complaint
from koderz_core.errors import DataError
from koderz_core.input_tables import Columns, Row, parse_mapping, rows_of
from koderz_core.python_parser import literal, parse

FIELDS = tuple(dict.fromkeys(name for row in ROWS.values() for name in row.model_fields))
_LISTS = (
    *("asserts", "plus_input", "tags", "cases", "samples"),
    *("editable", "FAIL_TO_PASS", "PASS_TO_PASS", "roots", "needs"),
)
_NUMBERS = ("atol", "time_limit", "tolerance", "seconds")
_LONGEST = 100  # digits of a number in a text


def columns_of(mapping: str) -> Columns:
    """The columns that a user maps; other fields are in columns with their own names. Raises UsageError."""
    return replace(parse_mapping(mapping, FIELDS), optional={name: name for name in FIELDS})


def own_lines(path: Path, content: bytes, columns: Columns) -> Iterator[tuple[int, bytes | list[Complaint]]]:
    """The number of each row, and its line in koderz' format or its faults. Raises DataError."""
    for number, row in rows_of(path, content, columns):
        try:
            found = _fields(row() if callable(row) else row)
        except DataError as fault:
            found = [("", str(fault), "write one JSON object per line, in UTF-8")]
        yield number, found if isinstance(found, list) else json.dumps(found).encode() + b"\n"


def _fields(row: Row) -> dict[str, object] | list[Complaint]:
    """The fields that have a value, or the faults of their values."""
    fields: dict[str, object] = {}
    wrong: list[Complaint] = []
    for name, value in row.items():
        if value is None or (isinstance(value, str) and not value.strip()):
            continue
        try:
            fields[name] = _READERS.get(name, _text)(value)
        except ValueError as fault:
            wrong.append((name, str(fault), _CURES.get(name, "write a text")))
    return wrong or fields


def _text(value: object) -> object:
    """Numbers and times as texts, and anything else as it is: the checks of the format name its fault."""
    if isinstance(value, date):  # also a time
        return value.isoformat()
    if isinstance(value, int | float | Decimal) and not isinstance(value, bool):
        return str(value)
    return _plain(value)


def _day(value: object) -> object:
    """The day of a time in ISO form."""
    text = _text(value)
    return re.sub(r"^(\d{4}-\d\d-\d\d)[T ].*", r"\1", text) if isinstance(text, str) else text


def _number(value: object) -> object:
    if isinstance(value, Decimal) or (isinstance(value, str) and len(value) <= _LONGEST):
        return float(value)
    return _plain(value)


def _list(value: object) -> object:
    """A list, also as the text of a Python or JSON literal."""
    return _plain(_literal(value) if isinstance(value, str) else value, depth=1)


def _calls(value: object) -> object:
    """A list of calls. Python's tuples may hold the arguments of a call, but an argument must be what JSON can hold."""
    return _plain(_literal(value) if isinstance(value, str) else value, depth=2)


def _asserts(value: object) -> object:
    """A list, its literal, or the assert statements as source text."""
    if not (isinstance(value, str) and value.lstrip().startswith("assert")):
        return _list(value)
    text = value.strip()
    try:
        return [ast.get_source_segment(text, statement) for statement in parse(text).body]
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        raise ValueError(f"is not Python: {text[:40]!r}") from None


def _tags(value: object) -> object:
    """A list, its literal, or texts separated by commas or semicolons."""
    if isinstance(value, str) and not value.lstrip().startswith(("[", "(")):
        return [part.strip() for part in re.split("[,;]", value) if part.strip()]
    return _list(value)


def _literal(text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        pass
    try:
        return literal(text.strip())
    except (ValueError, SyntaxError, RecursionError, MemoryError, TypeError):
        raise ValueError(f"is not a list in JSON or Python: {text[:40]!r}") from None


def _plain(value: object, depth: int = 0) -> object:
    """The same value, if JSON can hold it; tuples are lists down to ``depth``. Raises ValueError."""
    if isinstance(value, list) or (depth and isinstance(value, tuple)):
        return [_plain(item, max(0, depth - 1)) for item in value]
    if isinstance(value, dict) and all(isinstance(key, str) for key in value):
        return {key: _plain(item) for key, item in value.items()}
    if value is None or isinstance(value, str | int | float):
        return value
    raise ValueError(f"contains a value of the type {type(value).__name__}, which JSON cannot represent")


_READERS: Mapping[str, Callable[[object], object]] = {
    **dict.fromkeys(_LISTS, _list),
    **dict.fromkeys(_NUMBERS, _number),
    "asserts": _asserts,
    "plus_input": _calls,
    "tags": _tags,
    "date": _day,
}
_CURES = {name: str(field.description) for row in ROWS.values() for name, field in row.model_fields.items()}
