"""What tests hold instead of a value that stays in the candidate's process: every use of it is a question there.

Its answers are the program's word and come back as plain data, so they can be wrong but not equal to everything.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Protocol, TypeVar

from .values import Opaque

_MAX_AHEAD = 256
_Kind = TypeVar("_Kind")


class Asking(Protocol):
    """Puts questions about what the candidate's process keeps. Raises what the program raised."""

    def do(self, what: str, target: int, *arguments: object, **named: object) -> object: ...

    def items(self, target: int, count: int) -> tuple[list[object], bool]:
        """Up to ``count`` more items of an iterator, and whether it has ended."""


class Handle(Opaque):
    """An object of the program's: a function, a class, an instance, an iterator. Equal to nothing, as any Opaque."""

    def __init__(self, number: int, kind: str, asking: Asking) -> None:
        super().__init__(kind)
        self.number = number
        self._asking = asking
        self._ahead: Iterator[object] = iter(())
        self._count = 1
        self._ended = False

    __hash__ = Opaque.__hash__

    def __call__(self, *arguments: object, **named: object) -> object:
        return self._asking.do("call", self.number, *arguments, **named)

    def __getattr__(self, name: str) -> object:
        if name.startswith("__"):  # what Python itself looks for: copying, pickling, numbers
            raise AttributeError(name)
        return self._asking.do("attribute", self.number, name)

    def __getitem__(self, key: object) -> object:
        return self._asking.do("item", self.number, key)

    def __len__(self) -> int:
        return _checked(self._asking.do("length", self.number), int)

    def __bool__(self) -> bool:
        return _checked(self._asking.do("truth", self.number), bool)

    def __iter__(self) -> Handle:
        return _checked(self._asking.do("iterate", self.number), Handle)

    def __next__(self) -> object:
        """Taken a few at a time, more and more of them: each question costs a round trip."""
        for item in self._ahead:
            return item
        if self._ended:
            raise StopIteration
        items, self._ended = self._asking.items(self.number, self._count)
        self._count = min(2 * self._count, _MAX_AHEAD)
        self._ahead = iter(items)
        return next(self._ahead) if items else next(self)


def _checked(value: object, kind: type[_Kind]) -> _Kind:
    if not isinstance(value, kind):
        raise TypeError(f"the program answered {type(value).__name__} where only {kind.__name__} makes sense")
    return value


def function(handle: Handle, name: str) -> Callable[..., object]:
    """The stub of a function: looks like one to tests that look at it."""

    def candidate(*arguments: object, **named: object) -> object:
        return handle(*arguments, **named)

    candidate.__name__ = candidate.__qualname__ = name
    return candidate
