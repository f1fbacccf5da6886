"""The figures of docs/statistics.md from their definitions there, one function each; numpy and scipy, no koderz.

A problem is asked once here: no committed journal repeats one. ``at_once``: how many intervals hold together.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import combinations
from math import inf, sqrt

import numpy as np
from numpy.typing import NDArray
from scipy import stats

Array = NDArray[np.float64]
DRAWS = 100_000
RESAMPLES = 2000  # that koderz draws, by docs/statistics.md


def wilson(solved: int, n: int) -> tuple[float | None, ...]:
    """Share and bounds of one trial of each problem."""
    if not n:
        return None, None, None
    bounds = stats.binomtest(solved, n).proportion_ci(0.95, "wilson")
    return solved / n, float(bounds.low), float(bounds.high)


def clustered(counts: Sequence[tuple[int, int]]) -> tuple[float | None, ...]:
    """Mean over problems of what happened in ``(times, of)``, and Wilson's bounds for what the data are worth."""
    if not counts:
        return None, None, None
    shares = [times / of for times, of in counts]
    added = np.array([*shares, 0.0, 1.0])
    worth = len(shares) * added.mean() * (1 - added.mean()) / added.var()
    worth = min(max(worth, len(shares)), sum(of for _, of in counts))
    return (float(np.mean(shares)), *score_bounds(float(np.mean(shares)), worth))


def score_bounds(share: float, n: float) -> tuple[float, float]:
    """Where ``(share - p)^2 n = z^2 p (1 - p)``, solved for p; n need not be whole."""
    z2 = stats.norm.ppf(0.975) ** 2
    roots = np.roots([n + z2, -(2 * n * share + z2), n * share**2]).real
    return max(0.0, float(roots.min())), min(1.0, float(roots.max()))


def mcnemar(only_a: int, only_b: int) -> float:
    return float(stats.binomtest(only_a, only_a + only_b).pvalue) if only_a + only_b else 1.0


def bonett_price(only_a: int, only_b: int, n: int, at_once: int) -> tuple[float, float]:
    """Bounds of the difference, with one problem more that a alone solved, and one that b alone did."""
    a, b = (only_a + 1) / (n + 2), (only_b + 1) / (n + 2)
    reach = stats.norm.ppf(1 - 0.025 / at_once) * sqrt((a + b - (a - b) ** 2) / (n + 2))
    return max(-1.0, a - b - reach), min(1.0, a - b + reach)


def holm(p: Sequence[float]) -> list[float]:
    """Each is the largest of the steps up to its own."""
    steps = sorted(range(len(p)), key=lambda at: p[at])
    raised = [min(1.0, (len(p) - place) * p[at]) for place, at in enumerate(steps)]
    return [max(raised[: steps.index(at) + 1]) for at in range(len(p))]


def groups(keys: Sequence[str], apart: set[frozenset[str]]) -> set[frozenset[str]]:
    """The largest sets of which no two are told apart."""
    held = [
        frozenset(some)
        for size in range(1, len(keys) + 1)
        for some in combinations(keys, size)
        if not any(frozenset(pair) in apart for pair in combinations(some, 2))
    ]
    return {one for one in held if not any(one < other for other in held)}


@cache
def draws(problems: int) -> Array:
    """How often each problem was drawn, a row per resample."""
    random = np.random.default_rng(20261123)
    return random.multinomial(problems, np.full(problems, 1 / problems), DRAWS).astype(np.float64)


def ratio(over: Array, under: Array) -> Array:
    """Infinite where something is paid for nothing; nan where nothing is."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.divide(over, under)


def student_bounds(away: Array, at_once: int = 1) -> float | None:
    """How far Student's bounds are from a mean of which the problems are so far away; one problem has none."""
    if len(away) < 2:
        return None
    return float(stats.t.ppf(1 - 0.025 / at_once, len(away) - 1) * stats.sem(away))


