"""Grading of programs: the sandbox, the tests of a problem, masked verdicts, and problems that cannot be graded.

A problem that no program could pass on this machine is refused before a model is called.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

from koderz_core.analysis.rates import Rate, wilson
from koderz_core.bundles.creation import require_own
from koderz_core.config import Settings
from koderz_core.datasets.evalplus import arguments_of
from koderz_core.datasets.own_problems import keep
from koderz_core.datasets.sources import lacking, require_libraries
from koderz_core.errors import DataError, InfrastructureError, KoderzError, SandboxError
from koderz_core.grading.canonical import Canonical, Expectations
from koderz_core.grading.gates import EXAMPLES, FEEDBACKS, GATES
from koderz_core.grading.grader import Graded, Grader, Reading, Sample, TestKind, read_samples, require_sound
from koderz_core.grading.own_tests import problem_of, require_solved, typed_row
from koderz_core.grading.problem_tests import Divider
from koderz_core.grading.testsets import Split, TestPolicy
from koderz_core.protocols import Judge
from koderz_core.records import ErrorClass, Extracted, Plan, Problem, ProgramRun, Verdict
from koderz_core.report.formats import plain
from koderz_core.runner.recorder import Redactor
from koderz_core.sandbox.judge import BoxedJudge
from koderz_core.sandbox.local_judge import Sandbox
from koderz_core.sandbox.reference import answers
from koderz_core.sandbox.repository.toolbox import toolbox
from koderz_core.sandbox.tiers import number_of
from koderz_core.workspace.datasets import Datasets
from koderz_core.workspace.engines import Engines

__all__ = [
    "FEEDBACKS",
    "GATES",
    "CheckedSolution",
    "Graded",
    "Grading",
    "Rate",
    "Reading",
    "Sample",
    "TestKind",
    "Watch",
    "gate_remarks",
    "grading_needs",
    "pass_rate",
    "read_samples",
    "require_gradable",
    "require_sound",
]

LONGEST = 8000  # characters of a list in a remark

_UNDECIDED: frozenset[ErrorClass | None] = frozenset({None, "syntax", "timeout", "memory"})
"""Errors that a right program may end with as an example: it is slow, or its parts do not fit together."""
_LOG = logging.getLogger("koderz")
_SHOWN = 5


Watch = Callable[[Iterator[Any], int, str], Iterator[Any]]  # Any: whatever is counted
"""Passes on what it iterates over; it also receives the number of items and the name of the stage."""


def iter_only(items: Iterator[Any], _length: int, _stage: str) -> Iterator[Any]:
    """Yield the items without showing any progress."""
    return items


@dataclass(frozen=True, slots=True)
class CheckedSolution:
    """The result of a problem's canonical solution; ``passed`` None: it has none. ``message`` may be hostile."""

    problem: str
    passed: bool | None
    message: str = ""


