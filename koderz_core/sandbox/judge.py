"""The first judge: one fresh worker process per check, tier ``limited`` (rlimits only).

Not covered by this tier: a program can read this user's files, use the network and signal this user's processes, the
judge's among them; a judge killed that way costs a SandboxError, not a wrong verdict. A program that runs as root can
also look into the judge's memory.
"""

from __future__ import annotations

import json
import os
import secrets
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from threading import Timer

import msgspec

from koderz_core.errors import DataError, PlanError, SandboxError
from koderz_core.records import ErrorClass, Observed, Problem, PublicProblem, TestFailure, TestSet, Verdict
from koderz_core.sandbox.workers import Workers

GRACE_SECONDS = 5.0
"""How much later than the judge's own deadline the host ends a worker, in seconds; its start is in there."""
MAX_ANSWER_BYTES = 4 << 20
MOST_CALLS = 256  # of one probe: their longest answers are within MAX_ANSWER_BYTES
_WORKER = Path(__file__).parent / "inside" / "worker.py"


@dataclass(frozen=True, slots=True)
class ProcessJudge:
    """Judges each program in a fresh worker: a judge's process that holds tests and verdict, and a candidate's.

    ``timeout_seconds`` is the wall time of one program on all its tests, ``memory_bytes`` its address space.
    Safe to use from several threads; two workers never meet.
    """

    timeout_seconds: float = 10.0
    memory_bytes: int = 1 << 30
    isolation: str = field(default="limited", init=False)
    _workers: Workers = field(default_factory=Workers, init=False, repr=False, compare=False)

    def check(self, problem: Problem, code: str, tests: TestSet) -> Verdict:
        """What comes of running ``code``, after the problem's preamble, on ``tests``.

        Raise DataError if the tests are broken, whatever the program does, and SandboxError if programs cannot be run
        here or two workers in a row were lost.
        """
        answer = self._ask(problem.public, code, tests)
        if answer.report is None:
            raise DataError(f"The tests of {problem.id} are broken: {answer.broken}. Mend or remove that problem.")
        return answer.report.verdict(self.isolation)

    def probe(self, problem: PublicProblem, code: str, calls: Sequence[str]) -> tuple[Observed, ...]:
        """What ``calls`` give, at most ``MOST_CALLS`` expressions in the names of ``code``, one after the other.

        They share one process and one time limit: what ends it is the answer to all that follow. Raise SandboxError as
        ``check``, and PlanError for too many calls.
        """
        if len(calls) > MOST_CALLS:
            raise PlanError(f"A probe takes at most {MOST_CALLS} calls, not {len(calls)}: make it several.")
        seen = self._ask(problem, code, TestSet(), tuple(calls)).observed
        return tuple(Observed(call, one.value, one.error, one.message) for call, one in zip(calls, seen, strict=True))

    def close(self) -> None:
        """End every worker now; who waits for one, and whoever asks later, gets a SandboxError. Idempotent."""
        self._workers.close()

    def _ask(self, problem: PublicProblem, code: str, tests: TestSet, calls: Sequence[str] | None = None) -> _Answer:
        order = {
            "preamble": problem.preamble,
            "code": code,
            "tests": tests.source,
            "entry_point": problem.entry_point,
            "seconds": self.timeout_seconds,
            "memory_bytes": self.memory_bytes,
        }
        work: dict[str, object] = {"order": order, "calls": calls}
        answer = self._answer(work) or self._answer(work)
        if answer is None:
            raise SandboxError(
                f"Two workers were lost while they judged a program for {problem.id}: the program killed or stalled "
                "them, or this machine is out of memory. Look at the program, then try again."
            )
        return answer

    def _answer(self, work: dict[str, object]) -> _Answer | None:
        """One worker's answer; None if it was lost."""
        nonce = secrets.token_hex(16)
        said = json.dumps({"nonce": nonce, **work}).encode("ascii")
        line = _work(said, self.timeout_seconds + GRACE_SECONDS, self._workers)
        try:
            answer = _ANSWERS.decode(line)
        except (msgspec.DecodeError, UnicodeDecodeError):
            return None
        return answer if secrets.compare_digest(answer.nonce, nonce) else None


@dataclass(frozen=True, slots=True)
class _Report:
    marks: str
    failures: tuple[TestFailure, ...]
    completed: bool
    error: ErrorClass | None
    message: str
    seconds: float

    def verdict(self, isolation: str) -> Verdict:
        return Verdict(
            self.marks, self.failures, self.completed, self.error, self.message, self.seconds, isolation=isolation
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


_ANSWERS = msgspec.json.Decoder(_Answer)


def _work(order: bytes, seconds: float, workers: Workers) -> bytes:
    """The line that a fresh worker answers; empty or cut short if it was lost. Nothing of it is left afterwards."""
    with workers.place(), _folder() as folder, _start(folder) as worker:
        workers.add(worker.pid)
        backstop = Timer(seconds, workers.kill, [worker.pid])
        backstop.daemon = True
        backstop.start()
        try:
            return _exchange(worker, order)
        finally:
            backstop.cancel()
            backstop.join()  # before the worker is reaped: until then its number is nobody else's
            workers.kill(worker.pid)


def _folder() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="koderz-", ignore_cleanup_errors=True)


def _exchange(worker: subprocess.Popen[bytes], order: bytes) -> bytes:
    assert worker.stdin is not None
    assert worker.stdout is not None
    with suppress(BrokenPipeError):  # a worker that died has no answer: that is what says so
        worker.stdin.write(order)
    with suppress(BrokenPipeError):
        worker.stdin.close()
    return worker.stdout.readline(MAX_ANSWER_BYTES)


def _start(folder: str) -> subprocess.Popen[bytes]:
    """An interpreter without site packages, environment or terminal, in a process group of its own."""
    if not hasattr(os, "fork"):
        raise SandboxError("Programs can be judged on Linux and macOS only. On Windows, install koderz inside WSL2.")
    try:
        return subprocess.Popen(
            [sys.executable, "-I", "-S", _WORKER],
            cwd=folder,
            env={},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    except OSError as error:
        raise SandboxError(f"A worker could not be started in {folder}: {error}. Free memory or processes.") from error
