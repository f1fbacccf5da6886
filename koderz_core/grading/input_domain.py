"""Properties that all given inputs of a function have, so that new inputs are probably inputs that it is made for.

Likely invariants: Ernst et al., "Dynamically Discovering Likely Program Invariants", IEEE TSE 27(2), 2001. Inputs are
lists of arguments as JSON has them. A place in an input is the number of the argument, then ``*`` for the items of a
list, ``key`` and ``value`` for those of a dict.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

Value = Any  # Any: JSON
Place = tuple[object, ...]
FEW = 3
"""Values that must have a property before it counts, if it may be a coincidence."""
_PAIRS = {"(": ")", "[": "]", "{": "}", "<": ">"}
_BRACKETS = {*_PAIRS, *_PAIRS.values()}


class Property(NamedTuple):
    """``of`` is None for values that neither have nor lack the property. ``least``: values that must have it."""

    of: Callable[[Value], bool | None]
    least: int = FEW


PROPERTIES = (
    Property(lambda value: value >= 0 if _is_number(value) else None, 1),
    Property(lambda value: value != 0 if _is_number(value) else None, 1),
    Property(lambda value: value <= 1 if _is_number(value) else None),
    Property(lambda value: len(value) > 0 if isinstance(value, str | list | dict) else None, 1),
    Property(lambda value: _balanced(value) if isinstance(value, str) and _BRACKETS & set(value) else None, 1),
    Property(lambda value: value == value.strip() if isinstance(value, str) and value else None),
    Property(lambda value: "  " not in value if isinstance(value, str) and value else None),
    Property(lambda value: value == value.lower() if isinstance(value, str) and value else None),
    Property(lambda value: value.isdigit() if isinstance(value, str) and value else None),
    Property(lambda value: value.isalpha() if isinstance(value, str) and value else None),
    Property(lambda value: value == value[::-1] if isinstance(value, str | list) and len(value) > 1 else None),
    Property(lambda value: _ordered(value) if isinstance(value, list) and len(value) > 1 else None),
    Property(lambda value: _distinct(value) if isinstance(value, list) and len(value) > 1 else None),
    Property(lambda value: len(value) % 2 == 0 if isinstance(value, str | list) and value else None),
    Property(lambda value: _same_lengths(value, list), 1),
    Property(lambda value: _same_lengths(value, str)),
    Property(lambda value: len(value) == len(value[0]) if _same_lengths(value, list) else None),
)
"""Of one value. The last: square matrices."""
RELATIONS = (
    Property(lambda pair: pair[0] <= pair[1] if all(map(_is_number, pair)) else None),
    Property(lambda pair: pair[0] != pair[1] if all(map(_is_number, pair)) else None),
    Property(lambda pair: pair[0] >= pair[1] if all(map(_is_number, pair)) else None),
    Property(lambda pair: len(pair[0]) == len(pair[1]) if _are_sized(pair) else None),
    Property(lambda pair: len(pair[0]) <= len(pair[1]) if _are_sized(pair) else None),
    Property(lambda pair: len(pair[0]) >= len(pair[1]) if _are_sized(pair) else None),
    Property(lambda pair: pair[1] <= len(pair[0]) if _is_sized(pair[0]) and _is_number(pair[1]) else None),
    Property(lambda pair: pair[1] < len(pair[0]) if _is_sized(pair[0]) and _is_number(pair[1]) else None),
    Property(lambda pair: pair[0] <= len(pair[1]) if _is_sized(pair[1]) and _is_number(pair[0]) else None),
    Property(lambda pair: pair[1] in pair[0] if isinstance(pair[0], list) and pair[0] else None),
)
"""Of two arguments of the same input."""


class Domain:
    """The inputs that have every property that all ``given`` inputs have. ``given``: at least one."""

    def __init__(self, given: Sequence[list[Value]], kinds: Mapping[Place, frozenset[str]]) -> None:
        """``kinds``: names of types that are allowed at a place besides those of the given values."""
        self.values: dict[Place, list[Value]] = {}
        for call in given:
            for place, value in places(call):
                self.values.setdefault(place, []).append(value)
        self._numbers = {len(call) for call in given}
        self._kinds = {
            place: {type(value).__name__ for value in values} | kinds.get(place, frozenset())
            for place, values in self.values.items()
        } | {place: set(names) for place, names in kinds.items() if place not in self.values}
        self._properties = {place: _true_of(PROPERTIES, values) for place, values in self.values.items()}
        self._lengths = {place: _only_length(values) for place, values in self.values.items()}
        self._largest = {place: _largest(values) for place, values in self.values.items()}
        arguments = range(min(self._numbers))
        self._relations = {
            (first, second): _true_of(RELATIONS, [(call[first], call[second]) for call in given])
            for first in arguments
            for second in arguments
            if first < second
        }

    def has(self, call: list[Value]) -> bool:
        """Whether an input has all these properties."""
        return (
            len(call) in self._numbers
            and all(self._fits(place, value) for place, value in places(call))
            and all(
                kept.of((call[first], call[second])) is not False
                for (first, second), relations in self._relations.items()
                for kept in relations
            )
        )

    def _fits(self, place: Place, value: Value) -> bool:
        if type(value).__name__ not in self._kinds.get(place, ()):
            return False
        length = self._lengths.get(place)
        return (
            (length is None or not _is_sized(value) or len(value) == length)
            and _size(value) <= self._largest.get(place, math.inf)
            and all(kept.of(value) is not False for kept in self._properties.get(place, ()))
        )


def places(call: list[Value]) -> Iterator[tuple[Place, Value]]:
    """All values in an input with their places."""
    for number, value in enumerate(call):
        yield from _within((number,), value)


def _within(place: Place, value: Value) -> Iterator[tuple[Place, Value]]:
    yield place, value
    if isinstance(value, list):
        for item in value:
            yield from _within((*place, "*"), item)
    if isinstance(value, dict):
        for key, item in value.items():
            yield (*place, "key"), key
            yield from _within((*place, "value"), item)


def _true_of(properties: Sequence[Property], values: Sequence[Value]) -> tuple[Property, ...]:
    """The properties that no value lacks and enough different values have."""
    found = []
    for kept in properties:
        truths = [kept.of(value) for value in values]
        if False not in truths and len({repr(value) for value, truth in zip(values, truths, strict=True) if truth}) >= (
            kept.least
        ):
            found.append(kept)
    return tuple(found)


def _only_length(values: Sequence[Value]) -> int | None:
    """The length of all texts or lists at a place, if it is the same one."""
    lengths = {len(value) for value in values if _is_sized(value)}
    return lengths.pop() if len(lengths) == 1 and len({repr(value) for value in values}) >= FEW else None


def _largest(values: Sequence[Value]) -> float:
    """The size from which on values are too large: a multiple of what was given, so that solutions stay quick."""
    return 2 * max(map(_size, values), default=0) + 10


def _size(value: Value) -> float:
    return abs(value) if _is_number(value) else len(value) if isinstance(value, str | list | dict) else 0


def _is_number(value: Value) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_sized(value: Value) -> bool:
    return isinstance(value, str | list)


def _are_sized(pair: tuple[Value, Value]) -> bool:
    return all(map(_is_sized, pair))


def _balanced(text: str) -> bool:
    waiting: list[str] = []
    for letter in text:
        if letter in _PAIRS:
            waiting.append(_PAIRS[letter])
        elif letter in _PAIRS.values() and (not waiting or waiting.pop() != letter):
            return False
    return not waiting


def _ordered(items: list[Value]) -> bool:
    try:
        return all(item <= other for item, other in pairwise(items))
    except TypeError:
        return False


def _distinct(items: list[Value]) -> bool:
    return len(set(map(repr, items))) == len(items)


def _same_lengths(value: Value, kind: type) -> bool | None:
    if not isinstance(value, list) or len(value) < 2 or not all(isinstance(item, kind) for item in value):
        return None
    return len(set(map(len, value))) == 1
