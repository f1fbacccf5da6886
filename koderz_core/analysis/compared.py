"""One configuration in a comparison: how many it solves, how surely, at what price, and what its trials show."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from koderz_core.analysis.bounds import Cases
from koderz_core.analysis.energy import rental_usd
from koderz_core.analysis.rates import ClusteredRate, Rate
from koderz_core.analysis.remarks import rate_of
from koderz_core.records import Tier
from koderz_core.records.marks import Marks
from koderz_core.records.summaries import SummaryRow, TierCost, scripted

_TIERS: Sequence[Tier] = ("local", "small_frontier", "frontier")


@dataclass(frozen=True, slots=True)
class Compared:
    """One configuration of one benchmark.

    ``letter``: what it is called where its label has no room, by its place in the comparison.
    ``n`` experiments were solved or unsolved; ``share`` of them solved, None if there are none. ``rate`` has the
    interval too, clustered by problem where problems are repeated; None where their trials were not looked at.
    ``marks``: by which tests it is scored.
    ``tier``: the highest that answered a call. Costs are None if unknown. ``cost_usd`` is of all calls so far; per
    experiment it is of those that ended, with a result or without: infinite if money was spent on none, nan if nothing
    was. What a solved problem costs only trials can tell (``Measured.price``).
    ``rental_usd``: what its calls to local models would have cost where the same weights are rented.
    """

    letter: str
    benchmark: str
    configuration: str
    label: str
    strategy: str
    tier: Tier | None
    scripted: bool
    rate: Rate | ClusteredRate | None
    share: float | None
    n: int
    planned: int
    solved: int
    unsolved: int
    errors: int
    cancelled: int
    running: int
    marks: Marks
    cost_usd: float | None
    cost_per_experiment_usd: float | None
    seconds_per_experiment: float | None
    mean_iterations: float | None
    tiers: tuple[TierCost, ...]
    rental_usd: float | None = None

    @property
    def missing(self) -> int:
        """How many of the planned experiments have no result, whether they ended without one or have not ended."""
        return self.planned - self.n

    @property
    def not_ended(self) -> int:
        """How many of these have not ended."""
        return self.missing - self.errors - self.cancelled

    @property
    def cases(self) -> Cases | None:
        """The share solved of all planned if none of the missing was solved, and if all were; None if none is planned.

        Every problem is planned equally often, so that these are means over problems as ``share`` is.
        """
        if not self.missing and self.share is not None:
            return Cases(self.share, self.share)
        return Cases(self.solved / self.planned, 1 - self.unsolved / self.planned) if self.planned else None

    @property
    def key(self) -> tuple[str, str]:
        """What tells it from all others, as in ``Trial``."""
        return self.benchmark, self.configuration


def compared(row: SummaryRow, place: int) -> Compared:
    """What the summary of a configuration says; ``place``: its place in the comparison, from 0."""
    n = row.solved + row.unsolved
    ended = n + row.errors + row.cancelled
    return Compared(
        letter=letter(place),
        benchmark=row.benchmark,
        configuration=row.configuration,
        label=row.label,
        strategy=row.strategy,
        tier=_highest(row.tiers),
        scripted=scripted(model for members in row.models.values() for model in members),
        rate=rate_of(row),
        share=row.solved / n if n else None,
        n=n,
        planned=row.planned,
        solved=row.solved,
        unsolved=row.unsolved,
        errors=row.errors,
        cancelled=row.cancelled,
        running=row.running,
        marks=row.marks,
        cost_usd=row.cost_usd,
        cost_per_experiment_usd=_per(row.ended_cost_usd, ended),
        seconds_per_experiment=row.seconds / ended if ended else None,
        mean_iterations=row.mean_iterations,
        tiers=row.tiers,
        rental_usd=rental_usd(row.tiers),
    )


def letter(place: int) -> str:
    """A, B, ... Z, then AA, AB, ...: by its place, from 0."""
    return (letter(place // 26 - 1) if place >= 26 else "") + chr(ord("A") + place % 26)


def _highest(tiers: Sequence[TierCost]) -> Tier | None:
    called = [one.tier for one in tiers if one.tier is not None and one.calls]
    return max(called, key=_TIERS.index, default=None)


def _per(cost_usd: float | None, number: int) -> float | None:
    if cost_usd is None or number:
        return None if cost_usd is None else cost_usd / number
    return math.inf if cost_usd else math.nan
