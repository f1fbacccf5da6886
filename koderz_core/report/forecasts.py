"""What a plan can show, and estimates next to actual results, in sentences: the same for a terminal and for a page."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import inf

from koderz_core.analysis.noninferiority import LIKELY, MARGIN, prospect
from koderz_core.analysis.power import Expectation, expected, variance_left_by, visible
from koderz_core.records import Plan
from koderz_core.records.progress import PastPair, Range, Receipt
from koderz_core.report.formats import duration, money, numbered, percent, within

_SEQUENTIAL = (
    "These probabilities apply if all problems are run (stopping rule: fixed). With sequential stopping, a benchmark "
    "shows a match less often (see docs/statistics.md). The differences stated above do not apply to the primary "
    "comparison."
)
LAST_RUN = "The last run"
"""The subject of a receipt that is shown later: the benchmark may have been resumed, and cost more in total."""


def receipt(actual: Receipt, run: str = "It") -> str:
    """What the last run cost and took, next to its estimate; the sentence calls it ``run``."""
    cost, took = f"{run} cost {money(actual.cost_usd)}", duration(actual.seconds)
    estimate = actual.forecast
    if estimate is None or not estimate.tells:
        return f"{cost} and took {took}."
    cost = f"{cost} (estimate: {between(estimate.cost_usd, money)})"
    if actual.seconds is None:
        return f"{cost}; it was interrupted, so its duration is unknown."
    return f"{cost} and took {took} (estimate: {between(estimate.seconds, duration)})."


def kept_budget(plan: Plan) -> str:
    """The sentence for a plan that keeps a budget which was changed during the run. ``plan``: with this budget."""
    return (
        f"The budget was changed to {money(plan.budget.usd)} while the benchmark was running. This budget still "
        f"applies. To set another budget: koderz resume {plan.id} --max-cost USD"
    )


def between(estimate: Range | None, shown: Callable[[float], str]) -> str:
    """The median and the 90th percentile of an estimate, or that it is unknown."""
    if estimate is None:
        return "unknown"
    return f"about {shown(estimate.p50)}, 90th percentile {shown(estimate.p90)}"


def can_show(plan: Plan, past: Sequence[PastPair]) -> str:
    """What a plan can show, and what that assumes.

    ``past``: the pairs of configurations that were measured on its dataset.
    """
    n, repeats, pairs = len(plan.problems), plan.repeats, max(1, len(plan.configurations) - 1)
    expectation = expected(plan, past)
    left = variance_left_by(repeats, expectation.from_chance or 0.0)
    found = visible(n, pairs, expectation.discordance, left)
    planned = f"With {numbered(n, 'problem')}{f' and {repeats} repeats' if repeats > 1 else ''},"
    if found is None:
        return f"{planned} no difference can be statistically significant."
    against = (
        f" These numbers apply to the comparison of {pairs} configurations with one baseline." if pairs > 1 else ""
    )
    detected = (
        f"{planned} a difference below {_points(found.half)} percentage points will usually not be detected; a "
        f"difference of {_points(found.most)} points is detected with a probability of 80 %.{against}"
    )
    matching = _about_matching(plan, pairs, expectation.discordance, left)
    parts = (detected, matching, _source(expectation), _about_repeats(n, repeats, pairs, expectation))
    return " ".join(part for part in parts if part)


def _about_matching(plan: Plan, pairs: int, discordance: float, variance_left: float) -> str:
    """Of any pair, or of the primary comparison of a registered plan, which is not adjusted for other pairs."""
    n, registered = len(plan.problems), plan.registration or None
    margin, tested = (registered.margin, 1) if registered else (MARGIN, pairs)
    found = prospect(n, tested, discordance, variance_left, margin)
    which = "the configuration of the primary comparison" if registered else "a configuration"
    likely = (
        f"If {which} is exactly as good as the baseline, the benchmark shows with a probability of "
        f"{percent(found.chance)} that this configuration matches the baseline {within(margin)}"
    )
    enough = found.chance >= LIKELY or (found.problems or inf) <= n
    needed = "" if enough else f"; a probability of 80 % requires {found.problems or 'more'} problems"
    return f"{likely}{needed}.{f' {_SEQUENTIAL}' if plan.sequential else ''}"


def _source(expectation: Expectation) -> str:
    share = f"{100 * expectation.discordance:.0f} %"
    assumed = f"These numbers assume that two configurations differ on about {share} of the problems"
    dataset = expectation.dataset
    if not expectation.pairs:
        return (
            f"{assumed}, as in koderz' own study (23 to 25 %). koderz uses this study because no two "
            f"comparable configurations have results on enough problems of {dataset}."
        )
    what = "of configurations" + (" with the strategies and models of this plan" if expectation.same else "")
    if expectation.pairs == 1:
        return f"{assumed}, as did one earlier pair {what} on {dataset}."
    return f"{assumed}. This share is the median of {expectation.pairs} earlier pairs {what} on {dataset}."


def _about_repeats(n: int, repeats: int, pairs: int, expectation: Expectation) -> str:
    if repeats == 1:
        return ""
    if expectation.from_chance is not None:
        gone = 1 - variance_left_by(repeats, expectation.from_chance)
        measured = "one earlier pair" if expectation.repeated == 1 else f"{expectation.repeated} earlier pairs"
        return (
            f"These numbers also assume that {repeats} repeats reduce the variance of a difference by "
            f"{100 * gone:.0f} %, as measured on the repeats of {measured} of configurations."
        )
    best = visible(n, pairs, expectation.discordance, variance_left_by(repeats, 1.0))
    at_best = (
        f"; with the largest possible gain in precision, the two differences stated above would be "
        f"{_points(best.half)} and {_points(best.most)} percentage points"
        if best
        else ""
    )
    return (
        "These numbers also assume that repeats bring no gain in precision, because this gain was not "
        f"measured on any earlier pair of configurations{at_best}."
    )


def _points(share: float) -> str:
    return f"{100 * share:.2g}"
