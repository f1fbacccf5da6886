"""The threads of a running benchmark: one per experiment at work, as many at work at once as there are places."""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from random import Random

from koderz_core.conditions import policy_of
from koderz_core.errors import JournalError, KoderzError, UsageError
from koderz_core.events import AllowanceSet, ControlObeyed, Event, ExperimentFinished
from koderz_core.records import Allowance, Control, Experiment, Plan, Problem
from koderz_core.runner.budget import Ledger
from koderz_core.runner.control import Wish
from koderz_core.runner.dependencies import Parts
from koderz_core.runner.experiment import Work, perform, without_result
from koderz_core.runner.history import History, Tape
from koderz_core.runner.pause import Gate, Passage, Target
from koderz_core.runner.recorder import Recorder, Voice

_LOG = logging.getLogger("koderz")


class Crew:
    """Performs works behind a gate, each through ``perform``, until all have ended or been stopped."""

    def __init__(self, works: Sequence[Work], parts: Parts, recorder: Recorder, gate: Gate) -> None:
        self._parts = parts
        self._recorder = recorder
        self._gate = gate
        self._works = {self._passage(work): work for work in works}
        self._under_way: dict[str, tuple[Work, float]] = {}  # by id, with the monotonic second it began at
        self._guard = threading.Lock()  # guards _under_way, and that an experiment ends once
        self.bugs: list[Exception] = []  # what no experiment should have raised; each ended its experiment as error
        self.fault: KoderzError | None = None  # what broke all
        self.cut_short = False  # whether a stop has kept an experiment from its end

    def perform_all(self, name: str) -> None:
        """Return when all have ended. A paused experiment keeps its thread, but not its place."""
        waiting = list(self._works)  # the gate takes out of it whom it lets through
        with ThreadPoolExecutor(max(1, len(waiting)), thread_name_prefix=name) as threads:
            while passage := self._gate.admit(waiting, self._parts.lanes.shut):
                if passage.stopped:
                    self.cut_short = True
                elif self._parts.ledger.used_up:
                    self.cut_short = True
                    self._gate.leave()
                else:
                    threads.submit(self._perform_in_turn, passage, waiting)

    def targets(self) -> frozenset[Target]:
        """All that can be paused and stopped."""
        return frozenset[Target]().union(*(passage.names for passage in self._works))

    def cancelled(self) -> Mapping[str, ExperimentFinished]:
        """How those that are under way end, by id, since they end now: their threads say no other end of them."""
        with self._guard:
            under_way, self._under_way = self._under_way, {}
        return {
            name: work.before
            or replace(without_result("cancelled"), seconds=work.tape.seconds + time.monotonic() - begin)
            for name, (work, begin) in under_way.items()
        }

    def break_off(self, error: KoderzError) -> None:
        """End everything at its next step, because of this."""
        self.fault = self.fault or error
        self._gate.obey("stop")

    def _passage(self, work: Work) -> Passage:
        needs = frozenset(map(self._parts.lanes.address, models([work])))
        return Passage(self._gate, work.configuration.id, work.experiment.id, needs)

    def _perform_in_turn(self, passage: Passage | None, waiting: list[Passage]) -> None:
        """One experiment and, in its place, those that follow: to wake another thread for each costs more."""
        while passage:
            self._perform(self._works[passage], passage)
            if self._parts.ledger.used_up:
                self._gate.leave()
                return
            passage = self._gate.hand_on(waiting, self._parts.lanes.shut)

    def _perform(self, work: Work, passage: Passage) -> None:
        """The edge of a worker thread: a bug costs its experiment, only a broken journal ends the benchmark."""
        with self._guard:
            self._under_way[work.experiment.id] = (work, time.monotonic())
        try:
            self._perform_or_say_why(work, passage)
        except KoderzError as error:
            self.break_off(error)
        finally:
            with self._guard:
                self._under_way.pop(work.experiment.id, None)

    def _perform_or_say_why(self, work: Work, passage: Passage) -> None:
        voice = Voice(self._recorder, work.experiment.id)
        try:
            finished = perform(work, self._parts, voice, passage)
        except KoderzError:
            raise
        except Exception as error:  # noqa: BLE001 (the edge: a bug must not end the other experiments)
            _LOG.exception("A bug of koderz or of a strategy in %s", work.experiment.id)
            self.bugs.append(error)
            finished = without_result("error", f"A bug of koderz or of the strategy: {type(error).__name__}")
        self.cut_short |= finished.outcome == "cancelled" or finished is work.before
        self._end(voice, finished)

    def _end(self, voice: Voice, finished: ExperimentFinished) -> None:
        """Say how an experiment ended, unless ``cancelled`` did. Until that is written, ``cancelled`` waits."""
        with self._guard:
            if self._under_way.pop(voice.experiment, None):
                voice.say(finished)


