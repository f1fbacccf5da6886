"""Ratios and means over problems with intervals: Student's, and resampled weights of problems.

Apart from ``rates``, which what reads results imports without numpy.
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
    """How often each problem (row) was drawn in each resample (column), with replacement, as many as there are.

    One matrix serves all configurations, so that what they did on one problem stays together (pairs stay pairs): Efron
    and Tibshirani, An Introduction to the Bootstrap, 1993, chapter 9. The same seed gives the same matrix.
    """
    draws = np.random.default_rng(seed).integers(0, problems, (problems, RESAMPLES))
    cells = draws * RESAMPLES + np.arange(RESAMPLES)
    counts = np.bincount(cells.ravel(), minlength=draws.size).reshape(draws.shape).astype(np.float64)
    counts.flags.writeable = False  # it is shared
    return counts


def sums(rows: Array, drawn: Array) -> Array:
    """What the numbers of the problems (last axis) add up to in each resample; of equal numbers to equal sums.

    No matrix product: that one wakes up threads, which on a busy machine takes a hundred times as long as the product.
    """
    added: Array = np.einsum("...p,pr->...r", rows, drawn)
    return added


def ratio(over: Array | float, under: Array | float) -> Array:
    """``over / under``, where nothing is below infinite if something is above, else nan."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.divide(over, under)


def ratio_interval(over: Array, under: Array, at_once: int = 1) -> Interval:
    """The sum over problems of ``over`` by that of ``under``, neither negative, with an interval of that ratio.

    With a row for each of several, the product of the sums of the rows by that of the others. Student's interval of
    the logarithm, whose deviations are, to the first order, those of the sums, each by its mean (the delta method:
    Cochran, Sampling Techniques, 1977, section 6.4; Oehlert, The American Statistician 46 (1992) 27-29). Simulated it
    covers as often as percentiles of resamples or more (docs/statistics.md), and nothing in it is drawn. ``at_once``:
    how many intervals are to hold together (``simultaneous``).
    """
    parts, others = np.atleast_2d(over), np.atleast_2d(under)
    problems = parts.shape[1]
    value = float(ratio(parts.sum(axis=1).prod(), others.sum(axis=1).prod()))
    if problems < 2 or isnan(value):
        return Interval(value, None, None)
    if value in (0.0, inf):
        return Interval(value, value, value)
    away = ratio(parts, parts.mean(axis=1, keepdims=True)).sum(axis=0)
    away -= ratio(others, others.mean(axis=1, keepdims=True)).sum(axis=0)
    with np.errstate(over="ignore"):
        factor = float(np.exp(_reach(away, at_once)))
    return Interval(value, value / factor, value * factor)


def mean_interval(values: Array, at_once: int = 1, counts: Array | None = None) -> Interval:
    """The mean over problems with Student's interval; with ``counts`` the sum of values by that of counts instead."""
    counted = np.ones(len(values)) if counts is None else counts
    value = float(values.sum() / counted.sum())
    if len(values) < 2:
        return Interval(value, None, None)
    reach = _reach((values - value * counted) / counted.mean(), at_once)
    return Interval(value, value - reach, value + reach)


def _reach(away: Array, at_once: int) -> float:
    n = len(away)
    return float(student(simultaneous(at_once), n - 1) * away.std(ddof=1) / n**0.5)


def means(problems: Sequence[str], trials: Iterable[Trial], of: Callable[[Trial], float]) -> Array:
    """The mean over the trials of each problem, so that every problem weighs the same; nan where there is no trial."""
    place = {problem: at for at, problem in enumerate(problems)}
    held = [(place[trial.problem], of(trial)) for trial in trials if trial.problem in place]
    at = np.array([one for one, _ in held], dtype=np.intp)
    values = np.array([value for _, value in held], dtype=np.float64)
    total = np.bincount(at, values, len(problems)).astype(np.float64)
    return ratio(total, np.bincount(at, minlength=len(problems)).astype(np.float64))
