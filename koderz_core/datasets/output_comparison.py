"""Compares the output of a program with the expected output. This source precedes the cases and runs with the judge.

So it imports nothing of koderz and contains no assert. Sources of the rules: LiveCodeBench, ``grade_stdio`` in
lcb_runner/evaluation/testing_util.py (``lines``); CodeContests, ``OutputsMatch`` and ``ValuesMatch`` in
execution/tester_sandboxer.cc (``tokens``). Differences: a tolerance applies only to a number that is not written as a
whole number, and it is absolute for small numbers and relative for large ones; ``tokens`` compares whole numbers
exactly.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal, InvalidOperation

LONGEST_NUMBER = 1000  # characters; longer words are compared as texts


class Comparison:
    """The comparison of one problem: the name of its rule in ``RULES``, and the tolerance for numbers."""

    def __init__(self, checker: str, tolerance: float) -> None:
        self.checker = checker
        self.tolerance = Decimal(repr(tolerance))

    def like(self, value: object) -> Like:
        """An object that is equal to every correct output; ``value`` is one of them."""
        return Like(value, self)

    def holds(self, written: str, expected: str) -> bool:
        """Whether an output is correct."""
        split, word_by_word = RULES[self.checker]
        seen, wanted = split(written), split(expected)
        return len(seen) == len(wanted) and all(
            left == right or (word_by_word and self._same_words(left.split(), right.split()))
            for left, right in zip(seen, wanted, strict=True)
        )

    def _same_words(self, seen: Sequence[str], wanted: Sequence[str]) -> bool:
        if len(seen) != len(wanted):
            return False
        return all(left == right or self._same_numbers(left, right) for left, right in zip(seen, wanted, strict=True))

    def _same_numbers(self, seen: str, wanted: str) -> bool:
        if max(len(seen), len(wanted)) > LONGEST_NUMBER:
            return False
        try:
            left, right = Decimal(seen), Decimal(wanted)
            if left == right:
                return True
            exact = not self.tolerance or wanted.lstrip("+-").isdigit()
            return not exact and abs(left - right) <= self.tolerance * max(Decimal(1), abs(right))
        except (InvalidOperation, ArithmeticError):  # not numbers, or the difference is beyond every limit
            return False


class Like:
    """Equal to every output that is correct."""

    __hash__ = None  # type: ignore[assignment]  # Python's way to make a class unhashable

    def __init__(self, value: object, comparison: Comparison) -> None:
        self.value = value
        self.comparison = comparison

    def __eq__(self, answer: object) -> bool:
        if self.comparison.checker in VALUES:
            listed = list(answer) if isinstance(answer, tuple) else answer
            items = self.value if isinstance(self.value, list) and self.comparison.checker == VALUES[1] else []
            return bool(listed == self.value or listed in items[:1])
        if not isinstance(answer, str) or not isinstance(self.value, str):
            return False
        return self.comparison.holds(answer, self.value)

    def __repr__(self) -> str:
        return repr(self.value)


def _stripped_lines(text: str) -> list[str]:
    return [line.strip() for line in text.strip().split("\n")]


def _trimmed_lines(text: str) -> list[str]:
    lines = [line.rstrip() for line in text.split("\n")]
    while lines and not lines[-1]:
        lines.pop()
    return lines


RULES = {
    "lines": (_stripped_lines, True),
    "tokens": (lambda text: text.lower().split(), True),
    "exact": (_trimmed_lines, False),
}
"""By name: how an output is split into parts, and whether parts are compared word by word as numbers as well."""
VALUES = ("values", "values or first")
"""Rules for the answers of functions: a tuple may replace a list (LiveCodeBench, ``grade_call_based``), and the answer
may be the only item of the expected list (APPS, eval/testing_util.py)."""
