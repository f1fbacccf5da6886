"""What a benchmark's events come to, added up once more: in plain Python, by none of the ways that the store takes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from math import fsum

from koderz_core.events import (
    AllowanceSet,
    BenchmarkOpened,
    CallFinished,
    CallStarted,
    CandidateScored,
    CodeTested,
    ConsensusReached,
    Entry,
    ExperimentFinished,
    ExperimentStarted,
)
from koderz_core.events.unanswered_calls import Unanswered, UnansweredCall
from koderz_core.records import Experiment, Outcome, Plan
from koderz_core.sums import all_known, known_sum


@dataclass(slots=True)
class Tallied:
    """One experiment. ``finished`` is the last end; ``under_way``: it was begun again after that."""

    experiment: Experiment
    started_at: float | None = None
    finished_at: float | None = None
    finished: ExperimentFinished | None = None
    under_way: bool = False
    tests: dict[int, CodeTested] = field(default_factory=dict)  # by iteration
    asked: dict[tuple[int | None, int], CallStarted] = field(default_factory=dict)  # by ordinal and attempt
    answered: dict[tuple[int | None, int], CallFinished] = field(default_factory=dict)
    scores: dict[str, CandidateScored] = field(default_factory=dict)  # by program
    green_at: float | None = None  # when a program first passed all gate tests
    consensus: ConsensusReached | None = None
    unanswered: dict[tuple[int | None, int], UnansweredCall] = field(default_factory=dict)  # those of known cost

    @property
    def outcome(self) -> Outcome | None:
        return None if self.finished is None or self.under_way else self.finished.outcome

    @property
    def iterations(self) -> int:
        return len(self.tests)

    @property
    def calls(self) -> int:
        return len(self.answered)

    @property
    def unpriced(self) -> int:
        return sum(call.cost.usd is None for call in self.answered.values())

    @property
    def cost_usd(self) -> float | None:
        """Of all calls, those without an answer included as far as their cost is known."""
        unanswered = [one.cost.usd for one in self.unanswered.values() if one.cost]
        return added([*(call.cost.usd for call in self.answered.values()), *unanswered])

    @property
    def input_tokens(self) -> int | None:
        return known_sum(call.usage.input_tokens for call in self.answered.values())

    @property
    def output_tokens(self) -> int | None:
        return known_sum(call.usage.output_tokens for call in self.answered.values())

    @property
    def seconds(self) -> float | None:
        return None if self.finished is None else self.finished.seconds


@dataclass(slots=True)
class Tally:
    """All experiments of the last plan by id; ``opened``: every header, in order; ``strangers``: ids of no plan."""

    opened: list[BenchmarkOpened] = field(default_factory=list)
    opened_at: float = 0.0
    experiments: dict[str, Tallied] = field(default_factory=dict)
    strangers: list[str] = field(default_factory=list)
    budget_usd: float | None = None
    unanswered: Unanswered = field(default_factory=Unanswered)

    @property
    def plan(self) -> Plan:
        return self.opened[-1].plan


def tally(entries: Iterable[Entry]) -> Tally:
    """Add up the entries of one journal."""
    told = Tally()
    for entry in entries:
        _take(told, entry)
    return told


def added(numbers: Iterable[float | None]) -> float | None:
    """As ``known_sum``, rounded once: who adds in another order comes to the same."""
    known = all_known(numbers)
    return None if known is None else fsum(known)


def _take(told: Tally, entry: Entry) -> None:
    event = entry.event
    for call in told.unanswered.add(entry):
        if call.cost is not None and call.experiment in told.experiments:
            told.experiments[call.experiment].unanswered[call.ordinal, call.attempt] = call
    if isinstance(event, BenchmarkOpened):
        told.opened_at = told.opened_at if told.opened else entry.at
        told.opened.append(event)
        told.budget_usd = event.plan.budget.usd
        for planned in event.plan.experiments():
            told.experiments.setdefault(planned.id, Tallied(planned))
    elif isinstance(event, AllowanceSet):
        told.budget_usd = event.after.usd
    elif entry.experiment is not None:
        one = told.experiments.get(entry.experiment)
        if one is None:
            told.strangers.append(entry.experiment)
        else:
            _take_step(one, entry)


def _take_step(one: Tallied, entry: Entry) -> None:
    event = entry.event
    if isinstance(event, ExperimentStarted):
        one.under_way, one.started_at = True, entry.at
    elif isinstance(event, ExperimentFinished):
        one.finished, one.under_way, one.finished_at = event, False, entry.at
    elif isinstance(event, CodeTested):
        one.tests[event.iteration] = event
        if event.verdict.passed and one.green_at is None:
            one.green_at = entry.at
    elif isinstance(event, ConsensusReached):
        one.consensus = event
    elif isinstance(event, CandidateScored):
        one.scores[event.code] = event
    else:
        _take_call(one, entry)


def _take_call(one: Tallied, entry: Entry) -> None:
    event = entry.event
    if isinstance(event, CallStarted):
        one.asked[entry.ordinal, event.attempt] = event
        one.answered.pop((entry.ordinal, event.attempt), None)
        one.unanswered.pop((entry.ordinal, event.attempt), None)
    elif isinstance(event, CallFinished):
        attempts = [attempt for ordinal, attempt in one.asked if ordinal == entry.ordinal]
        one.answered[entry.ordinal, attempts[-1] if attempts else 1] = event
