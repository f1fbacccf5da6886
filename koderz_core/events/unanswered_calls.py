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
* The shards of a merged benchmark may have run on several machines, so the cost is derived from the journal of each
  shard, and the merge records it in the header.

Paid calls without an answer have no known cost: whether the provider bills them is not reported.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from koderz_core.addresses import is_loopback, separated
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
    providers with a server on another machine. ``known``: while the entries of merged shards are read, the costs of
    their calls by ``_key``; None in other parts of a journal.
    """

    tiers: Mapping[str, Tier] = field(default_factory=dict)
    energy: Mapping[str, float] = field(default_factory=dict)
    calls: dict[str, dict[int, OpenCall]] = field(default_factory=dict)  # experiment -> ordinal -> attempt under way
    working: int = 0  # the number of calls that share the machine
    each: float = 0.0
    free: dict[str, float] = field(default_factory=dict)
    at: float = 0.0
    away: frozenset[str] = frozenset()
    known: dict[str, Cost] | None = None

    def open(self, header: BenchmarkOpened) -> None:
        """Take over the tiers, rates and addresses of a header."""
        self.tiers, self.energy, conditions = header.tiers, header.energy, header.plan.conditions
        named = {name.removesuffix(_AT): str(urls) for name, urls in conditions.items() if name.endswith(_AT)}
        self.away = frozenset(name for name, urls in named.items() if not all(map(_is_here, separated(urls))))

    def add(self, entry: Entry) -> list[UnansweredCall]:
        """Read the next entry; return the attempts that it ended without an answer."""
        event = entry.event
        if self._is_boundary(event):
            if isinstance(event, ExperimentStarted) and self.known is not None:
                ended = [event.experiment.id]  # the other shards continue
            else:
                ended = list(self.calls)
            lost = [call for experiment in ended for call in self._interrupted(experiment)]
            if isinstance(event, BenchmarkOpened):
                self._begin(event)
            elif isinstance(event, BenchmarkClosed):
                self.known = None
            return lost
        if entry.experiment is None:
            return []
        self._advance(entry.at)
        if isinstance(event, ExperimentFinished):
            return list(self._interrupted(entry.experiment))
        return [] if entry.ordinal is None else list(self._of_call(event, entry.experiment, entry.ordinal))

    def _begin(self, header: BenchmarkOpened) -> None:
        is_first = not (self.tiers or self.at)  # a later header belongs to a run of the whole benchmark
        self.open(header)
        shards = header.merged or ()
        if shards and is_first and all(shard.lost is not None for shard in shards):
            calls = [call for shard in shards for call in shard.lost or ()]
            self.known = {_key(call.experiment, call.ordinal, call.attempt): call.cost for call in calls}

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
                yield self._unanswered(experiment, ordinal, before, share)
            self._open(experiment, ordinal, event)
        elif isinstance(event, CallFailed) and before is not None:
            yield self._unanswered(experiment, ordinal, before, share, event)

    def _interrupted(self, experiment: str) -> Iterator[UnansweredCall]:
        for ordinal, call in list(self.calls.get(experiment, {}).items()):
            yield self._unanswered(experiment, ordinal, call, self._close(experiment, ordinal, call))

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
        self, experiment: str, ordinal: int, call: OpenCall, seconds: float, failed: CallFailed | None = None
    ) -> UnansweredCall:
        """``failed``: how the call ended; None: it was interrupted."""
        cost = failed.cost if failed else None
        if cost is None and self.known is not None:
            cost = self.known.get(_key(experiment, ordinal, call.attempt))
        elif cost is None:
            cost = self._cost(call, seconds)
        return UnansweredCall(experiment, ordinal, call.attempt, call.model, cost, interrupted=failed is None)


def _key(experiment: str, ordinal: int, attempt: int) -> str:
    """The place of an attempt, as a key that JSON may have."""
    return f"{experiment} {ordinal} {attempt}"


def _is_here(url: str) -> bool:
    """Whether a recorded address is on this machine. A bundle masks the hosts of all other addresses."""
    try:
        return is_loopback(url if "://" in url else f"http://{url}")
    except ValueError:
        return False
