"""What a model is told of failed tests: the call, what it returned, what was expected.

Actual against expected values helps small models more than a traceback does. What a program says stays on its line:
it could otherwise pass for another attempt, or for what a reviewer is asked to answer.
"""

from __future__ import annotations

from koderz_core.prompts.quoting import escaped, inline_code
from koderz_core.records import TestFailure, Verdict

SHOWN_FAILURES = 3
SAID_LIMIT = 1000  # characters of one value or message: twice what is recorded of it, since escapes are longer
CUT = "truncated"
"""The class of error of a reply that was cut: it is about the reply, so every feedback tells it."""


def failing_tests(verdict: Verdict, most: int = SHOWN_FAILURES) -> str:
    """A paragraph on a verdict: how many tests passed and, of ``most`` of the first failures, what was seen.

    A verdict may tell less: how many passed and the class and message of the first failure, only how many, or nothing.
    """
    if verdict.error == CUT:
        return "It could not be tested: the reply was cut at its token limit, before the program was complete."
    passed = f"It passed {verdict.tests_passed} of {verdict.tests_total} tests."
    if not verdict.failures and "F" in verdict.marks:
        return f"{passed} The first failure is of class {_class(verdict)}" if verdict.error else passed
    if not verdict.failures:
        why = escaped(verdict.message, SAID_LIMIT) or verdict.error
        return f"It failed before any test could pass: {why}" if why else "It failed the tests."
    named = " (`candidate` stands for the function)" if "candidate(" in verdict.failures[0].source else ""
    lines = [f"{passed} Failing{named}:"]
    lines += [f"- {_one(failure)}" for failure in verdict.failures[:most]]
    hidden = len(verdict.failures) - most
    return "\n".join(lines + ([f"- and {hidden} more"] if hidden > 0 else []))


def _class(verdict: Verdict) -> str:
    said = escaped(verdict.message, SAID_LIMIT) or ("a wrong result" if verdict.error == "assertion" else "")
    return f"{verdict.error}: {said}" if said else f"{verdict.error}."


def _one(failure: TestFailure) -> str:
    source = inline_code(escaped(failure.source, SAID_LIMIT))
    if not failure.expected:
        return f"{source}: {escaped(failure.message, SAID_LIMIT)}"
    actual, expected = (escaped(str(value), SAID_LIMIT) for value in (failure.actual, failure.expected))
    return f"{source}: it gave {actual}, correct is {expected}"
