"""What electricity has to do with a ranking: the energy in configurations, and the price of it that turns them over."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

from koderz_core.records.progress import SummaryRow, TierCost
from koderz_core.sums import known_sum

MOST_PAIRS = 3
DEAREST_USD_PER_KWH = 2.0
"""Nobody pays more (household prices of 2026 are 0.05 to 0.50): a ranking that flips only beyond it is settled."""
CHEAPEST_USD_PER_KWH = 0.001
"""Nobody pays less: what flips only below it is settled too, and may be no more than a rounding of sums."""


@dataclass(frozen=True, slots=True)
class Bill:
    """What something costs: US dollars whatever electricity costs, and the energy in it.

    Two that are held against each other are of as many experiments, or both per solved problem.
    """

    usd_without_energy: float
    kwh: float

    def usd(self, usd_per_kwh: float) -> float:
        """What it costs at that price of electricity."""
        return self.usd_without_energy + self.kwh * usd_per_kwh


def break_even_usd_per_kwh(one: Bill, other: Bill) -> float | None:
    """The price of electricity at which the cheaper of two bills changes; None if the same is cheaper at any price.

    It solves ``a + p x = b + q x`` for the price ``x``, with a and b the dollars and p and q the energy of the bills.
    """
    kwh, usd = one.kwh - other.kwh, other.usd_without_energy - one.usd_without_energy
    if kwh == 0:
        return None
    price = usd / kwh
    return price if price > 0 else None


def bill_per_solved(row: SummaryRow) -> Bill | None:
    """What one solved problem of a configuration cost; None if unknown or none was solved.

    Unknown too where an experiment has no result: what its calls cost is in no cost per solved problem.
    """
    if row.cost_usd is None or not row.solved or row.solved + row.unsolved < row.planned:
        return None
    if any(tier.tier == "local" and tier.kwh is None for tier in row.tiers):
        return None
    kwh, energy_usd = (sum(getattr(tier, name) or 0.0 for tier in row.tiers) for name in ("kwh", "energy_usd"))
    return Bill((row.cost_usd - energy_usd) / row.solved, kwh / row.solved)


def rental_usd(tiers: Sequence[TierCost]) -> float | None:
    """What the calls to local models would have cost where the same weights are rented; None if that is not known."""
    local = [tier for tier in tiers if tier.tier == "local"]
    return known_sum(tier_cost.rental_usd for tier_cost in local) if local else None


@dataclass(frozen=True, slots=True)
class Flip:
    """The price of electricity above which ``frugal`` is cheaper per solved problem, and below which ``thirsty`` is."""

    usd_per_kwh: float
    thirsty: SummaryRow
    frugal: SummaryRow


def flips(rows: Sequence[SummaryRow]) -> list[Flip]:
    """The pairs of configurations, at most three, whose order by $ per solved depends on the price of electricity."""
    bills = [(row, bill) for row in rows if (bill := bill_per_solved(row)) is not None]
    found = []
    for (one, first), (other, second) in combinations(bills, 2):
        price = break_even_usd_per_kwh(first, second)
        if price is not None and CHEAPEST_USD_PER_KWH <= price <= DEAREST_USD_PER_KWH:
            found.append(Flip(price, *((one, other) if first.kwh > second.kwh else (other, one))))
    return found[:MOST_PAIRS]
