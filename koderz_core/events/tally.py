"""The fold of events into totals of experiments, for everything that does not take them from the index.

The live tail, the progress in a terminal, memories, bundles and verification use it. The index itself is filled in
another way, from rows (``store/ingest.py``) that SQL adds up, so verification compares two independent results.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, fields
from math import fsum
from typing import Any

from koderz_core.events.kinds import (
    AllowanceSet,
    BenchmarkDecided,
    BenchmarkOpened,
    CallFinished,
    CallStarted,
    CandidateScored,
    CodeTested,
    ConsensusReached,
    ExperimentFinished,
    ExperimentStarted,
)
from koderz_core.events.lines import Entry
from koderz_core.events.unanswered_calls import Unanswered, UnansweredCall
from koderz_core.records import Experiment, Outcome, Plan
from koderz_core.sums import all_known, known_sum


@dataclass(slots=True)
class Call:
    """One attempt of a call. ``usd``: its cost, None if unknown. ``answer``: kept only by a detailed tally."""

    role: str
    model: str
    answered: bool = False
    usd: float | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    cached: bool = False
    answer: CallFinished | None = None


@dataclass(frozen=True, slots=True)
class Totals:
    """Totals of calls or of experiments, each of which is ``planned`` and has at most one outcome.

    ``calls`` are those that were answered, ``unpriced`` those of them without a known price, ``cached`` those answered
    by the response cache. ``known_usd`` includes unanswered calls of known cost. Tokens are None if one of the calls
    did not report them, and ``seconds`` if the time of one of the experiments that ended is unknown.
    """

    planned: int = 0
    solved: int = 0
    unsolved: int = 0
    cancelled: int = 0
    errors: int = 0
    iterations: int = 0
    calls: int = 0
    unpriced: int = 0
    known_usd: float = 0.0
    input_tokens: int | None = 0
    output_tokens: int | None = 0
    seconds: float | None = 0.0
    cached: int = 0

    @property
    def cost_usd(self) -> float | None:
        """The cost, None if a call has no known price."""
        return None if self.unpriced else self.known_usd


_DECIMAL = ("known_usd", "seconds")


def added(parts: Iterable[Totals]) -> Totals:
    """The sum of totals. Dollars and seconds are rounded once, so their order does not matter."""
    rows = list(parts)
    sums: dict[str, Any] = {}  # Any: a number of the type of the field
    for name in (column.name for column in fields(Totals)):
        values = [getattr(row, name) for row in rows]
        known = all_known(values) if name in _DECIMAL else None
        sums[name] = known_sum(values) if known is None else fsum(known)
    return Totals(**sums)


def totals_of(calls: Iterable[Call]) -> Totals:
    """The totals of calls."""
    attempts = list(calls)
    answered = [call for call in attempts if call.answered]
    return Totals(
        calls=len(answered),
        unpriced=sum(call.usd is None for call in answered),
        known_usd=fsum(call.usd for call in attempts if call.usd is not None),
        input_tokens=known_sum(call.input_tokens for call in answered),
        output_tokens=known_sum(call.output_tokens for call in answered),
        cached=sum(call.cached for call in answered),
    )


@dataclass(slots=True)
class ExperimentTally:
    """One experiment so far. ``finished``: how it last ended; ``running``: whether it has started since.

    ``calls`` by ordinal and attempt, in the order of their answers. ``models`` and ``costs``: the model and the cost of
    the last answer, by role. ``recent``: the calls that were answered before the last test, or since then if there are
    any. ``scores``: of the returned program, by program. A detailed tally also keeps the scores of other programs, the
    tests of all iterations, the consensus, and when a program first passed all gate tests.
    """

    experiment: Experiment
    started_at: float | None = None
    finished_at: float | None = None
    finished: ExperimentFinished | None = None
    running: bool = False
    tested: set[int] = field(default_factory=set)
    calls: dict[tuple[int, int], Call] = field(default_factory=dict)
    attempts: dict[int, int] = field(default_factory=dict)  # ordinal -> the attempt that started last
    models: dict[str, str] = field(default_factory=dict)
    costs: dict[str, float | None] = field(default_factory=dict)
    recent: list[Call] = field(default_factory=list)
    tested_last: bool = False  # no call was answered since the last test
    scores: dict[str, CandidateScored] = field(default_factory=dict)
    tests: dict[int, CodeTested] = field(default_factory=dict)
    consensus: ConsensusReached | None = None
    first_passed_at: float | None = None

    @property
    def outcome(self) -> Outcome | None:
        return None if self.finished is None or self.running else self.finished.outcome

    @property
    def seconds(self) -> float | None:
        return None if self.finished is None else self.finished.seconds

    @property
    def totals(self) -> Totals:
        """What it took so far; one planned experiment with its outcome."""
        outcome = {"errors" if self.outcome == "error" else self.outcome: 1} if self.outcome else {}
        seconds = 0.0 if self.finished is None else self.finished.seconds
        of_experiment = Totals(planned=1, iterations=len(self.tested), seconds=seconds, **outcome)
        return added([of_experiment, totals_of(self.calls.values())])

    def by_model(self) -> dict[str, Totals]:
        """The totals of its calls, by model."""
        models = dict.fromkeys(call.model for call in self.calls.values())
        return {name: totals_of(call for call in self.calls.values() if call.model == name) for name in models}

    def add(self, entry: Entry, *, detailed: bool = False) -> None:
        """Add the next entry of this experiment."""
        match event := entry.event:
            case ExperimentStarted():
                self.running, self.started_at = True, entry.at
            case ExperimentFinished():
                self.finished, self.running, self.finished_at = event, False, entry.at
            case CodeTested():
                self.tested.add(event.iteration)
                self.tested_last = True
            case CandidateScored() if event.returned or detailed:
                self.scores[event.code] = event
            case CallStarted() if entry.ordinal is not None:
                self.start_call(entry.ordinal, event.attempt, Call(event.role, event.model))
            case CallFinished() if entry.ordinal is not None:
                self._finish_call(entry.ordinal, event, detailed=detailed)
        if detailed:
            self._keep(entry)

    def start_call(self, ordinal: int, attempt: int, call: Call) -> None:
        """Add an attempt, which replaces an earlier one of the same number."""
        self.attempts[ordinal] = attempt
        self.calls[ordinal, attempt] = call

    def _finish_call(self, ordinal: int, event: CallFinished, *, detailed: bool) -> None:
        key = ordinal, self.attempts.get(ordinal, 1)
        call = self.calls[key] = self.calls.pop(key) if key in self.calls else Call("unknown", "unknown")
        call.answered, call.usd = True, event.cost.usd
        call.input_tokens, call.output_tokens = event.usage.input_tokens, event.usage.output_tokens
        call.answer, call.cached = event if detailed else None, bool(event.cached)
        self.models[call.role], self.costs[call.role] = call.model, call.usd
        if self.tested_last:
            self.recent, self.tested_last = [], False
        self.recent.append(call)

    def _keep(self, entry: Entry) -> None:
        if isinstance(entry.event, CodeTested):
            self.tests[entry.event.iteration] = entry.event
            if entry.event.verdict.passed and self.first_passed_at is None:
                self.first_passed_at = entry.at
        elif isinstance(entry.event, ConsensusReached):
            self.consensus = entry.event


@dataclass(slots=True)
class Tally:
    """Reads the entries of one journal in order; ``experiments`` by id.

    Without ``detailed`` it keeps only a small record per call, and only experiments that have started. With it, it also
    has all that were planned, and ``strangers`` are the ids that no plan has. ``opened``: every header. ``decided``:
    what ended a sequential benchmark early.
    """

    detailed: bool = False
    opened: list[BenchmarkOpened] = field(default_factory=list)
    opened_at: float = 0.0
    budget_usd: float | None = None
    decided: BenchmarkDecided | None = None
    experiments: dict[str, ExperimentTally] = field(default_factory=dict)
    strangers: dict[str, None] = field(default_factory=dict)
    unanswered: Unanswered = field(default_factory=Unanswered)

    @property
    def plan(self) -> Plan:
        """The plan as it was last extended."""
        return self.opened[-1].plan

    def add(self, entry: Entry) -> list[UnansweredCall]:
        """Add the next entry. Return the calls that have ended without an answer by it."""
        unanswered = self.unanswered.add(entry)
        for lost in unanswered:
            experiment = self.experiments.get(lost.experiment)
            if experiment and lost.cost and (call := experiment.calls.get((lost.ordinal, lost.attempt))):
                call.usd = lost.cost.usd
        if isinstance(entry.event, BenchmarkOpened):
            self._open(entry.event, entry.at)
        elif isinstance(entry.event, AllowanceSet):
            self.budget_usd = entry.event.after.usd
        elif isinstance(entry.event, BenchmarkDecided):
            self.decided = entry.event
        elif entry.experiment is not None:
            self._add_step(entry, entry.experiment)
        return unanswered

    def _open(self, header: BenchmarkOpened, at: float) -> None:
        self.opened_at = self.opened_at if self.opened else at
        self.opened.append(header)
        self.budget_usd = header.plan.budget.usd
        if self.detailed:
            for planned in header.plan.experiments():
                self.experiments.setdefault(planned.id, ExperimentTally(planned))

    def _add_step(self, entry: Entry, experiment: str) -> None:
        if isinstance(entry.event, ExperimentStarted) and not self.detailed:
            self.experiments.setdefault(experiment, ExperimentTally(entry.event.experiment))
        if experiment in self.experiments:
            self.experiments[experiment].add(entry, detailed=self.detailed)
        else:
            self.strangers[experiment] = None


def tally(entries: Iterable[Entry]) -> Tally:
    """The detailed tally of a whole journal."""
    journal = Tally(detailed=True)
    for entry in entries:
        journal.add(entry)
    return journal
