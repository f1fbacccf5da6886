"""Test sets of a problem: the plus tests as one, and base and plus tests combined into one score.

Plus tests are run only if the base tests pass. Their expected outputs are those of the canonical solution.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace

from koderz_core.datasets.evalplus import NEED_ARGUMENTS, with_like
from koderz_core.errors import UsageError
from koderz_core.grading.canonical import Expectations, limit
from koderz_core.records import Cases, PlusTests, Problem, TestSet, Verdict
from koderz_core.sandbox.inside.values import decode
from koderz_core.sandbox.inside.wire import WireError
from koderz_core.sandbox.tiers import number_of


def base_and_plus(
    base: TestSet, plus: TestSet, check: Callable[[TestSet], Verdict], *, reached: bool = True
) -> list[Verdict]:
    """The verdicts on those of the two that there are; plus tests are run for who has passed the others.

    ``reached``: whether base tests that were run elsewhere have been passed. Raises as ``check``.
    """
    verdicts = [check(base)] if base else []
    if plus:
        reached = reached and all(verdict.passed for verdict in verdicts)
        verdicts.append(check(plus) if reached else _not_run(plus))
    return verdicts


def joined(verdicts: Sequence[Verdict]) -> Verdict:
    """One verdict on several test sets, as if they were one; the first failure gives error and message."""
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


def parted_plus(tests: TestSet, is_made: Callable[[Sequence[object]], bool]) -> tuple[TestSet, TestSet]:
    """The plus tests with arguments of which ``is_made`` holds, and all others."""
    cases = tests.cases
    if cases is None:
        return TestSet(), tests
    pairs = list(zip(cases.calls.split("\n"), cases.answers.split("\n"), strict=True))
    arguments = (_arguments(line) for line, _ in pairs)
    made = [argument is not None and is_made(argument) for argument in arguments]
    sets = ([pair for pair, one in zip(pairs, made, strict=True) if one is wanted] for wanted in (True, False))
    shown, rest = (_of_pairs(tests, cases, one) for one in sets)
    return shown, rest


def require_plus(problem: Problem) -> PlusTests:
    """Its plus tests. Raises UsageError if it has none."""
    if problem.plus is None:
        raise UsageError(f"{problem.id} has no plus tests. Use --tests base, or --dataset humaneval+ or mbpp+.")
    return problem.plus


def _arguments(line: str) -> list[object] | None:
    """None for a call that holds what is no plain data."""
    try:
        arguments = decode(json.loads(line))
    except WireError:
        return None
    return arguments if isinstance(arguments, list) else None


def _of_pairs(tests: TestSet, cases: Cases, pairs: list[tuple[str, str]]) -> TestSet:
    if not pairs:
        return TestSet()
    calls, answers = ("\n".join(lines) for lines in zip(*pairs, strict=True))
    return replace(tests, cases=replace(cases, calls=calls, answers=answers))


def _found(answers: str) -> str:
    """Of each answer, whether a search found something: as ``comparing.some``."""
    known = {"true": "true", "false": "false", "null": "false"}
    return "\n".join(known.get(answer, "true") for answer in answers.split("\n"))
