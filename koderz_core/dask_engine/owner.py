"""The owner's side of the links: it admits workers, hands experiments out, records events and answers questions."""

from __future__ import annotations

import logging
import platform
import threading
import time
from collections import deque
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field, replace

import msgspec

from koderz_core.dask_engine.door import differing_versions
from koderz_core.dask_engine.link import Entrance, Link
from koderz_core.dask_engine.messages import (
    TO_OWNER,
    Answered,
    AskCall,
    AskLeft,
    AskMemories,
    AskStep,
    Completed,
    End,
    Fetch,
    Flag,
    FromWorker,
    Gone,
    Hello,
    Piece,
    Question,
    Ready,
    Refused,
    Run,
    Said,
    Terms,
    Text,
    begin,
    fault_of,
    raised,
)
from koderz_core.dask_engine.performance import Outcome, Performance, RemoteModel, Turn, WorkerLostError
from koderz_core.egress import BENCHMARK
from koderz_core.errors import Cancelled, KoderzError
from koderz_core.events import BenchmarkOpened
from koderz_core.grading.testsets import Split, TestPolicy
from koderz_core.records import Problem, fingerprint
from koderz_core.runner.experiment import without_result
from koderz_core.runner.provider_limits import Endpoints
from koderz_core.runner.recorder import storable
from koderz_core.runner.retry import Calls
from koderz_core.runner.scheduler import Scheduler

_LOG = logging.getLogger("koderz")
MOST_QUESTIONS = 4096  # that are answered at the same time: paused experiments wait in theirs
MOST_LOSSES = 3  # workers that may be lost during one experiment
IDLE_SECONDS = 2.0  # how long a worker waits for the next experiment before its task ends
KILLS_WORKERS = (
    f"This experiment lost its worker {MOST_LOSSES + 1} times, so koderz does not give it to another worker. "
    "This error is not a failure of the models. Check the memory of the workers, then resume with --retry-errors."
)
WATCH_SECONDS = 0.2  # how soon workers learn that something was paused or stopped

Turns = dict[Run, tuple[Performance, Turn]]


@dataclass(eq=False)
class Site:
    """A worker as the owner knows it. ``own``: the models that only this worker reaches."""

    name: str
    host: str
    link: Link
    own: frozenset[str] = frozenset()
    turns: Turns = field(default_factory=dict)
    sent: set[str | tuple[str, TestPolicy]] = field(
        default_factory=set
    )  # to it: problems by id, tests by id and policy
    sending: threading.Lock = field(default_factory=threading.Lock)  # something is sent before it counts as sent
    ready: bool = False

    def endpoints(self, shared: Endpoints) -> Endpoints:
        """The limits of providers: those of models that are its own hold for this worker alone."""
        return replace(
            shared,
            address=lambda model: (
                f"{shared.address(model)} of {self.name}" if model in self.own else shared.address(model)
            ),
        )


