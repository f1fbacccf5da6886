"""Several test sets as one score: base tests, then, for who passes them, plus tests."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from koderz_core.records import TestSet, Verdict
from koderz_core.sandbox.sources import number_of


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
        moved = [replace(one, index=one.index + len(total.marks)) for one in verdict.failures]
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
