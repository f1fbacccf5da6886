"""What a benchmark spent by tier of model, what a frontier model alone cost, and what was saved against it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from koderz_core.analysis.money import tier_shares
from koderz_core.records.progress import SummaryRow
from koderz_core.report.formats import TextTable, columns, count, money, numbered, percent, share, span, tier_name

if TYPE_CHECKING:  # numpy, which is not needed where nothing is compared
    from koderz_core.analysis.comparison import Comparison
    from koderz_core.analysis.pairs import Pair
    from koderz_core.analysis.rates import Interval

UNKNOWN = "Savings: not known, as no frontier model was asked directly on these problems."


def spending_table(rows: Sequence[SummaryRow]) -> TextTable:
    """One line per configuration and tier that was called."""
    lines = tuple(
        (
            row.label if place == 0 else "",
            tier_name(one.spent.tier),
            count(one.spent.calls),
            count(one.spent.tokens),
            money(one.spent.cost_usd),
            percent(one.usd),
            percent(one.tokens),
        )
        for row in rows
        for place, one in enumerate(tier_shares(row.tiers))
    )
    names = columns("configuration | tier | calls | tokens | cost | of the dollars | of the tokens")
    return TextTable("Spent, by tier of model", names, lines)


def savings_said(comparison: Comparison) -> Iterator[str]:
    """What the baseline alone cost, then a sentence for each other configuration. May hold a stranger's words."""
    base = next(row for row in comparison.configurations if row.key == comparison.baseline)
    elsewhere = all(pair.key[0] != base.benchmark for pair in comparison.pairs)
    where = f", measured in {base.benchmark}" if elsewhere else ""
    yield (
        f"Frontier model alone: {base.label} solved {share(base)} of {numbered(base.n, 'experiment')} for "
        f"{money(base.cost_usd)}, {money(base.cost_per_experiment_usd)} each{where}."
    )
    for pair in comparison.pairs:
        yield f"{comparison.of(pair.key).label}: {_saved(pair)}"


def _saved(pair: Pair) -> str:
    saved = pair.savings
    if saved is None:
        return "savings are not known, as no problem with known prices was solved by both."
    on = f"on the {numbered(saved.problems, 'problem')} that both solved"
    each = f"{money(saved.usd)} instead of {money(saved.baseline_usd)} each"
    both = f"{numbered(saved.of, 'problem')} with a result of both"
    points = f"Solved: {100 * saved.difference:+.0f} percentage points on {both}."
    if saved.share is None:
        return f"nothing could be saved {on}, as the frontier model cost nothing there. {points}"
    return f"{_share(saved.share)} {on} ({each}). {points}"


def _share(found: Interval) -> str:
    """``saved 92 % [85, 97]``, or ``spent 40 % [20, 60] more``; an interval that includes 0 says so."""
    value, (low, high) = abs(found.value), (found.low, found.high)
    saved, more = ("saved", "") if found.value >= 0 else ("spent", " more")
    if low is None or high is None:
        return f"{saved} {percent(value)}{more}"
    unsure = ", which includes 0," if low <= 0 <= high else ""
    return f"{saved} {span(value, *((low, high) if found.value >= 0 else (-high, -low)))}{more}{unsure}"
