"""The judge, which the rest of koderz uses: it sends programs to workers and returns verdicts."""

from __future__ import annotations

import os
import re
import threading
import time
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from koderz_core.errors import DataError, PlanError
from koderz_core.input_files import surrogate_in
from koderz_core.python_parser import literal
from koderz_core.records import (
    Cases,
    ErrorClass,
    Isolation,
    Observed,
    Problem,
    ProgramRun,
    PublicProblem,
    TestSet,
    Verdict,
)
from koderz_core.sandbox.in_place import looks_at_changes
from koderz_core.sandbox.inside.whole_program import MOST_SHOWN, TRANSCRIPT
from koderz_core.sandbox.modules import Modules
from koderz_core.sandbox.requests import Answer, Evaluation, Order, Report, ask
from koderz_core.sandbox.tiers import names_used, number_of
from koderz_core.sandbox.workers import Worker, Workers

if TYPE_CHECKING:
    from koderz_core.sandbox.repository.judge import RepositoryJudge

MOST_CHARACTERS = 1_000_000
"""Length limit of a program. In any encoding it fits into one frame of the worker's wire. To compile it takes seconds
and hundreds of megabytes."""
MOST_CALLS = 256  # of one probe: their longest answers fit into one answer of a worker


class BoxedJudge:
    """Judges programs in persistent workers. A worker's judge process runs the tests; each program has its own process.

    ``isolation`` is the tier and ``bwrap`` the path of bubblewrap, which tier ``hardened`` needs. ``timeout_seconds``
    limits one program on a test set without its own limit (docs/tests.md), and ``memory_bytes`` its address space.
    ``workers`` is the number of programs that are judged concurrently, by default one per core. Safe to use from
    several threads.
    """

    def __init__(
        self,
        isolation: Isolation,
        bwrap: str | None = None,
        *,
        timeout_seconds: float = 10.0,
        memory_bytes: int = 1 << 30,
        workers: int | None = None,
    ) -> None:
        self.isolation = isolation
        self._timeout_seconds, self._memory_bytes = timeout_seconds, memory_bytes
        # The judge's own process needs memory for the answers that a program may inflate.
        make = partial(Worker, isolation, bwrap, 2 * memory_bytes)
        # At tier limited a program can write files and start processes, and so affect the next one.
        self._workers = Workers(make, workers or _cores(), used_once=isolation == "limited")
        # By solution, tests, whether they share its process, and mirrors. Two threads may compute the same answer.
        self._modules = Modules(partial(ask, self._workers), isolation)
        self._canonical: dict[tuple[str, str, Cases | None, bool, bool], Answer] = {}
        self._bwrap, self._limit = bwrap, workers or _cores()
        self._guard = threading.Lock()  # guards the judge of repositories
        self._repositories: RepositoryJudge | None = None
        self._closed = False

    def check(self, problem: Problem, code: str, tests: TestSet) -> Verdict:
        """The verdict of running ``code``, after the problem's preamble, on ``tests``.

        The canonical solution decides what no program may decide for itself: whether the tests are broken, whether they
        must run in the program's own process (``_need_its_process``), and which tests examine arguments that are
        changed in place. A program that changes its arguments must pass all other tests with the tests' own
        objects unchanged as well, because it could otherwise empty the values that it is compared with. Tests in the
        program's own process are always run twice, since changes cannot be detected there.

        A module is judged in this way if its canonical solution passes so. Otherwise, or without a canonical solution,
        its tests run in the program's own process, and it must fail twins of them (``modules``).

        Without a canonical solution, tests that seem broken count as broken, and ``in_place`` finds the tests that
        examine arguments. A program that cannot be run, because it is too long or UTF-8 cannot encode it, has failed.
        Raises DataError if the tests are broken or too large, SandboxError if programs cannot be run here or workers
        were lost.
        """
        if unfit := _unfit(code):
            return Verdict("-" * number_of(tests), (), False, *unfit, 0.0, self.isolation)
        if problem.repository:
            return self.repositories.check(problem, code, tests)
        return self._of_program(problem, code, tests)

    def _of_program(self, problem: Problem, code: str, tests: TestSet) -> Verdict:
        order = self._order(problem, code, tests)
        if order.kind == "module" and not tests.cases and self._modules.is_shared(problem, tests, order):
            found = self._modules.verdict(problem, tests, replace(order, shared=True))
            return found if isinstance(found, Verdict) else self._without_report(problem, tests, order, found)
        answer = ask(self._workers, order)
        apart = order.kind in ("function", "repair") and not (order.shared or tests.cases)
        if apart and self._is_doubtful(answer) and self._need_its_process(problem, tests, answer):
            beside = ask(self._workers, replace(order, shared=True))
            answer = beside if beside.report else answer
        if answer.report is None:
            return self._without_report(problem, tests, order, answer)
        report = answer.report
        verdict = report.verdict(self.isolation)
        if verdict.passed and (report.changed or report.shared):
            verdict = self._without_changes(problem, tests, replace(order, shared=report.shared), verdict)
        if order.kind != "module" or tests.cases:
            return verdict
        if not verdict.passed:
            return self._modules.beside(problem, tests, order, verdict)
        return self._modules.confirmed(problem, tests, order, verdict, opined=report.opined)

    def _is_doubtful(self, answer: Answer) -> bool:
        """Whether a program has failed or its tests seem broken: perhaps the tests need the program's own process."""
        if answer.report is None:
            return bool(answer.broken)
        return answer.report.error != "timeout" and not answer.report.verdict(self.isolation).passed

    def _need_its_process(self, problem: Problem, tests: TestSet, answer: Answer) -> bool:
        """Whether asserts about a function must run in the process of the program, which never decides this alone.

        They must if the canonical solution meets values that cannot cross, or passes more tests in its own process.
        Without a canonical solution, they must if both the program of the ``answer`` and a program whose functions
        return None meet such values. The second program meets only values that the tests create.
        """
        if not problem.canonical_solution:
            empty = replace(problem, canonical_solution=_returning_none(problem.public))
            return _is_stuck(answer) and _is_stuck(self._of_canonical(empty, tests, mirrors=True))
        apart = self._of_canonical(problem, tests, mirrors=True)
        if _is_stuck(apart):
            return True
        if not self._is_doubtful(apart):
            return False
        beside = self._of_canonical(problem, replace(tests, shared=True), mirrors=True).report
        passed = apart.report.marks.count("P") if apart.report else 0
        return beside is not None and beside.marks.count("P") > passed

    def probe(self, problem: PublicProblem, code: str, calls: Sequence[str]) -> tuple[Observed, ...]:
        """The values of ``calls``: at most ``MOST_CALLS`` expressions over the names of ``code``, evaluated in order.

        They share one process and one time limit. If the process ends, the reason is the answer to all further calls.
        Raises SandboxError as ``check``, and PlanError for too many calls.
        """
        if len(calls) > MOST_CALLS:
            raise PlanError(
                f"probe() accepts at most {MOST_CALLS} expressions per call, not {len(calls)}. Call probe() several "
                "times."
            )
        if unfit := _unfit(code):
            return tuple(Observed(call, None, *unfit) for call in calls)
        if problem.kind == "repo":
            return tuple(Observed(call, None, "exception", _NO_CALLS) for call in calls)
        seconds = self._timeout_seconds
        texts = (problem.id, problem.preamble, code, "", problem.entry_point)
        order = Order(*texts, seconds, self._memory_bytes, calls=calls, kind=problem.kind)
        answer = ask(self._workers, order)
        if answer.stalled:
            return tuple(Observed(call, None, "timeout", _STALLED) for call in calls)
        values = zip(calls, answer.observed, strict=True)
        return tuple(Observed(call, value.value, value.error, value.message) for call, value in values)

    def run(self, code: str, given: str, seconds: float) -> ProgramRun:
        """What a whole program does with ``given`` as standard input. It is no verdict. Raises SandboxError."""
        if unfit := _unfit(code) or _unfit(given):
            return ProgramRun("", 1, *unfit, 0.0)
        call = f"{TRANSCRIPT}({given!r})"
        texts = ("run/program", "", code, "", "run")
        order = Order(
            *texts, seconds, self._memory_bytes, calls=[call], kind="program", most_characters=_MOST_TRANSCRIPT
        )
        began = time.monotonic()
        answer = ask(self._workers, order)
        taken = time.monotonic() - began
        if answer.stalled:
            return ProgramRun("", 1, "timeout", _STALLED, taken)
        (found,) = answer.observed
        return _transcribed(found, taken)

    @property
    def repositories(self) -> RepositoryJudge:
        """The judge of problems with a repository, at the same tier."""
        from koderz_core.sandbox.repository.judge import RepositoryJudge  # noqa: PLC0415 (few benchmarks need it)

        with self._guard:
            if self._repositories is None:
                self._repositories = RepositoryJudge(self.isolation, self._bwrap, workers=self._limit)
                if self._closed:
                    self._repositories.close()
            return self._repositories

    def close(self) -> None:
        """End every worker now. Waiting and later calls raise SandboxError. Idempotent."""
        with self._guard:
            self._closed = True
            if self._repositories:
                self._repositories.close()
        self._workers.close()

    def _order(self, problem: Problem, code: str, tests: TestSet) -> Order:
        public, seconds = problem.public, tests.seconds or self._timeout_seconds
        names = [] if tests.cases else names_used(problem, tests.source)
        texts = (problem.id, public.preamble, code, tests.source, public.entry_point)
        order = Order(*texts, seconds, self._memory_bytes, names, shared=tests.shared, cases=tests.cases)
        return replace(order, kind=public.kind, file=public.file)

    def _without_report(self, problem: Problem, tests: TestSet, order: Order, answer: Answer) -> Verdict:
        if answer.broken and not self._of_canonical(problem, tests).report:
            raise DataError(f"The tests of {problem.id} are broken: {answer.broken}. Fix or remove that problem.")
        marks = "-" * number_of(tests)
        if answer.broken:
            message = f"the tests cannot be run on it: {answer.broken}"
            return Verdict(marks, (), False, "exception", message, 0.0, self.isolation)
        return Verdict(marks, (), False, "timeout", _STALLED, order.seconds, self.isolation)

    def _without_changes(self, problem: Problem, tests: TestSet, order: Order, passed: Verdict) -> Verdict:
        """``passed``, unless a test that does not examine changes fails with the tests' own objects unchanged."""
        answer = ask(self._workers, replace(order, mirrors=False))
        if answer.report is None:
            return self._without_report(problem, tests, order, answer)
        if self._may_fail(problem, replace(tests, shared=order.shared), answer.report):
            return passed
        verdict = answer.report.verdict(self.isolation)
        return replace(verdict, message=f"{verdict.message} ({_ON_COPIES})")

    def _may_fail(self, problem: Problem, tests: TestSet, unchanged: Report) -> bool:
        """Whether only tests that examine changes of arguments fail with the tests' own objects unchanged."""
        canonical, marks = self._of_canonical(problem, tests).report, unchanged.marks
        if canonical and canonical.error != "timeout":  # on a busy machine, it shows nothing
            complete = unchanged.completed or not canonical.completed
            looks = [mark != "P" for mark in canonical.marks]
        else:
            complete = unchanged.completed and "-" not in marks
            looks = list(looks_at_changes(tests.source, problem.public.entry_point)) or [False] * len(marks)
        return complete and all(mark == "P" or may for mark, may in zip(marks, looks, strict=True))

    def _of_canonical(self, problem: Problem, tests: TestSet, *, mirrors: bool = False) -> Answer:
        """The answer for the canonical solution; empty without one. ``mirrors``: as in ``inside.trial.Order``.

        An answer that exceeded the time limit is not kept: the machine may have been busy.
        """
        key = (problem.canonical_solution, tests.source, tests.cases, tests.shared, mirrors)
        if not problem.canonical_solution:
            return Answer()
        if key in self._canonical:
            return self._canonical[key]
        order = self._order(problem, problem.canonical_solution, tests)
        answer = ask(self._workers, replace(order, mirrors=mirrors))
        if not answer.stalled and not (answer.report and answer.report.error == "timeout"):
            self._canonical[key] = answer
        return answer


