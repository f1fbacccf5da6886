"""The cost of solving: per solved problem, against a baseline, per additional solve; and the shares of tiers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import isnan, nan
from typing import Generic, TypeVar, get_args

import numpy as np

from koderz_core.analysis.bootstrap import Array, mean_interval, means, ratio, ratio_interval, sums, weights
from koderz_core.analysis.rates import ClusteredRate, Interval, clustered
from koderz_core.analysis.tradeoff import common_problems, non_dominated
from koderz_core.records import Tier
from koderz_core.records.progress import TierCost
from koderz_core.records.trials import Measured, Trial
from koderz_core.sums import all_known, known_sum

K = TypeVar("K")
_ORDER: tuple[Tier | None, ...] = (*get_args(Tier), None)


@dataclass(frozen=True, slots=True)
class Savings:
    """What a configuration spent less than a baseline on the ``problems`` that both solved, in mean dollars of each.

    ``share``: of the baseline's dollars, negative if it spent more, None if the baseline was free. ``difference``: its
    success rate less the baseline's on the ``of`` problems where both have a result, without which savings say little.
    """

    problems: int
    usd: float
    baseline_usd: float
    saved_usd: Interval
    share: Interval | None
    difference: float
    of: int


@dataclass(frozen=True, slots=True)
class FrontierShare:
    """How much of the dollars and tokens went to models of the frontier tiers; None if unknown or none was used."""

    usd: float | None
    tokens: float | None


@dataclass(frozen=True, slots=True)
class Margin(Generic[K]):
    """From the next cheaper configuration to a dearer one: dollars and solves more per problem, and their ratio.

    ``sure``: the share of resamples in which the dearer one really solves more.
    """

    cheaper: K
    dearer: K
    usd: float
    solved: float
    usd_per_solve: float
    sure: float


@dataclass(frozen=True, slots=True)
class AttemptCost:
    """What one attempt more cost the ``trials`` that made it, and how many it solved.

    Per solve it is infinite if it solved none, nan if it cost nothing either.
    """

    attempt: int
    trials: int
    usd: float
    solved: int
    usd_per_solve: float


@dataclass(frozen=True, slots=True)
class TierShare:
    """What the calls to one tier took; ``usd`` and ``tokens``: the share of all tiers', None if unknown or none."""

    spent: TierCost
    usd: float | None
    tokens: float | None


@dataclass(frozen=True, slots=True)
class FrontierCost:
    """``usd``: dollars per problem, None if a call has no price."""

    measured: Measured
    rate: ClusteredRate
    usd: Interval | None


def cost_per_solved(trials: Sequence[Trial]) -> Interval | None:
    """Mean dollars per problem by the share solved; infinite if none was; None without a result or if unpriced.

    The expected cost of one right answer: cost-of-pass, Erol et al., arXiv 2504.13359 (2025), over all problems at
    once. Failures are paid for; what was cancelled or failed on our side says nothing and is not counted.
    """
    problems = common_problems([trials])
    usd, solved = _usd(problems, trials), _solved(problems, trials)
    return ratio_interval(usd, solved) if problems and not np.isnan(usd).any() else None


def parts_per_solved(trials: Sequence[Trial]) -> Mapping[Tier, float | None]:
    """What each tier has of the cost per solved problem: they add up to it. None without a result or if unpriced."""
    problems = common_problems([trials])
    solved = _solved(problems, trials).sum()
    of_tier: Mapping[Tier, Callable[[Trial], float]] = {
        "local": lambda one: _known(one.usd) - _known(one.frontier_usd),
        "small_frontier": lambda one: _known(one.small_frontier_usd),
        "frontier": lambda one: _known(one.frontier_usd) - _known(one.small_frontier_usd),
    }
    spent = {tier: means(problems, _scored(trials), of).sum() for tier, of in of_tier.items()}
    unknown = {tier for tier, usd in spent.items() if not problems or isnan(usd)}
    return {tier: None if tier in unknown else float(ratio(usd, solved)) for tier, usd in spent.items()}


def price_ratio(a: Sequence[Trial], b: Sequence[Trial], at_once: int = 1) -> Interval | None:
    """How often the cost per solved problem of b that of a is, on the problems where both have a result.

    None if there are none, a price is unknown, b is free, or one of them solved none. ``at_once``: of how many such
    intervals this is one.
    """
    problems = common_problems((a, b))
    if not problems:
        return None
    totals = np.stack([_usd(problems, a), _solved(problems, a), _usd(problems, b), _solved(problems, b)])
    plain = totals.sum(axis=1)
    if np.isnan(plain).any() or not plain[1:].all():
        return None
    return ratio_interval(totals[[0, 3]], totals[[1, 2]], at_once)


def savings(a: Sequence[Trial], baseline: Sequence[Trial], at_once: int = 1) -> Savings | None:
    """a against a measured baseline, on the problems both solved in at least one repeat, by what a repeat cost there.

    Repeats that failed there are paid for too. None if there are no such problems or a price is unknown.
    ``at_once``: of how many such intervals its are one.
    """
    compared = common_problems((a, baseline))
    solved_by = [[trial for trial in trials if trial.solved] for trials in (a, baseline)]
    problems = common_problems(solved_by)
    usd, baseline_usd = _usd(problems, a), _usd(problems, baseline)
    if not problems or np.isnan(usd + baseline_usd).any():
        return None
    spent = ratio_interval(usd, baseline_usd, at_once) if baseline_usd.sum() else None
    return Savings(
        problems=len(problems),
        usd=float(usd.mean()),
        baseline_usd=float(baseline_usd.mean()),
        saved_usd=mean_interval(baseline_usd - usd, at_once),
        share=spent and _rest(spent),
        difference=float(_solved(compared, a).mean() - _solved(compared, baseline).mean()),
        of=len(compared),
    )


