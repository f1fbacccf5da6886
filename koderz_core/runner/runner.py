"""Runs the experiments of one benchmark in threads, each through ``perform``, until all have ended or it is stopped."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import closing
from dataclasses import dataclass

from koderz_core.errors import KoderzError, PlanError
from koderz_core.events import BenchmarkClosed, BenchmarkOpened
from koderz_core.journal import Journal
from koderz_core.records import Plan, Problem
from koderz_core.runner.experiment import Work, perform, without_result
from koderz_core.runner.header import check_same
from koderz_core.runner.history import History, load
from koderz_core.runner.parts import Parts
from koderz_core.runner.recorder import Recorder, Voice, Watch
from koderz_core.runner.tape import Tape

_LOG = logging.getLogger("koderz")

Provide = Callable[[frozenset[str]], Parts]
"""Ids of the models that are needed to the parts that hold them."""


@dataclass(frozen=True, slots=True)
class Assignment:
    """What is to be run: the header that the journal begins with, and the problems that its plan names."""

    header: BenchmarkOpened
    problems: Mapping[str, Problem]


class Runner:
    """The running benchmark. Owns its journal from ``start`` until its threads have ended."""

    def __init__(
        self, assignment: Assignment, journal: Journal, provide: Provide, watches: Iterable[Watch] = ()
    ) -> None:
        """Takes the open ``journal`` over; ``provide`` is asked once, for the models that are still needed.

        Raises PlanError if the journal was begun with something else, and what ``provide`` raises.
        """
        self.benchmark = assignment.header.benchmark
        self._header = assignment.header
        self._journal = journal
        self._stopping = threading.Event()
        self._fault: KoderzError | None = None
        self.bugs: list[Exception] = []  # what no experiment should have raised; each ended its experiment as error
        history = History() if journal.empty else load(journal.path)
        if history.header is not None:
            check_same(assignment.header, history.header)
        self._works = _remaining(assignment, history)
        self._parts = provide(_models(self._works))
        self._recorder = Recorder(journal.append, watches, self._parts.clock, history.texts)
        self._ended = threading.Event()
        self._thread: threading.Thread | None = None

    @property
    def plan(self) -> Plan:
        """What it runs."""
        return self._header.plan

    @property
    def remaining(self) -> int:
        """How many experiments had not ended when this runner took over."""
        return len(self._works)

    def start(self, concurrency: int = 1) -> None:
        """Begin, in threads of its own; returns at once. Raises PlanError (begun before, no thread), JournalError."""
        if self._thread is not None or concurrency < 1:
            raise PlanError(
                f"{self.benchmark} has been started already, or with {concurrency} threads: give at least 1."
            )
        if self._journal.empty:
            self._recorder.say(self._header)
        thread = threading.Thread(target=self._run, args=(concurrency,), name=self.benchmark)
        thread.start()
        self._thread = thread

    def __enter__(self) -> Runner:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        self.close()

    def close(self) -> None:
        """Leave no thread and no open journal behind, whatever happened: stop, and wait for what still runs."""
        self.stop()
        if self._thread is None:
            self._journal.close()
            return
        if not self.ended():
            _LOG.warning("Stopping: the experiments that run end at their next step.")
            self.ended(None)
        self._thread.join()

    def stop(self) -> None:
        """End every experiment at its next step; they count as cancelled and can be taken up again."""
        self._stopping.set()

    @property
    def stopping(self) -> bool:
        """Whether it has been stopped, by somebody or by what broke it."""
        return self._stopping.is_set()

    @property
    def trouble(self) -> str | None:
        """What broke it, or the first bug that cost an experiment; None if nothing did."""
        if self._fault is not None:
            return str(self._fault)
        return f"a bug of koderz: {type(self.bugs[0]).__name__}" if self.bugs else None

    def ended(self, seconds: float | None = 0.0) -> bool:
        """Whether all has ended within ``seconds`` (None: for ever), well or not; its journal is closed then.

        It waits on an event, since a ``Thread.join`` that Ctrl-C interrupts takes the thread for ended (Python 3.11).
        """
        return self._ended.wait(seconds)

    def wait(self, seconds: float | None = None) -> bool:
        """As ``ended``. Raises what broke the benchmark, if something did."""
        ended = self.ended(seconds)
        if self._fault is not None:
            raise self._fault
        return ended

    def _run(self, concurrency: int) -> None:
        try:
            with closing(self._journal):
                with ThreadPoolExecutor(concurrency, thread_name_prefix=self.benchmark) as threads:
                    wait([threads.submit(self._perform, work) for work in self._works])
                self._recorder.say(BenchmarkClosed("stopped" if self._stopping.is_set() else "finished"))
        except KoderzError as error:
            self._break(error)
        except Exception as error:  # noqa: BLE001 (the edge of this thread)
            _LOG.exception("A bug of koderz in %s", self.benchmark)
            self.bugs.append(error)
        finally:
            self._ended.set()

    def _perform(self, work: Work) -> None:
        """The edge of a worker thread: a bug costs its experiment, only a broken journal ends the benchmark."""
        try:
            if not self._stopping.is_set():
                self._perform_or_say_why(work)
        except KoderzError as error:
            self._break(error)

    def _perform_or_say_why(self, work: Work) -> None:
        voice = Voice(self._recorder, work.experiment.id)
        try:
            perform(work, self._parts, voice, self._stopping)
        except KoderzError:
            raise
        except Exception as error:  # noqa: BLE001 (the edge: a bug must not end the other experiments)
            _LOG.exception("A bug of koderz or of a strategy in %s", work.experiment.id)
            self.bugs.append(error)
            voice.say(without_result("error", f"A bug of koderz or of the strategy: {type(error).__name__}"))

    def _break(self, error: KoderzError) -> None:
        self._fault = self._fault or error
        self._stopping.set()


def _models(works: Iterable[Work]) -> frozenset[str]:
    return frozenset(name for work in works for role in work.configuration.models.values() for name in role)


def _remaining(assignment: Assignment, history: History) -> list[Work]:
    plan = assignment.header.plan
    configurations = {configuration.id: configuration for configuration in plan.configurations}
    return [
        Work(
            experiment,
            configurations[experiment.configuration],
            assignment.problems[experiment.problem],
            history.tapes.get(experiment.id, Tape()),
        )
        for experiment in plan.experiments()
        if not history.is_final(experiment.id)
    ]
