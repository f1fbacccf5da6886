"""An experiment as the owner sees it while a worker runs it: its events so far, and the run that may write."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field, replace
from queue import SimpleQueue

from koderz_core.dask_engine.link import Link
from koderz_core.dask_engine.messages import AskCall, Complete, Completed, Drop, Piece, Run, raised
from koderz_core.errors import KoderzError
from koderz_core.events import (
    CallFailed,
    CallFinished,
    Entry,
    Event,
    ExperimentFinished,
    ExperimentStarted,
)
from koderz_core.protocols import OnText
from koderz_core.records import Completion, Request
from koderz_core.runner.dependencies import Dependencies
from koderz_core.runner.experiment import Task
from koderz_core.runner.history import Tape, tape_of
from koderz_core.runner.recorder import Voice
from koderz_core.runner.scheduler import Slot

Outcome = ExperimentFinished | Exception


class WorkerLostError(KoderzError):
    """The worker of a run is gone, or another run has replaced this one: its steps must have no effect."""


@dataclass(eq=False)
class Turn:
    """One run of an experiment on one worker. ``ordinals``: those of its calls, by question."""

    link: Link
    run: Run
    voice: Voice
    calls: dict[int, SimpleQueue[Piece | Completed | None]] = field(default_factory=dict)
    ordinals: dict[int, int] = field(default_factory=dict)


class Performance:
    """Only the newest run writes to the journal. An answer that has arrived is recorded even if its worker is lost."""

    def __init__(self, task: Task, dependencies: Dependencies, voice: Voice, slot: Slot) -> None:
        self.task, self.dependencies, self.slot = task, dependencies, slot
        self.outcome: SimpleQueue[Outcome] = SimpleQueue()
        self.turn: Turn | None = None
        self.started = False
        self.losses = 0  # workers that were lost while they ran the experiment
        self._closed = False
        self._voice = voice
        self._entries: list[Entry] = []
        self._texts: dict[str, str] = {}
        self._answered: set[tuple[Turn, int]] = set()  # calls whose end has arrived but is not recorded yet
        self._changed = threading.Condition(threading.RLock())  # guards all of these, and all fields of the turns

    def begin(self, link: Link, run: Run) -> tuple[Turn, Tape] | None:
        """A new run, which replaces the one before, with the tape of everything recorded so far; None: it has ended."""
        with self._changed:
            if self._closed:
                return None
            if self.turn:
                self._lose(self.turn)
            self._changed.wait_for(lambda: self._closed or not self._answered)
            if self._closed:
                return None  # it was stopped while no worker ran it
            turn = Turn(link, run, self._voice)
            turn.voice = Voice(_Fenced(self, turn), self._voice.experiment)
            self.turn = turn
            return turn, self._tape()

    def _tape(self) -> Tape:
        recorded, before = tape_of(self._entries, self._texts), self.task.tape
        return Tape({**before.steps, **recorded.steps}, {**before.attempts, **recorded.attempts})

    def ended(self, finished: ExperimentFinished) -> ExperimentFinished:
        """The end of an experiment that no worker has ended, with the time that its recorded steps took."""
        with self._changed:
            return replace(finished, seconds=self._tape().seconds)

    def lose(self, turn: Turn) -> bool:
        """The worker of this run is gone: its calls end without an end in the journal.

        Returns whether another worker must run the experiment.
        """
        with self._changed:
            newest = self.turn is turn and not self._closed
            self._lose(turn)
            self.losses += newest
            return newest

    def end(self, outcome: Outcome, turn: Turn | None = None) -> None:
        """End the experiment; with ``turn``, only if that is the newest run."""
        with self._changed:
            if turn is None or turn is self.turn:
                self.outcome.put(outcome)

    def close(self) -> None:
        """The experiment has ended: no run may write any more."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
            if self.turn:
                self._lose(self.turn)

    def is_running(self) -> bool:
        """Whether a worker runs the experiment now."""
        with self._changed:
            return self.turn is not None

    def _lose(self, turn: Turn) -> None:
        for box in turn.calls.values():
            box.put(None)
        self.turn = None if self.turn is turn else self.turn

    def take(self, turn: Turn, message: Piece | Completed) -> None:
        """Pass a part of an answer on to the call that waits for it."""
        with self._changed:
            box = turn.calls.get(message.number)
            if box is None:
                return
            if isinstance(message, Completed):
                self._answered.add((turn, turn.ordinals[message.number]))
            box.put(message)

    def complete(self, turn: Turn, number: int, model: str, request: Request, on_text: OnText | None) -> Completion:
        """Let the worker of a run send a request to its model.

        Raises WorkerLostError, and what the model or ``on_text`` raises.
        """
        box: SimpleQueue[Piece | Completed | None] = SimpleQueue()
        with self._changed:
            self._require(turn)
            turn.calls[number] = box
        try:
            turn.link.send(Complete(turn.run, number, model, request, on_text is not None))
            while not isinstance(message := box.get(), Completed):
                if message is None:
                    raise WorkerLostError(f"The worker of {self.task.experiment.id} was lost during a call.")
                if on_text:
                    on_text(message.text)
        except BaseException:
            turn.link.send(Drop(turn.run, number))
            raise
        finally:
            with self._changed:
                turn.calls.pop(number, None)
        if message.fault:
            raise raised(message.fault)
        assert message.completion
        return message.completion

    def forget(self, turn: Turn, ordinal: int) -> None:
        """A call has ended: nothing waits any more for its end to be recorded."""
        with self._changed:
            self._answered.discard((turn, ordinal))
            self._changed.notify_all()

    def _require(self, turn: Turn) -> None:
        if self.turn is not turn:
            raise WorkerLostError(f"Another worker runs {self.task.experiment.id} now.")

    def say(self, turn: Turn, event: Event, ordinal: int | None) -> None:
        """Record an event of a run. Raises WorkerLostError, JournalError."""
        with self._changed:
            ends = isinstance(event, CallFinished | CallFailed) and (turn, ordinal) in self._answered
            if not ends:
                self._require(turn)
            self._voice.say(event, ordinal)
            self.started = self.started or isinstance(event, ExperimentStarted)
            self._entries.append(Entry(self.dependencies.clock(), event, self._voice.experiment, ordinal))
            if ends and ordinal is not None:
                self.forget(turn, ordinal)

    def text(self, text: str) -> str:
        """As the recorder; keeps the text for a later tape."""
        digest = self._voice.text(text)
        with self._changed:
            self._texts[digest] = text
        return digest

    def give_up(self, error: ExperimentFinished) -> None:
        """End the experiment although no worker has ended it."""
        if not self.started:
            self._voice.say(ExperimentStarted(self.task.experiment))
        self.end(self.ended(error))


class _Fenced:
    """The recorder of one run: what another run has replaced, is not recorded."""

    def __init__(self, performance: Performance, turn: Turn) -> None:
        self._performance, self._turn = performance, turn
        self.text = performance.text

    def say(self, event: Event, experiment: str | None = None, ordinal: int | None = None) -> None:  # noqa: ARG002
        self._performance.say(self._turn, event, ordinal)


class RemoteModel:
    """A model of the worker that runs an experiment, for one question."""

    def __init__(self, performance: Performance, turn: Turn, question: AskCall) -> None:
        self._performance, self._turn, self._number = performance, turn, question.number
        self.id = question.started.model

    def complete(self, request: Request, on_text: OnText | None = None) -> Completion:
        """As the model. Raises WorkerLostError."""
        return self._performance.complete(self._turn, self._number, self.id, request, on_text)

    def close(self) -> None:
        """Do nothing: the worker closes its models."""
