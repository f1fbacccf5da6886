"""The worker threads of a running benchmark, which hold at most as many slots as its concurrency, and their control."""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from random import Random

from msgspec import UNSET

from koderz_core.conditions import policy_of
from koderz_core.errors import JournalError, KoderzError, UsageError
from koderz_core.events import (
    AllowanceSet,
    BenchmarkOpened,
    ControlObeyed,
    Event,
    ExperimentFinished,
    MemoryLevelChanged,
)
from koderz_core.records import Allowance, Control, Experiment, Plan, Problem
from koderz_core.runner.budget import Ledger
from koderz_core.runner.control import ControlRequest
from koderz_core.runner.dependencies import Dependencies
from koderz_core.runner.engine import Perform
from koderz_core.runner.experiment import Task, perform, without_result
from koderz_core.runner.history import History, Tape
from koderz_core.runner.memory_watch import MemoryState, Obey
from koderz_core.runner.recorder import Recorder, Voice
from koderz_core.runner.scheduler import Scheduler, Slot, Target
from koderz_core.runner.stopping import Stopping

_LOG = logging.getLogger("koderz")


class Workers:
    """Performs tasks as the scheduler admits them, each through ``perform``, until all have ended or been stopped."""

    def __init__(
        self,
        tasks: Sequence[Task],
        dependencies: Dependencies,
        recorder: Recorder,
        scheduler: Scheduler,
        stopping: Stopping,
    ) -> None:
        self._dependencies = dependencies
        self._recorder = recorder
        self._scheduler = scheduler
        self._stopping = stopping
        self._tasks = {self._slot(task): task for task in tasks}
        self._perform_task: Perform = perform
        self._running: dict[str, tuple[Task, Slot, float]] = {}  # by id, with the monotonic second it started at
        self._guard = threading.Lock()  # guards _running, and that an experiment ends once
        self.bugs: list[Exception] = []  # unexpected exceptions; each ended its experiment as error
        self.fault: KoderzError | None = None  # the error that ended the benchmark
        self.cut_short = False  # whether a stop or a budget has kept an experiment from its end

    def perform_all(self, name: str, perform: Perform = perform) -> None:
        """Return when all tasks have ended. A paused experiment keeps its thread, but not its slot."""
        self._perform_task = perform
        waiting = list(self._tasks)  # the scheduler removes the slots that it admits
        with ThreadPoolExecutor(max(1, len(waiting)), thread_name_prefix=name) as threads:
            while slot := self._scheduler.admit(waiting, self._dependencies.endpoints.shut):
                if slot.stopped:
                    self.cut_short = True
                elif self._ends_early:
                    self.cut_short |= self._stopping.decided is None
                    self._scheduler.release_of(slot)
                else:
                    threads.submit(self._perform_in_turn, slot, waiting)
        self._scheduler.withdraw(self._tasks)

    def watched(self, obey: Obey) -> AbstractContextManager[object]:
        """Call ``obey`` inside whenever the memory becomes too little, or enough again."""
        watch = self._dependencies.memory
        return watch.followed(obey) if watch else nullcontext()

    @property
    def _ends_early(self) -> bool:
        """Whether no further experiment may start: the budget is used up, or the benchmark is decided."""
        return bool(self._dependencies.ledger.used_up or self._stopping.decided)

    def targets(self) -> frozenset[Target]:
        """All targets that can be paused and stopped."""
        return frozenset[Target]().union(*(slot.names for slot in self._tasks))

    def cancelled(self) -> Mapping[str, ExperimentFinished]:
        """End the running experiments now: their ends by id. Their threads record no other end."""
        with self._guard:
            running, self._running = self._running, {}
        return {
            name: task.before or replace(without_result("cancelled"), seconds=_seconds(task, slot, begin))
            for name, (task, slot, begin) in running.items()
        }

    def break_off(self, error: KoderzError) -> None:
        """End all experiments at their next step because of this error."""
        self.fault = self.fault or error
        self._scheduler.obey("stop")

    def _slot(self, task: Task) -> Slot:
        models = models_of([task])
        needs = frozenset(map(self._dependencies.endpoints.address, models))
        ids = task.configuration.id, task.experiment.id
        return Slot(self._scheduler, *ids, needs, models, task.problem.id)

    def _perform_in_turn(self, slot: Slot | None, waiting: list[Slot]) -> None:
        """Perform a task and then, in the same thread, those that get its slot: waking other threads costs more."""
        while slot:
            self._perform(self._tasks[slot], slot)
            if self._ends_early:
                self._scheduler.release_of(slot)
                return
            slot = self._scheduler.hand_over(slot, waiting, self._dependencies.endpoints.shut)

    def _perform(self, task: Task, slot: Slot) -> None:
        with self._guard:
            self._running[task.experiment.id] = (task, slot, time.monotonic())
        try:
            self._perform_and_record(task, slot)
        except KoderzError as error:
            self.break_off(error)
        finally:
            with self._guard:
                self._running.pop(task.experiment.id, None)

    def _perform_and_record(self, task: Task, slot: Slot) -> None:
        """The edge of a worker thread: a bug ends only its experiment; a broken journal ends the benchmark."""
        voice, begin = Voice(self._recorder, task.experiment.id), time.monotonic()
        try:
            finished = self._perform_task(task, self._dependencies, voice, slot)
        except KoderzError:
            raise
        except Exception as error:  # noqa: BLE001 (the edge: a bug must not end the other experiments)
            _LOG.exception("A bug in koderz or in the strategy ended the experiment %s", task.experiment.id)
            self.bugs.append(error)
            finished = without_result("error", f"A bug in koderz or in the strategy: {type(error).__name__}")
            finished = replace(finished, seconds=_seconds(task, slot, begin))
        self.cut_short |= finished.outcome == "cancelled" or finished is task.before
        with self._guard:  # ``cancelled`` waits until the end is written
            if self._running.pop(voice.experiment, None):  # else ``cancelled`` has ended the experiment
                voice.say(finished)
        if decided := self._stopping.add(voice.experiment, finished.outcome):
            self._recorder.say(decided)


