"""Shards: parts of one benchmark that run separately, each with a journal of its own, and are merged afterwards."""

from __future__ import annotations

import re
from dataclasses import dataclass

from koderz_core.errors import PlanError
from koderz_core.records.completions import Cost

MOST_SHARDS = 1_000
"""The most shards of one benchmark: a merge has the journals of all of them open at the same time."""
_NAME = re.compile(r"(bench_[0-9a-f]{12})-([0-9]+)-of-([0-9]+)")
_PICO = 10**12  # as budgets are counted


class NoShardError(PlanError, ValueError):
    """There is no such shard. Also a ValueError, so that msgspec reports it as a fault of the line that it decodes."""


@dataclass(frozen=True, slots=True)
class Shard:
    """One of ``count`` parts of a benchmark; ``number`` counts from 1. ``usd``: the total budget of the benchmark."""

    number: int
    count: int
    usd: float | None = None

    def __post_init__(self) -> None:
        """Raise NoShardError for a shard that cannot exist."""
        if not 1 <= self.number <= self.count <= MOST_SHARDS:
            raise NoShardError(
                f"There is no shard {self.number}/{self.count}. Shards are numbered from 1, and a benchmark has at "
                f"most {MOST_SHARDS:,} shards. Example: --shard 1/16 selects the first of 16 shards."
            )

    def holds(self, experiment: str) -> bool:
        """Whether an experiment (by id) belongs to this shard. The id is a hash, so the parts are about equal."""
        return int(experiment.removeprefix("exp_"), 16) % self.count == self.number - 1

    @property
    def share_usd(self) -> float | None:
        """The budget of this shard, rounded down, so that the budgets of all shards never exceed the total."""
        if self.usd is None:
            return None
        numerator, denominator = self.usd.as_integer_ratio()
        return numerator * _PICO // (denominator * self.count) / _PICO

    @property
    def name(self) -> str:
        return f"shard {self.number} of {self.count}"

    def id_in(self, benchmark: str) -> str:
        """The id of this part of a benchmark, which is also the name of its journal."""
        return f"{benchmark}-{self.number}-of-{self.count}"


@dataclass(frozen=True, slots=True)
class LostCall:
    """An attempt of a shard that ended without an answer, and its cost, which follows from the times in the journal.

    Only the shard's own journal shows these times: the merged journal contains the work of several machines.
    """

    experiment: str
    ordinal: int
    attempt: int
    cost: Cost


@dataclass(frozen=True, slots=True)
class MergedShard:
    """A shard of a merged benchmark: the SHA-256 of its journal, its experiments, its budget and what it spent.

    ``usd`` None: it had no budget. Calls whose end is unknown count as spent with the highest cost they can have.
    ``lost``: the calls whose cost the shard's journal does not record; None in journals of earlier versions of koderz.
    """

    number: int
    sha256: str
    experiments: int
    without_result: int
    usd: float | None
    spent_usd: float
    lost: tuple[LostCall, ...] | None = None

    @property
    def left_usd(self) -> float | None:
        """The part of its budget that the shard did not spend; None without a budget."""
        return None if self.usd is None else max(0.0, self.usd - self.spent_usd)


def shard_in(name: str) -> tuple[str, Shard] | None:
    """The benchmark (its id) and the shard that an id names; None if it names no shard."""
    found = _NAME.fullmatch(name)
    try:
        return (found[1], Shard(int(found[2]), int(found[3]))) if found else None
    except NoShardError:
        return None
