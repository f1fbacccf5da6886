"""What a benchmark's journal says of it: what has ended, and the tapes of what has not."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from koderz_core.errors import JournalError, PlanError
from koderz_core.events import (
    BenchmarkOpened,
    CallFinished,
    CallStarted,
    CodeTested,
    Entry,
    Event,
    ExperimentFinished,
    MemoryRecalled,
    Note,
    ProgramProbed,
    RemainingRead,
    TextStored,
)
from koderz_core.journal import read_all
from koderz_core.records import Completion, Memory, Outcome, fingerprint
from koderz_core.runner.budget import Spending
from koderz_core.runner.header import header_then

Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True)
class Recorded:
    """The answer to one step, of whatever kind, and the hash of what was asked.

    ``ended_at``: seconds since 1970 (UTC); ``seconds``: what the step took.
    """

    request: str
    answer: object
    ended_at: float
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Tape:
    """The steps that were done, by ordinal. Empty for an experiment that never began.

    ``attempts``: how many times each call has been sent.
    """

    steps: Mapping[int, Recorded] = field(default_factory=dict)
    attempts: Mapping[int, int] = field(default_factory=dict)

    @property
    def seconds(self) -> float:
        """What the recorded steps took when they were done; those done at the same time count once."""
        covered, reached = 0.0, 0.0
        for step in sorted(self.steps.values(), key=lambda one: one.ended_at - one.seconds):
            covered += max(0.0, min(step.seconds, step.ended_at - reached))
            reached = max(reached, step.ended_at)
        return covered

    def answer(self, ordinal: int, request: str, kind: type[Answer]) -> Answer | None:
        """The recorded answer, of this kind; None where the tape has run out.

        Raises PlanError if something else was recorded there.
        """
        recorded = self.steps.get(ordinal)
        if recorded is None:
            return None
        if recorded.request != request or not isinstance(recorded.answer, kind):
            raise PlanError(
                f"Step {ordinal} is not what the journal recorded, so prompts or code have changed since. Set that "
                f"back and go on with --retry-errors, or start anew with --fork; what is recorded stays as it is."
            )
        return recorded.answer


FINAL: frozenset[Outcome] = frozenset({"solved", "unsolved"})


@dataclass(slots=True)
class History:
    """``outcomes``: how each experiment last ended; ``texts``: hashes of the texts that the journal holds.

    ``errors``: those that ended as errors, with what was said then. ``retry_errors``: these are taken up again.
    ``spending``: what all calls have cost.
    """

    retry_errors: bool = False
    header: BenchmarkOpened | None = None
    outcomes: dict[str, Outcome] = field(default_factory=dict)
    errors: dict[str, ExperimentFinished] = field(default_factory=dict)
    texts: set[str] = field(default_factory=set)
    tapes: Mapping[str, Tape] = field(default_factory=dict)
    spending: Spending = field(default_factory=Spending)

    def is_final(self, experiment: str) -> bool:
        """Whether there is nothing left to do. Cancelled experiments are always taken up again."""
        outcome = self.outcomes.get(experiment)
        return outcome in FINAL or (outcome == "error" and not self.retry_errors)

    def is_open(self, experiment: str) -> bool:
        """Whether it has no result at all yet, not even an error."""
        return self.outcomes.get(experiment) in (None, "cancelled")

    def add_end(self, experiment: str, end: ExperimentFinished) -> None:
        """The last end counts: a result that was there before stood until then."""
        self.outcomes[experiment] = end.outcome
        self.errors.pop(experiment, None)
        if end.outcome == "error":
            self.errors[experiment] = end


def load(path: Path, *, retry_errors: bool = False) -> History:
    """Who has ended, and the tapes of the others: the journal is read again for these, so that memory holds no more."""
    history = History(retry_errors)
    for entry in read_all(path):
        history.spending.add(entry)
        history.header = header_then(history.header, entry.event)
        if isinstance(entry.event, TextStored):
            history.texts.add(entry.event.sha256)
        elif isinstance(entry.event, ExperimentFinished) and entry.experiment:
            history.add_end(entry.experiment, entry.event)
    history.tapes = _tapes(path, history)
    return history


def _tapes(path: Path, history: History) -> dict[str, Tape]:
    entries: defaultdict[str, list[Entry]] = defaultdict(list)
    wanted: dict[str, str | None] = {}  # hash -> text that a tape needs
    for entry in read_all(path):
        if entry.experiment and not history.is_final(entry.experiment):
            entries[entry.experiment].append(entry)
            wanted |= dict.fromkeys(_texts_of(entry.event))
    for entry in read_all(path) if wanted else ():
        if isinstance(entry.event, TextStored) and entry.event.sha256 in wanted:
            wanted[entry.event.sha256] = entry.event.text
    texts = {sha256: text for sha256, text in wanted.items() if text is not None}
    try:
        return {experiment: _tape(told, texts) for experiment, told in entries.items()}
    except KeyError as error:
        raise JournalError(
            f"The journal {path.name} lacks lines that others name, so {path.stem} cannot go on. Restore the file, or "
            f"move it out of the folder and start anew."
        ) from error


def _texts_of(event: Event) -> list[str]:
    """Hashes of the texts that a strategy is told by what this event records."""
    if isinstance(event, CallFinished):
        return [event.text]
    return [memory.text for memory in event.memories] if isinstance(event, MemoryRecalled) else []


def _tape(entries: list[Entry], texts: Mapping[str, str]) -> Tape:
    begun: dict[int, CallStarted] = {}
    steps: dict[int, Recorded] = {}
    for entry in entries:
        ordinal = entry.ordinal or 0
        if isinstance(entry.event, CallStarted):
            begun[ordinal] = entry.event
        elif recorded := _recorded(entry, begun, texts):
            steps[ordinal] = recorded
    return Tape(steps, {ordinal: call.attempt for ordinal, call in begun.items()})


def _recorded(entry: Entry, begun: Mapping[int, CallStarted], texts: Mapping[str, str]) -> Recorded | None:
    """The step that an entry ends, None if it ends none. The hashes of requests are those that the session makes."""
    match event := entry.event:
        case CallFinished():
            request = begun[entry.ordinal or 0].request
            return Recorded(request, _completion(event, texts[event.text]), entry.at, event.seconds)
        case CodeTested():
            return Recorded(event.request, event.verdict, entry.at, event.verdict.seconds)
        case ProgramProbed():
            return Recorded(event.request, event.observed, entry.at, event.seconds)
        case MemoryRecalled():
            return Recorded(event.request, _memories(event, texts), entry.at, event.seconds)
        case RemainingRead():
            return Recorded("", event.remaining, entry.at)
    return Recorded(fingerprint(event), event, entry.at) if isinstance(event, Note) else None


def _completion(answer: CallFinished, text: str) -> Completion:
    return Completion(text, answer.finish, answer.usage, answer.seconds, answer.honoured, answer.first_token_seconds)


def _memories(recalled: MemoryRecalled, texts: Mapping[str, str]) -> tuple[Memory, ...]:
    return tuple(Memory(texts[memory.text], memory.origin, memory.tags) for memory in recalled.memories)
