"""What a program changes in place in the arguments of a call, told so that the tests' own objects change alike.

Both ends number the containers among the arguments as they cross; a change says what a container holds now, and names
containers that were there before by their numbers, so that they stay the same objects.
"""

from __future__ import annotations

import operator
from typing import Any

from .values import Crossed, Known, Names, decode, encode


class Snapshot:
    """What each container that has crossed holds now, to be compared with later."""

    def __init__(self, crossed: Crossed) -> None:
        self._containers = list(crossed.containers)
        self._contents = [_content(container) for container in self._containers]

    def changes(self, names: Names) -> list[Any]:  # Any: JSON
        """Number and new content of each container that does not hold the very same objects any more."""
        now = [_content(container) for container in self._containers]
        return [[at, encode(new, names)] for at, new in enumerate(now) if not _same(self._contents[at], new)]


def apply(changes: Any, known: Known) -> None:  # Any: JSON of a hostile process
    """Make our own containers hold what the other end's hold. Raises what nonsense leads to."""
    assert known.crossed is not None
    for at, encoded in changes:
        content = decode(encoded, known)
        if not isinstance(content, list):
            raise TypeError("a change that is not a list")
        _fill(known.crossed.containers[at], content)


def _content(container: Any) -> list[Any]:  # Any: a list, a dict or a set of whatever programs put in
    if isinstance(container, dict):
        return [part for pair in dict.items(container) for part in pair]
    return list(container)


def _same(old: list[Any], new: list[Any]) -> bool:  # Any: as above
    return len(old) == len(new) and all(map(operator.is_, old, new))


def _fill(container: Any, content: list[Any]) -> None:  # Any: as above
    """Members one by one, so that the deadline's signal gets in between those that collide."""
    if isinstance(container, list):
        container[:] = content
        return
    container.clear()
    if isinstance(container, dict):
        for key, item in zip(content[::2], content[1::2], strict=True):
            container[key] = item
    else:
        for member in content:
            container.add(member)
