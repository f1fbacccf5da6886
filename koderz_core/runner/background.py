"""The benchmarks that this process runs in the background: each is started once, can be stopped, and tells its trouble.

Their threads keep the process alive until ``close``, so that no journal is left open by chance.
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
from koderz_core.runner.control import MOST_AT_ONCE, Wish, ask
from koderz_core.runner.pause import Target
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
        self._starts: dict[str, _Starts] = {}  # of benchmarks that are being started now
        self._guard = threading.Lock()  # guards all of these, never held while waiting
        self._closed = False

    def start(self, plan: Plan, make: Make, concurrency: int | None = None) -> None:
        """Run a plan with the runner that ``make`` gives; one that runs already is left running.

        Raises UsageError (closed, still stopping), PlanError (another plan of that name runs) and what ``make`` raises.
        """
        with self._turn(plan.id) as wishes:
            if not self._goes_on(plan):
                self._start(plan.id, make, concurrency or default_concurrency(plan), wishes)

    def control(self, benchmark: str, what: Control, target: Target = None) -> int:
        """Pause, resume or stop it, whoever runs it: the id of that process, 0 if it is unknown.

        Another process obeys within moments, a benchmark that is being started here once it has begun. Raises
        UsageError (nobody runs it, no such target), JournalError.
        """
        return self._tell(benchmark, Wish(time.time(), os.getpid(), what, target))

    def change(self, benchmark: str, usd: float | None = None, concurrency: int | None = None) -> int:
        """Let it cost another amount in all, or have other than so many experiments at work. As ``control``.

        None leaves that as it is. Raises PlanError too, for what cannot be had.
        """
        if usd is None and concurrency is None:
            raise UsageError("Say what to change: the budget, how many experiments are at work at once, or both.")
        check_limits(Budget(usd))
        if concurrency is not None and not 1 <= concurrency <= MOST_AT_ONCE:
            raise PlanError(f"{concurrency} experiments cannot be at work at once: give 1 to {MOST_AT_ONCE}.")
        wish = Wish(time.time(), os.getpid(), "change", usd=usd, concurrency=concurrency)
        return self._tell(benchmark, wish)

    def runs(self, benchmark: str) -> bool:
        """Whether it runs here now, its journal still open."""
        return self._runner(benchmark) is not None

    def trouble(self, benchmark: str) -> str | None:
        """What broke it when it last ran here, None if nothing did."""
        runner = self._runner(benchmark)
        return self._troubles.get(benchmark) if runner is None else runner.trouble

    def close(self) -> None:
        """Stop all and wait until they have ended. Idempotent."""
        with self._guard:
            self._closed = True
            starts = list(self._starts.values())
        self._end_all()
        for start in starts:
            with start.turn:  # it has been refused then, or runs
                pass
        self._end_all()

    def _tell(self, benchmark: str, wish: Wish) -> int:
        journal = self._journals / f"{benchmark}.jsonl"
        runner, starts = self._hear(benchmark, wish)
        if runner:
            runner.heed(wish)
            return os.getpid()
        pid = holder(journal)
        if starts and pid in (None, os.getpid()):
            return os.getpid()
        if pid is None:
            raise UsageError(f"{benchmark} is not being run now, so there is nothing to {wish.what}.")
        ask(journal, wish)
        return pid

    def _end_all(self) -> None:
        with self._guard:
            runners = list(self._runners.values())
        for runner in runners:
            runner.stop()
        for runner in runners:
            runner.close()

    @contextmanager
    def _turn(self, benchmark: str) -> Iterator[list[Wish]]:
        """While it lasts, no other thread starts the same benchmark; gives what is wished of it from now on."""
        wishes: list[Wish] = []
        with self._guard:
            self._refuse_if_closed()
            starts = self._starts.setdefault(benchmark, _Starts())
            starts.wishes.append(wishes)
        try:
            with starts.turn:
                yield wishes
        finally:
            with self._guard:
                starts.wishes = [others for others in starts.wishes if others is not wishes]
                if not starts.wishes:
                    del self._starts[benchmark]

    def _hear(self, benchmark: str, wish: Wish) -> tuple[Runner | None, bool]:
        """Whoever runs it now, and whether it is being started: then the wish is kept for what begins."""
        with self._guard:
            starts = self._starts.get(benchmark)
            for wishes in starts.wishes if starts else ():
                wishes.append(wish)
            return self._alive(benchmark), starts is not None

    def _refuse_if_closed(self) -> None:
        if self._closed:
            raise UsageError("This workspace has been closed, so it runs nothing more. Open another one.")

    def _goes_on(self, plan: Plan) -> bool:
        runner = self._runner(plan.id)
        if runner is None or (runner.stopping and runner.ended(STOPPING_SECONDS)):
            return False
        if runner.stopping:
            raise UsageError(f"{plan.id} is still being stopped: a call to a model must end first. Start it then.")
        if runner.asked.content != plan.content:
            raise PlanError(f"{plan.id} runs here already with another plan of that name. Give this one another name.")
        if runner.budget != plan.budget:
            raise PlanError(f"{plan.id} runs here already under another budget. Stop it, then start it under this one.")
        return True

    def _start(self, benchmark: str, make: Make, concurrency: int, wishes: list[Wish]) -> None:
        self._refuse_if_closed()
        with ExitStack() as undo:
            runner = undo.enter_context(make())
            runner.start(concurrency)
            undo.pop_all()
        with self._guard:
            self._runners[benchmark] = runner
            heard = tuple(wishes)
        for wish in heard:
            runner.grant(wish)

    def _runner(self, benchmark: str) -> Runner | None:
        with self._guard:
            return self._alive(benchmark)

    def _alive(self, benchmark: str) -> Runner | None:
        """The one that runs now. Of those that have ended only the trouble is kept: they hold whole histories."""
        for name, runner in list(self._runners.items()):
            if runner.ended():
                self._troubles[name] = runner.trouble
                del self._runners[name]
        return self._runners.get(benchmark)


@dataclass(slots=True)
class _Starts:
    """The starts of one benchmark that are under way; ``wishes``: for each, what was wished since it was asked for."""

    turn: threading.Lock = field(default_factory=threading.Lock)  # two threads must not open the same journal
    wishes: list[list[Wish]] = field(default_factory=list)
