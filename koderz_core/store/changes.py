"""What an event does to the rows of the store, and where the event stands."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import msgspec

from koderz_core.records import Tier

Value = str | int | float | bool | None
How = Literal["replace", "merge", "amend", "insert"]


@dataclass(frozen=True, slots=True)
class Change:
    """Columns of one row, its key among them.

    ``replace``: the row begins anew, columns not named are null. ``merge``: into the row that is there, if any.
    ``amend``: the row has to be there. ``insert``: only if there is none.
    """

    table: str
    how: How
    values: Mapping[str, Value]


@dataclass(frozen=True, slots=True)
class Place:
    """Where an event stands: its envelope, its place among the journal's events, and what holds for all of them.

    ``attempt``: the attempt of this ordinal that was begun last, None if none was.
    """

    at: float
    experiment: str | None
    ordinal: int | None
    position: int
    benchmark: str
    tiers: Mapping[str, Tier]
    attempt: Value


Meaning = Callable[[Any, Place], Iterable[Change]]
"""What one kind of event does to the rows. Any: the event of that kind, which a mapping's type cannot say."""


def as_json(value: object) -> str:
    """As a column of JSON holds it."""
    return msgspec.json.encode(value).decode()
