"""Ratios and means over problems with Student's intervals, and resampled weights of problems.

``rates`` is a separate file because it is imported without numpy.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from math import inf, isnan

import numpy as np
from numpy.typing import NDArray

from koderz_core.analysis.rates import Interval, simultaneous, student
from koderz_core.records.trials import Trial

Array = NDArray[np.float64]
RESAMPLES = 2000


@lru_cache(maxsize=8)
def weights(problems: int, seed: int = 0) -> Array:
    """How often each problem (row) was drawn in each resample (column), with replacement.

    All configurations use the same matrix, so that their results on one problem stay together (pairs stay pairs): Efron
    and Tibshirani, An Introduction to the Bootstrap, 1993, chapter 9. The same seed gives the same matrix.
    """
    draws = np.random.default_rng(seed).integers(0, problems, (problems, RESAMPLES))
    cells = draws * RESAMPLES + np.arange(RESAMPLES)
    counts = np.bincount(cells.ravel(), minlength=draws.size).reshape(draws.shape).astype(np.float64)
    counts.flags.writeable = False  # it is shared
    return counts


def sums(rows: Array, drawn: Array) -> Array:
    """The sum over problems (last axis) in each resample; equal numbers give equal sums.

    This is not a matrix product, because that starts threads, which on a busy machine takes a hundred times longer.
    """
    added: Array = np.einsum("...p,pr->...r", rows, drawn)
    return added


def ratio(over: Array | float, under: Array | float) -> Array:
    """``over / under``; if ``under`` is 0, infinite or, for 0 / 0, nan."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.divide(over, under)


def ratio_interval(over: Array, under: Array, at_once: int = 1, added: tuple[Array, Array] | None = None) -> Interval:
    """The sum over problems of ``over`` divided by that of ``under``, neither negative, with its interval.

    With several rows, the product of their sums is divided by the product of the other sums. Student's interval of
    the logarithm, whose deviations are, to the first order, those of the sums divided by their means (the delta method:
    Cochran, Sampling Techniques, 1977, section 6.4; Oehlert, The American Statistician 46 (1992) 27-29). In simulations
    its coverage is at least that of percentiles of resamples (docs/statistics.md), and it is not random. ``at_once``:
    the number of intervals that are to hold together (``simultaneous``). ``added``: further problems, of ``over`` and
    ``under``, that may only widen the interval.
    """
    parts, others = np.atleast_2d(over), np.atleast_2d(under)
    problems = parts.shape[1]
    value = float(ratio(parts.sum(axis=1).prod(), others.sum(axis=1).prod()))
    if problems < 2 or isnan(value):
        return Interval(value, None, None)
    if value in (0.0, inf):
        return Interval(value, value, value)
    reach = _reach(_away(parts, others), at_once)
    if added:
        wider = (np.hstack(both) for both in zip((parts, others), map(np.atleast_2d, added), strict=True))
        reach = max(reach, _reach(_away(*wider), at_once))
    with np.errstate(over="ignore"):
        factor = float(np.exp(reach))
    return Interval(value, value / factor, value * factor)


def mean_interval(values: Array, at_once: int = 1, counts: Array | None = None) -> Interval:
    """The mean over problems with Student's interval; with ``counts`` the sum of values divided by that of counts."""
    counted = np.ones(len(values)) if counts is None else counts
    value = float(values.sum() / counted.sum())
    if len(values) < 2:
        return Interval(value, None, None)
    reach = _reach((values - value * counted) / counted.mean(), at_once)
    return Interval(value, value - reach, value + reach)


def _away(parts: Array, others: Array) -> Array:
    """By problem, the deviations of the parts of a ratio from their means, in units of these."""
    away: Array = ratio(parts, parts.mean(axis=1, keepdims=True)).sum(axis=0)
    away -= ratio(others, others.mean(axis=1, keepdims=True)).sum(axis=0)
    return away


def _reach(away: Array, at_once: int) -> float:
    n = len(away)
    return float(student(simultaneous(at_once), n - 1) * away.std(ddof=1) / n**0.5)


def means(problems: Sequence[str], trials: Iterable[Trial], of: Callable[[Trial], float | None]) -> Array:
    """The mean over the trials of each problem, so that every problem weighs the same; nan without a trial.

    An unknown number (None) counts as nan.
    """
    place = {problem: at for at, problem in enumerate(problems)}
    pairs = [(place[trial.problem], of(trial)) for trial in trials if trial.problem in place]
    at = np.array([row for row, _ in pairs], dtype=np.intp)
    values = np.array([value for _, value in pairs], dtype=np.float64)
    total = np.bincount(at, values, len(problems)).astype(np.float64)
    return ratio(total, np.bincount(at, minlength=len(problems)).astype(np.float64))
