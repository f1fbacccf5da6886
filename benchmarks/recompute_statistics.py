"""The figures of docs/statistics.md from their definitions there, one function each; numpy and scipy, no koderz.

Every problem has one trial here, because no committed journal repeats one. ``at_once``: the number of intervals that
hold simultaneously.
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
Bounds = tuple[float | None, float | None]
DRAWS = 100_000
RESAMPLES = 2000  # that koderz draws, by docs/statistics.md


def wilson(solved: int, n: int) -> tuple[float | None, ...]:
    """Share and bounds of one trial of each problem."""
    if not n:
        return None, None, None
    bounds = stats.binomtest(solved, n).proportion_ci(0.95, "wilson")
    return solved / n, float(bounds.low), float(bounds.high)


def clustered(counts: Sequence[tuple[int, int]]) -> tuple[float | None, ...]:
    """Mean over problems of the shares in ``(times, of)``, and Wilson's bounds for their effective number."""
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


def bonett_price(only_a: int, only_b: int, n: int, at_once: int, *, cut: bool = True) -> tuple[float, float]:
    """Bounds of the difference, with an added problem for each side (only a, only b). ``cut``: at -1 and 1."""
    a, b = (only_a + 1) / (n + 2), (only_b + 1) / (n + 2)
    reach = stats.norm.ppf(1 - 0.025 / at_once) * sqrt((a + b - (a - b) ** 2) / (n + 2))
    low, high = a - b - reach, a - b + reach
    return (max(-1.0, low), min(1.0, high)) if cut else (low, high)


def holm(p: Sequence[float]) -> list[float]:
    """Each is the maximum of the steps up to its own."""
    steps = sorted(range(len(p)), key=lambda at: p[at])
    raised = [min(1.0, (len(p) - place) * p[at]) for place, at in enumerate(steps)]
    return [max(raised[: steps.index(at) + 1]) for at in range(len(p))]


def groups(keys: Sequence[str], apart: set[frozenset[str]]) -> set[frozenset[str]]:
    """The largest sets without a significant pair."""
    held = [
        frozenset(some)
        for size in range(1, len(keys) + 1)
        for some in combinations(keys, size)
        if not any(frozenset(pair) in apart for pair in combinations(some, 2))
    ]
    return {group for group in held if not any(group < other for other in held)}


@cache
def draws(problems: int) -> Array:
    """How often each problem was drawn, a row per resample."""
    random = np.random.default_rng(20261123)
    return random.multinomial(problems, np.full(problems, 1 / problems), DRAWS).astype(np.float64)


def ratio(over: Array, under: Array) -> Array:
    """Infinite if something is paid for nothing; nan if both are zero."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.divide(over, under)


def ratio_bounds(over: Sequence[Array], under: Sequence[Array], at_once: int = 1) -> Bounds:
    """Bounds of the product of the sums of ``over`` by that of ``under``: Student's of its logarithm, first order."""
    n, value = (
        len(over[0]),
        ratio(np.prod([values.sum() for values in over]), np.prod([values.sum() for values in under])),
    )
    if n < 2 or np.isnan(value):
        return None, None
    if value in (0.0, inf):
        return float(value), float(value)
    away = sum(values / values.mean() for values in over) - sum(values / values.mean() for values in under)
    low, high = mean_bounds(np.asarray(away), at_once)
    assert low is not None
    assert high is not None
    return float(value * np.exp(low)), float(value * np.exp(high))


def mean_bounds(values: Array, at_once: int = 1) -> Bounds:
    """Student's bounds of a mean over problems; one problem has none."""
    n = len(values)
    if n < 2:
        return None, None
    reach = float(stats.t.ppf(1 - 0.025 / at_once, n - 1) * stats.sem(values))
    return float(values.mean()) - reach, float(values.mean()) + reach


def compatible(limits: tuple[float, float], difference: float, *, apart: bool) -> tuple[float, float]:
    """0 bounds the interval of a significant difference, and is inside that of any other."""
    low, high = limits
    if not apart:
        return min(low, 0.0), max(high, 0.0)
    return (max(low, 0.0), high) if difference > 0 else (low, min(high, 0.0))


def even_bounds(ends: Array, solved: Array, target: Array, at_once: int, direction: int) -> Bounds:
    """The dollars at which the interval of the curve less the target's rate begins and ceases to hold 0.

    ``direction``: 1 or -1 if the whole difference is significant, which the bounds do not contradict; else 0.
    """
    if len(solved) < 2:
        return None, None
    moments = sorted(set(ends[solved > 0]))
    tables = [solved * (ends <= moment) - target for moment in moments]
    limits = [
        bonett_price(int((table > 0).sum()), int((table < 0).sum()), len(table), at_once, cut=False) for table in tables
    ]
    at, last = [*moments, inf], max(len(limits) - 1, 0)
    first = next((place for place, (_, high) in enumerate(limits) if high >= 0), len(limits))
    after = max((place + 1 for place, (low, _) in enumerate(limits) if low < 0), default=0)
    if direction == -1:
        return inf, inf
    first = min(first, last)
    after = min(after, last) if direction == 1 else max(after, last)
    return at[first], at[after]


def share_chance(share: float, drawn: NDArray[np.bool_]) -> float:
    """How often a share of RESAMPLES is as far from that of ``drawn`` as this one, or further."""
    true = float(drawn.mean())
    error = sqrt(max(true * (1 - true), 1 / RESAMPLES) * (1 / RESAMPLES + 1 / len(drawn)))
    return float(2 * stats.norm.sf(abs(share - true) / error))


def reached(ends: Array, solved: Array, target: Array, drawn: Array) -> Array:
    """Per resample (row), the dollars at which as many problems are solved as ``target``; infinite: never."""
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
