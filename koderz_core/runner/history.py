"""The history of a benchmark, read from its journal: which experiments have ended, and the tapes of the others."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from koderz_core.errors import JournalError, PlanError
from koderz_core.events import (
    BenchmarkClosed,
    BenchmarkDecided,
    BenchmarkOpened,
    CallFinished,
    CallStarted,
    CodeTested,
    Entry,
    Event,
    ExperimentFinished,
    ExperimentStarted,
    MemoryRecalled,
    Note,
    ProgramProbed,
    RemainingRead,
    TextStored,
)
from koderz_core.journal import read_all
from koderz_core.records import Completion, Memory, Outcome, Plan, fingerprint
from koderz_core.runner.budget import Spending
from koderz_core.runner.header import header_then

Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True)
class Recorded:
    """The answer of one step, and the hash of its request.

    ``ended_at``: seconds since 1970 (UTC); ``seconds``: the duration of the step.
    """

    request: str
    answer: object
    ended_at: float
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Tape:
    """The recorded steps of an experiment, by ordinal; empty if it never started. A session replays them.

    ``attempts``: how many times each call has been sent, by ordinal.
    """

    steps: Mapping[int, Recorded] = field(default_factory=dict)
    attempts: Mapping[int, int] = field(default_factory=dict)

    @property
    def seconds(self) -> float:
        """The time that the recorded steps took; concurrent steps count once."""
        covered, reached = 0.0, 0.0
        for step in sorted(self.steps.values(), key=lambda step: step.ended_at - step.seconds):
            covered += max(0.0, min(step.seconds, step.ended_at - reached))
            reached = max(reached, step.ended_at)
        return covered

    def answer(self, ordinal: int, request: str, kind: type[Answer]) -> Answer | None:
        """The recorded answer of this kind; None if the tape does not hold this step.

        Raises PlanError if the tape holds another step at this ordinal.
        """
        recorded = self.steps.get(ordinal)
        if recorded is None:
            return None
        if recorded.request != request or not isinstance(recorded.answer, kind):
            raise PlanError(
                f"Step {ordinal} of the experiment (a step is, for example, a model call or a test run) differs from "
                "the journal, because prompts or code have changed. Restore the earlier prompts and the earlier code, "
                "then resume with --retry-errors, or start a new benchmark with --fork. Recorded results do not change."
            )
        return recorded.answer


FINAL: frozenset[Outcome] = frozenset({"solved", "unsolved"})


@dataclass(slots=True)
class History:
    """The state of a benchmark when a runner takes it over.

    ``first``: the plan before all extensions. ``outcomes``: how each experiment last ended. ``errors``: the ends of
    those whose last end is an error; ``retry_errors``: these run again. ``texts``: hashes of the texts that the journal
    holds. ``spending``: the cost of all calls. ``decided``: the decision that ended a sequential benchmark.
    ``closed``: the last entry, if it closes the benchmark.
    """

    retry_errors: bool = False
    header: BenchmarkOpened | None = None
    first: Plan | None = None
    outcomes: dict[str, Outcome] = field(default_factory=dict)
    errors: dict[str, ExperimentFinished] = field(default_factory=dict)
    texts: set[str] = field(default_factory=set)
    tapes: Mapping[str, Tape] = field(default_factory=dict)
    spending: Spending = field(default_factory=Spending)
    decided: BenchmarkDecided | None = None
    closed: BenchmarkClosed | None = None

    def follow(self, entry: Entry) -> None:
        """Record how an experiment ended. The last end counts, except an error after which it started again."""
        match entry.event:
            case ExperimentStarted() if entry.experiment and self.outcomes.get(entry.experiment) == "error":
                del self.outcomes[entry.experiment]
            case ExperimentFinished() as end if entry.experiment:
                self.outcomes[entry.experiment] = end.outcome
                self.errors.pop(entry.experiment, None)
                if end.outcome == "error":
                    self.errors[entry.experiment] = end

    def is_final(self, experiment: str) -> bool:
        """Whether the experiment is not to run again. Cancelled experiments are always resumed."""
        outcome = self.outcomes.get(experiment)
        return outcome in FINAL or (outcome == "error" and not self.retry_errors)

    @property
    def lasting(self) -> Mapping[str, Outcome]:
        """The outcomes of the experiments that do not run again."""
        return {name: outcome for name, outcome in self.outcomes.items() if self.is_final(name)}

    def is_open(self, experiment: str) -> bool:
        """Whether the experiment has no end yet, not even an error."""
        return self.outcomes.get(experiment) in (None, "cancelled")


def load(path: Path, *, retry_errors: bool = False) -> History:
    """Read the history from a journal. The tapes are read in further passes, so that memory holds only what they need.

    Raises JournalError.
    """
    history = History(retry_errors)
    for entry in read_all(path):
        history.spending.add(entry)
        history.header = header_then(history.header, entry.event)
        history.closed = entry.event if isinstance(entry.event, BenchmarkClosed) else None
        if history.first is None and history.header is not None:
            history.first = history.header.plan
        if isinstance(entry.event, TextStored):
            history.texts.add(entry.event.sha256)
        elif isinstance(entry.event, BenchmarkDecided):
            history.decided = entry.event
        else:
            history.follow(entry)
    history.tapes = _tapes(path, history)
    return history


def _tapes(path: Path, history: History) -> dict[str, Tape]:
    entries: defaultdict[str, list[Entry]] = defaultdict(list)
    needed: dict[str, str | None] = {}  # hash -> text that a tape needs
    for entry in read_all(path):
        if entry.experiment and not history.is_final(entry.experiment):
            entries[entry.experiment].append(entry)
            needed |= dict.fromkeys(_texts_of(entry.event))
    for entry in read_all(path) if needed else ():
        if isinstance(entry.event, TextStored) and entry.event.sha256 in needed:
            needed[entry.event.sha256] = entry.event.text
    texts = {sha256: text for sha256, text in needed.items() if text is not None}
    try:
        return {experiment: tape_of(recorded, texts) for experiment, recorded in entries.items()}
    except KeyError as error:
        raise JournalError(
            f"The journal {path.name} lacks lines that other lines refer to, so {path.stem} cannot be resumed. Restore "
            f"the file from a backup, or move it out of its folder and start the benchmark again."
        ) from error


def _texts_of(event: Event) -> list[str]:
    """Hashes of the texts that this event gives to a strategy."""
    if isinstance(event, CallFinished):
        return [event.text] if event.text else []
    return [memory.text for memory in event.memories] if isinstance(event, MemoryRecalled) else []


def tape_of(entries: Sequence[Entry], texts: Mapping[str, str]) -> Tape:
    """The tape of an experiment's events; ``texts``: those that its answers name, by their hashes."""
    started: dict[int, CallStarted] = {}
    steps: dict[int, Recorded] = {}
    for entry in entries:
        ordinal = entry.ordinal or 0
        if isinstance(entry.event, CallStarted):
            started[ordinal] = entry.event
        elif recorded := _recorded(entry, started, texts):
            steps[ordinal] = recorded
    return Tape(steps, {ordinal: call.attempt for ordinal, call in started.items()})


def _recorded(entry: Entry, started: Mapping[int, CallStarted], texts: Mapping[str, str]) -> Recorded | None:
    """The step that an entry ends, None if it ends none. Hashes of requests are computed as in the session."""
    match event := entry.event:
        case CallFinished() if event.text is not None and event.seconds is not None:
            request, text = started[entry.ordinal or 0].request, texts[event.text]
            answer = Completion(
                text, event.finish, event.usage, event.seconds, event.honoured, event.first_token_seconds
            )
            return Recorded(request, answer, entry.at, event.seconds)
        case CodeTested():
            return Recorded(event.request, event.verdict, entry.at, event.verdict.seconds)
        case ProgramProbed():
            return Recorded(event.request, event.observed, entry.at, event.seconds)
        case MemoryRecalled():
            memories = tuple(Memory(texts[ref.text], ref.origin, ref.tags) for ref in event.memories)
            return Recorded(event.request, memories, entry.at, event.seconds)
        case RemainingRead():
            return Recorded("", event.remaining, entry.at)
    return Recorded(fingerprint(event), event, entry.at) if isinstance(event, Note) else None
