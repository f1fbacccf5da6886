"""The plus tests of a problem as a test set: calls, and what the canonical solution answers."""

from __future__ import annotations

from koderz_core.datasets.evalplus import NEED_ARGUMENTS, with_like
from koderz_core.errors import UsageError
from koderz_core.grading.canonical import limit
from koderz_core.grading.expected import Expectations
from koderz_core.records import Cases, PlusTests, Problem, TestSet


def plus_tests(problem: Problem, expectations: Expectations) -> TestSet:
    """One test per input whose answer can be judged; no input, no tests.

    Raises UsageError if the problem has no plus tests, DataError and SandboxError as ``Expectations.of``.
    """
    plus = require_plus(problem)
    expected = expectations.of(problem, plus)
    if not expected.calls:
        return TestSet()
    search = plus.oracle == "some"
    answers = _found(expected.answers) if search else expected.answers
    return TestSet(
        with_like("", plus.tolerance, plus.oracle),
        limit(expected.seconds),
        cases=Cases(expected.calls, answers, search, by_arguments=plus.oracle in NEED_ARGUMENTS),
    )


def require_plus(problem: Problem) -> PlusTests:
    """Its plus tests. Raises UsageError if it has none."""
    if problem.plus is None:
        raise UsageError(f"{problem.id} has no plus tests. Use --tests base, or --dataset humaneval+ or mbpp+.")
    return problem.plus


def _found(answers: str) -> str:
    """Of each answer, whether a search found something: as ``comparing.some``."""
    known = {"true": "true", "false": "false", "null": "false"}
    return "\n".join(known.get(answer, "true") for answer in answers.split("\n"))
