"""Runs the experiments of one benchmark in threads, each through ``perform``, until all have ended or it is stopped."""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Callable, Iterable, Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial

from koderz_core.errors import KoderzError, PlanError
from koderz_core.events import BenchmarkClosed, BenchmarkDecided, BenchmarkOpened, ControlObeyed, ForecastMade
from koderz_core.journal import Journal
from koderz_core.records import Budget, Experiment, Plan, Problem
from koderz_core.records.progress import Forecast, MemoryLevel
from koderz_core.runner.budget import Ledger
from koderz_core.runner.control import discard, receiving
from koderz_core.runner.dependencies import Dependencies
from koderz_core.runner.engine import LOCAL, Engine
from koderz_core.runner.header import continued
from koderz_core.runner.history import History, load
from koderz_core.runner.recorder import Recorder, Watch
from koderz_core.runner.scheduler import Scheduler
from koderz_core.runner.stopping import MakeRule, Stopping
from koderz_core.runner.workers import Controller, Workers, models_of, pilot, remaining_tasks, to_run

ABANDON_SECONDS = 0.3  # how long experiments may take to end normally when the process must end now

_LOG = logging.getLogger("koderz")

Provide = Callable[[frozenset[str]], Dependencies]
"""Maps the ids of the needed models to the dependencies that hold these models."""


@dataclass(frozen=True, slots=True)
class Assignment:
    """The benchmark to run: the header of its journal, and the problems that its plan names.

    ``retry_errors``: run failed experiments again. ``pilot``: only this number of problems, drawn by the plan's seed.
    ``stopping``: returns the rule by which a plan stops early. ``engine``: where the experiments run.
    """

    header: BenchmarkOpened
    problems: Mapping[str, Problem]
    retry_errors: bool = False
    pilot: int | None = None
    stopping: MakeRule = lambda _plan: None
    engine: Engine = LOCAL


