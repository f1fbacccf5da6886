"""The benchmarks that this process runs in the background: each is started once, can be stopped, and tells its trouble.

Their threads keep the process alive until ``close``, so that no journal is left open by chance.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

from koderz_core.errors import PlanError, UsageError
from koderz_core.journal import holder
from koderz_core.records import Control, Plan
from koderz_core.runner.control import Wish, ask
from koderz_core.runner.gate import Target
from koderz_core.runner.runner import Runner

STOPPING_SECONDS = 10.0  # how long a start waits for the same benchmark to end its last steps

Make = Callable[[], Runner]


class Running:
    """Benchmarks by id. May be used from any thread."""

    def __init__(self, journals: Path) -> None:
        """``journals``: the folder that tells who else runs something."""
        self._journals = journals
        self._runners: dict[str, Runner] = {}
        self._troubles: dict[str, str | None] = {}  # of benchmarks that have ended
        self._guard = threading.Lock()  # guards _runners and _troubles, never held while waiting
        self._starting = threading.Lock()  # held while one starts: two threads must not open the same journal
        self._closed = False

    def start(self, plan: Plan, make: Make, concurrency: int | None = None) -> None:
        """Run a plan with the runner that ``make`` gives; one that runs already is left running.

        Raises UsageError (closed, still stopping), PlanError (another plan of that name runs) and what ``make`` raises.
        """
        with self._starting:
            if self._closed:
                raise UsageError("This workspace has been closed, so it runs nothing more. Open another one.")
            if not self._goes_on(plan):
                self._start(plan.id, make, concurrency or default_concurrency(plan))

    def control(self, benchmark: str, what: Control, target: Target = None) -> int:
        """Pause, resume or stop it, whoever runs it: the id of that process, 0 if it is unknown.

        Another process obeys within moments. Raises UsageError (nobody runs it, no such target), JournalError.
        """
        if runner := self._runner(benchmark):
            runner.obey(what, target, by=os.getpid())
            return os.getpid()
        journal = self._journals / f"{benchmark}.jsonl"
        pid = holder(journal)
        if pid is None:
            raise UsageError(f"{benchmark} is not being run now, so there is nothing to {what}.")
        ask(journal, Wish(time.time(), os.getpid(), what, target))
        return pid

    def runs(self, benchmark: str) -> bool:
        """Whether it runs here now, its journal still open."""
        return self._runner(benchmark) is not None

    def trouble(self, benchmark: str) -> str | None:
        """What broke it when it last ran here, None if nothing did."""
        runner = self._runner(benchmark)
        return self._troubles.get(benchmark) if runner is None else runner.trouble

    def close(self) -> None:
        """Stop all and wait until they have ended. Idempotent."""
        with self._starting:
            self._closed = True
            with self._guard:
                runners = list(self._runners.values())
            for runner in runners:
                runner.stop()
            for runner in runners:
                runner.close()

    def _goes_on(self, plan: Plan) -> bool:
        runner = self._runner(plan.id)
        if runner is None or (runner.stopping and runner.ended(STOPPING_SECONDS)):
            return False
        if runner.stopping:
            raise UsageError(f"{plan.id} is still being stopped: a call to a model must end first. Start it then.")
        if runner.plan.content != plan.content:
            raise PlanError(f"{plan.id} runs here already with another plan of that name. Give this one another name.")
        return True

    def _start(self, benchmark: str, make: Make, concurrency: int) -> None:
        with ExitStack() as undo:
            runner = undo.enter_context(make())
            runner.start(concurrency)
            undo.pop_all()
        with self._guard:
            self._runners[benchmark] = runner

    def _runner(self, benchmark: str) -> Runner | None:
        """The one that runs now. Of those that have ended only the trouble is kept: they hold whole histories."""
        with self._guard:
            for name, runner in list(self._runners.items()):
                if runner.ended():
                    self._troubles[name] = runner.trouble
                    del self._runners[name]
            return self._runners.get(benchmark)


def default_concurrency(plan: Plan) -> int:
    """One at a time where a model is embedded, since its calls queue and would wait on the clock of others; else 4."""
    return 1 if any(name.startswith("embedded/") for name in plan.models()) else 4
