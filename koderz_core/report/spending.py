"""Spending by role, model and tier, the marginal cost of solves, and the savings against a frontier model alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from koderz_core.records.progress import RoleCost, SummaryRow, TierCost
from koderz_core.report.columns import (
    NAMED,
    Column,
    Shown,
    number,
    reasons,
    share,
    shown,
    text,
    text_table,
    usd,
    whole,
)
from koderz_core.report.formats import (
    TextTable,
    chance,
    count,
    money,
    numbered,
    one_line,
    percent,
    solved_rate,
    span,
    tier_name,
)
from koderz_core.report.sections import Listing

if TYPE_CHECKING:  # numpy is slow to import
    from koderz_core.analysis.comparison import Comparison
    from koderz_core.analysis.configurations import ConfigurationFigures
    from koderz_core.analysis.money import Margin, TierShare
    from koderz_core.analysis.pairs import Key, Pair
    from koderz_core.analysis.rates import Interval

TIER_MARGINS = (
    "Marginal cost per extra solved problem, along the Pareto frontier of the best configurations (one per combination "
    "of model tiers)"
)
UNKNOWN = (
    "Savings: unknown, because no frontier model was run on these problems with the strategy direct (one answer, not "
    "tested before it is submitted)."
)


@dataclass(frozen=True, slots=True)
class TierRow:
    """The calls of a configuration to one tier. ``usd_per_solved``: its part; None without a result or if unpriced."""

    configuration: ConfigurationFigures
    of: TierCost
    usd_per_solved: float | None


@dataclass(frozen=True, slots=True)
class RoleRow:
    """The calls of one role of a configuration to one model. ``usd_per_solved``: its part; None if unpriced."""

    configuration: ConfigurationFigures
    of: RoleCost
    usd_per_solved: float | None


@dataclass(frozen=True, slots=True)
class MarginRow:
    """A step along the frontier with the configurations at both ends."""

    of: Margin[Key]
    cheaper: ConfigurationFigures
    dearer: ConfigurationFigures


@dataclass(frozen=True, slots=True)
class SpendingRow:
    """What a configuration spent on one tier. ``label``: empty after its first tier."""

    label: str
    of: TierShare


def _tiers_step(row: MarginRow) -> str:
    return f"{row.cheaper.composition} → {row.dearer.composition}"


def _step(row: MarginRow) -> str:
    return f"{row.cheaper.letter} → {row.dearer.letter}"


def _points(difference: float) -> str:
    return f"{100 * difference:+.1f}"


TIERS: Sequence[Column] = (
    *NAMED,
    text("tier", "`local`, `small_frontier` or `frontier`", "unknown", shown=Shown("tier", 3, tier_name)),
    whole("calls", "finished calls to models of this tier", shown=Shown("calls so far", 3, count)),
    whole("unpriced", "finished calls without a known price"),
    usd(
        "cost_usd",
        "cost of the finished calls to models of this tier",
        "a price is unknown",
        shown=Shown("cost so far", 3, money),
    ),
    number(
        "kwh",
        "energy of the finished calls to models of this tier",
        "the tier is not local, or the energy is unknown",
        "kWh",
    ),
    usd("energy_usd", "the part of `cost_usd` that pays for energy", "the tier is not local, or the energy is unknown"),
    usd(
        "rental_usd",
        "the price of this tier's tokens at a provider that hosts the same weights",
        "no such price is known",
    ),
    whole("tokens", "tokens sent and received", "a call did not report its tokens", "tokens"),
    usd(
        "usd_per_solved",
        "the part of the cost per solved problem that this tier causes",
        "no result, an unknown price, or a number that is not finite (see `usd_per_solved_is`)",
        path="usd_per_solved",
        shown=Shown("$ per solved", 3, money),
    ),
    *reasons("usd_per_solved"),
)
ROLES: Sequence[Column] = (
    *NAMED,
    text("role", "role of the model in the strategy, such as `coder`", shown=Shown("role", 3, one_line)),
    text("model", "id of the model", shown=Shown("model", 3, one_line)),
    text("tier", "`local`, `small_frontier` or `frontier`", "unknown"),
    whole("calls", "finished calls in experiments with a result", shown=Shown("calls", 3, count)),
    whole("unpriced", "finished calls without a known price"),
    whole(
        "tokens",
        "tokens sent and received",
        "a call did not report its tokens",
        "tokens",
        shown=Shown("tokens", 3, count),
    ),
    usd(
        "cost_usd",
        "cost of the calls in experiments with a result",
        "a price is unknown",
        shown=Shown("cost", 3, money),
    ),
    usd(
        "usd_per_problem",
        "mean cost per problem: the mean over the repeats of each problem, then over the problems",
        "a price is unknown",
    ),
    usd(
        "usd_per_solved",
        "the part of the cost per solved problem that this role and model cause",
        "an unknown price, or a number that is not finite (see `usd_per_solved_is`)",
        path="usd_per_solved",
        shown=Shown("$ per solved", 3, money),
    ),
    *reasons("usd_per_solved"),
)
MARGINS: Sequence[Column] = (
    text(
        "cheaper",
        "the cheaper configuration, written as benchmark/configuration",
        path="cheaper.full_id",
        shown=Shown("from → to", 1, _step, ""),
    ),
    text("dearer", "the next more expensive configuration on the Pareto frontier", path="dearer.full_id"),
    usd(
        "usd",
        "difference in mean cost per problem: the more expensive configuration minus the cheaper configuration",
        shown=Shown("extra $ per problem", 3, money),
    ),
    share(
        "solved",
        "difference in success rate: the more expensive configuration minus the cheaper configuration",
        shown=Shown("extra solved (points)", 2, _points),
    ),
    usd("usd_per_solve", "`usd` divided by `solved`", shown=Shown("$ per extra solved problem", 4, money)),
    share(
        "sure",
        "share of bootstrap resamples in which the more expensive configuration solves more problems",
        shown=Shown("P(solves more)", 5, chance),
    ),
)
SPENDING = (
    Shown("configuration", path="label"),
    Shown("tier", text=tier_name, path="of.spent.tier"),
    Shown("calls", text=count, path="of.spent.calls"),
    Shown("tokens", text=count, path="of.spent.tokens"),
    Shown("cost", text=money, path="of.spent.cost_usd"),
    Shown("share of dollars", text=percent, path="of.usd"),
    Shown("share of tokens", text=percent, path="of.tokens"),
)


def tiers_listing(comparison: Comparison) -> Listing:
    """The part of each tier in the cost per solved problem; calls and cost cover all experiments so far."""
    rows = [
        TierRow(row, tier, comparison.measured[row.key].parts.get(tier.tier) if tier.tier else None)
        for row in comparison.configurations
        for tier in row.tiers
    ]
    return Listing("tiers", "Cost per solved problem, by tier", TIERS, rows)


def roles_listing(comparison: Comparison) -> Listing:
    """The part of each role and model in the cost per solved problem, on the experiments with a result."""
    return Listing("roles", "Cost per solved problem, by role and model", ROLES, role_parts(comparison))


def role_parts(comparison: Comparison) -> list[RoleRow]:
    """The parts of each configuration's cost per solved problem, the coder first."""
    from koderz_core.analysis.money import per_solved  # noqa: PLC0415 (numpy, as above)

    return [
        RoleRow(row, cost, per_solved(cost.usd_per_problem, row.share))
        for row in comparison.configurations
        for cost in comparison.roles
        if (cost.benchmark, cost.configuration) == row.key
    ]


