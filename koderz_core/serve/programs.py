"""Grades the programs of requests with the workspace's grader, whose workers stay warm between requests."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache, partial

from koderz_core.errors import DataError, KoderzError, RequestError, UnknownNameError
from koderz_core.grading.grader import Graded, Grader, Sample, TestKind, as_program
from koderz_core.grading.own_tests import problem_of
from koderz_core.grading.testsets import Split
from koderz_core.records import Problem, ProgramRun
from koderz_core.serve.records import GradeResult, RunCodeRequest, SentProgram
from koderz_core.serve.work import Queue
from koderz_core.workspace import Workspace

ALIASES: Mapping[str, str] = {"humaneval_python": "humaneval"}
"""SandboxFusion's names of datasets that koderz has under another name."""
_MOST_SHOWN = 3  # invalid programs in a message


@dataclass(frozen=True, slots=True)
class Target:
    """A problem and the tests that a program must pass."""

    problem: Problem
    tests: Split

    @property
    def kind(self) -> TestKind:
        return "plus" if self.tests.plus else "base"


class Programs:
    """Grades and runs programs. The methods that are not ``async`` may be called from any thread.

    Tests that a client sent run in workers of that client only: tests, unlike programs, can change their worker.
    """

    def __init__(self, workspace: Workspace, grader: Grader, queue: Queue) -> None:
        self._datasets, self._grading = workspace.datasets, workspace.grading
        self._grader, self._queue = grader, queue
        self._problems = lru_cache(8)(self._load)
        self._targets = lru_cache(4096)(self._target)
        self._own = lru_cache(128)(self._own_target)

    async def grade(self, client: str, programs: tuple[SentProgram, ...]) -> list[Graded]:
        """One result per program, in their order. Raises RequestError if a program, its tests or problem is invalid."""
        jobs = [partial(self._grade, client, place, sent) for place, sent in enumerate(programs)]
        results = await self._queue.run(client, jobs)
        faults = [(place, error) for place, error in enumerate(results) if isinstance(error, Exception)]
        if not faults:
            return [result for result in results if isinstance(result, Graded)]
        if bug := next((error for _, error in faults if not isinstance(error, KoderzError)), None):
            raise bug
        shown = " ".join(f"programs[{place}]: {error}" for place, error in faults[:_MOST_SHOWN])
        raise RequestError(f"{len(faults)} of {len(programs)} programs cannot be graded. {shown}")

    async def run(self, client: str, order: RunCodeRequest) -> ProgramRun:
        """Run a whole program. Raises SandboxError."""
        job = partial(self._grading.run, order.code, order.stdin or "", order.run_timeout)
        (result,) = await self._queue.run(client, [job])
        if isinstance(result, Exception):
            raise result
        return result

    def target(self, client: str, sent: SentProgram) -> Target:
        """The tests of a program. Raises DataError, UnknownNameError, SandboxError."""
        if sent.dataset:
            return self._targets(ALIASES.get(sent.dataset, sent.dataset), sent.problem)
        return self._own(sent.tests, sent.seconds, client)

    def _grade(self, client: str, place: int, sent: SentProgram) -> Graded:
        target = self.target(client, sent)
        program = as_program(sent.kind, sent.text, target.problem)
        sample = Sample(place + 1, target.problem, program, {"id": sent.id})
        try:
            return self._grader.grade_one(sample, target.tests)
        except DataError as error:  # perhaps caused by the program, so it must not end the request
            return Graded(sample, None, trouble=str(error))

    def _load(self, name: str) -> dict[str, Problem]:
        names = self._datasets.names()
        if name.partition(",")[0] not in names:  # never the path of a file
            raise UnknownNameError("dataset", name, names)
        return {problem.id: problem for problem in self._datasets.load(name).problems}

    def _target(self, dataset: str, name: str) -> Target:
        problems = self._problems(dataset)
        found = problems.get(name) or next((p for key, p in problems.items() if key.rpartition("/")[2] == name), None)
        if found is None:
            raise UnknownNameError("problem", name, problems)
        self._grading.require_gradable([found])
        return Target(found, self._grader.tests_of(found, "plus" if found.plus else "base"))

    def _own_target(self, tests: str, seconds: float | None, client: str) -> Target:
        problem = problem_of(tests, f"tests of {client}/program")
        limited = replace(problem.tests, seconds=seconds)
        return Target(replace(problem, tests=limited), Split(limited, limited))


def result_of(graded: Graded) -> GradeResult:
    """The result of one program, with the fields of ``koderz grade --out``."""
    row = graded.row("base")
    return GradeResult(**{**row, "id": str(row["id"])})