class Owner:
    """Serves the workers of one benchmark. May be used from any thread."""

    def __init__(self, terms: Terms, scheduler: Scheduler, host: str, key: bytes) -> None:
        """``host``: the address of this machine at which workers reach it."""
        self._terms, self._scheduler = terms, scheduler
        self._performances: dict[str, Performance] = {}
        self._sites: dict[Link, Site] = {}
        self._refusals: dict[str, str] = {}
        self._hashes: dict[str, str] = {}
        self._waiting: deque[Performance] = deque()  # experiments without a worker
        self._idle: deque[tuple[Site, Run, float]] = deque()  # free runs of workers, since when
        self._changed = threading.Condition()  # guards all of these
        self._halting = False
        self._closed = threading.Event()
        self._pool = ThreadPoolExecutor(MOST_QUESTIONS, thread_name_prefix="question")
        self._entrance = Entrance(host, key, self._serve)
        self.address = (host, self._entrance.port)
        threading.Thread(target=self._watch, name="workers", daemon=True).start()

    @property
    def header(self) -> BenchmarkOpened:
        return self._terms.header

    def close(self) -> None:
        """Let the workers go. Idempotent."""
        self._closed.set()
        self._entrance.close()
        with self._changed:
            links = list(self._sites)
        for link in links:
            link.close()
        self._pool.shutdown(wait=False, cancel_futures=True)

    def refuse(self, worker: str, reason: str) -> None:
        """Note that a worker runs no experiments."""
        with self._changed:
            self._refusals[worker] = reason
            self._changed.notify_all()
        _LOG.warning("The worker %s runs no experiments of %s: %s", worker, self.header.benchmark, reason)

    @property
    def refusals(self) -> Mapping[str, str]:
        """Why workers were refused, by worker."""
        with self._changed:
            return dict(self._refusals)

    def workers(self) -> Mapping[str, tuple[str, ...]]:
        """The ids of the experiments that each accepted worker runs now."""
        with self._changed:
            sites = [site for site in self._sites.values() if site.ready]
            return {site.name: tuple(p.task.experiment.id for p, _ in site.turns.values()) for site in sites}

    def wait_for_worker(self, seconds: float) -> bool:
        """Whether a worker has been accepted, at the latest after these seconds."""
        with self._changed:
            return self._changed.wait_for(lambda: any(site.ready for site in self._sites.values()), seconds)

    def add(self, performance: Performance) -> None:
        """Hand an experiment to a worker that is free, now or later."""
        with self._changed:
            self._performances[performance.task.experiment.id] = performance
        self._hand_out(performance)

    def demand(self) -> tuple[int, int]:
        """How many experiments wait for a worker, and how many there are."""
        with self._changed:
            return len(self._waiting), len(self._performances)

    def _hand_out(self, performance: Performance, *, first: bool = False) -> None:
        with self._changed:
            while self._idle:
                site, run, _ = self._idle.popleft()
                if not site.link.lost.is_set():
                    self._pool.submit(self._begin, site, run, performance)
                    return
            self._waiting.appendleft(performance) if first else self._waiting.append(performance)

    def _fetch(self, site: Site, run: Run) -> None:
        with self._changed:
            if self._waiting:
                self._pool.submit(self._begin, site, run, self._waiting.popleft())
            else:
                self._idle.append((site, run, time.monotonic()))

    def remove(self, performance: Performance) -> None:
        """The experiment has ended: no run of it may write any more."""
        with self._changed:
            self._performances.pop(performance.task.experiment.id, None)
            with suppress(ValueError):
                self._waiting.remove(performance)
        performance.close()

    def give_up(self, error: KoderzError) -> None:
        """End all experiments that workers should run, without a result."""
        with self._changed:
            performances = list(self._performances.values())
        for performance in performances:
            performance.end(error)

    def _serve(self, link: Link) -> None:
        """Serve one worker until its link is lost."""
        if (first := link.receive()) is None:
            return
        hello = msgspec.json.decode(first, type=Hello)
        if reason := differing_versions(hello, self.header.koderz_version, platform.python_version()):
            self.refuse(hello.worker, reason)
            link.send(Refused(reason))
            return
        site = Site(hello.worker, hello.host, link)
        with self._changed:
            self._sites[link] = site
        link.send(self._terms)
        try:
            while (frame := link.receive()) is not None:
                for message in TO_OWNER.decode(frame):
                    self._take(site, message)
        except msgspec.MsgspecError:
            _LOG.exception("The worker %s sent a message that koderz cannot read", site.name)
        finally:
            self._lose(site)

    def _lose(self, site: Site) -> None:
        site.link.close()
        with self._changed:
            self._sites.pop(site.link, None)
            turns = list(site.turns.values())
            self._changed.notify_all()
        for performance, turn in turns:
            self._replay(performance, turn)

    def _replay(self, performance: Performance, turn: Turn) -> None:
        """Let another worker run an experiment whose worker is lost, unless it seems to be the cause."""
        if not performance.lose(turn):
            return
        if performance.losses <= MOST_LOSSES:
            self._hand_out(performance, first=True)
        else:
            performance.give_up(without_result("error", KILLS_WORKERS))

    def _take(self, site: Site, message: FromWorker) -> None:
        match message:
            case Ready():
                self._accept(site, message)
            case Refused():
                self.refuse(site.name, message.reason)
            case Fetch():
                self._fetch(site, message.run)
            case _:
                if held := site.turns.get(message.run):
                    self._take_of(site, *held, message)

    def _accept(self, site: Site, ready: Ready) -> None:
        with self._changed:
            site.own, site.ready = frozenset(ready.own), True
            self._refusals.pop(site.name, None)
            self._changed.notify_all()
        site.link.send(Flag(self._halting))

    def _begin(self, site: Site, run: Run, performance: Performance) -> None:
        try:
            self._start(site, run, performance)
        except Exception as error:  # noqa: BLE001 (the edge of this thread: the experiment ends with it)
            site.link.send(Gone(run))
            performance.end(error)

    def _start(self, site: Site, run: Run, performance: Performance) -> None:
        if (begun := performance.begin(site.link, run)) is None:
            self._fetch(site, run)
            return
        turn, tape = begun
        with self._changed:
            site.turns[run] = (performance, turn)
        task, paused = performance.task, performance.slot.paused_seconds
        message = begin(run, task, tape, self._hash(task.problem), paused)
        split = self._split(site, performance)
        with site.sending:
            if task.problem.id not in site.sent:
                message.problem = task.problem
            if split:
                message.split = split
                site.sent.add((task.problem.id, task.policy))
            site.sent.add(task.problem.id)
            site.link.send(message)
        if site.link.lost.is_set():  # it may have been lost before it had this run
            self._replay(performance, turn)

    def _split(self, site: Site, performance: Performance) -> Split | None:
        """The divided tests that a worker on this machine needs; None if it has them or must divide them itself.

        Their time limits are measured here. A worker on another machine, which may be slower, measures its own.
        """
        task = performance.task
        if site.host != platform.node() or (task.problem.id, task.policy) in site.sent:
            return None
        try:
            tests = performance.dependencies.divide(task.problem, task.policy)
        except KoderzError:
            return None  # the worker meets the same error, and the experiment ends with it
        return tests if isinstance(tests, Split) else None

    def _hash(self, problem: Problem) -> str:
        if problem.id not in self._hashes:
            self._hashes[problem.id] = fingerprint(problem)
        return self._hashes[problem.id]

    def _take_of(self, site: Site, performance: Performance, turn: Turn, message: FromWorker) -> None:
        """A message about an experiment. A broken journal ends the benchmark, as it does without workers."""
        try:
            match message:
                case Said() if entry := message.entry():
                    turn.voice.say(entry.event, entry.ordinal)
                case Text():
                    performance.text(message.text)
                case Piece() | Completed():
                    performance.take(turn, message)
                case End():
                    with self._changed:
                        site.turns.pop(message.run, None)
                    performance.end(_outcome(performance, message), turn)
                case AskCall() | AskStep() | AskLeft() | AskMemories():
                    self._pool.submit(self._answer, site, performance, turn, message)
        except WorkerLostError:
            return
        except KoderzError as error:
            performance.end(error)

    def _answer(self, site: Site, performance: Performance, turn: Turn, question: Question) -> None:
        answer = Answered(question.run, question.number, 0.0)
        try:
            self._put(answer, site, performance, turn, question)
        except WorkerLostError:
            return
        except Exception as error:  # noqa: BLE001 (the edge of this thread: the worker raises it again)
            if not isinstance(error, KoderzError):
                experiment = performance.task.experiment.id
                _LOG.exception("A bug in koderz or in the client code of a model ended a call of %s", experiment)
            answer.fault = fault_of(error)
        finally:
            if isinstance(question, AskCall):
                performance.forget(turn, question.ordinal)
        answer.paused = performance.slot.paused_seconds
        site.link.send(answer)

    def _put(self, answer: Answered, site: Site, performance: Performance, turn: Turn, question: Question) -> None:
        """Put into the answer what the objects of this process say."""
        dependencies, slot = performance.dependencies, performance.slot
        match question:
            case AskCall():
                turn.ordinals[question.number] = question.ordinal
                model = RemoteModel(performance, turn, question)
                remote = replace(
                    dependencies,
                    models={question.started.model: model},
                    endpoints=site.endpoints(dependencies.endpoints),
                )
                calls = Calls(remote, turn.voice, slot, question.place)
                answer.completion = calls.ask(question.started, question.request, question.ordinal)
            case AskStep():
                slot.check() if question.check else slot.step()
            case AskLeft():
                answer.left = dependencies.ledger.left(performance.task.experiment.id)
            case AskMemories():
                BENCHMARK.set(dependencies.benchmark)  # a search is made by this thread
                memories = dependencies.recall(question.query, question.asker)
                answer.memories = tuple(
                    replace(kept, text=storable(kept.text), origin=storable(kept.origin))
                    for kept in map(dependencies.redact.memory, memories)
                )

    def _watch(self) -> None:
        """Tell the workers when they must ask before each step, and end experiments that no worker has started."""
        while not self._closed.wait(WATCH_SECONDS):
            halting = self._scheduler.halting
            with self._changed:
                changed, self._halting = halting != self._halting, halting
                links = [link for link, site in self._sites.items() if site.ready]
                performances = list(self._performances.values())
                long_idle = [held for held in self._idle if time.monotonic() - held[2] > IDLE_SECONDS]
                for held in long_idle:
                    self._idle.remove(held)
            for site, run, _ in long_idle:
                site.link.send(Gone(run))
            for link in links if changed else ():
                link.send(Flag(halting))
            for performance in performances if halting else ():
                if performance.slot.stopped and not performance.is_running():
                    performance.end(STOPPED)


STOPPED = Cancelled("The experiment was stopped before a worker had started it.")


def _outcome(performance: Performance, end: End) -> Outcome:
    if end.fault:
        return raised(end.fault)
    finished = performance.task.before if end.before else end.finished
    assert finished, "an experiment without a fault has an end"
    return finished
