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
from koderz_core.events import BenchmarkClosed, BenchmarkOpened, ControlObeyed, ForecastMade
from koderz_core.journal import Journal
from koderz_core.records import Budget, Control, Plan, Problem
from koderz_core.records.forecasts import Forecast
from koderz_core.runner.budget import Ledger
from koderz_core.runner.control import Wish, following, forget
from koderz_core.runner.dependencies import Parts
from koderz_core.runner.header import continued
from koderz_core.runner.history import History, load
from koderz_core.runner.pause import Gate
from koderz_core.runner.recorder import Recorder, Watch
from koderz_core.runner.workers import Crew, Steering, models, piloted, remaining


class Once:
    """Does one thing at the first call; a later call returns when that is done."""

    def __init__(self, what: Callable[[], None]) -> None:
        self._what = what
        self._begun = False
        self._guard = threading.Lock()  # guards _begun, and is held until the thing is done

    def __call__(self) -> None:
        with self._guard:
            if not self._begun:
                self._begun = True
                self._what()


ABANDON_SECONDS = 0.3  # what runs may take to end in good order when it must end now

_LOG = logging.getLogger("koderz")

Provide = Callable[[frozenset[str]], Parts]
"""Ids of the models that are needed to the parts that hold them."""


@dataclass(frozen=True, slots=True)
class Assignment:
    """What is to be run: the header that the journal begins with, and the problems that its plan names.

    ``retry_errors``: also what ended as an error before. ``pilot``: only so many problems, drawn by the plan's seed.
    """

    header: BenchmarkOpened
    problems: Mapping[str, Problem]
    retry_errors: bool = False
    pilot: int | None = None


