"""Energy in the cost of configurations, and the electricity prices at which their order changes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

from koderz_core.records.progress import SummaryRow, TierCost
from koderz_core.sums import known_sum

MOST_PAIRS = 3
DEAREST_USD_PER_KWH = 2.0
"""An upper limit (household prices of 2026 are 0.05 to 0.50): changes of order beyond it do not matter."""
CHEAPEST_USD_PER_KWH = 0.001
"""A lower limit: changes of order below it do not matter, and may be rounding errors."""


@dataclass(frozen=True, slots=True)
class Bill:
    """A cost: US dollars without electricity, and the energy used.

    Two bills are comparable if both are for the same number of experiments, or both per solved problem.
    """

    usd_without_energy: float
    kwh: float

    def usd(self, usd_per_kwh: float) -> float:
        """The cost at this price of electricity."""
        return self.usd_without_energy + self.kwh * usd_per_kwh


def break_even_usd_per_kwh(first: Bill, second: Bill) -> float | None:
    """The price of electricity at which the cheaper of two bills changes; None if the same one is always cheaper.

    It solves ``a + p x = b + q x`` for the price ``x``, with a and b the dollars and p and q the energy of the bills.
    """
    kwh, usd = first.kwh - second.kwh, second.usd_without_energy - first.usd_without_energy
    if kwh == 0:
        return None
    price = usd / kwh
    return price if price > 0 else None


def bill_per_solved(row: SummaryRow) -> Bill | None:
    """The cost of one solved problem of a configuration; None if unknown or none was solved.

    Also None with answers from the response cache, and if an experiment has no result, because its calls are not part
    of a cost per solved problem.
    """
    if row.cost_usd is None or row.cached or not row.solved or row.solved + row.unsolved < row.planned:
        return None
    if any(tier.tier == "local" and tier.kwh is None for tier in row.tiers):
        return None
    kwh, energy_usd = (sum(getattr(tier, name) or 0.0 for tier in row.tiers) for name in ("kwh", "energy_usd"))
    return Bill((row.cost_usd - energy_usd) / row.solved, kwh / row.solved)


def rental_usd(tiers: Sequence[TierCost]) -> float | None:
    """The price of the calls to local models if the same weights were rented; None if unknown."""
    local = [tier for tier in tiers if tier.tier == "local"]
    return known_sum(tier_cost.rental_usd for tier_cost in local) if local else None


@dataclass(frozen=True, slots=True)
class Flip:
    """The price of electricity above which ``frugal`` is cheaper per solved problem, and below which ``thirsty`` is."""

    usd_per_kwh: float
    thirsty: SummaryRow
    frugal: SummaryRow


def flips(rows: Sequence[SummaryRow]) -> list[Flip]:
    """At most three pairs on the same problems whose order by $ per solved depends on the price of electricity."""
    bills = [(row, bill) for row in rows if (bill := bill_per_solved(row)) is not None]
    found = []
    for (row, bill), (other_row, other_bill) in combinations(bills, 2):
        if row.problem_set != other_row.problem_set:
            continue
        price = break_even_usd_per_kwh(bill, other_bill)
        if price is not None and CHEAPEST_USD_PER_KWH <= price <= DEAREST_USD_PER_KWH:
            found.append(Flip(price, *((row, other_row) if bill.kwh > other_bill.kwh else (other_row, row))))
    return found[:MOST_PAIRS]
