"""The parts of a running server, which its endpoints use, and the grading of programs by warm workers."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial

from koderz_core.errors import KoderzError, RequestError, SandboxError, UnknownNameError
from koderz_core.grading.grader import Graded
from koderz_core.records import ProgramRun
from koderz_core.serve.records import GradeResult, RunCodeRequest, SentProgram
from koderz_core.serve.work import Queue
from koderz_core.workspace import Workspace
from koderz_core.workspace.checks import Check

ALIASES: Mapping[str, str] = {"humaneval_python": "humaneval"}
"""SandboxFusion's names of datasets that koderz has under another name."""
_MOST_SHOWN = 3  # invalid programs in a message
READERS = 2
MOST_READS = 32  # of results, at a time and waiting


class Programs:
    """Grades and runs programs in the threads of a queue.

    Tests, unlike programs, can change the worker that runs them. Therefore the tests of each client have their own
    workers. If a token is set, all clients have it, and share the workers.
    """

    def __init__(self, workspace: Workspace, queue: Queue, *, trusted: bool) -> None:
        """``trusted``: whether clients trust the tests of other clients."""
        self._trusted = trusted
        self._datasets, self._grading, self._checks = workspace.datasets, workspace.grading, workspace.checks
        self._queue = queue
        self._of_problem = lru_cache(4096)(self._problem)

    async def grade(self, client: str, programs: tuple[SentProgram, ...]) -> list[Graded]:
        """One result per program, in their order.

        Raises RequestError if a program, its tests or problem is invalid; otherwise SandboxError, after which the same
        request may succeed.
        """
        results = await self._queue.run(client, [partial(self._grade, client, sent) for sent in programs])
        faults = [(place, error) for place, error in enumerate(results) if isinstance(error, Exception)]
        if bug := next((error for _, error in faults if not isinstance(error, KoderzError)), None):
            raise bug
        if wrong := [fault for fault in faults if not isinstance(fault[1], SandboxError)]:
            shown = " ".join(f"programs[{place}]: {error}" for place, error in wrong[:_MOST_SHOWN])
            raise RequestError(f"{len(wrong)} of {len(programs)} programs cannot be graded. {shown}")
        if faults:
            raise faults[0][1]
        return [result for result in results if isinstance(result, Graded)]

    async def run(self, client: str, order: RunCodeRequest) -> ProgramRun:
        """Run a whole program. Raises SandboxError."""
        job = partial(self._grading.run, order.code, order.stdin or "", order.run_timeout)
        (result,) = await self._queue.run(client, [job])
        if isinstance(result, Exception):
            raise result
        return result

    def _grade(self, client: str, sent: SentProgram) -> Graded:
        return self._check(client, sent).grade(sent.kind, sent.text, sent.id)

    def _check(self, client: str, sent: SentProgram) -> Check:
        if sent.dataset:
            return self._of_problem(sent.dataset, sent.problem)
        sender = "clients" if self._trusted else f"client {client}"
        return self._checks.of_tests(sent.tests, sent.seconds, sender)

    def _problem(self, dataset: str, name: str) -> Check:
        dataset, names = ALIASES.get(dataset, dataset), self._datasets.names()
        if dataset.partition(",")[0] not in names:  # never the path of a file
            raise UnknownNameError("dataset", dataset, names)
        return self._checks.of_problem(dataset, name)


def result_of(graded: Graded) -> GradeResult:
    """The result of one program, with the fields of ``koderz grade --out``."""
    row = graded.row("base")
    return GradeResult(**{**row, "id": str(row["id"])})


@dataclass(frozen=True)
class Limits:
    """``queue``: accepted programs of all clients that have not ended; ``client``: those of one client."""

    queue: int = 2000
    client: int = 1000


class Parts:
    """Joins the workspace with the queues. Close it; closing also closes the workspace."""

    def __init__(self, workspace: Workspace, limits: Limits, *, is_open: bool) -> None:
        """``is_open``: whether clients beyond this machine may connect."""
        self.workspace, self.is_open = workspace, is_open
        token = workspace.settings.serve_token
        self.token = token.get_secret_value().encode() if token else b""
        workers = os.cpu_count() or 1
        self.grading = Queue(workers, limits.queue, limits.client)
        self.reading = Queue(READERS, MOST_READS, MOST_READS)
        self.monitoring = workspace.monitoring
        self.monitoring.metrics.add_queues({"grading": self.grading, "reading": self.reading})
        self.monitoring.begin_sending()
        self.programs = Programs(workspace, self.grading, trusted=bool(self.token))

    @cached_property
    def tier(self) -> str:
        """The sandbox tier in which programs run."""
        return self.workspace.grading.judge.isolation

    def close(self) -> None:
        """Start no further work, end the workers and stop benchmarks. Idempotent."""
        self.grading.close()
        self.reading.close()
        self.workspace.close(patient=True)
