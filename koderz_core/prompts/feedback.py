"""What a model is told of failed tests: the call, what it returned, what was expected.

Actual against expected values helps small models more than a traceback does.
"""

from __future__ import annotations

from koderz_core.records import TestFailure, Verdict

SHOWN_FAILURES = 3


def failing_tests(verdict: Verdict, most: int = SHOWN_FAILURES) -> str:
    """A paragraph on a verdict: how many tests passed and, of ``most`` of the first failures, what was seen.

    A verdict may tell less: how many passed and the class and message of the first failure, only how many, or nothing.
    """
    passed = f"It passed {verdict.tests_passed} of {verdict.tests_total} tests."
    if not verdict.failures and "F" in verdict.marks:
        return f"{passed} The first failure is of class {_class(verdict)}" if verdict.error else passed
    if not verdict.failures:
        why = verdict.message or verdict.error
        return f"It failed before any test could pass: {why}" if why else "It failed the tests."
    named = " (`candidate` stands for the function)" if "candidate(" in verdict.failures[0].source else ""
    lines = [f"{passed} Failing{named}:"]
    lines += [f"- {_one(failure)}" for failure in verdict.failures[:most]]
    hidden = len(verdict.failures) - most
    return "\n".join(lines + ([f"- and {hidden} more"] if hidden > 0 else []))


def _class(verdict: Verdict) -> str:
    said = verdict.message or ("a wrong result" if verdict.error == "assertion" else "")
    return f"{verdict.error}: {said}" if said else f"{verdict.error}."


def _one(failure: TestFailure) -> str:
    seen = f"it gave {failure.actual}, correct is {failure.expected}" if failure.expected else failure.message
    return f"`{failure.source}`: {seen}"