def models(works: Iterable[Work]) -> frozenset[str]:
    """The ids of all models that are needed."""
    return frozenset(name for work in works for role in work.configuration.models.values() for name in role)


def piloted(plan: Plan, problems: int | None) -> tuple[Experiment, ...]:
    """The experiments on so many problems of a plan, drawn by its seed; None: on all."""
    if problems is None or problems >= len(plan.problems):
        return plan.experiments()
    drawn = Random(plan.seed).sample(sorted(plan.problems), problems)  # noqa: S311 (sampling, not secrets)
    return tuple(experiment for experiment in plan.experiments() if experiment.problem in drawn)


def remaining(
    plan: Plan, experiments: Iterable[Experiment], problems: Mapping[str, Problem], history: History
) -> list[Work]:
    """What of these experiments of a plan is left to do."""
    configurations = {configuration.id: configuration for configuration in plan.configurations}
    return [
        Work(
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


_LOG = logging.getLogger("koderz")


class Steering:
    """Of one running benchmark. May be used from any thread."""

    def __init__(self, benchmark: str, gate: Gate, ledger: Ledger, crew: Crew, recorder: Recorder) -> None:
        self._benchmark = benchmark
        self._gate = gate
        self._ledger = ledger
        self._crew = crew
        self._recorder = recorder
        self._concurrency = 0
        self._closed = False
        self._guard = threading.Lock()  # guards both, and that nothing is said behind the closing line

    def begin(self, concurrency: int, *, tell: bool) -> None:
        """Let that many experiments work at once; ``tell``: and write it down. Raises JournalError."""
        with self._guard:
            self._concurrency = concurrency
            if tell:
                self._recorder.say(AllowanceSet(self._now(), os.getpid()))
            self._gate.resize(concurrency)

    def obey(self, what: Control, target: Target = None, *, by: int) -> None:
        """As ``Runner.obey``."""
        if target not in {None, *self._crew.targets()}:
            raise UsageError(
                f"{target!r} is no configuration or experiment that {self._benchmark} had left to do when it began. "
                f"`koderz results {self._benchmark} --experiments` lists them."
            )
        with self._guard:
            if not self._closed and self._gate.obey(what, target):
                self._say(ControlObeyed(what, target, by))

    def change(self, usd: float | None = None, concurrency: int | None = None, *, by: int) -> None:
        """Let it cost ``usd`` in all from now on, and have that many experiments at work; None leaves it as it is.

        Nothing that is under way is lost: a call ends first, and who has no place any more waits.
        """
        with self._guard:
            before = self._now()
            after = Allowance(before.usd if usd is None else usd, concurrency or before.concurrency)
            if self._closed or after == before:
                return
            self._concurrency = after.concurrency
            self._ledger.change(after.usd)
            self._gate.resize(after.concurrency)
            self._say(AllowanceSet(after, by, before))

    def heed(self, wish: Wish) -> None:
        """Do what is wished. Raises as ``obey``."""
        if wish.what == "change":
            self.change(wish.usd, wish.concurrency, by=wish.by)
        else:
            self.obey(wish.what, wish.target, by=wish.by)

    def grant(self, wish: Wish) -> None:
        """Heed the wish of somebody who is not there to be told: what cannot be done is logged."""
        try:
            self.heed(wish)
        except UsageError as error:
            _LOG.warning("A wish of process %d is passed over: %s", wish.by, error)

    @contextmanager
    def closing(self) -> Iterator[bool]:
        """Whether nobody has closed it before; what is said inside is the last, and others wait for that."""
        with self._guard:
            first, self._closed = not self._closed, True
            yield first

    def _now(self) -> Allowance:
        return Allowance(self._ledger.usd, self._concurrency)

    def _say(self, event: Event) -> None:
        try:
            self._recorder.say(event)
        except JournalError as error:
            self._crew.break_off(error)
