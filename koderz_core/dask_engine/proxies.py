"""What an experiment uses on a worker in place of objects that only the owner has: each asks the owner."""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Mapping, Sequence
from dataclasses import replace
from queue import SimpleQueue

from koderz_core.dask_engine.link import Link
from koderz_core.dask_engine.messages import (
    Answered,
    AskCall,
    AskLeft,
    AskMemories,
    AskStep,
    Begin,
    Complete,
    Completed,
    Drop,
    Gone,
    Piece,
    Question,
    Run,
    Said,
    Text,
    fault_of,
    raised,
)
from koderz_core.egress import BENCHMARK
from koderz_core.errors import Cancelled
from koderz_core.events import CallStarted, Entry, Event, encode
from koderz_core.models.answer_cache import Draw
from koderz_core.protocols import Model
from koderz_core.records import Asker, Completion, Memory, Query, Request
from koderz_core.runner import budget
from koderz_core.runner.recorder import storable
from koderz_core.runner.scheduler import Scheduler, Slot

Reply = Answered | Complete | None
"""None: the link is lost."""


class Asking:
    """The questions of one run. Several threads may ask; each also makes the calls that its question leads to.

    ``paused``: the seconds that the experiment has waited on the owner's side, as the owner has last reported.
    """

    def __init__(self, link: Link, run: Run, benchmark: str, models: Mapping[str, Model]) -> None:
        self.link, self.run, self.benchmark = link, run, benchmark
        self._models = models
        self._numbers = itertools.count(1)
        self._start: SimpleQueue[Begin | Gone | None] = SimpleQueue()
        self._replies: dict[int, SimpleQueue[Reply]] = {}
        self._dropped: set[int] = set()
        self._lost = False
        self.paused = 0.0

    @property
    def number(self) -> int:
        """The number of a new question."""
        return next(self._numbers)

    def start(self) -> Begin | Gone | None:
        """What the owner sends first; None if the link is lost."""
        return self._start.get()

    def take(self, message: Begin | Gone | Answered | Complete | Drop) -> None:
        """Pass a message on to the thread that waits for it."""
        match message:
            case Begin() | Gone():
                self._start.put(message)
            case Drop():
                self._dropped.add(message.number)
            case _:
                if replies := self._replies.get(message.number):
                    replies.put(message)

    def lose(self) -> None:
        """The link is lost: nothing waits any more."""
        self._lost = True
        self._start.put(None)
        for replies in list(self._replies.values()):
            replies.put(None)

    def ask(self, question: Question) -> Answered:
        """The answer of the owner. Raises what the owner raised, and Cancelled if the link is lost."""
        replies: SimpleQueue[Reply] = SimpleQueue()
        self._replies[question.number] = replies
        self.link.send(question)
        if self._lost or self.link.lost.is_set():
            replies.put(None)
        try:
            while isinstance(reply := replies.get(), Complete):
                self._dropped.discard(reply.number)
                self.link.send(self._completed(reply))
        finally:
            del self._replies[question.number]
        if reply is None:
            raise Cancelled("The connection to the process that runs the benchmark was lost.")
        self.paused = max(self.paused, reply.paused)  # of two replies, the earlier may be read last
        if reply.fault:
            raise raised(reply.fault)
        return reply

    def recall(self, query: Query, asker: Asker) -> Sequence[Memory]:
        """As ``Dependencies.recall``."""
        return self.ask(AskMemories(self.run, self.number, query, asker)).memories

    def _completed(self, asked: Complete) -> Completed:
        """Make one call with the worker's own model."""
        BENCHMARK.set(self.benchmark)

        def pass_on(text: str) -> None:
            if asked.number in self._dropped or self.link.lost.is_set():
                raise Cancelled("The experiment was stopped. It can be resumed.")
            self.link.post(Piece(asked.run, asked.number, storable(text)))

        try:
            completion = self._models[asked.model].complete(asked.request, pass_on if asked.streamed else None)
        except Exception as error:  # noqa: BLE001 (the edge of the call: the owner raises it again)
            return Completed(asked.run, asked.number, fault=fault_of(error))
        return Completed(asked.run, asked.number, _storable(completion))


def _storable(completion: Completion) -> Completion:
    """The answer with a text that a message can hold."""
    return replace(completion, text=storable(completion.text))


class LinkReceiver:
    """Takes the events of an experiment, which reach the owner in order and with little delay."""

    def __init__(self, asking: Asking) -> None:
        self._asking = asking
        self._texts = set[str]()

    def say(self, event: Event, experiment: str | None = None, ordinal: int | None = None) -> None:
        """As the recorder; the owner stamps the event with its time."""
        line = encode(Entry(0.0, event, experiment, ordinal))
        self._asking.link.post(Said(self._asking.run, line))

    def text(self, text: str) -> str:
        """As the recorder. Each text is sent once per experiment."""
        digest = hashlib.sha256(text.encode()).hexdigest()
        if digest not in self._texts:
            self._texts.add(digest)
            self._asking.link.post(Text(self._asking.run, text))
        return digest


class RemoteSlot(Slot):
    """A slot that the owner holds. It asks the owner only while something is paused or stopped."""

    def __init__(self, asking: Asking, configuration: str, experiment: str, paused_before: float = 0.0) -> None:
        super().__init__(Scheduler(), configuration, experiment)
        self._asking, self._paused_before = asking, paused_before
        asking.paused = paused_before

    @property
    def paused_seconds(self) -> float:
        """As ``Slot``, in this run."""
        return self._asking.paused - self._paused_before

    def step(self) -> None:
        """As ``Slot``."""
        if self._asking.link.halting:
            self._asking.ask(AskStep(self._asking.run, self._asking.number, False))

    def check(self) -> None:
        """As ``Slot``."""
        if self._asking.link.halting:
            self._asking.ask(AskStep(self._asking.run, self._asking.number, True))


class RemoteCalls:
    """Lets the owner make the calls, which come back as requests to the worker's models."""

    def __init__(self, asking: Asking, place: Draw) -> None:
        self._asking, self._place = asking, place

    def ask(self, started: CallStarted, request: Request, ordinal: int) -> Completion:
        """As ``Calls.ask``."""
        asking = self._asking
        answer = asking.ask(AskCall(asking.run, asking.number, started, request, ordinal, self._place))
        assert answer.completion
        return answer.completion


class Ledger(budget.Ledger):
    """Asks the owner what an experiment may still spend."""

    def __init__(self, asking: Asking) -> None:
        super().__init__()
        self._asking = asking

    def left(self, experiment: str) -> float | None:  # noqa: ARG002 (the owner knows which)
        """As ``Ledger``."""
        return self._asking.ask(AskLeft(self._asking.run, self._asking.number)).left
