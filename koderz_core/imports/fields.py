"""Checked values of a line of results. A fault is a DataError that names the field; null is not stated."""

from __future__ import annotations

from decimal import Decimal
from typing import get_args

from koderz_core.errors import DataError
from koderz_core.input_files import surrogate_in
from koderz_core.input_tables import Row
from koderz_core.records import Tier

LONGEST_NAME = 200
MOST = 1e15
"""The largest number that a line may state."""
_TRUE = frozenset({"true", "1", "1.0", "yes", "pass", "passed", "correct", "c"})
_FALSE = frozenset({"false", "0", "0.0", "no", "fail", "failed", "incorrect", "i"})


def text(row: Row, key: str) -> str:
    """A text of any length; it must be stated."""
    value = row.get(key)
    if not isinstance(value, str):
        raise DataError(f"{key} is missing" if value is None else f"{key} is not text")
    if fault := surrogate_in(value):
        raise DataError(f"{key}: {fault}")
    return value


def name(row: Row, key: str, default: str | None = None) -> str:
    """A short text of one line, without outer spaces: it names a model, a problem or a dataset. An id may be a number.

    ``default``: if it is not stated.
    """
    stated = _value(row, key)
    if default is not None and stated is None:
        return default
    is_id = isinstance(stated, int) and not isinstance(stated, bool)
    value = str(stated) if is_id else text(row, key).strip()
    if not value or len(value) > LONGEST_NAME or not value.isprintable():
        raise DataError(f"{key} {cut(value)!r} is not valid: write 1 to {LONGEST_NAME} printable characters")
    return value


def truth(row: Row, key: str) -> bool | None:
    """A boolean in any of its usual spellings; None: not stated."""
    value = _value(row, key)
    if value is None:
        return None
    word = str(value).strip().lower()
    if word not in _TRUE | _FALSE:
        raise DataError(f"{key} is {cut(str(value))!r}; use true or false, 1 or 0")
    return word in _TRUE


def number(row: Row, key: str) -> float | None:
    """A number from 0 on, also as the text of a CSV cell; None: not stated."""
    value = _value(row, key)
    if value is None:
        return None
    try:
        found = float(value) if isinstance(value, str | int | float) and not isinstance(value, bool) else None
    except (ValueError, OverflowError):
        found = None
    if found is None or not 0 <= found <= MOST:
        raise DataError(f"{key} is {cut(str(value))!r}, which is not a number from 0 to {MOST:.0e}")
    return found


def whole(row: Row, key: str) -> int | None:
    """As ``number``, without a fraction."""
    found = number(row, key)
    if found is not None and found != int(found):
        raise DataError(f"{key} is {found:g}, which is not a whole number")
    return None if found is None else int(found)


def tier(row: Row, key: str) -> Tier | None:
    """The tier of a model in a file that koderz wrote; None: not stated, or a name of a later version."""
    return next((known for known in get_args(Tier) if known == row.get(key)), None)


def _value(row: Row, key: str) -> object:
    """The stated value; a decimal of a Parquet table is an int or a float."""
    value = row.get(key)
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    return value


def cut(text: str) -> str:
    """The beginning of a text, for a message."""
    return text if len(text) <= 80 else f"{text[:80]}…"
