"""Plus tests as a test set, and the joint verdict on base and plus tests.

Plus tests are run only if the base tests pass. The canonical solution gives their expected outputs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from koderz_core.datasets.evalplus import NEED_ARGUMENTS, with_like
from koderz_core.errors import UsageError
from koderz_core.grading.canonical import Expectations, limit, limit_each
from koderz_core.records import Cases, PlusTests, Problem, TestSet, Verdict
from koderz_core.sandbox.tiers import number_of


def base_and_plus(
    base: TestSet, plus: TestSet, check: Callable[[TestSet], Verdict], *, reached: bool = True
) -> list[Verdict]:
    """One verdict for each of the two sets that is not empty. Plus tests are run only if the base tests pass.

    ``reached``: whether base tests that were run elsewhere have passed. Raises as ``check``.
    """
    verdicts = [check(base)] if base else []
    if plus:
        reached = reached and all(verdict.passed for verdict in verdicts)
        verdicts.append(check(plus) if reached else _not_run(plus))
    return verdicts


def joined(verdicts: Sequence[Verdict]) -> Verdict:
    """One verdict on several test sets as if they were one. Error and message are those of the first failure."""
    total = verdicts[0]
    for verdict in verdicts[1:]:
        first = total if total.error or not verdict.error else verdict
        moved = [replace(failure, index=failure.index + len(total.marks)) for failure in verdict.failures]
        timed = total.test_seconds and verdict.test_seconds
        total = replace(
            total,
            marks=total.marks + verdict.marks,
            failures=(*total.failures, *moved),
            completed=total.completed and verdict.completed,
            error=first.error,
            message=first.message,
            seconds=total.seconds + verdict.seconds,
            shared=total.shared or verdict.shared,
            test_seconds=total.test_seconds + verdict.test_seconds if timed else (),
        )
    return total


def _not_run(tests: TestSet) -> Verdict:
    number = number_of(tests)
    return Verdict("-" * number, (), False, None, "", 0.0, isolation="none", test_seconds=(0.0,) * number)


def plus_tests(problem: Problem, expectations: Expectations, *, each_limited: bool = False) -> TestSet:
    """One test per input whose answer can be judged. ``each_limited``: each test has its own time limit as well.

    Raises UsageError if the problem has no plus tests, DataError and SandboxError as ``Expectations.of``.
    """
    plus = require_plus(problem)
    expected = expectations.of(problem, plus)
    if not expected.calls:
        return TestSet()
    search = plus.oracle == "some"
    answers = _search_results(expected.answers) if search else expected.answers
    limits = "\n".join(f"{limit_each(seconds):g}" for seconds in expected.seconds) if each_limited else ""
    return TestSet(
        with_like("", plus.tolerance, plus.oracle),
        limit(sum(expected.seconds)),
        cases=Cases(expected.calls, answers, search, plus.oracle in NEED_ARGUMENTS, limits),
    )


def require_plus(problem: Problem) -> PlusTests:
    """The problem's plus tests. Raises UsageError if it has none."""
    if problem.plus is None:
        raise UsageError(
            f"{problem.id} has no plus tests. Use --tests base, or a dataset with plus tests: humaneval+ or mbpp+."
        )
    return problem.plus


def _search_results(answers: str) -> str:
    """Whether each answer means that a search found something, as in ``evalplus_comparison.some``."""
    known = {"true": "true", "false": "false", "null": "false"}
    return "\n".join(known.get(answer, "true") for answer in answers.split("\n"))
