"""What a plan can show: how large a difference must be to be seen, and what that assumes about its configurations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations
from math import inf
from statistics import median

from koderz_core.analysis.power import detectable, observed_discordance, variance_left_by
from koderz_core.records import Configuration, Plan
from koderz_core.records.forecasts import PastPair
from koderz_core.records.plans import scripted

ASSUMED_DISCORDANCE = 0.25
"""Share of problems on which two configurations are assumed to differ where no past pair tells. In koderz' own study
(docs/study) the three pairs that were chosen before it began differed on 14 or 15 of 60 problems of HumanEval+."""

_LEVEL = 0.05
_Kind = tuple[str, tuple[tuple[str, tuple[str, ...]], ...]]


@dataclass(frozen=True, slots=True)
class Expectation:
    """How two configurations of a plan are expected to differ, and what that is known from.

    ``discordance``: on what share of the problems; the median over ``pairs`` past pairs, an assumption if these are 0.
    ``same``: they were of strategies and models that the plan pairs too, otherwise of any on its ``dataset``.
    ``from_chance``: as ``PastPair`` has it, the median over ``repeated`` of them; None if these are 0.
    """

    dataset: str
    discordance: float = ASSUMED_DISCORDANCE
    pairs: int = 0
    same: bool = False
    from_chance: float | None = None
    repeated: int = 0


def can_show(plan: Plan, past: Sequence[PastPair]) -> str:
    """What a plan can show, and what that assumes, in sentences for a person who is about to launch it.

    ``past``: the pairs of configurations that were measured on its dataset.
    """
    return _said(len(plan.problems), plan.repeats, len(plan.configurations), expected(plan, past))


def expected(plan: Plan, past: Sequence[PastPair]) -> Expectation:
    """What past pairs on its dataset say about the pairs of a plan.

    Those of the same strategies and models as two configurations of the plan, otherwise all. Those with scripted models
    say nothing about models, so they count only for plans that have some as well.
    """
    wanted = {_pair(_kind(one), _kind(other)) for one, other in combinations(plan.configurations, 2)}
    comparable = [one for one in past if _scripted(one) == scripted(plan.models())]
    same = [one for one in comparable if _pair(*map(_kind_of, one.strategies, one.models)) in wanted]
    like = same or comparable
    if not like:
        return Expectation(plan.dataset.name)
    from_chance = [one.from_chance for one in like if one.from_chance is not None]
    return Expectation(
        plan.dataset.name,
        median(observed_discordance(one.discordant, one.problems) for one in like),
        len(like),
        bool(same),
        median(from_chance) if from_chance else None,
        len(from_chance),
    )


@cache
def _said(n: int, repeats: int, configurations: int, of: Expectation) -> str:
    """With more than two configurations each is held against one of them, and told apart by the strictest step that
    Holm's adjustment may take: the level divided by the number of such pairs.
    """
    pairs = max(1, configurations - 1)
    left = variance_left_by(repeats, of.from_chance or 0.0)
    figures = _figures(n, pairs, of.discordance, left)
    plan = f"With {n} problem{'s' if n != 1 else ''}{f', {repeats} times each,' if repeats > 1 else ''}"
    if figures is None:
        return f"{plan} no difference can be statistically significant."
    unseen, seen = figures
    against = f" ({pairs} configurations against one)" if pairs > 1 else ""
    shown = (
        f"{plan} a difference below {unseen} points will usually go unnoticed; one of {seen} points is seen four times "
        f"in five{against}."
    )
    return " ".join(part for part in (shown, _source(of), _about_repeats(n, repeats, pairs, of)) if part)


def _figures(n: int, pairs: int, discordance: float, variance_left: float) -> tuple[str, str] | None:
    """The points that are seen in half of all benchmarks and in four of five; None if none are."""
    alpha = _LEVEL / pairs
    found = [detectable(n, discordance, power, alpha, variance_left) for power in (0.5, 0.8)]
    return None if found[0] == inf else (f"{100 * found[0]:.2g}", f"{100 * found[1]:.2g}")


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
    best = _figures(n, pairs, of.discordance, variance_left_by(repeats, 1.0))
    at_best = f"; at best, if only chance makes two trials differ, it is {best[0]} and {best[1]} points" if best else ""
    return f"It counts on no gain from repeats, as no earlier pair with repeats tells how large that is{at_best}."


def _scripted(pair: PastPair) -> bool:
    return scripted(name for models in pair.models for members in models.values() for name in members)


def _kind(of: Configuration) -> _Kind:
    return _kind_of(of.strategy, of.models)


def _kind_of(strategy: str, models: Mapping[str, tuple[str, ...]]) -> _Kind:
    return strategy, tuple(sorted(models.items()))


def _pair(one: _Kind, other: _Kind) -> tuple[_Kind, ...]:
    return tuple(sorted((one, other)))