def margins_listing(comparison: Comparison) -> Listing:
    """The cost of one additional solve, from each configuration on the frontier to the next."""
    title = "Marginal cost per extra solved problem, along the Pareto frontier"
    return Listing("margins", title, MARGINS, _margins(comparison, comparison.margins))


def tier_margins_table(comparison: Comparison) -> TextTable:
    """The cost of one additional solve, from the best configuration of one composition of tiers to the next."""
    columns = (Shown("models", text=_tiers_step, path=""), *shown(MARGINS))
    return text_table(TIER_MARGINS, columns, _margins(comparison, comparison.tier_margins))


def spending_table(rows: Sequence[SummaryRow]) -> TextTable:
    """One line per configuration and tier that was called."""
    from koderz_core.analysis.money import tier_shares  # noqa: PLC0415 (numpy, as above)

    lines = [
        SpendingRow(row.label if place == 0 else "", tier)
        for row in rows
        for place, tier in enumerate(tier_shares(row.tiers))
    ]
    return text_table("Spending by model tier", SPENDING, lines)


def _margins(comparison: Comparison, steps: Sequence[Margin[Key]]) -> list[MarginRow]:
    return [MarginRow(margin, comparison.of(margin.cheaper), comparison.of(margin.dearer)) for margin in steps]


def savings_sentences(comparison: Comparison) -> Iterator[str]:
    """A sentence about the baseline alone, then one per other configuration. Labels in them are hostile text."""
    base = next(row for row in comparison.configurations if row.key == comparison.baseline)
    elsewhere = all(pair.key[0] != base.benchmark for pair in comparison.pairs)
    where = f", measured in {base.benchmark}" if elsewhere else ""
    yield (
        f"Frontier model alone: {base.label} solved {solved_rate(base)} of {numbered(base.n, 'experiment')} for "
        f"{_paid(base)}{where}."
    )
    for pair in comparison.pairs:
        yield f"{comparison.of(pair.key).label}: {_saved(pair)}"


def _paid(base: ConfigurationFigures) -> str:
    if base.cached:
        cached = numbered(base.cached, "answer")
        return f"{money(base.cost_usd)} ({cached} came from the response cache, so the full cost is not measured)"
    return f"{money(base.cost_usd)} ({money(base.cost_per_experiment_usd)} per experiment)"


def _saved(pair: Pair) -> str:
    saved = pair.savings
    if saved is None:
        return "savings are unknown, because a cost is unknown or no problem was solved by both configurations."
    on = f"on the {numbered(saved.problems, 'problem')} that the frontier model also solved"
    each = f"{money(saved.usd)} instead of {money(saved.baseline_usd)} per problem"
    both = f"{numbered(saved.of, 'problem')} on which both configurations have a result"
    points = (
        f"Success rate minus that of the frontier model: {100 * saved.difference:+.0f} percentage points on {both}."
    )
    if saved.share is None:
        return f"no savings {on}, because the frontier model's calls were free of charge. {points}"
    return f"{_share(saved.share)} {on} ({each}). {points}"


def _share(saving: Interval) -> str:
    """``saved 92 % [85, 97]``, or ``spent 40 % [20, 60] more``; an interval that includes 0 says so."""
    value, (low, high) = abs(saving.value), (saving.low, saving.high)
    saved, more = ("saved", "") if saving.value >= 0 else ("spent", " more")
    if low is None or high is None:
        return f"{saved} {percent(value)}{more}"
    unsure = " (the interval includes 0)" if low <= 0 <= high else ""
    return f"{saved} {span(value, *((low, high) if saving.value >= 0 else (-high, -low)))}{more}{unsure}"
