"""The cost of solving: per solved problem, against a baseline, per additional solve; and the shares of tiers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import isnan, nan
from typing import Generic, TypeVar, get_args

import numpy as np

from koderz_core.analysis.bootstrap import Array, mean_interval, means, ratio, ratio_interval, sums, weights
from koderz_core.analysis.rates import ClusteredRate, Interval, clustered, counted
from koderz_core.analysis.tradeoff import common_problems, exact, non_dominated
from koderz_core.records import Tier
from koderz_core.records.progress import TierCost
from koderz_core.records.trials import Measured, Trial
from koderz_core.sums import all_known, known_mean, known_sum

K = TypeVar("K")
_ORDER: tuple[Tier | None, ...] = (*get_args(Tier), None)


@dataclass(frozen=True, slots=True)
class Savings:
    """How much less a configuration spent than a baseline, in mean dollars of the ``problems`` that both solved.

    ``share``: of the baseline's dollars, negative if it spent more, None if the baseline was free. ``difference``: its
    success rate less the baseline's on the ``of`` problems with a result of both, which gives savings their context.
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
    """The shares of dollars and tokens for models of the frontier tiers; None if unknown or nothing was used."""

    usd: float | None
    tokens: float | None


@dataclass(frozen=True, slots=True)
class Margin(Generic[K]):
    """From a cheaper configuration to the next more expensive one: additional dollars and solves, and their ratio.

    ``usd`` and ``solved`` are per problem. ``sure``: the share of resamples in which the more expensive one solves
    more.
    """

    cheaper: K
    dearer: K
    usd: float
    solved: float
    usd_per_solve: float
    sure: float


@dataclass(frozen=True, slots=True)
class AttemptCost:
    """What an attempt cost the trials that made it, and by solved trial: infinite without any, nan if also free."""

    usd: float
    usd_per_solve: float


@dataclass(frozen=True, slots=True)
class TierShare:
    """The calls to one tier; ``usd`` and ``tokens``: shares of all tiers, None if unknown or nothing was used."""

    spent: TierCost
    usd: float | None
    tokens: float | None


@dataclass(frozen=True, slots=True)
class FrontierCost:
    """A measured model with strategy direct. ``usd``: dollars per problem, None if a call has no price."""

    measured: Measured
    rate: ClusteredRate
    usd: Interval | None


def cost_per_solved(trials: Sequence[Trial]) -> Interval | None:
    """Mean dollars per problem divided by the share solved; infinite if none was; None without a result or a price.

    The expected cost of one right answer: cost-of-pass, Erol et al., arXiv 2504.13359 (2025), over all problems at
    once. Unsolved trials are included; cancelled trials and errors are not.
    """
    problems = common_problems([trials])
    usd, solved = _usd(problems, trials), _solved(problems, trials)
    return ratio_interval(usd, solved) if problems and not np.isnan(usd).any() else None


def parts_per_solved(trials: Sequence[Trial]) -> Mapping[Tier, float | None]:
    """The part of each tier in the cost per solved problem; None without a result or a price."""
    problems = common_problems([trials])
    solved = _solved(problems, trials).sum()
    of_tier: Mapping[Tier, Callable[[Trial], float]] = {
        "local": lambda trial: _known(trial.usd) - _known(trial.frontier_usd),
        "small_frontier": lambda trial: _known(trial.small_frontier_usd),
        "frontier": lambda trial: _known(trial.frontier_usd) - _known(trial.small_frontier_usd),
    }
    spent = {tier: means(problems, _scored(trials), of).sum() for tier, of in of_tier.items()}
    unknown = {tier for tier, usd in spent.items() if not problems or isnan(usd)}
    return {tier: None if tier in unknown else float(ratio(usd, solved)) for tier, usd in spent.items()}


def per_solved(usd_per_problem: float | None, share: float | None) -> float | None:
    """A part of the cost per solved problem; infinite if none was solved, nan if that was free, None if unknown."""
    if usd_per_problem is None or share is None:
        return None
    return float(ratio(usd_per_problem, share))


def price_ratio(
    a: Sequence[Trial], b: Sequence[Trial], at_once: int = 1, *, conservative: bool = False
) -> Interval | None:
    """The cost per solved problem of a divided by that of b, on the problems with a result of both.

    None if there are none, a price is unknown, b is free, or one of them solved none. ``at_once``: the number of such
    intervals. ``conservative``: the interval is at least as wide as with two more problems of average cost, each
    solved by one of them alone, as in ``bonett_price``; otherwise it is too narrow if few problems differ.
    """
    problems = common_problems((a, b))
    if not problems:
        return None
    totals = np.stack([_usd(problems, a), _solved(problems, a), _usd(problems, b), _solved(problems, b)])
    return ratio_of_prices(totals, at_once, conservative=conservative)


def ratio_of_prices(totals: Array, at_once: int = 1, *, conservative: bool = False) -> Interval | None:
    """``price_ratio`` of mean dollars and shares solved by problem: those of a in two rows, then those of b."""
    plain = totals.sum(axis=1)
    if np.isnan(plain).any() or not plain[1:].all():
        return None
    added = totals.mean(axis=1, keepdims=True).repeat(2, axis=1)
    added[1], added[3] = (1, 0), (0, 1)
    return ratio_interval(
        totals[[0, 3]], totals[[1, 2]], at_once, (added[[0, 3]], added[[1, 2]]) if conservative else None
    )