class Grading:
    """Grades programs. Opens the sandbox only if a program has to run; cached results need no sandbox."""

    def __init__(self, settings: Settings, datasets: Datasets) -> None:
        self._settings, self._datasets = settings, datasets
        self.sandbox = Sandbox(settings.sandbox, settings.bwrap, settings.test_timeout)
        self.redactor = Redactor(settings.secrets())
        self.canonical = Canonical(settings.cache_dir / "canonical", self.sandbox.judge)
        self._divider = Divider(self.canonical, self.expectations)
        self.gate = self._divider.gate
        self.divide = self._divider.divide
        self.close = self.sandbox.close

    @property
    def judge(self) -> BoxedJudge:
        """Return the judge of programs. Raises SandboxError if no sandbox works on this machine."""
        return self.sandbox.judge()

    def grade(self, program: str, tests: Problem | str) -> Verdict:
        """Run a program on a problem's tests, or on asserts given as text.

        Raises DataError if the text has no tests, SandboxError if the program could not be judged.
        """
        problem = problem_of(tests) if isinstance(tests, str) else tests
        return self.redactor.verdict(self.judge.check(problem, program, problem.tests))

    def run(self, program: str, given: str, seconds: float) -> ProgramRun:
        """Run a whole program with ``given`` as standard input, without a verdict. Raises SandboxError."""
        return self.redactor.run(self.judge.run(program, given, seconds))

    def grader(self, workers: int, judge: Judge | None = None) -> Grader:
        """Return a grader of many samples, ``workers`` at a time. ``judge`` None: that of this machine.

        Raises SandboxError.
        """
        return Grader(judge or self.judge, self.divide, workers, self.redactor.verdict, self.policy)

    def grade_samples(
        self,
        samples: Sequence[Sample],
        tests: TestKind,
        workers: int,
        watch: Watch = iter_only,
        engine: str = "local",
    ) -> list[Graded]:
        """Return the result of each sample, in the order of their lines. ``watch`` shows the progress of both stages.

        ``engine``: where programs run, as for benchmarks.

        Raises UsageError for a problem without plus tests, DataError for a problem that cannot be graded, SandboxError.
        """
        problems = {sample.problem.id: sample.problem for sample in samples}
        self.require_gradable(problems.values())
        with self.judging(workers, engine) as judge, self.grader(workers, judge) as grader, self.ending_programs():
            ready = dict(watch(grader.tests(problems.values(), tests), len(problems), "Tests"))
            found = list(watch(grader.grade(samples, ready), len(samples), "Samples"))
        return sorted(found, key=lambda graded: graded.sample.line)

    def judging(self, workers: int, engine: str) -> AbstractContextManager[Judge]:
        """Return the judge of programs at an engine. Raises UsageError, SandboxError, InfrastructureError."""
        tier = self.sandbox.self_test().isolation
        return Engines(self._settings).judging(engine, workers, tier, self.judge)

    @contextmanager
    def ending_programs(self) -> Iterator[None]:
        """End all running programs if the process is stopped: their threads would wait for them.

        After an error, running benchmarks of this process still need the judge.
        """
        try:
            yield
        except (KeyboardInterrupt, SystemExit):
            self.judge.close()
            raise

    def require_gradable(self, problems: Iterable[Problem]) -> None:
        """Raise DataError if no program could pass one of these problems on this machine. May raise SandboxError."""
        require_gradable(problems, lambda problem: self.judge.check(problem, problem.canonical_solution, problem.tests))

    def lacking_for_repositories(self) -> str:
        """Return why the tests of repositories cannot run on this machine, and what to do; empty if they can."""
        try:
            toolbox()
        except SandboxError as error:
            return str(error)
        return ""

    def keep_problem(self, prompt: str, tests: str, solution: str = "") -> str:
        """Store a problem that a user typed as a separate dataset, and return its name, ``typed-...``.

        The same text gives the same name. Raises DataError, also if the solution fails the tests; SandboxError;
        UsageError if the data folder shows a bundle.
        """
        require_own(self._settings.home)
        row = require_solved(typed_row(prompt, tests, solution), self.grade)
        return keep(row, self._settings).origin.name

    def check_solutions(self, problems: Sequence[Problem]) -> Iterator[CheckedSolution]:
        """Run each problem's canonical solution on its base and plus tests, and yield the results in order.

        Raises SandboxError.
        """
        workers = os.cpu_count() or 1
        with self.grader(workers) as grader, ThreadPoolExecutor(workers) as pool:
            yield from pool.map(lambda problem: _checked(grader, problem), problems)

    def may_solve(self, problem: Problem, program: str) -> bool:
        """Whether a program passes the base tests of a problem, or whether its run does not show a wrong answer.

        Plus tests do not run, because a program that passes the base tests is already close to a solution.
        """
        try:
            tests = self.divide(problem, self.policy)
            assert isinstance(tests, Split), "the gate of every problem can consist of all base tests"
            verdict = self.judge.check(problem, program, tests.base)
        except InfrastructureError as error:
            _LOG.warning(
                "An example program was left out of the coder's prompt, because koderz could not run the tests of %s "
                "on this program: %s",
                problem.id,
                error,
            )
            return True
        return verdict.passed or verdict.error in _UNDECIDED

    def remarks(self, plan: Plan) -> Iterator[str]:
        """Describe in sentences the problems and examples that the gates of a plan omit.

        Raises UnknownNameError, DataError, SandboxError.
        """
        yield from gate_remarks(plan)
        if not any(configuration.gate == EXAMPLES for configuration in plan.configurations):
            return
        dataset = self._datasets.load(plan.dataset.name)
        chosen = [problem for problem in dataset.problems if problem.id in set(plan.problems)]
        untrue = [f"{problem.id}: {example}" for problem in chosen for example in self._divider.untrue(problem)]
        if untrue:
            listed = plain("; ".join(untrue), LONGEST)
            yield f"Examples left out of the gate, because the canonical solution fails them: {len(untrue)} ({listed})."

    @property
    def policy(self) -> TestPolicy:
        """All base tests, under the time limit of the settings."""
        own = self._settings.test_timeout if "test_timeout" in self._settings.stated else None
        return TestPolicy(seconds=own, by_canonical=own is None, each_limited=own is None)

    def expectations(self) -> Expectations:
        """The answers of canonical solutions. Raises SandboxError if this machine has no sandbox."""
        reference = partial(answers, boxed=self.judge.isolation != "limited")
        return Expectations(self._settings.cache_dir / "expected", reference)


