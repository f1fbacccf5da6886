"""What a strategy is told of a verdict: no more than the feedback policy of its configuration lets through.

The journal keeps the whole verdict.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from koderz_core.errors import UnknownNameError
from koderz_core.records import Verdict

NONE = "none"
OF_THE_REPLY = frozenset({"extraction", "truncated", "refused"})
"""Classes of errors that are about a reply: what they say comes from no test."""


def check_feedback(name: str) -> str:
    """The name, if it is one of a policy. Raises UnknownNameError."""
    if name not in FEEDBACKS:
        raise UnknownNameError("feedback", name, FEEDBACKS)
    return name


def visible(verdict: Verdict, feedback: str) -> Verdict:
    """The verdict as ``feedback`` shows it; ``passed`` is the same in all of them. Raises UnknownNameError."""
    return FEEDBACKS[check_feedback(feedback)](verdict)


def _error(verdict: Verdict) -> Verdict:
    """How many tests passed, and the first failure's class and message; that of an assert would tell the values."""
    message = "" if verdict.error == "assertion" else verdict.message
    return replace(verdict, failures=(), message=message, test_seconds=())


def _count(verdict: Verdict) -> Verdict:
    """How many tests passed; not which."""
    passed = verdict.tests_passed
    return _bare(verdict, "P" * passed + "F" * (verdict.tests_total - passed))


def _none(verdict: Verdict) -> Verdict:
    """Whether it passed; not on how many tests."""
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
"""Every policy by name, the most telling first."""
