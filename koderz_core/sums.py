"""Numbers of which some may be unknown (None): unknown is not zero, so one of them makes a sum or a mean unknown.

Queries of the store say the same in SQL.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

Value = TypeVar("Value")
Number = TypeVar("Number", int, float)


def all_known(values: Iterable[Value | None]) -> list[Value] | None:
    """The values, None if one of them is unknown."""
    found = list(values)
    known = [value for value in found if value is not None]
    return known if len(known) == len(found) else None


def known_sum(values: Iterable[Number | None]) -> Number | None:
    """Their sum, None if one of them is unknown; of nothing 0."""
    known = all_known(values)
    return None if known is None else sum(known)