def gate_remarks(plan: Plan) -> Iterator[str]:
    """Describe in a sentence the chosen problems that the plan omits because they have no gate."""
    if not plan.outside:
        return
    reasons: dict[str, list[str]] = {}
    for name, reason in plan.outside.items():
        reasons.setdefault(reason, []).append(name)
    listed = plain("; ".join(f"{reason}: {', '.join(names)}" for reason, names in reasons.items()), LONGEST)
    chosen = len(plan.outside) + len(plan.problems)
    yield f"Problems left out for all configurations: {len(plan.outside)} of {chosen} ({listed})."


def require_gradable(problems: Iterable[Problem], check: Callable[[Problem], Verdict]) -> None:
    """Raise DataError if problems that need modules cannot be graded on this machine. Ignores other problems.

    Programs run without files, network and other processes, so some of these problems have no correct solution there.
    ``check`` runs the publisher's solution.
    """
    chosen = [problem for problem in problems if problem.needs or problem.obstacle]
    require_libraries(chosen)
    failed = {problem.id: verdict.message for problem in chosen if not (verdict := check(problem)).passed}
    if not failed:
        return
    shown = "; ".join(f"{name} ({message[:120]})" for name, message in list(failed.items())[:_SHOWN])
    raise DataError(
        "Chosen problems that cannot be graded on this machine, because their published solutions fail: "
        f"{len(failed)}. Failures: {shown}{'; …' if len(failed) > _SHOWN else ''}. koderz runs programs without "
        "access to files, the network or other processes. To continue, omit these problems from your selection: "
        f"{', '.join(failed)}."
    )


def grading_needs(problem: Problem) -> dict[str, object]:
    """Return the number of tests of a problem, and what its grading lacks. None: the problem has no plus tests."""
    return {
        "tests": number_of(problem.tests),
        "plus_tests": len(arguments_of(problem.plus)) if problem.plus else None,
        "lacks": lacking(problem),
        "obstacle": problem.obstacle,
    }


def pass_rate(graded: Sequence[Graded]) -> Rate:
    """Return the share of programs that passed, among the programs that could be judged."""
    verdicts = [program.verdict for program in graded if program.verdict]
    return wilson(sum(verdict.passed for verdict in verdicts), len(verdicts))


def _checked(grader: Grader, problem: Problem) -> CheckedSolution:
    if not problem.canonical_solution:
        return CheckedSolution(problem.id, None)
    program = Extracted(problem.canonical_solution, "solution")
    try:
        tests = dict(grader.tests([problem], "plus" if problem.plus else "base"))
        (graded,) = grader.grade([Sample(1, problem, program, {})], tests)
    except KoderzError as error:  # of this problem; the others are checked too
        return CheckedSolution(problem.id, False, str(error))
    verdict = graded.verdict
    passed, message = verdict is not None and verdict.passed, verdict.message if verdict else graded.trouble
    return CheckedSolution(problem.id, passed, message)
