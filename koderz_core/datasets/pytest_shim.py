"""The part of pytest that tests of modules may use. This source is put before such tests and runs in the sandbox.

So it imports nothing of koderz and contains no assert: the bare asserts of the tests become calls of functions below.
``Any``: values of the tests and of the program.
"""

import contextlib
import operator
import re
import types
import unittest
from collections.abc import Callable, Iterable
from typing import Any

_OPERATORS: dict[str, Callable[[Any, Any], Any]] = {  # Any: any values
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "is": operator.is_,
    "is not": operator.is_not,
    "in": lambda left, right: left in right,
    "not in": lambda left, right: left not in right,
}


def require_compared(left: Any, operation: str, right: Any, said: Callable[[], object] | None = None) -> None:
    """As the assert of a comparison. ``said`` returns the assert's own message."""
    if not _OPERATORS[operation](left, right):
        seen = f"assert {left!r} {operation} {right!r}"
        raise AssertionError(f"{said()}: {seen}" if said else seen)


def require(value: object, source: str, said: Callable[[], object] | None = None) -> None:
    """As any other assert. ``source`` is its text."""
    if not value:
        raise AssertionError(f"{said()}: assert {source}" if said else f"assert {source}, which is {value!r}")


class _Raises(contextlib.AbstractContextManager["_Raises"]):
    def __init__(self, expected: Any, match: str | None) -> None:
        self.expected, self.match = expected, match
        self.value: Any = None
        self.type: Any = None

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> bool:
        if kind is None:
            raise AssertionError(f"did not raise {self.expected!r}")
        if not issubclass(kind, self.expected):
            return False
        self.value, self.type = error, kind
        if self.match is not None and not re.search(self.match, str(error)):
            raise AssertionError(f"the message {str(error)!r} does not match {self.match!r}")
        return True


def _raises(expected: Any, *call: Any, match: str | None = None, **named: Any) -> _Raises:
    if not call:
        return _Raises(expected, match)
    with _Raises(expected, match) as caught:
        call[0](*call[1:], **named)
    return caught


class _Approx:
    """A number, or a list, tuple or dict of numbers, equal to values within the tolerance of pytest.approx."""

    def __init__(self, expected: Any, rel: float | None = None, abs: float | None = None) -> None:  # noqa: A002 (pytest's)
        self.expected, self.rel, self.abs = expected, rel, abs

    def __eq__(self, actual: object) -> bool:
        return self._near(actual, self.expected)

    __hash__ = object.__hash__

    def __repr__(self) -> str:
        return f"approx({self.expected!r})"

    def _near(self, actual: Any, expected: Any) -> bool:
        if isinstance(expected, dict):
            same = isinstance(actual, dict) and actual.keys() == expected.keys()
            return same and all(self._near(actual[key], expected[key]) for key in expected)
        if isinstance(expected, (list, tuple)):
            same = isinstance(actual, (list, tuple)) and len(actual) == len(expected)
            return same and all(map(self._near, actual, expected))
        if not isinstance(expected, (int, float, complex)) or not isinstance(actual, (int, float, complex)):
            return bool(actual == expected)
        if actual == expected or abs(expected) == float("inf"):
            return bool(actual == expected)
        default = 1e-6 if self.abs is None else 0.0
        relative = (default if self.rel is None else self.rel) * abs(expected)
        return bool(abs(actual - expected) <= max(relative, 1e-12 if self.abs is None else self.abs))


def _parametrize(names: Any, values: Iterable[Any], ids: object = None) -> Callable[[Any], Any]:  # noqa: ARG001 (pytest's)
    listed = [name.strip() for name in names.split(",") if name.strip()] if isinstance(names, str) else list(names)
    alone = isinstance(names, str) and len(listed) == 1  # else each row has its values in a sequence
    rows = [dict(zip(listed, [row] if alone else row, strict=True)) for row in values]

    def mark(test: Any) -> Any:
        before = getattr(test, "parameters", [{}])
        test.parameters = [{**item, **other} for other in rows for item in before]
        return test

    return mark


def _skip(test: Any = "", reason: str = "") -> Any:
    # For functions, and for classes and methods of unittest. As an attribute, the name would count as one in the tests.
    mark = getattr(unittest, "skip")(reason)  # noqa: B009
    return mark(test) if callable(test) else mark


pytest = types.SimpleNamespace(
    raises=_raises, approx=_Approx, mark=types.SimpleNamespace(parametrize=_parametrize, skip=_skip)
)