class Runner:
    """The running benchmark. Owns its journal from ``start`` until its threads have ended."""

    def __init__(
        self,
        assignment: Assignment,
        journal: Journal,
        provide: Provide,
        watches: Iterable[Watch] = (),
        at_end: Callable[[Runner], None] = lambda _: None,
    ) -> None:
        """Takes the open ``journal`` over; ``provide`` is asked once, for the models that are still needed.

        ``at_end`` is called once all has ended; ``close`` waits for that.
        Raises PlanError if the journal was begun with something else, and what ``provide`` raises.
        """
        self.benchmark = assignment.header.benchmark
        self._journal = journal
        forget(journal.path)  # wishes of before were meant for somebody else
        self._gate = Gate()
        history = History() if journal.empty else load(journal.path, retry_errors=assignment.retry_errors)
        self.recorded = None if history.header is None else history.header.plan  # as it was planned before
        self.header = assignment.header if history.header is None else continued(assignment.header, history.header)
        self.asked = assignment.header.plan  # what is to be run now: the recorded plan may hold more
        self.experiments = piloted(self.asked, assignment.pilot)  # those that this runner is to bring to their end
        works = remaining(self.plan, self.experiments, assignment.problems, history)
        asked = {experiment.id for experiment in self.experiments}
        self.kept_errors = len((history.errors.keys() & asked) - {work.experiment.id for work in works})
        self.remaining = len(works)  # how many experiments had not ended when this runner took over
        self.left_out = sum(
            experiment.id not in asked and history.is_open(experiment.id) for experiment in self.plan.experiments()
        )
        self._ledger = Ledger(self.asked.budget, history.spending)
        parts = replace(provide(models(works)), ledger=self._ledger)
        self._recorder = Recorder(journal, watches, parts.clock, history.texts)
        self._crew = Crew(works, parts, self._recorder, self._gate)
        self._steering = Steering(self.benchmark, self._gate, self._ledger, self._crew, self._recorder)
        self.tell_ended = Once(partial(at_end, self))
        self._forecast: Forecast | None = None  # what was told of this before
        self._ended = threading.Event()
        self._thread: threading.Thread | None = None

    @property
    def plan(self) -> Plan:
        """All that is planned: what was asked for, and what was recorded before."""
        return self.header.plan

    @property
    def bugs(self) -> list[Exception]:
        """What no experiment should have raised; each ended its experiment as error."""
        return self._crew.bugs

    def foretold(self, forecast: Forecast | None) -> Runner:
        """Itself; ``start`` will write down what was foretold of it, so that a receipt can compare."""
        self._forecast = forecast
        return self

    def start(self, concurrency: int = 1) -> None:
        """Begin, in threads of its own; returns at once. Raises PlanError (begun before, no thread), JournalError."""
        if self._thread is not None or concurrency < 1:
            raise PlanError(
                f"{self.benchmark} has been started already, or with {concurrency} threads: give at least 1."
            )
        if self.plan != self.recorded:
            self._recorder.say(self.header)
        if self.recorded is not None and self.remaining:
            self._recorder.say(ControlObeyed("resume", None, os.getpid()))
        if self._forecast is not None and self.remaining:
            self._recorder.say(ForecastMade(self._forecast))
        self._steering.begin(concurrency, tell=self.remaining > 0)
        thread = threading.Thread(target=self._run, name=self.benchmark)
        thread.start()
        self._thread = thread

    def __enter__(self) -> Runner:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        self.close()

    def close(self) -> None:
        """Leave no thread and no open journal behind, whatever happened: stop, and wait for what still runs."""
        if self._thread is None:
            self._journal.close()
            return
        self.stop()
        if not self.ended():
            _LOG.warning("Stopping: the experiments that run end at their next step.")
            self.ended(None)
        self._thread.join()

    def stop(self) -> None:
        """End every experiment at its next step; they count as cancelled and can be taken up again."""
        self.obey("stop", by=os.getpid())

    def obey(self, what: Control, target: str | None = None, *, by: int) -> None:
        """Pause, resume or stop all, or only the configuration or experiment of that id, as the process ``by`` wishes.

        It means nothing once all has ended. Raises UsageError for an unknown target.
        """
        self._steering.obey(what, target, by=by)

    def heed(self, wish: Wish) -> None:
        """Do what is wished. Raises UsageError for what cannot be done."""
        self._steering.heed(wish)

    def grant(self, wish: Wish) -> None:
        """As ``heed``; what cannot be done is logged, since nobody is there to be told."""
        self._steering.grant(wish)

    def abandon(self) -> None:
        """Close the journal as stopped now, although threads may hang in a call: for a process that is about to end.

        What they do afterwards is not written any more; their experiments count as cancelled.
        """
        if self._thread is None:
            self._journal.close()
            return
        self.stop()
        if self.ended(ABANDON_SECONDS):
            return
        with self._steering.closing() as first:
            if not first:
                return
            for experiment, end in self._crew.cancelled().items():
                self._recorder.say(end, experiment)
            self._recorder.say(BenchmarkClosed("stopped"))
            self._journal.close()
            forget(self._journal.path)

    @property
    def stopping(self) -> bool:
        """Whether it has been stopped, by somebody or by what broke it."""
        return self._gate.stopped

    @property
    def budget(self) -> Budget:
        """What it may spend now."""
        return replace(self.asked.budget, usd=self._ledger.usd)

    @property
    def paused(self) -> bool:
        """Whether all of it waits."""
        return self._gate.paused

    @property
    def fault(self) -> KoderzError | None:
        """What broke it, so that what still runs ends at its next step; None if nothing did."""
        return self._crew.fault

    @property
    def trouble(self) -> str | None:
        """What broke it, the first bug that cost an experiment, or that its budget is used up; None if nothing did."""
        if self.fault is not None:
            return str(self.fault)
        return f"a bug of koderz: {type(self.bugs[0]).__name__}" if self.bugs else self.used_up

    @property
    def used_up(self) -> str | None:
        """What to say once the budget of the benchmark has kept an experiment from its end; None while it has not."""
        return self._ledger.used_up

    def ended(self, seconds: float | None = 0.0) -> bool:
        """Whether all has ended within ``seconds`` (None: for ever), well or not; its journal is closed then.

        It waits on an event, since a ``Thread.join`` that Ctrl-C interrupts takes the thread for ended (Python 3.11).
        """
        return self._ended.wait(seconds)

    def wait(self, seconds: float | None = None) -> bool:
        """As ``ended``. Raises what broke the benchmark once all has ended, if something did."""
        ended = self.ended(seconds)
        if ended and self.fault is not None:
            raise self.fault
        return ended

    def _run(self) -> None:
        try:
            with closing(self._journal):
                with following(self._journal.path, self._steering.grant):
                    self._crew.perform_all(self.benchmark)
                self._say_closed()
        except KoderzError as error:
            self._crew.break_off(error)
        except Exception as error:  # noqa: BLE001 (the edge of this thread)
            _LOG.exception("A bug of koderz in %s", self.benchmark)
            self.bugs.append(error)
        finally:
            self._ended.set()
        self.tell_ended()

    def _say_closed(self) -> None:
        with self._steering.closing() as first:
            if first:
                unfinished = self.stopping or self._crew.cut_short or self.left_out
                self._recorder.say(BenchmarkClosed("stopped" if unfinished else "finished"))
