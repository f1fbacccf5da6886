"""What a model is told of failed tests: the call, what it returned, what was expected.

Actual against expected values helps small models more than a traceback does.
"""

from __future__ import annotations

from koderz_core.records import TestFailure, Verdict

SHOWN_FAILURES = 3


def failing_tests(verdict: Verdict) -> str:
    """A paragraph on a verdict: how many tests passed and, of the first failures, what was seen.

    A verdict may tell less: how many passed and the class and message of the first failure, only how many, or nothing.
    """
    passed = f"It passed {verdict.tests_passed} of {verdict.tests_total} tests."
    if not verdict.failures and "F" in verdict.marks:
        error = f"{verdict.error}: {verdict.message}" if verdict.message else verdict.error
        return f"{passed} The first failure is of class {error}" if error else passed
    if not verdict.failures:
        why = verdict.message or verdict.error
        return f"It failed before any test could pass: {why}" if why else "It failed the tests."
    lines = [f"{passed} Failing:"]
    lines += [f"- {_one(failure)}" for failure in verdict.failures[:SHOWN_FAILURES]]
    hidden = len(verdict.failures) - SHOWN_FAILURES
    return "\n".join(lines + ([f"- and {hidden} more"] if hidden > 0 else []))


def _one(failure: TestFailure) -> str:
    seen = f"it gave {failure.actual}, correct is {failure.expected}" if failure.expected else failure.message
    return f"`{failure.source}`: {seen}"