def frontier_share(trials: Sequence[Trial]) -> FrontierShare:
    """Over the trials that have a result."""
    scored = [trial for trial in trials if trial.scored]
    return FrontierShare(
        _part([trial.frontier_usd for trial in scored], [trial.usd for trial in scored]),
        _part([trial.frontier_tokens for trial in scored], [trial.tokens for trial in scored]),
    )


def tier_shares(tiers: Sequence[TierCost]) -> tuple[TierShare, ...]:
    """The cheapest tier first. One unknown amount makes every share of it unknown."""
    ordered = sorted(tiers, key=lambda one: _ORDER.index(one.tier))
    usd = _shares([tier_cost.cost_usd for tier_cost in ordered])
    tokens = _shares([tier_cost.tokens for tier_cost in ordered])
    return tuple(TierShare(*one) for one in zip(ordered, usd, tokens, strict=True))


def margins(trials_by_key: Mapping[K, Sequence[Trial]], seed: int = 0) -> tuple[Margin[K], ...]:
    """Incremental cost per extra solve along the frontier, by rising cost, on the problems that all have a result of.

    What is dominated buys nothing and is left out, as are configurations of unknown price. The incremental ratio of
    cost-effectiveness analysis: Drummond et al., Methods for the Economic Evaluation of Health Care Programmes, 2015,
    section 4.3.
    """
    held = {key: trials for key, trials in trials_by_key.items() if any(trial.scored for trial in trials)}
    problems = common_problems(list(held.values()))
    usd = {key: _usd(problems, trials) for key, trials in held.items()}
    priced = [key for key in held if problems and not np.isnan(usd[key]).any()]
    solved = {key: _solved(problems, held[key]) for key in priced}
    paid = {key: float(usd[key].mean()) for key in priced}
    if not priced:
        return ()
    best = non_dominated(np.array(list(paid.values())), np.array([solved[key].mean() for key in priced]))
    order = sorted((key for key, on in zip(priced, best, strict=True) if on), key=lambda key: paid[key])
    drawn = weights(len(problems), seed)
    return tuple(
        Margin(one, other, paid[other] - paid[one], more, (paid[other] - paid[one]) / more, sure)
        for one, other in pairwise(order)
        if (more := float((solved[other] - solved[one]).mean())) > 0
        for sure in (float((sums(solved[other] - solved[one], drawn) > 1e-9).mean()),)
    )


def attempt_costs(trials: Sequence[Trial]) -> tuple[AttemptCost, ...] | None:
    """The marginal dollars of attempts 1, 2, ... of the trials that have a result; None if a price is unknown.

    The first includes what came before it, as a spec; the last what came after it. A solve counts for the last.
    """
    scored = [trial for trial in trials if trial.scored]
    paid = [_spent(trial) for trial in scored]
    if any(isnan(value) for spent in paid for value in spent):
        return None
    found = []
    for attempt in range(1, max(map(len, paid), default=0) + 1):
        made = [(one, spent) for one, spent in zip(scored, paid, strict=True) if len(spent) >= attempt]
        usd = sum(spent[attempt - 1] for _, spent in made)
        solved = sum(one.solved and len(spent) == attempt for one, spent in made)
        found.append(AttemptCost(attempt, len(made), usd, solved, float(ratio(usd, solved))))
    return tuple(found)


def frontier_cost(one: Measured) -> FrontierCost:
    """The rate and the mean cost of a model that was asked directly, both over problems."""
    held: dict[str, list[int]] = {}
    for place, problem in enumerate(one.problems):
        held.setdefault(problem, []).append(place)
    counts = {problem: (sum(one.solved[at] for at in places), len(places)) for problem, places in held.items()}
    return FrontierCost(
        one, clustered(counts), _usd_per_problem([[one.usd[at] for at in places] for places in held.values()])
    )


def _spent(trial: Trial) -> list[float]:
    """Dollars attempt by attempt; an untested answer is one attempt; nan: unknown."""
    so_far = [nan if try_.usd is None else try_.usd for try_ in trial.tries[:-1]]
    totals = [0.0, *so_far, nan if trial.usd is None else trial.usd]
    return [after - before for before, after in pairwise(totals)]


def _rest(spent: Interval) -> Interval:
    """What is left of 1."""
    low, high = (None if one is None else 1 - one for one in (spent.high, spent.low))
    return Interval(1 - spent.value, low, high)


def _part(some: Sequence[float | None], whole: Sequence[float | None]) -> float | None:
    part, total = known_sum(some), known_sum(whole)
    return None if part is None or not total else part / total


def _shares(amounts: Sequence[float | None]) -> list[float | None]:
    known = all_known(amounts)
    whole = sum(known or ())
    return [value / whole for value in known] if known and whole else [None] * len(amounts)


def _usd(problems: Sequence[str], trials: Sequence[Trial]) -> Array:
    return means(problems, _scored(trials), lambda one: _known(one.usd))


def _known(usd: float | None) -> float:
    return nan if usd is None else usd


def _solved(problems: Sequence[str], trials: Sequence[Trial]) -> Array:
    return means(problems, _scored(trials), lambda one: one.solved)


def _scored(trials: Sequence[Trial]) -> list[Trial]:
    return [trial for trial in trials if trial.scored]


def _usd_per_problem(by_problem: Sequence[Sequence[float | None]]) -> Interval | None:
    known = [[usd for usd in repeats if usd is not None] for repeats in by_problem]
    if not known or any(len(some) < len(repeats) for some, repeats in zip(known, by_problem, strict=True)):
        return None
    return ratio_interval(np.array([sum(some) / len(some) for some in known]), np.ones(len(known)))