class Runner:
    """A running benchmark. Owns its journal from ``start`` until its threads have ended."""

    _forecast: Forecast | None = None
    _thread: threading.Thread | None = None

    def __init__(
        self,
        assignment: Assignment,
        journal: Journal,
        provide: Provide,
        watches: Iterable[Watch] = (),
        at_end: Callable[[Runner], None] = lambda _: None,
    ) -> None:
        """Takes the open ``journal`` over; calls ``provide`` once, for the models that are still needed.

        ``at_end`` is called once all experiments have ended; ``close`` waits for that.
        Raises PlanError if the journal records another benchmark or other conditions, and what ``provide`` raises.
        """
        self.benchmark = assignment.header.benchmark
        self._journal = journal
        discard(journal.path)  # earlier requests were meant for another process
        history = History() if journal.empty else load(journal.path, retry_errors=assignment.retry_errors)
        self.recorded = None if history.header is None else history.header.plan  # the plan in the journal
        self.header = assignment.header if history.header is None else continued(assignment.header, history.header)
        self._other_prices = history.header is not None and _prices(history.header) != _prices(self.header)
        self.asked = assignment.header.plan  # the plan to run now; the recorded plan may hold more
        self.experiments = pilot(self.asked, assignment.pilot)  # the experiments that this runner runs
        self._stopping = Stopping(assignment.stopping(history.first or self.plan), history.lasting, history.decided)
        tasks = remaining_tasks(self.plan, self._still_open(), assignment.problems, history)
        asked = {experiment.id for experiment in self.experiments}
        self.kept_errors = len((history.errors.keys() & asked) - {task.experiment.id for task in tasks})
        self.remaining = len(tasks)  # how many experiments had no final result when this runner took over
        self.left_out = sum(
            experiment.id not in asked and history.is_open(experiment.id) for experiment in self.plan.experiments()
        )
        self._ledger = Ledger(self.asked.budget, history.spending)
        dependencies = replace(provide(models_of(tasks)), ledger=self._ledger)
        self._scheduler = Scheduler(dependencies.room, in_order=self._may_end_early)
        self._engine = assignment.engine.running(to_run(assignment.header, tasks), models_of(tasks), self._scheduler)
        self._recorder = Recorder(journal, watches, dependencies.clock, history.texts)
        self._workers = Workers(tasks, dependencies, self._recorder, self._scheduler, self._stopping)
        self.controller = Controller(self.benchmark, self._scheduler, self._ledger, self._workers, self._recorder)
        self.notify_ended = _Once(partial(at_end, self))
        self._ended = threading.Event()
        self._closed = history.closed, journal.path.stat().st_size

    @property
    def plan(self) -> Plan:
        """The whole plan: the recorded one, extended by the one to run now."""
        return self.header.plan

    @property
    def bugs(self) -> list[Exception]:
        """The unexpected exceptions; each ended its experiment as error."""
        return self._workers.bugs

    def with_forecast(self, forecast: Forecast | None) -> Runner:
        """This runner; ``start`` will record the forecast, so that a receipt can compare it with the result."""
        self._forecast = forecast
        return self

    def start(self, concurrency: int = 1) -> None:
        """Start the threads and return at once.

        Raises PlanError (started before, concurrency below 1), JournalError.
        """
        if self._thread is not None:
            raise PlanError(f"{self.benchmark} has been started already. Resume it when it has ended.")
        if concurrency < 1:
            raise PlanError(f"The concurrency of {self.benchmark} must be at least 1, not {concurrency}.")
        if self.plan != self.recorded or (self._other_prices and self.remaining):
            self._recorder.say(self.header)
        if self._stopping.unrecorded:
            self._recorder.say(self._stopping.unrecorded)
        if self.recorded is not None and self.remaining:
            self._recorder.say(ControlObeyed("resume", None, os.getpid()))
        if self._forecast is not None and self.remaining:
            self._recorder.say(ForecastMade(self._forecast))
        self.controller.begin(concurrency, record=self.remaining > 0)
        thread = threading.Thread(target=self._run, name=self.benchmark)
        thread.start()
        self._thread = thread

    def __enter__(self) -> Runner:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        self.close()

    def close(self) -> None:
        """Stop, wait for the threads and close the journal."""
        if self._thread is None:
            self._journal.close()
            return
        self.stop()
        if not self.ended():
            _LOG.warning("Stopping: each running experiment ends after its current model call or test.")
            self.ended(None)
        self._thread.join()

    def stop(self) -> None:
        """End every experiment at its next step; they count as cancelled and can be resumed."""
        self.controller.obey("stop", by=os.getpid())

    def abandon(self) -> None:
        """Close the journal as stopped now, although threads may hang in a call: for a process that is about to end.

        Their experiments count as cancelled, and nothing more is recorded of them.
        """
        if self._thread is None:
            self._journal.close()
            return
        self.stop()
        if self.ended(ABANDON_SECONDS):
            return
        with self.controller.closing() as first:
            if not first:
                return
            for experiment, end in self._workers.cancelled().items():
                self._recorder.say(end, experiment)
            self._recorder.say(BenchmarkClosed("stopped"))
            self._journal.close()
            discard(self._journal.path)

    @property
    def stopping(self) -> bool:
        """Whether the benchmark has been stopped, by a request or by a fault."""
        return self._scheduler.stopped

    @property
    def budget(self) -> Budget:
        """The budget as it is now."""
        return replace(self.asked.budget, usd=self._ledger.usd)

    @property
    def paused(self) -> bool:
        """Whether the whole benchmark is paused."""
        return self._scheduler.paused

    @property
    def memory(self) -> MemoryLevel:
        """How much memory is free; no experiment starts unless it is enough."""
        return self._scheduler.memory

    @property
    def fault(self) -> KoderzError | None:
        """The error that ended the benchmark; running experiments end at their next step. None: there is none."""
        return self._workers.fault

    @property
    def trouble(self) -> str | None:
        """The fault, the first bug that ended an experiment, or that the budget is used up; None: there is none."""
        if self.fault is not None:
            return str(self.fault)
        return f"a bug in koderz: {type(self.bugs[0]).__name__}" if self.bugs else self.used_up

    @property
    def decided(self) -> BenchmarkDecided | None:
        """The decision that has ended a sequential benchmark; None if there is none."""
        return self._stopping.decided

    @property
    def used_up(self) -> str | None:
        """The message that the benchmark's budget has ended an experiment; None if it has not."""
        return self._ledger.used_up

    def ended(self, seconds: float | None = 0.0) -> bool:
        """Whether all threads have ended within ``seconds`` (None: no limit); the journal is closed then.

        Waits on an event, because a ``Thread.join`` that Ctrl-C interrupts marks the thread as ended (Python 3.11).
        """
        return self._ended.wait(seconds)

    def wait(self, seconds: float | None = None) -> bool:
        """As ``ended``. Raises the fault that ended the benchmark, if any, once all threads have ended."""
        ended = self.ended(seconds)
        if ended and self.fault is not None:
            raise self.fault
        return ended

    def _run(self) -> None:
        try:
            with closing(self._journal):
                watched = self._workers.watched(self.controller.hold_back)
                with receiving(self._journal.path, self.controller.apply_or_log), watched:
                    self._perform_all()
                self._record_closed()
        except KoderzError as error:
            self._workers.break_off(error)
        except Exception as error:  # noqa: BLE001 (the edge of this thread)
            _LOG.exception("A bug in koderz ended %s", self.benchmark)
            self.bugs.append(error)
        finally:
            self._ended.set()
        self.notify_ended()

    def _still_open(self) -> tuple[Experiment, ...]:
        """The experiments that may still run: none of a benchmark that is decided."""
        return () if self._stopping.decided else self.experiments

    def _perform_all(self) -> None:
        if self.remaining:
            with self._engine as perform:
                self._workers.perform_all(self.benchmark, perform)

    @property
    def _may_end_early(self) -> bool:
        return self.plan.sequential is not None or self.asked.budget.usd is not None

    def _record_closed(self) -> None:
        with self.controller.closing() as first:
            if first:
                unfinished = self.stopping or self._workers.cut_short or self.left_out
                closed = BenchmarkClosed("stopped" if unfinished else "finished")
                if (closed, self._journal.path.stat().st_size) != self._closed:  # else the run has changed nothing
                    self._recorder.say(closed)


def _prices(header: BenchmarkOpened) -> tuple[object, ...]:
    return header.energy, header.price_version


class _Once:
    """Calls a function once; every later call waits until the first one has returned."""

    def __init__(self, function: Callable[[], None]) -> None:
        self._function = function
        self._called = False
        self._guard = threading.Lock()  # guards _called, and is held until the function has returned

    def __call__(self) -> None:
        with self._guard:
            if not self._called:
                self._called = True
                self._function()
