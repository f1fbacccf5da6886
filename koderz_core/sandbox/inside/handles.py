"""Handles, which represent values of the candidate's process in the tests, and changes to arguments of its calls.

Every use of a handle is a question to the candidate's process. The program controls the answers, which are plain data,
so they can be wrong but not equal to everything. Both processes number the containers among the arguments of a call. A
change states the new content of a container and names other containers by their numbers, so that they stay the same
objects.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator
from typing import Any, Protocol, TypeVar, cast

from .values import Crossed, Known, Names, Opaque, decode, encode, number_of
from .wire import Json

_SINGLY = 64  # items that are requested one by one
_AT_ONCE = 256
_Kind = TypeVar("_Kind")


class Questions(Protocol):
    """Sends questions about objects that the candidate's process keeps. Raises the exceptions of the program."""

    def do(self, what: str, target: int, /, *arguments: object, **named: object) -> object: ...

    def items(self, target: int, count: int) -> tuple[list[object], bool]:
        """Up to ``count`` further items of an iterator, and whether it has ended."""


class Handle(Opaque):
    """An object of the program: a function, a class, an instance, an iterator. Like any Opaque, it equals nothing.

    Its own attributes have names that no program uses, because any other name is a question.
    """

    def __init__(self, number: int, kind: str, questions: Questions) -> None:
        super().__init__(kind)
        self.__dict__.update(
            _koderz_number=number, _koderz_questions=questions, _koderz_items=_items(number, questions)
        )

    __hash__ = Opaque.__hash__

    def __call__(self, /, *arguments: object, **named: object) -> object:
        return ask(self, "call", *arguments, **named)

    def __getattr__(self, name: str) -> object:
        if name.startswith("__"):  # attributes that Python itself looks up, for copying, pickling and numbers
            raise AttributeError(name)
        return ask(self, "attribute", name)

    def __setattr__(self, name: str, value: object) -> None:
        ask(self, "set attribute", name, value)

    def __getitem__(self, key: object) -> object:
        return ask(self, "item", key)

    def __setitem__(self, key: object, value: object) -> None:
        ask(self, "set item", key, value)

    def __len__(self) -> int:
        return checked(ask(self, "length"), int)

    def __bool__(self) -> bool:
        return checked(ask(self, "truth"), bool)

    def __str__(self) -> str:
        return checked(ask(self, "text"), str)

    def __iter__(self) -> Handle:
        return checked(ask(self, "iterate"), Handle)

    def __next__(self) -> object:
        return next(cast(Iterator[object], self.__dict__["_koderz_items"]))


def ask(handle: Handle, what: str, /, *arguments: object, **named: object) -> object:
    """The answer of the program to a question about one of its objects. ``named`` may contain any name."""
    questions: Questions = handle.__dict__["_koderz_questions"]
    return questions.do(what, cast(int, number_of(handle)), *arguments, **named)


def _items(number: int, questions: Questions) -> Iterator[object]:
    """The items one by one, but many per question in a long iterator, because each question costs a round trip."""
    ended, taken = False, 0
    while not ended:
        items, ended = questions.items(number, 1 if taken < _SINGLY else _AT_ONCE)
        taken += len(items)
        yield from items


def checked(value: object, kind: type[_Kind]) -> _Kind:
    """An answer of the program that makes sense only as this type. Raises TypeError."""
    if not isinstance(value, kind):
        raise TypeError(f"the program answered {type(value).__name__} where only {kind.__name__} makes sense")
    return value


class Snapshot:
    """The content of each container that has crossed, for a later comparison."""

    def __init__(self, crossed: Crossed) -> None:
        self._containers = list(crossed.containers)
        self._contents = [_content(container) for container in self._containers]

    def changes(self, names: Names) -> list[Json]:
        """Number and new content of each container that no longer has the same objects."""
        now = [_content(container) for container in self._containers]
        return [
            [place, encode(new, names)]
            for place, (old, new) in enumerate(zip(self._contents, now, strict=True))
            if len(old) != len(new) or not all(map(operator.is_, old, new))
        ]


def apply_changes(changes: Json, known: Known) -> None:
    """Give this end's containers the content of the other end's. Raises various errors for invalid changes."""
    assert known.crossed is not None
    for place, encoded in changes:
        content = decode(encoded, known)
        if not isinstance(content, list):
            raise TypeError("a change that is not a list")
        _fill(known.crossed.containers[place], content)


def _content(container: Any) -> list[Any]:  # Any: a list, dict or set of any values
    if isinstance(container, dict):
        return [part for pair in dict.items(container) for part in pair]
    return list(container)


def _fill(container: Any, content: list[Any]) -> None:  # Any: as above
    """Adds members one by one, so that the deadline's signal gets in between members with colliding hashes."""
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