def _seconds(task: Task, slot: Slot, begin: float) -> float:
    """The time of an experiment that started at ``begin`` (monotonic), with its recorded steps and without pauses."""
    return task.tape.seconds + time.monotonic() - begin - slot.paused_seconds


def models_of(tasks: Iterable[Task]) -> frozenset[str]:
    """The ids of all models that the tasks need."""
    return frozenset(name for task in tasks for role in task.configuration.models.values() for name in role)


def to_run(header: BenchmarkOpened, tasks: Iterable[Task]) -> BenchmarkOpened:
    """The header with only the configurations of the tasks: the strategies of others may not be installed any more.

    A registration refers to places among all configurations, so it is left out.
    """
    used = {task.configuration.id for task in tasks}
    left = tuple(made for made in header.plan.configurations if made.id in used)
    return replace(header, plan=replace(header.plan, configurations=left, registration=UNSET))


def pilot(plan: Plan, problems: int | None) -> tuple[Experiment, ...]:
    """The experiments on this number of problems of a plan, drawn by its seed; None: on all problems."""
    if problems is None or problems >= len(plan.problems):
        return plan.experiments()
    drawn = Random(plan.seed).sample(sorted(plan.problems), problems)  # noqa: S311 (sampling, not secrets)
    return tuple(experiment for experiment in plan.experiments() if experiment.problem in drawn)


def remaining_tasks(
    plan: Plan, experiments: Iterable[Experiment], problems: Mapping[str, Problem], history: History
) -> list[Task]:
    """The experiments among these that have no final result yet."""
    configurations = {configuration.id: configuration for configuration in plan.configurations}
    return [
        Task(
            experiment,
            configurations[experiment.configuration],
            problems[experiment.problem],
            plan.dataset,
            history.tapes.get(experiment.id, Tape()),
            history.errors.get(experiment.id),
            policy_of(plan, configurations[experiment.configuration]),
        )
        for experiment in experiments
        if not history.is_final(experiment.id)
    ]


class Controller:
    """Applies control requests to a running benchmark and records them. May be used from any thread."""

    def __init__(
        self, benchmark: str, scheduler: Scheduler, ledger: Ledger, workers: Workers, recorder: Recorder
    ) -> None:
        self._benchmark = benchmark
        self._scheduler = scheduler
        self._ledger = ledger
        self._workers = workers
        self._recorder = recorder
        self._concurrency = 0
        self._closed = False
        self._guard = threading.Lock()  # guards both, and that nothing is recorded after the closing line

    def begin(self, concurrency: int, *, record: bool) -> None:
        """Set the concurrency; ``record``: and write it to the journal. Raises JournalError."""
        with self._guard:
            self._concurrency = concurrency
            if record:
                self._recorder.say(AllowanceSet(self._now(), os.getpid()))
            self._scheduler.resize(concurrency)

    def obey(self, what: Control, target: Target = None, *, by: int) -> None:
        """Pause, resume or stop the benchmark, or only the configuration or experiment ``target``.

        ``by``: the id of the requesting process. Does nothing once the benchmark has ended. Raises UsageError for an
        unknown target.
        """
        if target not in {None, *self._workers.targets()}:
            raise UsageError(
                f"{target!r} does not name an unfinished configuration or experiment of {self._benchmark}. "
                f"`koderz results {self._benchmark} --experiments` lists the experiments."
            )
        with self._guard:
            if not self._closed and self._scheduler.obey(what, target):
                self._say(ControlObeyed(what, target, by))

    def hold_back(self, state: MemoryState) -> None:
        """Start no experiment while the memory is low, pause running ones while it is critical, and record it."""
        with self._guard:
            self._scheduler.hold_back(state.level)
            if not self._closed:
                self._say(MemoryLevelChanged(state.level, state.free_bytes, state.wanted_bytes))

    def change(self, usd: float | None = None, concurrency: int | None = None, *, by: int) -> None:
        """Set the total budget and the concurrency from now on; None leaves a limit as it is.

        No work is lost: running calls end first, and an experiment that loses its slot waits.
        """
        with self._guard:
            before = self._now()
            after = Allowance(before.usd if usd is None else usd, concurrency or before.concurrency)
            if self._closed or after == before:
                return
            self._concurrency = after.concurrency
            self._ledger.change(after.usd)
            self._scheduler.resize(after.concurrency)
            self._say(AllowanceSet(after, by, before))

    def apply(self, request: ControlRequest) -> None:
        """Carry out a request. Raises as ``obey``."""
        if request.what == "change":
            self.change(request.usd, request.concurrency, by=request.by)
        else:
            self.obey(request.what, request.target, by=request.by)

    def apply_or_log(self, request: ControlRequest) -> None:
        """Apply the request of another process, which cannot receive an error: a fault is logged instead."""
        try:
            self.apply(request)
        except UsageError as error:
            _LOG.warning('The request "%s" of process %d was ignored: %s', request.what, request.by, error)

    @contextmanager
    def closing(self) -> Iterator[bool]:
        """Whether this is the first close; no other event is recorded meanwhile or afterwards."""
        with self._guard:
            first, self._closed = not self._closed, True
            yield first

    def _now(self) -> Allowance:
        return Allowance(self._ledger.usd, self._concurrency)

    def _say(self, event: Event) -> None:
        try:
            self._recorder.say(event)
        except JournalError as error:
            self._workers.break_off(error)
