"""Grades samples, several at a time: each on its problem's base tests and, if it passes them, on the plus tests."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, replace
from typing import Any, Literal

from koderz_core.errors import SandboxError
from koderz_core.grading.expected import Expectations
from koderz_core.grading.plus import plus_tests
from koderz_core.grading.samples import Sample
from koderz_core.grading.testsets import no_program
from koderz_core.protocols import Judge
from koderz_core.records import Problem, TestSet, Verdict
from koderz_core.sandbox.sources import count_tests

TestKind = Literal["base", "plus"]
Suites = tuple[TestSet, ...]
"""The test sets of one problem, in the order they are run in; what follows a failed one is not run."""


@dataclass(frozen=True, slots=True)
class Graded:
    """What came of a sample. ``verdict`` None: it could not be judged, ``trouble`` says why."""

    sample: Sample
    verdict: Verdict | None
    base_passed: bool = False
    trouble: str = ""

    @property
    def error(self) -> str | None:
        """The class of the first failure; ``sandbox`` if the sample could not be judged, which is not its fault."""
        if self.verdict is None:
            return "sandbox"
        return self.verdict.error or (None if self.verdict.passed else "assertion")

    def row(self, tests: TestKind) -> dict[str, Any]:  # Any: JSON
        """The sample's own line with what came of it; ``passed`` None if it could not be judged."""
        judged = self.verdict
        return {
            **self.sample.row,
            "passed": judged.passed if judged else None,
            **({"base_passed": self.base_passed if judged else None} if tests == "plus" else {}),
            "tests_passed": judged.tests_passed if judged else None,
            "tests_total": judged.tests_total if judged else None,
            "error": self.error,
            "message": judged.message if judged else self.trouble,
            "seconds": judged.seconds if judged else None,
            "tier": judged.isolation if judged else None,
            "shared": judged.shared if judged else None,
        }


class Grader:
    """Grades by a judge. Use it as a context manager: leaving it early gives up what has not been begun."""

    def __init__(
        self, judge: Judge, expectations: Expectations, workers: int, redact: Callable[[Verdict], Verdict]
    ) -> None:
        """``redact`` takes out of a verdict's texts what must not be written anywhere."""
        self._judge, self._redact = judge, redact
        self._expectations = expectations
        self._pool = ThreadPoolExecutor(workers, thread_name_prefix="grade")

    def __enter__(self) -> Grader:
        return self

    def __exit__(self, *_: object) -> None:
        self._pool.shutdown(cancel_futures=True)

    def suites(self, problems: Iterable[Problem], tests: TestKind) -> Iterator[tuple[str, Suites]]:
        """The test sets of each problem by its id, as they get ready. Raises as ``plus_tests``."""
        work = {self._pool.submit(self._suites, problem, tests): problem.id for problem in problems}
        for future in as_completed(work):
            yield work[future], future.result()

    def grade(self, samples: Sequence[Sample], suites: Mapping[str, Suites]) -> Iterator[Graded]:
        """Each sample as soon as it is graded, in any order. Raises DataError if tests are broken."""
        work = [self._pool.submit(self._grade, sample, suites[sample.problem.id]) for sample in samples]
        for future in as_completed(work):
            yield future.result()

    def _suites(self, problem: Problem, tests: TestKind) -> Suites:
        further = plus_tests(problem, self._expectations) if tests == "plus" else TestSet()
        return (problem.tests, further) if further else (problem.tests,)

    def _grade(self, sample: Sample, suites: Suites) -> Graded:
        verdicts: list[Verdict] = []
        try:
            for tests in suites:
                reached = all(verdict.passed for verdict in verdicts)
                verdicts.append(self._check(sample, tests) if reached else _not_run(tests))
        except SandboxError as error:
            return Graded(sample, None, trouble=str(error))
        return Graded(sample, joined(verdicts), base_passed=verdicts[0].passed)

    def _check(self, sample: Sample, tests: TestSet) -> Verdict:
        code = sample.program.code
        if code is None:
            return no_program(tests, "extraction")
        return self._redact(self._judge.check(sample.problem, code, tests))


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
    number = count_tests(tests.source)
    return Verdict("-" * number, (), False, None, "", 0.0, isolation="none", test_seconds=(0.0,) * number)
