"""Sums and means of numbers that may be unknown (None): one unknown number makes the result unknown, not smaller.

Queries of the store do the same in SQL.
"""

from __future__ import annotations

from collections.abc import Iterable
from statistics import fmean
from typing import TypeVar

Value = TypeVar("Value")
Number = TypeVar("Number", int, float)


def all_known(values: Iterable[Value | None]) -> list[Value] | None:
    """The values, None if one of them is unknown."""
    every = list(values)
    known = [value for value in every if value is not None]
    return known if len(known) == len(every) else None


def known_sum(values: Iterable[Number | None]) -> Number | None:
    """Their sum, None if one of them is unknown; 0 if there are none."""
    known = all_known(values)
    return None if known is None else sum(known)


def known_mean(values: Iterable[float | None]) -> float | None:
    """Their mean, None if one of them is unknown or there are none."""
    known = all_known(values)
    return fmean(known) if known else None
