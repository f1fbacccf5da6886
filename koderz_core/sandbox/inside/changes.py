"""What a program changes in place in the arguments of a call, told so that the tests' own objects change alike.

Both ends number the containers among the arguments in the same order; a change says what a container holds now, and
names containers that were there before by their numbers, so that they stay the same objects.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable
from typing import Any, NamedTuple

from .values import Known, Names, decode, encode


class Snapshot(NamedTuple):
    """The containers among arguments, and what each held."""

    containers: list[Any]  # Any: lists, dicts and sets of whatever programs put in
    contents: list[list[Any]]

    def changes(self, names: Names) -> list[Any]:  # Any: JSON
        """Number and new content of each container that does not hold the very same objects any more."""
        now = [_content(container) for container in self.containers]
        return [[at, encode(new, names)] for at, new in enumerate(now) if not _same(self.contents[at], new)]


def take(arguments: Iterable[object]) -> Snapshot:
    found = containers(arguments)
    return Snapshot(found, [_content(container) for container in found])


def containers(arguments: Iterable[object]) -> list[Any]:  # Any: as above
    """All lists, dicts and sets in there, outermost first; each once, as often as it may be met."""
    found: list[Any] = []
    waiting = list(arguments)
    while waiting:
        value = waiting.pop()
        if isinstance(value, (list, dict, set)):
            found.append(value)
        waiting.extend(_inside(value))
    return found


def apply(changes: Any, own: list[Any], known: Known) -> None:  # Any: JSON of a hostile process; as above
    """Make our own containers hold what the other end's hold. Raises WireError if this is no list of changes."""
    for at, encoded in changes:
        _fill(own[at], decode(encoded, known))


def _inside(value: object) -> Iterable[object]:
    """What could hold a container or be one: texts and numbers are passed over many at a time."""
    if isinstance(value, dict):
        value = [*dict.keys(value), *dict.values(value)]
    if not isinstance(value, (list, tuple)):
        return ()
    kinds = set(map(type, value))
    return () if kinds <= _SIMPLE else value


_SIMPLE = frozenset({int, float, str, bool, bytes, complex, type(None)})


def _content(container: Any) -> list[Any]:  # Any: as above
    if isinstance(container, dict):
        return [part for pair in dict.items(container) for part in pair]
    return list(container)


def _same(old: list[Any], new: list[Any]) -> bool:  # Any: as above
    return len(old) == len(new) and all(map(operator.is_, old, new))


def _fill(container: Any, content: Any) -> None:  # Any: as above
    if isinstance(container, list):
        container[:] = content
        return
    container.clear()
    container.update(zip(content[::2], content[1::2], strict=True) if isinstance(container, dict) else content)
