"""What tests hold instead of a value that stays in the candidate's process: every use of it is a question there.

Its answers are the program's word and come back as plain data, so they can be wrong but not equal to everything.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Protocol, TypeVar, cast

from .values import Opaque, number_of

_SINGLY = 64  # items that are asked for one by one
_AT_ONCE = 256
_Kind = TypeVar("_Kind")


class Asking(Protocol):
    """Puts questions about what the candidate's process keeps. Raises what the program raised."""

    def do(self, what: str, target: int, *arguments: object, **named: object) -> object: ...

    def items(self, target: int, count: int) -> tuple[list[object], bool]:
        """Up to ``count`` more items of an iterator, and whether it has ended."""


class Handle(Opaque):
    """An object of the program's: a function, a class, an instance, an iterator. Equal to nothing, as any Opaque.

    What it is made of stands under names that no program has, since any other name is a question.
    """

    def __init__(self, number: int, kind: str, asking: Asking) -> None:
        super().__init__(kind)
        self.__dict__.update(_koderz_number=number, _koderz_asking=asking, _koderz_items=_items(number, asking))

    __hash__ = Opaque.__hash__

    def __call__(self, *arguments: object, **named: object) -> object:
        return _ask(self, "call", *arguments, **named)

    def __getattr__(self, name: str) -> object:
        if name.startswith("__"):  # what Python itself looks for: copying, pickling, numbers
            raise AttributeError(name)
        return _ask(self, "attribute", name)

    def __setattr__(self, name: str, value: object) -> None:
        _ask(self, "set attribute", name, value)

    def __getitem__(self, key: object) -> object:
        return _ask(self, "item", key)

    def __setitem__(self, key: object, value: object) -> None:
        _ask(self, "set item", key, value)

    def __len__(self) -> int:
        return _checked(_ask(self, "length"), int)

    def __bool__(self) -> bool:
        return _checked(_ask(self, "truth"), bool)

    def __str__(self) -> str:
        return _checked(_ask(self, "text"), str)

    def __iter__(self) -> Handle:
        return _checked(_ask(self, "iterate"), Handle)

    def __next__(self) -> object:
        return next(cast(Iterator[object], self.__dict__["_koderz_items"]))


def _ask(handle: Handle, what: str, *arguments: object, **named: object) -> object:
    asking: Asking = handle.__dict__["_koderz_asking"]
    return asking.do(what, cast(int, number_of(handle)), *arguments, **named)


def _items(number: int, asking: Asking) -> Iterator[object]:
    """Each item as it is asked for; of a long iterator many at once, since each question costs a round trip."""
    ended, taken = False, 0
    while not ended:
        items, ended = asking.items(number, 1 if taken < _SINGLY else _AT_ONCE)
        taken += len(items)
        yield from items


def _checked(value: object, kind: type[_Kind]) -> _Kind:
    if not isinstance(value, kind):
        raise TypeError(f"the program answered {type(value).__name__} where only {kind.__name__} makes sense")
    return value


def function(handle: Handle, name: str) -> Callable[..., object]:
    """The stub of a function: looks like one to tests that look at it."""

    def candidate(*arguments: object, **named: Any) -> object:  # Any: what tests pass
        return handle(*arguments, **named)

    candidate.__name__ = candidate.__qualname__ = name
    return candidate
