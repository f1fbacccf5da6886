"""Sums of numbers that may be unknown (None). Unknown is not zero: one unknown number makes a sum or mean unknown.

Queries of the store do the same in SQL.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

Value = TypeVar("Value")
Number = TypeVar("Number", int, float)


def all_known(values: Iterable[Value | None]) -> list[Value] | None:
    """The values, None if one of them is unknown."""
    all_values = list(values)
    known = [value for value in all_values if value is not None]
    return known if len(known) == len(all_values) else None


def known_sum(values: Iterable[Number | None]) -> Number | None:
    """The sum of the values, None if one of them is unknown, 0 if there are none."""
    known = all_known(values)
    return None if known is None else sum(known)
