"""What a model is told of failed tests: the call, what it returned, what was expected.

Actual against expected values helps small models more than a traceback does.
"""

from __future__ import annotations

from koderz_core.records import TestFailure, Verdict

SHOWN_FAILURES = 3


def failing_tests(verdict: Verdict) -> str:
    """A paragraph on a verdict: how many tests passed and, of the first failures, what was seen."""
    if not verdict.failures:
        return f"It failed before any test could pass: {verdict.message or verdict.error}"
    lines = [f"It passed {verdict.tests_passed} of {verdict.tests_total} tests. Failing:"]
    lines += [f"- {_one(failure)}" for failure in verdict.failures[:SHOWN_FAILURES]]
    hidden = len(verdict.failures) - SHOWN_FAILURES
    return "\n".join(lines + ([f"- and {hidden} more"] if hidden > 0 else []))


def _one(failure: TestFailure) -> str:
    seen = f"it gave {failure.actual}, correct is {failure.expected}" if failure.expected else failure.message
    return f"`{failure.source}`: {seen}"
