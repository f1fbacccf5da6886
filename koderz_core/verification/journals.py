"""Verification of a journal on its own: texts against their hashes, ids against the plan. Records of the result."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise, takewhile

from koderz_core.analysis.sequential import Rule
from koderz_core.errors import JournalError
from koderz_core.events import (
    Entry,
    ExperimentLabelled,
    ExperimentNoted,
    ExperimentStarted,
    TextStored,
    decode,
    texts_of,
)
from koderz_core.events.tally import ExperimentTally, Tally, tally
from koderz_core.records import Plan
from koderz_core.records.registrations import registration_hash

ANNOTATIONS = "labels and notes"
"""What ``Verified`` calls them."""


@dataclass(frozen=True, slots=True)
class Difference:
    """``what`` of ``where`` is ``stands``, but the other events give ``follows``. Hostile texts."""

    what: str
    where: str
    stands: str
    follows: str

    @property
    def said(self) -> str:
        """In one line."""
        return f"{self.what} of {self.where}: {self.stands}; expected: {self.follows}"


@dataclass(frozen=True, slots=True)
class Verified:
    """How many things of each kind were checked, and the differences. ``remarks``: what could not be checked, and why.

    ``registration``: the hash of the registration, recomputed from the first header; empty without one.

    Verification finds contradictions. It cannot prove who wrote a journal: an invented one can be consistent.
    """

    of: str
    checked: Mapping[str, int] = field(default_factory=dict)
    differences: tuple[Difference, ...] = ()
    remarks: tuple[str, ...] = ()
    registration: str = ""

    @property
    def holds(self) -> bool:
        return not self.differences

    def and_also(self, other: Verified) -> Verified:
        """Both results in one, under the name of this one."""
        names = dict.fromkeys((*self.checked, *other.checked))
        checked = {name: self.checked.get(name, 0) + other.checked.get(name, 0) for name in names}
        differences, remarks = (*self.differences, *other.differences), (*self.remarks, *other.remarks)
        return Verified(self.of, checked, differences, remarks, self.registration or other.registration)


def verify_journal(name: str, entries: Sequence[Entry], journal: Tally) -> Verified:
    """Verify the entries of a journal, of which ``journal`` is the tally. ``name``: of the benchmark, from its file."""
    if not journal.opened:
        return Verified(name, {}, (Difference("the first line", name, "it contains no plan", "a header with a plan"),))
    texts: dict[str, str] = {}  # the hash that names a text -> the hash that it has
    named: dict[str, str] = {}  # the hash of a text -> the experiment that first names it
    for entry in entries:
        if isinstance(entry.event, TextStored):
            texts[entry.event.sha256] = hashlib.sha256(entry.event.text.encode()).hexdigest()
        for text in texts_of(entry.event):
            named.setdefault(text, entry.experiment or "")
    differences = (
        *_wrong_texts(texts, named),
        *_wrong_headers(name, journal),
        *_wrong_experiments(entries, journal),
        *_wrong_decision(name, entries, journal),
        *(wrong for experiment in journal.experiments.values() for wrong in _wrong_outcome(experiment)),
    )
    counts = {"texts": len(texts), "headers": len(journal.opened), "experiment ids": len(journal.experiments)}
    first = journal.opened[0].plan
    registration = registration_hash(first) if first.registration else ""
    return Verified(name, counts, differences, registration=registration)


def verify_annotations(content: bytes, journal: Tally) -> Verified:
    """Verify the labels and notes on the experiments of a journal, of which ``journal`` is the tally."""
    lines = content.splitlines()
    differences = tuple(
        wrong for number, line in enumerate(lines, 1) for wrong in _wrong_annotation(number, line, journal)
    )
    return Verified(journal.plan.id, {ANNOTATIONS: len(lines)} if lines else {}, differences)


def _wrong_annotation(number: int, line: bytes, journal: Tally) -> Iterator[Difference]:
    where = f"line {number} of the file of labels and notes"
    try:
        entry = decode(line)
    except JournalError as error:
        yield Difference("the content", where, str(error), "a label or a note")
        return
    if entry is None or not isinstance(entry.event, ExperimentLabelled | ExperimentNoted):
        yield Difference("the content", where, "another event", "a label or a note")
    elif entry.experiment not in journal.experiments:
        yield Difference("the experiment", where, str(entry.experiment), "an experiment of the benchmark")


def _wrong_texts(texts: Mapping[str, str], named: Mapping[str, str]) -> Iterator[Difference]:
    for name, actual in texts.items():
        if name != actual:
            yield Difference("the SHA-256", f"the text {name[:12]}", name[:12], actual[:12])
    for name in named.keys() - texts.keys():
        yield Difference("a text", named[name], f"only the hash {name[:12]} is stored", "the text itself")


def _wrong_headers(name: str, journal: Tally) -> Iterator[Difference]:
    for number, header in enumerate(journal.opened, 1):
        where = f"header {number}"
        if header.benchmark != header.plan.id:
            yield Difference("the id", where, header.benchmark, header.plan.id)
        if header.benchmark != name:
            yield Difference("the benchmark", where, header.benchmark, f"{name} (the name of the file)")
    plans = [header.plan for header in journal.opened]
    yield from _shrunk_plans(plans)
    for number, plan in enumerate(plans, 1):
        if plan.registration != plans[0].registration:
            yield Difference(
                "the registration", f"header {number}", "another registration", "the registration in the first header"
            )


def _shrunk_plans(plans: Sequence[Plan]) -> Iterator[Difference]:
    """A plan can only grow."""
    for before, after in pairwise(plans):
        if missing := {experiment.id for experiment in before.experiments()} - {
            experiment.id for experiment in after.experiments()
        }:
            yield Difference("the plan", after.id, f"{min(missing)} is missing", "every experiment of the earlier plan")


def _wrong_decision(name: str, entries: Iterable[Entry], journal: Tally) -> Iterator[Difference]:
    """The recorded decision of a sequential benchmark is that of its rule, for one of its plans.

    Only the entries before the decision count, because the rule saw no later result and no later plan.
    """
    if journal.decided is None:
        return
    before = tally(takewhile(lambda entry: entry.event != journal.decided, entries))
    outcomes = {made.experiment.id: made.outcome for made in before.experiments.values() if made.outcome}
    rules = [Rule(header.plan) for header in before.opened if header.plan.sequential]
    found = [rule.decision(outcomes) for rule in rules]
    by_first_versions = [rule.decision(outcomes, may_come=False) for rule in rules]
    recorded = (journal.decided.decision, journal.decided.problems)
    if recorded not in (*found, *by_first_versions):
        decisions = [f"{decision} after {problems} problems" for decision, problems in filter(None, found)]
        yield Difference("the decision", name, "{} after {} problems".format(*recorded), "; ".join(decisions) or "none")


def _wrong_experiments(entries: Iterable[Entry], journal: Tally) -> Iterator[Difference]:
    for stranger in journal.strangers:
        yield Difference("an experiment id", journal.plan.id, stranger, "an id in the plan")
    for entry in entries:
        if not isinstance(entry.event, ExperimentStarted):
            continue
        started = entry.event.experiment
        tally = journal.experiments.get(started.id)
        if started.id != entry.experiment:
            yield Difference("the id", "the experiment in a start event", started.id, str(entry.experiment))
        # Not the seed: the example that comes with koderz has another name than when it was recorded.
        elif tally and (started.configuration, started.problem, started.repeat) != (
            tally.experiment.configuration,
            tally.experiment.problem,
            tally.experiment.repeat,
        ):
            actual = f"problem {started.problem}, configuration {started.configuration}, repeat {started.repeat + 1}"
            yield Difference("the start", started.id, actual, "the problem, configuration and repeat in the plan")


def _wrong_outcome(tally: ExperimentTally) -> Iterator[Difference]:
    """A solved experiment has returned a program that passes all its held-out tests."""
    end, where = tally.finished, tally.experiment.id
    if end is None or end.outcome not in ("solved", "unsolved") or end.score_kind == "reported":
        return
    score = tally.scores.get(end.code or "")
    if end.outcome == "solved" and score is None:
        yield Difference("the outcome", where, "solved", "not solved (the submitted program has no score)")
    elif end.outcome == "solved" and score and score.held_out and not score.held_out.passed:
        yield Difference("the outcome", where, "solved", "unsolved (its held-out tests failed)")
    elif end.outcome == "unsolved" and end.code is not None and score is None:
        yield Difference("the score", where, "missing", "a score of the submitted program")
