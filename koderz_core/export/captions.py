"""What has to be said beside the charts and tables of a comparison, on a page and in a report alike."""

from __future__ import annotations

from koderz_core.analysis.comparison import Comparison
from koderz_core.analysis.incidence import Axis
from koderz_core.analysis.pairs import Key
from koderz_core.analysis.tradeoff import Tradeoff
from koderz_core.export.formats import percent

SCRIPTED = "SCRIPTED: some of these answers come from a script, not from a model."
CURVES = (
    "Share of problems that pass the tests that score them, within a number of attempts, dollars or seconds. A line is "
    "solid up to the most that the configuration used on a problem. From there a dotted line continues its level: no "
    "further tries (‡ in the table). An experiment that ends on a false pass of the gate stays in the denominator, so "
    "a line can stay below 100 %."
)
PARTIAL = (
    "The curves cover the problems that all configurations were given. The rates in the table cover all problems of "
    "each configuration, so a curve can end at another level than its rate."
)
CENSORED = (
    "An experiment without a result counts in a curve up to where it stopped. The rate in the table leaves it out, "
    "which overstates success where long experiments stop early, so a curve can end at another level than its rate."
)
COSTS = (
    "The $ per solved in parts: of experiments with a result. Calls and cost so far are of all. "
    "Local cost: watts × seconds × price."
)
GROUPS = (
    "Groups: who shares a number cannot be told apart (Holm over all pairs, 5 %); 1 solves most. P(frontier): how "
    "often resampled problems leave it on the Pareto frontier of cost and success. $ per solved: dollars of "
    "the experiments with a result by how many of these were solved (cost-of-pass)."
)
PAIRS = (
    "p: exact McNemar, with repeats a permutation test of the labels within problems, adjusted by Holm; told apart up "
    "to 0.05, and then 0 is not inside the interval. Intervals hold for all pairs at once (Bonferroni), so also for "
    "the one that was picked out above. "
    "Reaches: the dollars per problem at which its curve is as high; P(never): how often resampled problems never "
    "let it. Saved: on the problems that both solved."
)


def about_curves(comparison: Comparison, axis: Axis) -> str:
    """How to read the curves of an axis, and why they end beside the rates of the table where they do."""
    return " ".join((CURVES, *curves_beside_rates(comparison, axis)))


def curves_beside_rates(comparison: Comparison, axis: Axis) -> tuple[str, ...]:
    """Why a curve ends at another level than the configuration's rate in the table; nothing if none does."""
    drawn = [(comparison.of(curve.key), curve) for curve in comparison.curves[axis].curves]
    partial = [curve for row, curve in drawn if row.n > curve.trials - curve.censored]
    apart = [
        row.letter for row, curve in drawn if curve not in partial and percent(curve.share[-1]) != percent(row.share)
    ]
    return (
        *([PARTIAL] if partial else []),
        *([f"{CENSORED} That concerns {', '.join(apart)}."] if apart else []),
    )


def frontier(found: Tradeoff[Key]) -> str:
    """What stands below the chart of cost against success."""
    said = (
        f"On the {found.problems} problems with a result of all configurations. Dotted: the Pareto frontier; no "
        "configuration is both cheaper and better than one on it. P(frontier) in the table says how certain that is."
    )
    if any(point.cases for point in found.points):
        said += " Thin bars: worst to best case of missing results, on the problems given to all configurations."
    return said
