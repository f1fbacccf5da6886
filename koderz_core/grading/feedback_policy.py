"""Feedback policies: the part of a verdict that a strategy sees. The journal records the whole verdict."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from koderz_core.errors import UnknownNameError
from koderz_core.records import Verdict

NONE = "none"
OF_THE_REPLY = frozenset({"extraction", "truncated", "refused"})
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
