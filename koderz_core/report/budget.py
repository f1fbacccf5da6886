"""A budget per problem on the axis of costs: the amounts to choose from, and the best configuration within one."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from decimal import Decimal

from koderz_core.analysis.comparison import Comparison
from koderz_core.analysis.rates import ClusteredRate, Rate
from koderz_core.report.charts import short_names
from koderz_core.report.charts_frontier_labels import located
from koderz_core.report.cost_axis import CostAxis, dollars
from koderz_core.report.formats import marked_rate, money, numbered, one_line

STEPS = (1, 1.25, 1.6, 2, 2.5, 3.2, 4, 5, 6.3, 8)
"""Readable numbers at equal distances on a logarithmic axis: Renard's series R10 (ISO 3), rounded."""
MOST_NAMED = 5  # configurations without a known cost


def budgets(axis: CostAxis) -> list[float]:
    """The amounts to choose from, in dollars per problem: from below the cheapest point to above the most expensive."""
    low = axis.least or max(axis.low, axis.high / 100)
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(axis.high)) + 1)
    amounts = [float(f"{step}e{power}") for power in powers for step in STEPS]
    return [usd for usd in amounts if low <= usd <= axis.high]


def nearest(requested: str, amounts: Sequence[float]) -> float | None:
    """The amount that is nearest to a number in an address; None if it is not a positive number."""
    try:
        usd = float(requested)
    except ValueError:
        return None
    return min(amounts, key=lambda one: abs(math.log(one / usd))) if 0 < usd < math.inf else None


def written(usd: float) -> str:
    """``0.00005``: an amount in an address."""
    return f"{Decimal(f'{usd:g}'):f}"


def in_unit(usd: float, axis: CostAxis) -> str:
    """``$0.02``: an amount per problem in the unit of the axis."""
    return dollars(usd * axis.unit)


def within_budget(comparison: Comparison, axis: CostAxis, usd: float | None) -> str:
    """The best configuration whose mean cost per problem is known and at most ``usd`` (None: any). Hostile text."""
    points, names = located(comparison), _names(comparison)
    inside = [located for located in points if usd is None or located[0] <= usd]
    if usd is None:
        limit = "Without a budget"
    else:
        per = "" if axis.unit == 1 else f" ({in_unit(usd, axis)} per {axis.unit:,} problems)"
        limit = f"For at most {dollars(usd)} per problem{per}"
    if inside:
        cost, point, row = max(inside, key=lambda located: (located[1].success, -located[0]))
        rate = marked_rate(point.success, point.success_low, point.success_high, row.marks)
        found = f"{names[row.letter]} solves the most problems, {rate}, for {money(cost)} per problem"
    else:
        cost, _, row = min(points, key=lambda located: located[0])
        found = f"no configuration is cheap enough. The cheapest is {names[row.letter]} ({money(cost)} per problem)"
    return f"{limit}: {found}.{_unknown(comparison, names)}{_fewer(comparison)}"


def _names(comparison: Comparison) -> Mapping[str, str]:
    """By letter: the letter and the short name, as in the chart."""
    short = short_names(comparison.configurations)
    return {letter: f"{letter} {one_line(name)}" for letter, name in short.items()}


def _fewer(comparison: Comparison) -> str:
    """What the figures cover, if the table of configurations covers more problems."""
    problems = comparison.tradeoff.problems
    if all(row.rate is None or _problems(row.rate) <= problems for row in comparison.configurations):
        return ""
    shared = numbered(problems, "problem")
    return (
        f" This result covers only the {shared} for which every configuration has a result; the table of "
        "configurations covers more problems."
    )


def _problems(rate: Rate | ClusteredRate) -> int:
    """The problems with a result; without repeats there is one result for each."""
    return rate.n if isinstance(rate, Rate) else rate.problems


def _unknown(comparison: Comparison, names: Mapping[str, str]) -> str:
    """The configurations whose cost is unknown; empty if there are none."""
    rows = [comparison.of(point.key) for point in comparison.tradeoff.points if point.usd is None]
    if not rows:
        return ""
    named = ", ".join(names[row.letter] for row in rows[:MOST_NAMED])
    more = f" and {numbered(len(rows) - MOST_NAMED, 'more configuration')}" if len(rows) > MOST_NAMED else ""
    return f" Configurations left out because their cost is unknown: {named}{more}."
