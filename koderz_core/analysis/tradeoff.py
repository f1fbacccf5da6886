"""Cost against success: the Pareto frontier and its uncertainty."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from koderz_core.analysis.bootstrap import Array, means, ratio_interval, sums, weights
from koderz_core.analysis.bounds import Cases, cases, given_to_all
from koderz_core.analysis.rates import by_problem, clustered
from koderz_core.records.plans import natural
from koderz_core.records.trials import Trial

K = TypeVar("K")
Booleans = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Point(Generic[K]):
    """A configuration's success rate and its mean dollars per problem, with 95 % intervals.

    ``on_frontier``: no other is as cheap and as good, and better in one of both. ``probability``: the share of
    resamples in which this holds. ``on_hull``: no mixture of two others is better either. These three and the dollars
    are None without a known price. ``cases``: bounds of the success on all problems given to every configuration; None
    if all have results there.
    """

    key: K
    success: float
    success_low: float | None
    success_high: float | None
    usd: float | None
    usd_low: float | None
    usd_high: float | None
    on_frontier: bool | None
    probability: float | None
    on_hull: bool | None
    cases: Cases | None = None


@dataclass(frozen=True, slots=True)
class Tradeoff(Generic[K]):
    """Points in the order given, on the ``problems`` with a result of every one of them.

    ``left_out``: configurations without a result. Without a common problem there are no points.
    """

    points: tuple[Point[K], ...]
    problems: int
    left_out: tuple[K, ...]


def tradeoff(trials_by_key: Mapping[K, Sequence[Trial]]) -> Tradeoff[K]:
    """Cost and success of configurations, with the uncertainty from joint resamples of problems.

    The frontier is that of Kapoor et al., "AI Agents That Matter", arXiv 2407.01502 (2024), section 2; its probability
    is the share of joint bootstrap resamples, as in the package ``evalstats``. The rate's interval is ``clustered``'s,
    because resamples of 0 or 100 % do not vary. The cost of trials without a result is not counted.
    """
    scored = {key: [trial for trial in trials if trial.scored] for key, trials in trials_by_key.items()}
    left_out = tuple(key for key, trials in scored.items() if not trials)
    usable = {key: trials for key, trials in scored.items() if trials}
    problems = common_problems(list(usable.values()))
    if not problems:
        return Tradeoff((), 0, left_out)
    success = np.stack([means(problems, trials, lambda trial: trial.solved) for trials in usable.values()])
    usd = np.stack([means(problems, trials, lambda trial: trial.usd) for trials in usable.values()])
    priced = np.array([not np.isnan(row).any() for row in usd])
    frontier = iter(_frontier(usd[priced], success[priced]))
    points, kept, bounded = [], set(problems), _cases({key: trials_by_key[key] for key in usable})
    for at, (key, trials) in enumerate(usable.items()):
        rate = clustered(by_problem(trial for trial in trials if trial.problem in kept))
        solved = float(success[at].mean()), rate.low, rate.high
        if not priced[at]:
            points.append(Point(key, *solved, None, None, None, None, None, None, bounded.get(key)))
            continue
        paid = ratio_interval(usd[at], np.ones(len(problems)))
        points.append(Point(key, *solved, paid.value, paid.low, paid.high, *next(frontier), bounded.get(key)))
    return Tradeoff(tuple(points), len(problems), left_out)


def _cases(trials_by_key: Mapping[K, Sequence[Trial]]) -> Mapping[K, Cases | None]:
    """The bounds of each on the problems given to all; empty if nothing is missing there."""
    shared = given_to_all(trials_by_key)
    if all(trial.scored for trials in shared.values() for trial in trials):
        return {}
    return {key: cases(trials) for key, trials in shared.items()}


def common_problems(groups: Sequence[Sequence[Trial]]) -> list[str]:
    """The problems with a scored trial of every group, in natural order."""
    found = [{trial.problem for trial in trials if trial.scored} for trials in groups]
    return sorted(set.intersection(*found), key=natural) if found else []


def non_dominated(usd: Array, success: Array) -> Booleans:
    """Which configurations (first axis) no other dominates: costs no more, solves no less, and differs in one of both.

    Equals do not dominate each other. Further axes, such as resamples, are independent.
    """
    cheaper, better = usd[:, None] <= usd[None], success[:, None] >= success[None]  # [i, j]: i than j
    differs = (usd[:, None] < usd[None]) | (success[:, None] > success[None])
    beats: Booleans = cheaper & better & differs
    best: Booleans = np.logical_not(np.any(beats, axis=0))
    return best


def hull(usd: Array, success: Array) -> Booleans:
    """Which configurations are on the upper hull of the frontier: no mixture of two costs as little and solves more.

    A mixture gives each problem to one of two configurations at random; its cost and success lie on the line between
    them. Monotone chain: Andrew, Information Processing Letters 9 (1979) 216-219.
    """
    frontier = non_dominated(usd, success)
    chain: list[tuple[float, float]] = []
    for x, y in sorted({(float(usd[at]), float(success[at])) for at in np.flatnonzero(frontier)}):
        while len(chain) > 1 and turn(chain[-2], chain[-1], (x, y)) > 1e-12:
            chain.pop()
        chain.append((x, y))
    kept = set(chain)
    return np.array([(float(x), float(y)) in kept for x, y in zip(usd, success, strict=True)], dtype=np.bool_)


def _frontier(usd: Array, success: Array) -> list[tuple[bool, float, bool]]:
    n = usd.shape[1]
    paid, solved = exact(usd.mean(axis=1)), exact(success.mean(axis=1))
    drawn = weights(n)
    probability = non_dominated(exact(sums(usd, drawn) / n), exact(sums(success, drawn) / n)).mean(axis=1)
    placed = zip(non_dominated(paid, solved), probability, hull(paid, solved), strict=True)
    return [(bool(on), float(share), bool(convex)) for on, share, convex in placed]


def exact(numbers: Array) -> Array:
    """Without the last digits, in which sums of equal numbers can differ."""
    scale = np.abs(numbers).max(initial=0.0) or 1.0
    exact: Array = (numbers / scale).round(12)
    return exact


def turn(a: tuple[float, float], b: tuple[float, float], c: tuple[float, float]) -> float:
    """Positive if the way over three points turns left."""
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
