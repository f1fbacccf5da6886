"""The judge as the rest of koderz knows it: programs go to workers, verdicts come back."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from koderz_core.errors import DataError, PlanError
from koderz_core.input_files import surrogate_in
from koderz_core.records import Cases, ErrorClass, Isolation, Observed, Problem, PublicProblem, TestSet, Verdict
from koderz_core.sandbox.in_place import looks_at_changes
from koderz_core.sandbox.requests import Answer, Order, Report, ask
from koderz_core.sandbox.tiers import number_of, spoken_of
from koderz_core.sandbox.workers import Worker, Workers

MOST_CHARACTERS = 1_000_000
"""Of a program. However they are written, they fit into one frame of the worker's wire, and to compile them takes
seconds and hundreds of megabytes."""
MOST_CALLS = 256  # of one probe: their longest answers fit into one answer of a worker


class BoxedJudge:
    """Judges programs in workers that persist: a judge's process with the tests and the verdict, a candidate's each.

    ``isolation`` is the tier, ``bwrap`` where bubblewrap is, which tier ``hardened`` needs. ``timeout_seconds`` is the
    time of one program on all its tests where these do not say another, as docs/tests.md has it, ``memory_bytes`` its
    address space, ``workers`` how many programs are judged at a time (one per core by default). Safe to use from
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
        # The judge's own process needs room for the answers that a program may inflate.
        make = partial(Worker, isolation, bwrap, 2 * memory_bytes)
        # Where programs can write files or start processes, one may leave something behind for the next.
        self._workers = Workers(make, workers or _cores(), used_once=isolation == "limited")
        self._canonical: dict[
            tuple[str, str, Cases | None, bool], Answer
        ] = {}  # by solution, tests and whether they run beside it; the same whoever computes it

    def check(self, problem: Problem, code: str, tests: TestSet) -> Verdict:
        """What comes of running ``code``, after the problem's preamble, on ``tests``.

        What no program may choose for itself, the canonical solution decides: that the tests are broken, that they
        need values that cannot cross (they run in the program's own process then), and which of them look at what is
        changed in place in arguments. All others a program that changes its arguments has to pass with the tests' own
        objects unchanged, too, else it could empty what it is compared with; of one that its tests run beside, nobody
        can tell whether it changes them, so each is run twice. Where there is no solution, tests are taken to be broken
        as it seems, and to look at arguments as ``in_place`` reads them; they run beside the program only if they say
        so.

        A program that cannot be run, since it is too long or UTF-8 cannot encode it, has failed. Raise DataError if the
        tests are broken or too large, SandboxError if programs cannot be run here or workers were lost.
        """
        if unfit := _unfit(code):
            return Verdict("-" * number_of(tests), (), False, *unfit, 0.0, self.isolation)
        order = self._order(problem, code, tests)
        answer = ask(self._workers, order)
        if answer.report is None:
            return self._without_report(problem, tests, order, answer)
        report = answer.report
        if report.stuck and self._needs_sharing(problem, tests):
            report = ask(self._workers, replace(order, shared=True)).report or report
        verdict = report.verdict(self.isolation)
        if verdict.passed and (report.changed or report.shared):
            return self._without_changes(problem, tests, replace(order, shared=report.shared), verdict)
        return verdict

    def probe(self, problem: PublicProblem, code: str, calls: Sequence[str]) -> tuple[Observed, ...]:
        """What ``calls`` give, at most ``MOST_CALLS`` expressions in the names of ``code``, one after the other.

        They share one process and one time limit: what ends it is the answer to all that follow. Raise SandboxError as
        ``check``, and PlanError for too many calls.
        """
        if len(calls) > MOST_CALLS:
            raise PlanError(f"A probe takes at most {MOST_CALLS} calls, not {len(calls)}: make it several.")
        if unfit := _unfit(code):
            return tuple(Observed(call, None, *unfit) for call in calls)
        seconds = self._timeout_seconds
        order = Order(
            problem.id, problem.preamble, code, "", problem.entry_point, seconds, self._memory_bytes, calls=calls
        )
        answer = ask(self._workers, order)
        if answer.stalled:
            return tuple(Observed(call, None, "timeout", _STALLED) for call in calls)
        seen = zip(calls, answer.observed, strict=True)
        return tuple(Observed(call, one.value, one.error, one.message) for call, one in seen)

    def close(self) -> None:
        """End every worker now; who waits for one, and whoever asks later, gets a SandboxError. Idempotent."""
        self._workers.close()

    def _order(self, problem: Problem, code: str, tests: TestSet) -> Order:
        public, seconds = problem.public, tests.seconds or self._timeout_seconds
        names = [] if tests.cases else spoken_of(problem, tests.source)
        texts = (problem.id, public.preamble, code, tests.source, public.entry_point)
        return Order(*texts, seconds, self._memory_bytes, names, shared=tests.shared, cases=tests.cases)

    def _without_report(self, problem: Problem, tests: TestSet, order: Order, answer: Answer) -> Verdict:
        if answer.broken and not self._of_canonical(problem, tests).report:
            raise DataError(f"The tests of {problem.id} are broken: {answer.broken}. Mend or remove that problem.")
        marks = "-" * number_of(tests)
        if answer.broken:
            message = f"the tests cannot be run on it: {answer.broken}"
            return Verdict(marks, (), False, "exception", message, 0.0, self.isolation)
        return Verdict(marks, (), False, "timeout", _STALLED, order.seconds, self.isolation)

    def _needs_sharing(self, problem: Problem, tests: TestSet) -> bool:
        report = self._of_canonical(problem, tests).report
        return report is not None and report.stuck

    def _without_changes(self, problem: Problem, tests: TestSet, order: Order, passed: Verdict) -> Verdict:
        """``passed``, unless the program fails a test only because the tests' own objects stay as they are."""
        answer = ask(self._workers, replace(order, mirrors=False))
        if answer.report is None:
            return self._without_report(problem, tests, order, answer)
        if self._fails_rightly(problem, replace(tests, shared=order.shared), answer.report):
            return passed
        verdict = answer.report.verdict(self.isolation)
        return replace(verdict, message=f"{verdict.message} ({_ON_COPIES})")

    def _fails_rightly(self, problem: Problem, tests: TestSet, unchanged: Report) -> bool:
        """Whether what it fails with the tests' own objects unchanged are tests that look at their changes."""
        canonical, marks = self._of_canonical(problem, tests).report, unchanged.outcome.marks
        if canonical:
            complete = unchanged.completed or not canonical.completed
            looks = [mark != "P" for mark in canonical.outcome.marks]
        else:
            complete = unchanged.completed and "-" not in marks
            looks = list(looks_at_changes(tests.source, problem.public.entry_point))
        return complete and all(mark == "P" or may for mark, may in zip(marks, looks, strict=True))

    def _of_canonical(self, problem: Problem, tests: TestSet) -> Answer:
        """What came of the canonical solution, with the tests' own objects unchanged; no report where there is none."""
        key = (problem.canonical_solution, tests.source, tests.cases, tests.shared)
        if not problem.canonical_solution:
            return Answer()
        if key not in self._canonical:
            order = self._order(problem, problem.canonical_solution, tests)
            self._canonical[key] = ask(self._workers, replace(order, mirrors=False))
        return self._canonical[key]


_ON_COPIES = "judged with copies of the arguments; it passes only with the tests' own objects"
_STALLED = "what it returned could not be dealt with in time"


def _unfit(code: str) -> tuple[ErrorClass, str] | None:
    """Why a program has failed without being run: the class of error and the message. None: it can be run."""
    if len(code) > MOST_CHARACTERS:
        return "memory", f"the program has {len(code):,} characters, at most {MOST_CHARACTERS:,} are run"
    if fault := surrogate_in(code):
        return "syntax", f"Python source has no such text: {fault}"
    return None


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
