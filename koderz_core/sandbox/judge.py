"""The judge as the rest of koderz knows it: programs go to workers, verdicts come back."""

from __future__ import annotations

import ast
import os
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache, partial

import msgspec

from koderz_core.errors import DataError, PlanError, SandboxError
from koderz_core.records import (
    ErrorClass,
    Isolation,
    Observed,
    Problem,
    PublicProblem,
    TestFailure,
    TestSet,
    Verdict,
)
from koderz_core.sandbox.worker import LostError, Worker
from koderz_core.sandbox.workers import Workers

GRACE_SECONDS = 5.0
"""How much later than the judge's own deadline the host ends a worker, in seconds."""
MOST_CALLS = 256  # of one probe: their longest answers fit into one answer of a worker


class BoxedJudge:
    """Judges programs in workers that persist: a judge's process with the tests and the verdict, a candidate's each.

    ``isolation`` is the tier, ``bwrap`` where bubblewrap is, which tier ``hardened`` needs. ``timeout_seconds`` is the
    wall time of one program on all its tests where these do not say another, ``memory_bytes`` its address space,
    ``workers`` how many programs are judged at a time (one per core by default). Safe to use from several threads.
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

    def check(self, problem: Problem, code: str, tests: TestSet) -> Verdict:
        """What comes of running ``code``, after the problem's preamble, on ``tests``.

        A program that changes its arguments in place has to pass with the tests' own objects changed and unchanged,
        else it could empty what it is compared with; unless the canonical solution passes by such changes only.
        Raise DataError if the tests are broken, whatever the program does, and SandboxError if programs cannot be run
        here or two workers in a row were lost.
        """
        report = self._report(problem, code, tests)
        if report.changed and report.verdict(self.isolation).passed:
            unchanged = self._report(problem, code, tests, mirrors=False)
            if not unchanged.verdict(self.isolation).passed and not self._is_to_change(problem, tests):
                report = unchanged
        return report.verdict(self.isolation)

    def probe(self, problem: PublicProblem, code: str, calls: Sequence[str]) -> tuple[Observed, ...]:
        """What ``calls`` give, at most ``MOST_CALLS`` expressions in the names of ``code``, one after the other.

        They share one process and one time limit: what ends it is the answer to all that follow. Raise SandboxError as
        ``check``, and PlanError for too many calls.
        """
        if len(calls) > MOST_CALLS:
            raise PlanError(f"A probe takes at most {MOST_CALLS} calls, not {len(calls)}: make it several.")
        seen = self._ask(problem, code, TestSet(), calls=calls).observed
        return tuple(Observed(call, one.value, one.error, one.message) for call, one in zip(calls, seen, strict=True))

    def close(self) -> None:
        """End every worker now; who waits for one, and whoever asks later, gets a SandboxError. Idempotent."""
        self._workers.close()

    def _report(self, problem: Problem, code: str, tests: TestSet, *, mirrors: bool = True) -> _Report:
        answer = self._ask(problem.public, code, tests, names=_spoken_of(problem, tests.source), mirrors=mirrors)
        if answer.report is None:
            raise DataError(f"The tests of {problem.id} are broken: {answer.broken}. Mend or remove that problem.")
        return answer.report

    def _is_to_change(self, problem: Problem, tests: TestSet) -> bool:
        """Whether changing arguments in place is what the tests look at; so where there is no solution to tell."""
        solution = problem.canonical_solution
        return not solution or not self._report(problem, solution, tests, mirrors=False).verdict(self.isolation).passed

    def _ask(
        self,
        problem: PublicProblem,
        code: str,
        tests: TestSet,
        *,
        names: Sequence[str] = (),
        mirrors: bool = True,
        calls: Sequence[str] | None = None,
    ) -> _Answer:
        seconds = tests.seconds or self._timeout_seconds
        order = {
            "preamble": problem.preamble,
            "code": code,
            "tests": tests.source,
            "entry_point": problem.entry_point,
            "names": names,
            "mirrors": mirrors,
            "seconds": seconds,
            "memory_bytes": self._memory_bytes,
        }
        family = problem.id.rpartition("/")[0]
        work: dict[str, object] = {"order": order, "calls": calls}
        answer = self._answer(work, family, seconds) or self._answer(work, family, seconds)
        if answer is None:
            raise SandboxError(
                f"Two workers were lost while they judged a program for {problem.id}: the program killed or stalled "
                "them, or this machine is out of memory. Look at the program, then try again."
            )
        return answer

    def _answer(self, work: dict[str, object], family: str, seconds: float) -> _Answer | None:
        """One worker's answer; None if it was lost."""
        nonce = secrets.token_hex(16)
        try:
            with self._workers.worker(family) as worker:
                said = worker.answer(_encoded({"nonce": nonce, **work}), seconds + GRACE_SECONDS)
            answer = _ANSWERS.decode(said)
        except (LostError, msgspec.DecodeError, UnicodeDecodeError):
            return None
        return answer if secrets.compare_digest(answer.nonce, nonce) else None


@dataclass(frozen=True, slots=True)
class _Outcome:
    marks: str
    failures: tuple[TestFailure, ...]
    error: ErrorClass | None
    message: str
    test_seconds: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class _Report:
    outcome: _Outcome
    completed: bool
    seconds: float
    shared: bool
    changed: bool

    def verdict(self, isolation: Isolation) -> Verdict:
        out = self.outcome
        return Verdict(
            out.marks,
            out.failures,
            self.completed,
            out.error,
            out.message,
            self.seconds,
            isolation,
            shared=self.shared,
            test_seconds=out.test_seconds,
        )


@dataclass(frozen=True, slots=True)
class _Sight:
    value: str | None
    error: ErrorClass | None
    message: str


@dataclass(frozen=True, slots=True)
class _Answer:
    nonce: str
    report: _Report | None = None
    observed: tuple[_Sight, ...] = ()
    broken: str = ""


_encoded = msgspec.json.Encoder().encode
_ANSWERS = msgspec.json.Decoder(_Answer)


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _spoken_of(problem: Problem, tests: str) -> list[str]:
    """What the tests use of a program besides its function: names that the canonical solution defines."""
    public = problem.public
    names = _used(tests) & _defined(problem.canonical_solution)
    return sorted(names - _defined(public.preamble) - _defined(tests) - {public.entry_point})


@lru_cache(1024)
def _used(source: str) -> frozenset[str]:
    return frozenset(node.id for node in ast.walk(_parsed(source)) if isinstance(node, ast.Name))


@lru_cache(1024)
def _defined(source: str) -> frozenset[str]:
    """Functions, classes and constants at the top of a module."""
    names: set[str] = set()
    for top in _parsed(source).body:
        if isinstance(top, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.add(top.name)
        elif isinstance(top, ast.Assign):
            names |= {node.id for target in top.targets for node in ast.walk(target) if isinstance(node, ast.Name)}
    return frozenset(names)


def _parsed(source: str) -> ast.Module:
    try:
        return ast.parse(source)
    except (SyntaxError, ValueError):
        return ast.Module([], [])  # the worker says what is wrong with it
