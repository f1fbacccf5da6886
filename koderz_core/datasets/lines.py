"""Files of problems: one JSON object per line, or an array of them. Errors name the line or item and the field; callers
add file and cure.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

import msgspec

from koderz_core.errors import DataError
from koderz_core.input_files import lines_in
from koderz_core.records import LeftOut, Problem

Kind = TypeVar("Kind")
Made = TypeVar("Made", Problem, Problem | LeftOut)
RowType = TypeVar("RowType", bound=msgspec.Struct)
_INFINITY = re.compile(rb"(?<=[\[,:\s-])Infinity(?=[\s,\]}])")


def problems_in(content: bytes, problem_of: Callable[[bytes], Made], *, is_array: bool = False) -> Iterator[Made]:
    """The problem of each line that is not blank, or of each item of an array, made by ``problem_of``.

    Raises DataError naming line or item, and field.
    """
    what, seen = "item" if is_array else "line", dict[str, int]()
    for number, line in _items_of(content) if is_array else lines_in(content):
        try:
            problem = problem_of(line)
        except DataError as fault:
            raise DataError(f"{what} {number}: {fault}") from fault
        if problem.id in seen:
            raise DataError(f"{what} {number}: the task_id {problem.id!r} already occurs in {what} {seen[problem.id]}")
        seen[problem.id] = number
        yield problem


def _items_of(content: bytes) -> Iterator[tuple[int, bytes]]:
    try:
        items = msgspec.json.decode(content, type=list[msgspec.Raw])
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise DataError(f"not JSON: {error}") from error
    yield from enumerate(map(bytes, items), 1)


def row_of(line: bytes, kind: type[RowType], may_be_empty: frozenset[str] = frozenset()) -> RowType:
    """A line as a row of its publisher's format. Raises DataError for another format and for an empty text."""
    try:
        row = _decoded(line, kind)
    except msgspec.ValidationError as error:
        raise DataError(f"not a valid problem: {error}") from error
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise DataError(f"not JSON: {error}") from error
    for field in kind.__struct_fields__:
        content = getattr(row, field)
        if isinstance(content, str) and not content.strip() and field not in may_be_empty:
            raise DataError(f"field {field} is empty")
    return row


def _decoded(line: bytes, kind: type[Kind]) -> Kind:
    """JSON, or JSON with Python's Infinity. Raises msgspec's errors, UnicodeDecodeError and RecursionError."""
    try:
        return msgspec.json.decode(line, type=kind)
    except msgspec.ValidationError:
        raise
    except msgspec.DecodeError:
        # Python writes Infinity, which JSON lacks; a number too large for a float is read as infinity.
        return msgspec.json.decode(_INFINITY.sub(b"1e999", line), type=kind)


def all_of(problems: Iterator[Made], path: Path, cure: str) -> tuple[Made, ...]:
    """The problems of a file, at least one. Raises DataError naming the file and the cure."""
    try:
        read = tuple(problems)
    except DataError as fault:
        raise DataError(f"{path}, {fault}. {cure}") from fault
    if not read:
        raise DataError(f"{path} contains no problems. {cure}")
    return read
