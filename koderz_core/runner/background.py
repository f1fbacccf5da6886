"""The benchmarks that this process runs in the background.

Their threads keep the process alive until ``close``, so that no journal stays open by accident.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from koderz_core.errors import PlanError, UsageError
from koderz_core.journal import holder
from koderz_core.records import Budget, Control, Plan
from koderz_core.records.plans import check_limits, default_concurrency
from koderz_core.runner.control import MOST_AT_ONCE, ControlRequest, send
from koderz_core.runner.runner import Runner
from koderz_core.runner.scheduler import Target

STOPPING_SECONDS = 10.0  # how long a start waits for the same benchmark to finish its last steps

Make = Callable[[], Runner]


class Running:
    """Benchmarks by id. May be used from any thread."""

    def __init__(self, journals: Path) -> None:
        """``journals``: the folder whose locks show which process runs which benchmark."""
        self._journals = journals
        self._runners: dict[str, Runner] = {}
        self._troubles: dict[str, str | None] = {}  # of benchmarks that have ended
        self._starts: dict[str, _Starts] = {}  # of benchmarks that are being started now
        self._guard = threading.Lock()  # guards all of these; never held while waiting
        self._closed = False

    def start(self, plan: Plan, make: Make, concurrency: int | None = None) -> None:
        """Run a plan with the runner that ``make`` returns; a benchmark that already runs here keeps running.

        Raises UsageError (closed, still stopping), PlanError (another plan of that name runs) and what ``make`` raises.
        """
        with self._turn(plan.id) as requests:
            if not self._is_running(plan):
                self._start(plan.id, make, concurrency or default_concurrency(plan), requests)

    def control(self, benchmark: str, what: Control, target: Target = None) -> int:
        """Pause, resume or stop a benchmark; return the id of the process that runs it, 0 if it is unknown.

        Another process obeys within moments; a benchmark that is being started here obeys once it runs. Raises
        UsageError (the benchmark is not running, no such target), JournalError.
        """
        return self._send(benchmark, ControlRequest(time.time(), os.getpid(), what, target))

    def change(self, benchmark: str, usd: float | None = None, concurrency: int | None = None) -> int:
        """Change the total budget or the concurrency; None leaves a limit as it is. Returns and raises as ``control``.

        Raises PlanError for a value that is not allowed.
        """
        if usd is None and concurrency is None:
            raise UsageError("Give a new budget, a new concurrency, or both.")
        check_limits(Budget(usd))
        if concurrency is not None and not 1 <= concurrency <= MOST_AT_ONCE:
            raise PlanError(f"The concurrency must be from 1 to {MOST_AT_ONCE}, not {concurrency}.")
        request = ControlRequest(time.time(), os.getpid(), "change", usd=usd, concurrency=concurrency)
        return self._send(benchmark, request)

    def runs(self, benchmark: str) -> bool:
        """Whether this process runs the benchmark now, its journal still open."""
        return self._runner(benchmark) is not None

    def trouble(self, benchmark: str) -> str | None:
        """What broke the benchmark when it last ran here, None if nothing did."""
        runner = self._runner(benchmark)
        return self._troubles.get(benchmark) if runner is None else runner.trouble

    def close(self) -> None:
        """Stop all benchmarks and wait until they have ended. Idempotent."""
        with self._guard:
            self._closed = True
            starts = list(self._starts.values())
        self._end_all()
        for start in starts:
            with start.turn:  # afterwards it has been refused, or it runs
                pass
        self._end_all()

    def _send(self, benchmark: str, request: ControlRequest) -> int:
        journal = self._journals / f"{benchmark}.jsonl"
        runner, starts = self._receive(benchmark, request)
        if runner:
            runner.controller.apply(request)
            return os.getpid()
        pid = holder(journal)
        if starts and pid in (None, os.getpid()):
            return os.getpid()
        if pid is None:
            raise UsageError(f"{benchmark} is not running, so there is nothing to {request.what}.")
        send(journal, request)
        return pid

    def _end_all(self) -> None:
        with self._guard:
            runners = list(self._runners.values())
        for runner in runners:
            runner.stop()
        for runner in runners:
            runner.close()

    @contextmanager
    def _turn(self, benchmark: str) -> Iterator[list[ControlRequest]]:
        """Keep other threads from starting the same benchmark; yields the list of requests to it from now on."""
        requests: list[ControlRequest] = []
        with self._guard:
            self._refuse_if_closed()
            starts = self._starts.setdefault(benchmark, _Starts())
            starts.requests.append(requests)
        try:
            with starts.turn:
                yield requests
        finally:
            with self._guard:
                starts.requests = [others for others in starts.requests if others is not requests]
                if not starts.requests:
                    del self._starts[benchmark]

    def _receive(self, benchmark: str, request: ControlRequest) -> tuple[Runner | None, bool]:
        """The runner of the benchmark, and whether it is being started: the new runner then gets the request too."""
        with self._guard:
            starts = self._starts.get(benchmark)
            for requests in starts.requests if starts else ():
                requests.append(request)
            return self._alive(benchmark), starts is not None

    def _refuse_if_closed(self) -> None:
        if self._closed:
            raise UsageError("This workspace has been closed and runs no more benchmarks. Open another workspace.")

    def _is_running(self, plan: Plan) -> bool:
        runner = self._runner(plan.id)
        if runner is None or (runner.stopping and runner.ended(STOPPING_SECONDS)):
            return False
        if runner.stopping:
            raise UsageError(
                f"{plan.id} is still stopping, because a call to a model has not ended. Start the benchmark "
                "again later."
            )
        if runner.asked.content != plan.content:
            raise PlanError(
                f"Another plan named {plan.id} is already running in this process. Give this plan another name."
            )
        if runner.budget != plan.budget:
            raise PlanError(
                f"{plan.id} is already running with another budget. Stop this benchmark, then start it with the new "
                "budget."
            )
        return True

    def _start(self, benchmark: str, make: Make, concurrency: int, requests: list[ControlRequest]) -> None:
        self._refuse_if_closed()
        with ExitStack() as undo:
            runner = undo.enter_context(make())
            runner.start(concurrency)
            undo.pop_all()
        with self._guard:
            self._runners[benchmark] = runner
            received = tuple(requests)
        for request in received:
            runner.controller.apply_or_log(request)

    def _runner(self, benchmark: str) -> Runner | None:
        with self._guard:
            return self._alive(benchmark)

    def _alive(self, benchmark: str) -> Runner | None:
        """The runner, while it runs. Ended runners, which hold whole histories, are dropped; their trouble is kept."""
        for name, runner in list(self._runners.items()):
            if runner.ended():
                self._troubles[name] = runner.trouble
                del self._runners[name]
        return self._runners.get(benchmark)


@dataclass(slots=True)
class _Starts:
    """The pending starts of one benchmark; ``requests``: for each start, the requests since it was asked for."""

    turn: threading.Lock = field(default_factory=threading.Lock)  # two threads must not open the same journal
    requests: list[list[ControlRequest]] = field(default_factory=list)