def ratio_bounds(over: Sequence[Array], under: Sequence[Array], at_once: int = 1) -> tuple[float | None, float | None]:
    """Of the product of sums by that of others: Student's of its logarithm, to the first order."""
    value = float(ratio(np.prod([one.sum() for one in over]), np.prod([one.sum() for one in under])))
    if value in (0, inf):
        return value, value
    reach = student_bounds(sum(one / one.mean() for one in over) - sum(one / one.mean() for one in under), at_once)
    return (None, None) if reach is None else (value / np.exp(reach), value * np.exp(reach))


def compatible(limits: tuple[float, float], difference: float, p: float) -> tuple[float, float]:
    """Bounds of a difference that leave out 0, or have it as a bound, exactly if p is at most 5 %."""
    if p > 0.05:
        return min(limits[0], 0.0), max(limits[1], 0.0)
    return (max(limits[0], 0.0), limits[1]) if difference > 0 else (limits[0], min(limits[1], 0.0))


def even_bounds(
    ends: Array, solved: Array, target: Array, at_once: int, says: int
) -> tuple[float | None, float | None]:
    """Between which dollars the bounds of the difference from the target hold 0; ``says``: which way p decides."""
    if len(ends) < 2:
        return None, None
    moments = np.unique(ends[solved > 0])
    there = [(solved > 0) & (ends <= moment) for moment in moments]
    limits = [bonett_price(int((one & ~aim).sum()), int((aim & ~one).sum()), len(ends), at_once)
              for aim in (target > 0,) for one in there]  # fmt: skip
    begins = [moment for moment, (_, high) in zip(moments, limits, strict=True) if high >= 0]
    ceased = [moment for moment, (low, _) in zip(moments, limits, strict=True) if low < 0]
    later = moments[moments > ceased[-1]] if ceased else moments
    low, high = (float(some[0]) if len(some) else inf for some in (begins, later))
    if says < 0 or not len(moments):
        return inf, inf
    last = float(moments[-1])
    return min(low, last), min(high, last) if says > 0 else max(high, last)


def share_chance(share: float, drawn: NDArray[np.bool_]) -> float:
    """How often a share of RESAMPLES is as far from that of ``drawn`` as this one, or farther."""
    true = float(drawn.mean())
    error = sqrt(max(true * (1 - true), 1 / RESAMPLES) * (1 / RESAMPLES + 1 / len(drawn)))
    return float(2 * stats.norm.sf(abs(share - true) / error))


def reached(ends: Array, solved: Array, target: Array, drawn: Array) -> Array:
    """Per resample (row) the dollars with which as many problems are solved as ``target``; infinite: never."""
    order = np.argsort(ends, kind="stable")
    risen = np.cumsum((drawn * solved)[:, order], axis=1) / drawn.sum(axis=1, keepdims=True)
    there = risen >= target[:, None] - 1e-9
    first = np.where(there.any(axis=1), ends[order][there.argmax(axis=1)], inf)
    return np.where(target <= 1e-9, 0.0, first)


def incidence(ends: Sequence[float], events: Sequence[str], at: float) -> float:
    """The share solved by ``at``: Aalen and Johansen's cumulative incidence, step by step.

    ``events``: ``solved``, ``ended`` for good without, or ``censored``, who are still watched at the moment they leave.
    """
    free, share, watched = 1.0, 0.0, len(ends)
    for moment in sorted(set(ends)):
        here = [event for end, event in zip(ends, events, strict=True) if end == moment]
        if moment <= at * (1 + 1e-12):
            share += free * here.count("solved") / watched
        free *= 1 - (len(here) - here.count("censored")) / watched
        watched -= len(here)
    return share


def unbeaten(usd: Array, solved: Array) -> NDArray[np.bool_]:
    """By resample (row) and configuration (column): no other costs no more, solves no less and differs."""
    cheap, good = usd[:, :, None] <= usd[:, None, :], solved[:, :, None] >= solved[:, None, :]
    differs = (usd[:, :, None] != usd[:, None, :]) | (solved[:, :, None] != solved[:, None, :])
    return ~(cheap & good & differs).any(axis=1)
