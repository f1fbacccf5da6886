"""A comparison in words: its tables, and what is the same for all."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from math import inf

from koderz_core.analysis.comparison import Comparison
from koderz_core.analysis.configurations import compared
from koderz_core.analysis.curves import Curve
from koderz_core.analysis.incidence import Axis
from koderz_core.analysis.pairs import Key, Pair, telling
from koderz_core.records.marks import Marks
from koderz_core.records.progress import SummaryRow
from koderz_core.report.columns import shown, text_table
from koderz_core.report.configuration_columns import CONFIGURATIONS, FRONTIER, GLANCE, configurations
from koderz_core.report.formats import (
    NONE,
    TextTable,
    amount,
    bounded,
    chance,
    columns,
    count,
    in_points,
    marked_rate,
    money,
    percent,
    rate,
    share,
    tier_name,
    worded,
)
from koderz_core.report.pair_columns import PAIRS, pairs
from koderz_core.report.supervision import Helped, reviews_table, supervision_table

MOST_PLACES = 12  # of a curve in a table
PARTS = 7
HELD = "‡"


def frontier_table(comparison: Comparison) -> TextTable:
    """Where each configuration lies between cost and success, on the problems that all have a result of."""
    rows = [row for row in configurations(comparison) if row.point]
    return text_table(f"Cost and success on {comparison.tradeoff.problems} problems", FRONTIER, rows)


def curves_table(comparison: Comparison, axis: Axis) -> TextTable:
    """The curves at a few places of their axis: most is solved with little, so each place is half of the next one.

    They are fewer where several are called the same, as where nothing cost any. ‡ marks a level that a curve keeps
    after its own end.
    """
    found = comparison.curves[axis]
    whole = axis == "attempts" and found.end <= MOST_PLACES
    places = range(1, round(found.end) + 1) if whole else [found.end / 2**part for part in reversed(range(PARTS))]
    heads = {f"by {place:g}" if axis == "attempts" else amount(axis, place): place for place in places}
    named = {row.key: row for row in comparison.configurations}
    rows = tuple(
        (
            named[curve.key].letter,
            named[curve.key].label,
            *(_at(curve, place, named[curve.key].marks) for place in heads.values()),
            f"{marked_rate(curve.share[-1], curve.low[-1], curve.high[-1], named[curve.key].marks)}"
            f" by {amount(axis, curve.end)}",
            percent(curve.false_passes),
            str(curve.censored),
        )
        for curve in found.curves
    )
    names = ("", "configuration", *heads, "at its own end", "stopped by false passes", "left early")
    held = any(curve.end < found.end for curve in found.curves)
    return TextTable(f"Solved by {axis}{f' ({HELD} no further tries)' if held else ''}", names, rows)


def tiers_table(comparison: Comparison) -> TextTable:
    """What each tier of models has of the cost per solved problem; calls and cost are of all experiments so far."""
    rows = []
    for row in comparison.configurations:
        for tier_cost in row.tiers:
            each = money(comparison.measured[row.key].parts.get(tier_cost.tier) if tier_cost.tier else None)
            tier = tier_name(tier_cost.tier)
            rows.append((row.letter, row.label, tier, count(tier_cost.calls), money(tier_cost.cost_usd), each))
    names = columns("letter | configuration | tier | calls so far | cost so far | $ per solved")
    return TextTable("Cost per solved problem, by tier", names, tuple(rows))


def ceilings_table(comparison: Comparison) -> TextTable:
    """How far trying until the gate passes can go, where gate and held-out tests differ."""
    told = [(row, ceiling) for row in comparison.configurations if (ceiling := comparison.measured[row.key].ceiling)]
    rows = tuple((row.letter, row.label, rate(ceiling.rate), rate(ceiling.false_positives)) for row, ceiling in told)
    names = columns("letter | configuration | right if gate passes [95 %] | passes though wrong [95 %]")
    return TextTable("The ceiling of trying until the gate passes", names, rows)


def margins_table(comparison: Comparison) -> TextTable:
    """What one solve more costs, from each configuration on the frontier to the next."""
    named = {row.key: row for row in comparison.configurations}
    rows = tuple(
        (
            f"{named[margin.cheaper].letter} → {named[margin.dearer].letter}",
            f"{100 * margin.solved:+.1f}",
            money(margin.usd),
            money(margin.usd_per_solve),
            chance(margin.sure),
        )
        for margin in comparison.margins
    )
    names = columns("from → to | points solved | extra $ per problem | $ per extra solved problem | P(solves more)")
    return TextTable("Marginal cost per extra solved problem, along the frontier", names, rows)


def _at(curve: Curve[Key], place: float, marks: Marks) -> str:
    """How high a staircase is at a place; a hair more, as places are rounded."""
    if place > curve.end * (1 + 1e-9):
        return f"{marked_rate(curve.share[-1], None, None, marks)} {HELD}"
    step = bisect_right(curve.at, place * (1 + 1e-9)) - 1
    return marked_rate(curve.share[step], curve.low[step], curve.high[step], marks)


SETTING = "setting"


def tables(comparison: Comparison) -> tuple[TextTable, ...]:
    """Every table that has something to say; curves and frontier are for charts."""
    made = (
        configurations_table,
        pairs_table,
        tiers_table,
        ceilings_table,
        _supervision,
        _reviews,
        margins_table,
        settings_table,
    )
    return tuple(table for make in made if (table := make(comparison)).rows)


def configurations_table(comparison: Comparison) -> TextTable:
    """One line per configuration; the letter stands for it everywhere else."""
    return text_table("Configurations", shown(CONFIGURATIONS), configurations(comparison))


def pairs_table(comparison: Comparison) -> TextTable:
    """Every configuration against the baseline."""
    base = comparison.of(comparison.baseline).letter if comparison.baseline else NONE
    title = f"Against {base} on the same problems{at_once(comparison)}"
    return text_table(title, shown(PAIRS), pairs(comparison), base)


def at_once(comparison: Comparison) -> str:
    """What intervals of pairs hold for, where there are several."""
    pairs = max((pair.test.at_once for pair in comparison.pairs), default=1)
    return f" (intervals at 95 % for all {pairs} pairs at once)" if pairs > 1 else ""


def settings_table(comparison: Comparison) -> TextTable:
    """Only what differs: a line per configuration, a column per setting."""
    settings = comparison.differences.differing
    rows = tuple(
        (row.letter, *(worded(setting.values[place]) for setting in settings))
        for place, row in enumerate(comparison.configurations)
    )
    return TextTable("What differs", ("", *(setting.name for setting in settings)), rows if settings else ())


def settings_by_row(table: TextTable) -> TextTable:
    """``settings_table`` with a line per setting, so that names of settings have room; as it was if that is wider."""
    if len(table.columns) <= len(table.rows) + 1:
        return table
    rows = tuple((name, *(row[place] for row in table.rows)) for place, name in enumerate(table.columns) if name)
    return TextTable(table.title, (SETTING, *(row[0] for row in table.rows)), rows)


def helped(comparison: Comparison) -> Helped:
    """The configurations of which a stronger model reviewed something."""
    told = {(row.letter, row.label): comparison.measured[row.key].supervision for row in comparison.configurations}
    return {named: one for named, one in told.items() if one}


def common(comparison: Comparison) -> str:
    """What is the same for all, in one sentence."""
    said = ", ".join(f"{name} {worded(value)}" for name, value in comparison.differences.common.items())
    return f"The same for all: {said}." if said else "Nothing is the same for all."


def _supervision(comparison: Comparison) -> TextTable:
    return supervision_table(helped(comparison))


def _reviews(comparison: Comparison) -> TextTable:
    return reviews_table(helped(comparison))


def glance_table(rows: Sequence[SummaryRow]) -> TextTable:
    """One line per configuration."""
    found = [compared(row, place) for place, row in enumerate(rows)]
    return text_table("What each configuration solved, at what cost", GLANCE, found)


@dataclass(frozen=True, slots=True)
class Answer:
    """``headline``: letters and our own words. ``told``: the figures behind it, with labels, so hostile text."""

    headline: str
    told: str


def answer(comparison: Comparison) -> Answer:
    """Of the pair to look at first, or of the one configuration that there is; bounds hold for all pairs at once."""
    pair = telling(comparison.pairs)
    if pair is None:
        alone = comparison.configurations[0]
        if not alone.n:
            return Answer("Nothing has a result yet", alone.label)
        cases = f"; {bounded(alone)} in the worst to best case" if alone.missing else ""
        return Answer(f"{alone.letter} solved {share(alone)} of {_problems(alone.n)}{cases}", alone.label)
    it, other = comparison.of(pair.key), comparison.of(pair.baseline)
    if pair.test.difference is None:
        return Answer(f"No common results for {it.letter} and {other.letter} yet", pair.finding)
    headline = f"On {_problems(pair.test.n)} {_verdict(pair, it.letter, other.letter)}{_dearer(pair, it.letter)}"
    told = f"{it.letter} · {it.label} against {other.letter} · {other.label}: {_points(pair)}{_times(pair)}."
    return Answer(headline, f"{told}\n{_level(pair.test.at_once)}")


def _verdict(pair: Pair, it: str, other: str) -> str:
    if not pair.seems_apart:
        return f"{it} and {other} do not differ significantly"
    said = f"{it} solves {'more' if (pair.test.difference or 0) > 0 else 'less'} than {other}"
    return said if pair.told_apart else f"{said}, but not for every possible result of what is missing"


def _dearer(pair: Pair, it: str) -> str:
    """What the bounds of the price settle, if anything."""
    price = pair.price
    if price is None or price.low is None or price.high is None:
        return ""
    if price.low <= 1 <= price.high:
        return "; the cost difference is not significant"
    return f"; {it} costs {'more' if price.low > 1 else 'less'} per solved problem"


def _points(pair: Pair) -> str:
    bounds = in_points(pair.test.low or 0.0, pair.test.high or 0.0, pair.seems_apart)
    return f"{100 * (pair.test.difference or 0.0):+.0f} points solved ({' to '.join(bounds)})"


def _times(pair: Pair) -> str:
    price = pair.price
    if price is None or price.low is None or price.high is None:
        return ""
    high = "∞" if price.high == inf else f"{price.high:.2g}"
    return f", {price.value:.2g} times the cost per solved problem ({price.low:.2g} to {high})"


def _level(at_once: int) -> str:
    return "Intervals at 95 %." if at_once == 1 else f"Intervals at 95 % for {at_once} pairs at once."


def _problems(n: int) -> str:
    return "1 problem" if n == 1 else f"{count(n)} problems"