def savings(a: Sequence[Trial], baseline: Sequence[Trial], at_once: int = 1) -> Savings | None:
    """a against a measured baseline, on the problems that both solved in at least one repeat, by the mean cost there.

    Unsolved repeats of these problems are included. None if there are no such problems or a price is unknown.
    ``at_once``: the number of such intervals.
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
    """The shares over the trials with a result."""
    scored = _scored(trials)
    return FrontierShare(
        _part([trial.frontier_usd for trial in scored], [trial.usd for trial in scored]),
        _part([trial.frontier_tokens for trial in scored], [trial.tokens for trial in scored]),
    )


def tier_shares(tiers: Sequence[TierCost]) -> tuple[TierShare, ...]:
    """The cheapest tier first. One unknown amount makes all shares of that kind unknown."""
    ordered = sorted(tiers, key=lambda spent: _ORDER.index(spent.tier))
    usd = _shares([tier_cost.cost_usd for tier_cost in ordered])
    tokens = _shares([tier_cost.tokens for tier_cost in ordered])
    return tuple(map(TierShare, ordered, usd, tokens))


def margins(trials_by_key: Mapping[K, Sequence[Trial]]) -> tuple[Margin[K], ...]:
    """Incremental cost per extra solve along the frontier, by rising cost, on the problems with a result of all.

    Dominated configurations and those with an unknown price are omitted. The incremental ratio of cost-effectiveness
    analysis: Drummond et al., Methods for the Economic Evaluation of Health Care Programmes, 2015, section 4.3.
    """
    usable = {key: trials for key, trials in trials_by_key.items() if any(trial.scored for trial in trials)}
    problems = common_problems(list(usable.values()))
    usd = {key: _usd(problems, trials) for key, trials in usable.items()}
    priced = [key for key in usable if problems and not np.isnan(usd[key]).any()]
    solved = {key: _solved(problems, usable[key]) for key in priced}
    paid = {key: float(usd[key].mean()) for key in priced}
    if not priced:
        return ()
    shares = exact(np.array([solved[key].mean() for key in priced]))
    best = non_dominated(exact(np.array(list(paid.values()))), shares)
    order = sorted((key for key, on in zip(priced, best, strict=True) if on), key=lambda key: paid[key])
    drawn = weights(len(problems))
    return tuple(
        Margin(
            cheaper,
            dearer,
            paid[dearer] - paid[cheaper],
            more,
            (paid[dearer] - paid[cheaper]) / more,
            float((sums(solved[dearer] - solved[cheaper], drawn) > 1e-9).mean()),
        )
        for cheaper, dearer in pairwise(order)
        if (more := float((solved[dearer] - solved[cheaper]).mean())) > 1e-9
    )


def attempt_costs(trials: Sequence[Trial]) -> tuple[AttemptCost, ...] | None:
    """The marginal dollars of attempts 1, 2, ... of the trials with a result; None if a price is unknown.

    The first attempt includes the calls before it, such as a spec; the last one the calls after it. A solve counts for
    the last attempt.
    """
    scored = _scored(trials)
    paid = [_spent(trial) for trial in scored]
    if any(isnan(value) for spent in paid for value in spent):
        return None
    costs = []
    for attempt in range(1, max(map(len, paid), default=0) + 1):
        made = [(trial, spent) for trial, spent in zip(scored, paid, strict=True) if len(spent) >= attempt]
        usd = sum(spent[attempt - 1] for _, spent in made)
        solved = sum(trial.solved and len(spent) == attempt for trial, spent in made)
        costs.append(AttemptCost(usd, float(ratio(usd, solved))))
    return tuple(costs)


def frontier_cost(measured: Measured) -> FrontierCost:
    """The rate and the mean cost of a model with strategy direct, both over problems."""
    by_problem: dict[str, list[float | None]] = {}
    for problem, cost in zip(measured.problems, measured.usd, strict=True):
        by_problem.setdefault(problem, []).append(cost)
    usd = all_known(map(known_mean, by_problem.values()))
    return FrontierCost(
        measured,
        clustered(counted(zip(measured.problems, measured.solved, strict=True))),
        ratio_interval(np.array(usd), np.ones(len(usd))) if usd else None,
    )


def _spent(trial: Trial) -> list[float]:
    """Dollars attempt by attempt; an untested answer is one attempt; nan means unknown."""
    so_far = [_known(try_.usd) for try_ in trial.tries[:-1]]
    totals = [0.0, *so_far, _known(trial.usd)]
    return [after - before for before, after in pairwise(totals)]


def _rest(spent: Interval) -> Interval:
    """1 less a number."""
    low, high = (None if bound is None else 1 - bound for bound in (spent.high, spent.low))
    return Interval(1 - spent.value, low, high)


def _part(some: Sequence[float | None], whole: Sequence[float | None]) -> float | None:
    part, total = known_sum(some), known_sum(whole)
    return None if part is None or not total else part / total


def _shares(amounts: Sequence[float | None]) -> list[float | None]:
    known = all_known(amounts)
    whole = sum(known or ())
    return [value / whole for value in known] if known and whole else [None] * len(amounts)


def _usd(problems: Sequence[str], trials: Sequence[Trial]) -> Array:
    return means(problems, _scored(trials), lambda trial: trial.usd)


def _known(usd: float | None) -> float:
    return nan if usd is None else usd


def _solved(problems: Sequence[str], trials: Sequence[Trial]) -> Array:
    return means(problems, _scored(trials), lambda trial: trial.solved)


def _scored(trials: Sequence[Trial]) -> list[Trial]:
    return [trial for trial in trials if trial.scored]
