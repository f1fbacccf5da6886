"""Gate policies by name: the tests that a loop may run and stop on. Feedback policies: the part of a verdict it sees.

The journal records the whole verdict.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Literal

from koderz_core.errors import PlanError, UnknownNameError
from koderz_core.records import Verdict

ALL_TESTS, EXAMPLES, SPLIT = "tests", "examples", "split"
GATES = (ALL_TESTS, EXAMPLES, "split:0.5")
"""All policies; the last one accepts other fractions."""

VERSIONS = {EXAMPLES: "2", SPLIT: "2"}
"""Versions of the rules that make a gate. A benchmark's id depends on them."""


@dataclass(frozen=True, slots=True)
class Gate:
    """A gate policy; ``fraction`` is the share of base tests in a ``split`` gate."""

    kind: Literal["tests", "examples", "split"]
    fraction: float = 1.0

    @property
    def name(self) -> str:
        """The only name of this gate, as ``gate_of`` reads it."""
        return f"{self.kind}:{self.fraction:g}" if self.kind == "split" else self.kind


def gate_of(text: str) -> Gate:
    """The gate of that name. Raises UnknownNameError, and PlanError for a wrong fraction."""
    kind, colon, number = text.strip().partition(":")
    if kind == "split" and colon:
        try:
            fraction = round(float(number), 6)
        except ValueError:
            fraction = 0.0
        if not 0 < fraction < 1:
            raise PlanError(f"{text!r} is not a gate. Write split with a fraction between 0 and 1, such as split:0.5.")
        return Gate("split", fraction)
    if text.strip() in ("tests", "examples"):
        return Gate("tests" if kind == "tests" else "examples")
    raise UnknownNameError("gate", text, GATES)


NONE = "none"
OF_THE_REPLY = frozenset({"extraction", "truncated", "refused", "turn_timeout"})
"""Classes of errors in a reply. Their messages reveal nothing about tests."""


def check_feedback(name: str) -> str:
    """The name of a policy. Raises UnknownNameError for any other name."""
    if name not in FEEDBACKS:
        raise UnknownNameError("feedback", name, FEEDBACKS)
    return name


def visible(verdict: Verdict, feedback: str) -> Verdict:
    """The part of a verdict that ``feedback`` shows; every policy shows ``passed``. Raises UnknownNameError."""
    return FEEDBACKS[check_feedback(feedback)](verdict)


def _error(verdict: Verdict) -> Verdict:
    """The number of passed tests and the first failure's class and message.

    The message of an assert is omitted, because it quotes expected values.
    """
    message = "" if verdict.error == "assertion" else verdict.message
    return replace(verdict, failures=(), message=message, test_seconds=())


def _count(verdict: Verdict) -> Verdict:
    """The number of passed tests, without which ones."""
    passed = verdict.tests_passed
    return _bare(verdict, "P" * passed + "F" * (verdict.tests_total - passed))


def _none(verdict: Verdict) -> Verdict:
    """Whether the program passed, without the number of tests."""
    return _bare(verdict, "P" if verdict.passed else "")


def _bare(verdict: Verdict, marks: str) -> Verdict:
    if verdict.error in OF_THE_REPLY:
        return replace(verdict, marks="-" * len(marks), failures=(), test_seconds=())
    return Verdict(marks, (), verdict.passed, None, "", 0.0, verdict.isolation)


FEEDBACKS: Mapping[str, Callable[[Verdict], Verdict]] = {
    "full": lambda verdict: verdict,
    "error": _error,
    "count": _count,
    NONE: _none,
}
"""Every policy by name, from the most to the least informative."""
