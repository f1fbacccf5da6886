"""Verification of a journal by itself: texts against their hashes, ids against the plan; the record of the result."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from koderz_core.events import (
    CallFinished,
    CallStarted,
    CandidateScored,
    CodeTested,
    Entry,
    Event,
    ExperimentFinished,
    ExperimentStarted,
    MemoryRecalled,
    ProgramProbed,
    TextStored,
)
from koderz_core.records import Plan
from koderz_core.verification.tally import Tallied, Tally


@dataclass(slots=True)
class _Texts:
    stored: dict[str, str] = field(default_factory=dict)  # hash that it is named by -> hash that it has
    named: dict[str, str] = field(default_factory=dict)  # hash -> experiment that first names it


def verify_journal(name: str, entries: Sequence[Entry], told: Tally) -> Verified:
    """``name``: of the benchmark, as its file has it; ``told``: what the entries come to."""
    texts = _texts(entries)
    if not told.opened:
        first = Difference("the first line", name, "nothing was planned", "a header")
        return Verified(name, {}, (first,))
    found = (
        *_wrong_texts(texts),
        *_wrong_headers(name, told),
        *_wrong_experiments(entries, told),
        *(gone for experiment in told.experiments.values() for gone in _wrong_outcome(experiment)),
    )
    counts = {"texts": len(texts.stored), "headers": len(told.opened), "experiment ids": len(told.experiments)}
    return Verified(name, counts, found)


def texts_of(event: Event) -> tuple[str, ...]:
    """The SHA-256 of every text that an event names."""
    if isinstance(event, CallStarted):
        return tuple(message.text for message in event.messages)
    if isinstance(event, CallFinished):
        return (event.text,)
    if isinstance(event, MemoryRecalled):
        return tuple(memory.text for memory in event.memories)
    if isinstance(event, CodeTested | ProgramProbed | CandidateScored | ExperimentFinished):
        return (event.code,) if event.code is not None else ()
    return ()


def _texts(entries: Iterable[Entry]) -> _Texts:
    texts = _Texts()
    for entry in entries:
        if isinstance(entry.event, TextStored):
            texts.stored[entry.event.sha256] = hashlib.sha256(entry.event.text.encode()).hexdigest()
        for one in texts_of(entry.event):
            texts.named.setdefault(one, entry.experiment or "")
    return texts


def _wrong_texts(texts: _Texts) -> Iterator[Difference]:
    for named, real in texts.stored.items():
        if named != real:
            yield Difference("the SHA-256", f"the text {named[:12]}", named[:12], real[:12])
    for named in texts.named.keys() - texts.stored.keys():
        yield Difference("a text", texts.named[named], f"only its hash {named[:12]}", "the text itself")


def _wrong_headers(name: str, told: Tally) -> Iterator[Difference]:
    for number, header in enumerate(told.opened, 1):
        where = f"header {number}"
        if header.benchmark != header.plan.id:
            yield Difference("the id", where, header.benchmark, header.plan.id)
        if header.benchmark != name:
            yield Difference("the benchmark", where, header.benchmark, f"{name}, after which the file is called,")
    yield from _shrunk([header.plan for header in told.opened])


def _shrunk(plans: Sequence[Plan]) -> Iterator[Difference]:
    """Nothing is ever taken out of a plan."""
    for before, after in pairwise(plans):
        if gone := {experiment.id for experiment in before.experiments()} - {
            experiment.id for experiment in after.experiments()
        }:
            yield Difference("the plan", after.id, f"without {min(gone)}", "every experiment planned before")


def _wrong_experiments(entries: Iterable[Entry], told: Tally) -> Iterator[Difference]:
    for stranger in dict.fromkeys(told.strangers):
        yield Difference("an experiment", told.plan.id, stranger, "none of that id")
    for entry in entries:
        if not isinstance(entry.event, ExperimentStarted):
            continue
        began = entry.event.experiment
        planned = told.experiments.get(began.id)
        if began.id != entry.experiment:
            yield Difference("the id", "an experiment that began", began.id, str(entry.experiment))
        # Not the seed: the example that comes with koderz bears another name than when it was recorded.
        elif planned and (began.configuration, began.problem, began.repeat) != (
            planned.experiment.configuration,
            planned.experiment.problem,
            planned.experiment.repeat,
        ):
            yield Difference("the plan", began.id, f"{began.problem} by {began.configuration}", "another experiment")


def _wrong_outcome(one: Tallied) -> Iterator[Difference]:
    """A solved experiment has handed in a program that passes all its held-out tests."""
    end, where = one.finished, one.experiment.id
    if end is None or end.outcome not in ("solved", "unsolved"):
        return
    score = one.scores.get(end.code or "")
    if end.outcome == "solved" and score is None:
        yield Difference("the outcome", where, "solved", "nothing: no score of the program handed in")
    elif end.outcome == "solved" and score and score.held_out and not score.held_out.passed:
        yield Difference("the outcome", where, "solved", "unsolved: its held-out tests failed")
    elif end.outcome == "unsolved" and end.code is not None and score is None:
        yield Difference("the score", where, "missing", "one of the program handed in")


@dataclass(frozen=True, slots=True)
class Difference:
    """Something is not what it should be: ``what`` of ``where``; ``stands`` is not ``follows``. Hostile texts."""

    what: str
    where: str
    stands: str
    follows: str

    @property
    def said(self) -> str:
        """In one line."""
        return f"{self.what} of {self.where}: {self.stands}, but {self.follows} follows from the rest"


@dataclass(frozen=True, slots=True)
class Verified:
    """What was looked at, how many of each kind, and what differs. ``remarks``: what could not be looked at, and why.

    It tells what contradicts itself, not who wrote it: a journal that somebody made up whole can be without fault.
    """

    of: str
    checked: Mapping[str, int] = field(default_factory=dict)
    differences: tuple[Difference, ...] = ()
    remarks: tuple[str, ...] = ()

    @property
    def holds(self) -> bool:
        return not self.differences

    def and_also(self, other: Verified) -> Verified:
        """Both together, under the name of this one."""
        names = dict.fromkeys((*self.checked, *other.checked))
        checked = {name: self.checked.get(name, 0) + other.checked.get(name, 0) for name in names}
        return Verified(self.of, checked, (*self.differences, *other.differences), (*self.remarks, *other.remarks))