def _transcribed(found: Evaluation, seconds: float) -> ProgramRun:
    """The run behind the value of a transcript, which the program may have forged: it describes only itself."""
    if found.value is None:
        return ProgramRun("", 1, found.error, found.message, seconds)
    try:
        output, note = literal(found.value)
        assert isinstance(output, str)
        assert isinstance(note, str)
    except (ValueError, SyntaxError, TypeError, AssertionError, RecursionError, MemoryError):
        return ProgramRun("", 1, "exception", "the program's process did not report its output", seconds)
    code = _EXIT_CODE.search(note)
    return ProgramRun(output, int(code[1]) if code else int(bool(note)), "exception" if note else None, note, seconds)


_EXIT_CODE = re.compile(r"the program ended with exit code (\d{1,9})$")
_MOST_TRANSCRIPT = 10 * MOST_SHOWN + 1000  # no character of a Python literal takes more than ten
_ON_COPIES = "judged with copies of the arguments; it passes only with the tests' own objects"
_NO_CALLS = "a patch of a repository has no function that could be called"
_STALLED = "what it returned could not be dealt with in time"


def _unfit(code: str) -> tuple[ErrorClass, str] | None:
    """Why a program fails without being run: the class of the error and the message. None if it can be run."""
    if len(code) > MOST_CHARACTERS:
        return "memory", f"the program has {len(code):,} characters, at most {MOST_CHARACTERS:,} are run"
    if fault := surrogate_in(code):
        return "syntax", f"Python source has no such text: {fault}"
    return None


def _is_stuck(answer: Answer) -> bool:
    """Whether the tests met a value that cannot cross."""
    return answer.report is not None and answer.report.stuck


def _returning_none(problem: PublicProblem) -> str:
    names = (problem.entry_point, *problem.names)
    return "".join(f"def {name}(*arguments, **named): return None\n" for name in names)


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
