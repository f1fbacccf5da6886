"""The cost of local calls that ended without an answer, derived in one way for everything that adds up costs.

The machine works for a call that fails or is interrupted as it does for one that is answered, so both cost watts times
seconds. A failed attempt records its cost. For older journals, and for calls that a stop or a crash interrupted, the
cost is derived from the times in the journal:

* A call works from its start to its failure. An interrupted call works until its experiment ends or starts again, or
  until the last entry of any experiment before the benchmark closes or another process continues it.
* An embedded model answers one call at a time, so a call does not work before the model's previous call has ended.
* Of the local calls at work at the same time, each has an equal share of the machine, as in ``models/machine.py``.
* A call never costs more than was reserved for it. Without a reservation its cost is unknown, and so is that of a call
  to a server on another machine.
* The shards of a merged benchmark ran on machines of their own, so each is read as if it were alone.

Paid calls without an answer have no known cost: whether the provider bills them is not reported.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from koderz_core.addresses import is_loopback
from koderz_core.events.kinds import (
    AllowanceSet,
    BenchmarkClosed,
    BenchmarkOpened,
    CallFailed,
    CallFinished,
    CallStarted,
    Event,
    ExperimentFinished,
    ExperimentStarted,
)
from koderz_core.events.lines import Entry
from koderz_core.records import Cost, Tier
from koderz_core.records.completions import MachineRates
from koderz_core.records.plans import scripted
from koderz_core.records.shards import number_of

ONE_BY_ONE = "embedded/"  # these models answer one call at a time
_AT = " at"  # ends the names of conditions that are addresses


@dataclass(frozen=True, slots=True)
class UnansweredCall:
    """An attempt that ended without an answer. ``cost`` None: not known. ``interrupted``: by a stop or a crash."""

    experiment: str
    ordinal: int
    attempt: int
    model: str
    cost: Cost | None
    interrupted: bool


@dataclass(frozen=True, slots=True)
class OpenCall:
    """An attempt under way. ``begun``: the value of ``Unanswered.each`` when it started."""

    attempt: int
    model: str
    local: bool
    reserved_usd: float | None
    begun: float


@dataclass(slots=True)
class Unanswered:
    """Reads the entries of one journal in order. Its fields are its complete state, so reading can continue later.

    ``each``: seconds of the machine that a call at work since the beginning would have had; ``free``: the value of
    ``each`` when an embedded model's latest call ended; ``at``: time of the last entry of an experiment. ``away``:
    providers with a server on another machine. ``parts``: the shards of a merged journal by number, of ``count``, until
    the entries of the shards end; ``runs``: when the later runs of such a shard began.
    """

    tiers: Mapping[str, Tier] = field(default_factory=dict)
    energy: Mapping[str, float] = field(default_factory=dict)
    calls: dict[str, dict[int, OpenCall]] = field(default_factory=dict)  # experiment -> ordinal -> attempt under way
    working: int = 0  # the number of calls that share the machine
    each: float = 0.0
    free: dict[str, float] = field(default_factory=dict)
    at: float = 0.0
    away: frozenset[str] = frozenset()
    parts: dict[int, Unanswered] = field(default_factory=dict)
    count: int = 0
    runs: list[float] = field(default_factory=list)

    @property
    def under_way(self) -> set[str]:
        """The experiments with a call under way."""
        return {*self.calls, *(experiment for part in self.parts.values() for experiment in part.calls)}

    def open(self, header: BenchmarkOpened) -> None:
        """Take the tiers, rates and addresses of a header over."""
        self.tiers, self.energy, conditions = header.tiers, header.energy, header.plan.conditions
        named = {name.removesuffix(_AT): str(urls).split() for name, urls in conditions.items() if name.endswith(_AT)}
        self.away = frozenset(
            provider for provider, urls in named.items() if not all(is_loopback(url) for url in urls if "://" in url)
        )

    def add(self, entry: Entry) -> list[UnansweredCall]:
        """Read the next entry; return the attempts that it ended without an answer."""
        event = entry.event
        if entry.experiment is not None and (part := self._part(entry.experiment)):
            return [*part._interrupted_before(entry.at), *part.add(entry)]
        if self._is_boundary(event):
            ended = self, *self.parts.values()
            lost = [call for each in ended for experiment in list(each.calls) for call in each._interrupted(experiment)]
            if isinstance(event, BenchmarkOpened):
                self._begin(event)
            elif isinstance(event, BenchmarkClosed):
                self.parts = {}
            return lost
        if entry.experiment is None:
            return []
        self._advance(entry.at)
        if isinstance(event, ExperimentFinished):
            return list(self._interrupted(entry.experiment))
        return [] if entry.ordinal is None else list(self._of_call(event, entry.experiment, entry.ordinal))

    def _begin(self, header: BenchmarkOpened) -> None:
        is_first = not self.tiers
        self.open(header)
        if header.merged and is_first:  # a later header belongs to a run of the whole benchmark
            self.count = header.merged[0].count
            shards = header.merged if self.count else ()  # unknown in older journals
            self.parts = {shard.number: Unanswered(runs=list(shard.runs)) for shard in shards}
            for part in self.parts.values():
                part.open(header)

    def _part(self, experiment: str) -> Unanswered | None:
        """The shard that an experiment belongs to; None if the journal is not in the part that was merged."""
        return self.parts.get(number_of(experiment, self.count)) if self.parts else None

    def _interrupted_before(self, at: float) -> Iterator[UnansweredCall]:
        """The calls of this shard that were under way when it was run again, before the time ``at``."""
        while self.runs and self.runs[0] <= at:
            del self.runs[0]
            for experiment in list(self.calls):
                yield from self._interrupted(experiment)

    def _is_boundary(self, event: Event) -> bool:
        """Whether every call under way has ended: the benchmark was closed, or another process continues it."""
        if isinstance(event, AllowanceSet):
            return event.before is None
        again = isinstance(event, ExperimentStarted) and event.experiment.id in self.calls
        return again or isinstance(event, BenchmarkOpened | BenchmarkClosed)

    def _advance(self, at: float) -> None:
        if self.working:
            self.each += max(0.0, at - self.at) / self.working
        self.at = at

    def _of_call(self, event: Event, experiment: str, ordinal: int) -> Iterator[UnansweredCall]:
        if not isinstance(event, CallStarted | CallFinished | CallFailed):
            return
        before = self.calls.get(experiment, {}).get(ordinal)
        share = 0.0 if before is None else self._close(experiment, ordinal, before)
        if isinstance(event, CallStarted):
            if before is not None:
                yield self._unanswered(experiment, ordinal, before, self._cost(before, share), interrupted=True)
            self._open(experiment, ordinal, event)
        elif isinstance(event, CallFailed) and before is not None:
            cost = event.cost or self._cost(before, share)
            yield self._unanswered(experiment, ordinal, before, cost, interrupted=False)

    def _interrupted(self, experiment: str) -> Iterator[UnansweredCall]:
        for ordinal, call in list(self.calls.get(experiment, {}).items()):
            cost = self._cost(call, self._close(experiment, ordinal, call))
            yield self._unanswered(experiment, ordinal, call, cost, interrupted=True)

    def _open(self, experiment: str, ordinal: int, event: CallStarted) -> None:
        here = event.model.partition("/")[0] not in self.away and not scripted([event.model])  # a script does no work
        local = here and self.tiers.get(event.model) == "local"
        call = OpenCall(event.attempt, event.model, local, event.reserved_usd, self.each)
        self.calls.setdefault(experiment, {})[ordinal] = call
        self._count_working()

    def _close(self, experiment: str, ordinal: int, call: OpenCall) -> float:
        """End an attempt; returns the seconds of the machine that it had."""
        del self.calls[experiment][ordinal]
        if not self.calls[experiment]:
            del self.calls[experiment]
        self._count_working()
        begun = max(call.begun, self.free.get(call.model, 0.0))
        if call.local and call.model.startswith(ONE_BY_ONE):
            self.free[call.model] = self.each
        return self.each - begun

    def _count_working(self) -> None:
        models = [call.model for calls in self.calls.values() for call in calls.values() if call.local]
        in_turn = {model for model in models if model.startswith(ONE_BY_ONE)}
        self.working = len(in_turn) + sum(model not in in_turn for model in models)

    def _cost(self, call: OpenCall, seconds: float) -> Cost | None:
        if not call.local or call.reserved_usd is None or not self.energy:
            return None
        rates = MachineRates(**self.energy)
        cost = rates.cost(seconds)
        if cost.usd is not None and cost.usd > call.reserved_usd:
            return rates.cost(seconds * call.reserved_usd / cost.usd)
        return cost

    def _unanswered(
        self, experiment: str, ordinal: int, call: OpenCall, cost: Cost | None, *, interrupted: bool
    ) -> UnansweredCall:
        return UnansweredCall(experiment, ordinal, call.attempt, call.model, cost, interrupted)
