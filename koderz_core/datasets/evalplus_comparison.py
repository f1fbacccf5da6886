"""Compares answers as EvalPlus does. This source precedes tests that need more than ``==`` and runs with the judge.

So it imports nothing of koderz and contains no assert. Source: evalplus 0.3.1, eval/__init__.py (``unsafe_execute``)
and eval/_special_oracle.py. Two differences: shapes are not broadcast (there ``[[1.0]]`` is close to ``[1.0]``), and
lists whose rows differ in length are compared as well.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

FLOATS = 1e-6  # absolute tolerance if the right answer is a float or contains only floats
RELATIVE = 1e-7
inf, nan = math.inf, math.nan  # the repr of these floats


class Comparison:
    """One problem's comparison, test by test. After an answer made of floats, all later answers have a tolerance."""

    def __init__(self, tolerance: float, oracle: str) -> None:
        self.tolerance = tolerance
        self.oracle = oracle

    def like(self, value: Any, *arguments: Any) -> Like:  # Any: answers and arguments of any program
        """An object that is equal to every right answer to ``arguments``; ``value`` is one of them."""
        if self.tolerance == 0 and self.oracle != "root" and _is_floats(value):
            self.tolerance = FLOATS
        return Like(value, self, arguments)


class Like:
    """Equal to every answer that is right."""

    __hash__ = None  # type: ignore[assignment]  # Python's way to make a class unhashable

    def __init__(self, value: Any, comparison: Comparison, arguments: tuple[Any, ...]) -> None:  # Any: as above
        self.value = value
        self.tolerance = comparison.tolerance
        self.oracle = comparison.oracle
        self.arguments = arguments

    def __eq__(self, answer: object) -> bool:
        try:
            if self.oracle == "root":
                return _is_root(self.arguments, answer, self.tolerance)
            return self._fits(answer) or _is_close(answer, self.value, self.tolerance)
        except (TypeError, ValueError, ArithmeticError, LookupError):
            return False

    def __repr__(self) -> str:
        return repr(self.value)

    def _fits(self, answer: Any) -> bool:  # Any: as above
        if self.oracle == "set":
            return set(answer) == set(self.value)
        return bool(answer == self.value) or (self.oracle in ORACLES and ORACLES[self.oracle](self, answer))


ORACLES: dict[str, Callable[[Like, Any], bool]] = {  # Any: as above
    "any": lambda like, answer: True,  # noqa: ARG005 (one form for all)
    "or zero": lambda like, answer: bool(answer == 0),  # noqa: ARG005 (as above)
    "pyramid": lambda like, answer: abs(answer - _pyramid_surface(*like.arguments)) <= like.tolerance,
    "digits": lambda like, answer: bool(answer == _digit_distance(*like.arguments)),
}


def some(answer: object) -> bool:
    """Whether a search found something: the answer itself if it is a bool, else whether it is not None."""
    return answer if isinstance(answer, bool) else answer is not None


def _is_floats(value: object) -> bool:
    items = value if isinstance(value, list | tuple) and value else [value]
    return all(isinstance(item, float) for item in items)


def _is_close(answer: object, value: object, tolerance: float) -> bool:
    return tolerance != 0 and type(answer) is type(value) and _all_close(answer, value, tolerance)


def _all_close(answer: object, value: object, tolerance: float) -> bool:
    """As ``numpy.allclose``: numbers only, in lists and tuples of one shape."""
    if isinstance(value, list | tuple):
        if not isinstance(answer, list | tuple) or len(answer) != len(value):
            return False
        return all(_all_close(item, other, tolerance) for item, other in zip(answer, value, strict=True))
    if not (isinstance(value, int | float | complex) and isinstance(answer, int | float | complex)):
        return False
    if value - value == 0 and answer - answer == 0:  # both finite
        return abs(answer - value) <= tolerance + RELATIVE * abs(value)
    return answer == value


def _is_root(arguments: tuple[Any, ...], answer: Any, tolerance: float) -> bool:  # Any: as above
    (coefficients,) = arguments
    value: float = sum(factor * math.pow(answer, power) for power, factor in enumerate(coefficients))
    return abs(value) <= tolerance


def _pyramid_surface(base_edge: float, height: float) -> int:
    """The rounded surface of a square pyramid; ``height`` is that of its apex, not of its sides."""
    slant_height = math.sqrt((base_edge / 2) ** 2 + height**2)
    return round(base_edge**2 + 2 * base_edge * slant_height)


def _digit_distance(one: int, other: int) -> int:
    """The sum of the differences digit by digit, after padding the shorter number with zeros."""
    digits, others = str(one), str(other)
    width = max(len(digits), len(others))
    return sum(abs(int(a) - int(b)) for a, b in zip(digits.zfill(width), others.zfill(width), strict=True))
