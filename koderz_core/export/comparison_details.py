"""The tables of a comparison that go into detail: frontier, curves, tiers, ceiling and supervision, margins."""

from __future__ import annotations

from bisect import bisect_right

from koderz_core.analysis.comparison import Comparison
from koderz_core.analysis.curves import Curve
from koderz_core.analysis.incidence import Axis
from koderz_core.analysis.pairs import Key
from koderz_core.export.formats import (
    amount,
    chance,
    count,
    marked_rate,
    money,
    money_span,
    percent,
    rate,
    share_cases,
    tier_name,
)
from koderz_core.export.worded import CASES, Table, columns, with_column, worded
from koderz_core.records.marks import Marks

MOST_PLACES = 12  # of a curve in a table
PARTS = 7
HELD = "‡"


def frontier_table(comparison: Comparison) -> Table:
    """Where each configuration lies between cost and success, on the problems that all have a result of."""
    named = {row.key: row for row in comparison.configurations}
    rows = tuple(
        (
            named[one.key].letter,
            named[one.key].label,
            money_span(one.usd, one.usd_low, one.usd_high),
            marked_rate(one.success, one.success_low, one.success_high, named[one.key].marks),
            worded(one.on_frontier),
            chance(one.probability),
            worded(one.on_hull),
        )
        for one in comparison.tradeoff.points
    )
    names = "letter | configuration | $ per problem [95 %] | solved [95 %] | Pareto frontier | P(frontier) | "
    names += "by mixtures too"
    table = Table(f"Cost and success on {comparison.tradeoff.problems} problems", columns(names), rows)
    cases = [share_cases(one.cases) if one.cases else None for one in comparison.tradeoff.points]
    return with_column(table, "solved [95 %]", CASES, cases)


def curves_table(comparison: Comparison, axis: Axis) -> Table:
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
            named[one.key].letter,
            named[one.key].label,
            *(_at(one, place, named[one.key].marks) for place in heads.values()),
            f"{marked_rate(one.share[-1], one.low[-1], one.high[-1], named[one.key].marks)} by {amount(axis, one.end)}",
            percent(one.false_passes),
            str(one.censored),
        )
        for one in found.curves
    )
    names = ("", "configuration", *heads, "at its own end", "stopped by false passes", "left early")
    held = any(one.end < found.end for one in found.curves)
    return Table(f"Solved by {axis}{f' ({HELD} no further tries)' if held else ''}", names, rows)


def tiers_table(comparison: Comparison) -> Table:
    """What each tier of models has of the cost per solved problem; calls and cost are of all experiments so far."""
    rows = []
    for row in comparison.configurations:
        for one in row.tiers:
            each = money(comparison.measured[row.key].parts.get(one.tier) if one.tier else None)
            tier = tier_name(one.tier)
            rows.append((row.letter, row.label, tier, count(one.calls), money(one.cost_usd), each))
    names = columns("letter | configuration | tier | calls so far | cost so far | $ per solved")
    return Table("Cost per solved problem, by tier", names, tuple(rows))


def ceilings_table(comparison: Comparison) -> Table:
    """How far trying until the gate passes can go, where gate and held-out tests differ."""
    told = [(row, ceiling) for row in comparison.configurations if (ceiling := comparison.measured[row.key].ceiling)]
    rows = tuple((row.letter, row.label, rate(ceiling.rate), rate(ceiling.false_positives)) for row, ceiling in told)
    names = columns("letter | configuration | right if gate passes [95 %] | passes though wrong [95 %]")
    return Table("The ceiling of trying until the gate passes", names, rows)


def margins_table(comparison: Comparison) -> Table:
    """What one solve more costs, from each configuration on the frontier to the next."""
    named = {row.key: row for row in comparison.configurations}
    rows = tuple(
        (
            f"{named[one.cheaper].letter} → {named[one.dearer].letter}",
            f"{100 * one.solved:+.1f}",
            money(one.usd),
            money(one.usd_per_solve),
            chance(one.sure),
        )
        for one in comparison.margins
    )
    names = columns("from → to | points solved | extra $ per problem | $ per extra solved problem | P(solves more)")
    return Table("Marginal cost per extra solved problem, along the frontier", names, rows)


def _at(curve: Curve[Key], place: float, marks: Marks) -> str:
    """How high a staircase is at a place; a hair more, as places are rounded."""
    if place > curve.end * (1 + 1e-9):
        return f"{marked_rate(curve.share[-1], None, None, marks)} {HELD}"
    step = bisect_right(curve.at, place * (1 + 1e-9)) - 1
    return marked_rate(curve.share[step], curve.low[step], curve.high[step], marks)
