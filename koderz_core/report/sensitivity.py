"""What a plan can show, in sentences for a person who is about to launch it."""

from __future__ import annotations

from collections.abc import Sequence

from koderz_core.analysis.power import variance_left_by
from koderz_core.analysis.sensitivity import Expectation, expected, visible
from koderz_core.records import Plan
from koderz_core.records.forecasts import PastPair


def can_show(plan: Plan, past: Sequence[PastPair]) -> str:
    """What a plan can show, and what that assumes, in sentences.

    ``past``: the pairs of configurations that were measured on its dataset.
    """
    return _said(len(plan.problems), plan.repeats, len(plan.configurations), expected(plan, past))


def _said(n: int, repeats: int, configurations: int, of: Expectation) -> str:
    pairs = max(1, configurations - 1)
    left = variance_left_by(repeats, of.from_chance or 0.0)
    found = visible(n, pairs, of.discordance, left)
    plan = f"With {n} problem{'s' if n != 1 else ''}{f', {repeats} times each,' if repeats > 1 else ''}"
    if found is None:
        return f"{plan} no difference can be statistically significant."
    against = f" ({pairs} configurations against one)" if pairs > 1 else ""
    shown = (
        f"{plan} a difference below {_points(found.half)} points will usually go unnoticed; one of "
        f"{_points(found.most)} points is seen four times in five{against}."
    )
    return " ".join(part for part in (shown, _source(of), _about_repeats(n, repeats, pairs, of)) if part)


def _source(of: Expectation) -> str:
    assumed = f"This assumes that two configurations differ on about {100 * of.discordance:.0f} % of the problems"
    if not of.pairs:
        return (
            f"{assumed}, as in koderz' own study (23 to 25 %), because too little like this plan was measured on "
            f"{of.dataset} so far."
        )
    what = "of the same strategies and models" if of.same else "of configurations"
    if of.pairs == 1:
        return f"{assumed}, as one earlier pair {what} did on {of.dataset}."
    return f"{assumed}, the median of {of.pairs} earlier pairs {what} on {of.dataset}."


def _about_repeats(n: int, repeats: int, pairs: int, of: Expectation) -> str:
    if repeats == 1:
        return ""
    if of.from_chance is not None:
        gone = 1 - variance_left_by(repeats, of.from_chance)
        measured = "one earlier pair" if of.repeated == 1 else f"{of.repeated} earlier pairs"
        removed = f"{repeats} repeats to remove {100 * gone:.0f} % of the variance"
        return f"It counts on {removed}, by the repeats of {measured}."
    best = visible(n, pairs, of.discordance, variance_left_by(repeats, 1.0))
    at_best = (
        f"; at best, if only chance makes two trials differ, it is {_points(best.half)} and {_points(best.most)} points"
        if best
        else ""
    )
    return f"It counts on no gain from repeats, as no earlier pair with repeats tells how large that is{at_best}."


def _points(share: float) -> str:
    return f"{100 * share:.2g}"
