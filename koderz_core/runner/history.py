"""What a benchmark's journal says of it: what has ended, and the tapes of what has not."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from koderz_core.errors import JournalError
from koderz_core.events import (
    BenchmarkOpened,
    CallFinished,
    CallStarted,
    CheckpointReviewed,
    CodeTested,
    Entry,
    ExperimentFinished,
    SpecWritten,
    TextStored,
)
from koderz_core.journal import read_all
from koderz_core.records import Completion, Outcome
from koderz_core.runner.tape import RecordedCall, RecordedTest, Tape

FINAL: frozenset[Outcome] = frozenset({"solved", "unsolved"})


@dataclass(slots=True)
class History:
    """``outcomes``: how each experiment last ended; ``texts``: hashes of the texts that the journal holds.

    ``errors``: those that ended as errors, with what was said then. ``retry_errors``: these are taken up again.
    """

    retry_errors: bool = False
    header: BenchmarkOpened | None = None
    outcomes: dict[str, Outcome] = field(default_factory=dict)
    errors: dict[str, ExperimentFinished] = field(default_factory=dict)
    texts: set[str] = field(default_factory=set)
    tapes: Mapping[str, Tape] = field(default_factory=dict)

    def is_final(self, experiment: str) -> bool:
        """Whether there is nothing left to do. Cancelled experiments are always taken up again."""
        outcome = self.outcomes.get(experiment)
        return outcome in FINAL or (outcome == "error" and not self.retry_errors)

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
        if isinstance(entry.event, BenchmarkOpened):
            history.header = entry.event
        elif isinstance(entry.event, TextStored):
            history.texts.add(entry.event.sha256)
        elif isinstance(entry.event, ExperimentFinished) and entry.experiment:
            history.add_end(entry.experiment, entry.event)
    history.tapes = _tapes(path, history)
    return history


def _tapes(path: Path, history: History) -> dict[str, Tape]:
    entries: defaultdict[str, list[Entry]] = defaultdict(list)
    wanted: dict[str, str | None] = {}  # hash -> text of an answer that a tape needs
    for entry in read_all(path):
        if entry.experiment and not history.is_final(entry.experiment):
            entries[entry.experiment].append(entry)
            if isinstance(entry.event, CallFinished):
                wanted[entry.event.text] = None
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


def _tape(entries: list[Entry], texts: Mapping[str, str]) -> Tape:
    requests: dict[int, str] = {}
    calls: dict[int, RecordedCall] = {}
    tests: dict[int, RecordedTest] = {}
    notes: set[int] = set()
    attempts: dict[int, int] = {}
    for entry in entries:
        ordinal = entry.ordinal or 0
        match entry.event:
            case CallStarted(request=request, attempt=attempt):
                requests[ordinal], attempts[ordinal] = request, attempt
            case CallFinished() as answer:
                calls[ordinal] = RecordedCall(requests[ordinal], _completion(answer, texts[answer.text]))
            case CodeTested(request=request, verdict=verdict):
                tests[ordinal] = RecordedTest(request, verdict)
            case SpecWritten() | CheckpointReviewed():
                notes.add(ordinal)
            case _:
                pass
    return Tape(calls, tests, frozenset(notes), attempts)


def _completion(answer: CallFinished, text: str) -> Completion:
    return Completion(text, answer.finish, answer.usage, answer.seconds, answer.honoured, answer.first_token_seconds)
