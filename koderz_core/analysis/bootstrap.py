"""Resampling of problems: how sure a number is that has no formula of its own, as a ratio, a price or a frontier."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from koderz_core.analysis.forecast import student
from koderz_core.analysis.simultaneous import simultaneous
from koderz_core.records.trials import Trial

Array = NDArray[np.float64]
RESAMPLES = 2000


@dataclass(frozen=True, slots=True)
class Interval:
    """A number with the bounds of the true one (95 %). The bounds are None if nothing varies that could be told from.

    Any of them may be infinite: a price of something of which there may be none.
    """

    value: float
    low: float | None
    high: float | None


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


def interval(value: float, resampled: Array, problems: int, at_once: int = 1) -> Interval:
    """The expanded percentile interval of a number that was computed anew in each resample.

    The quantiles are further out than 2.5 % by as much as Student's interval is wider than ``z sqrt(v / n)``:
    Hesterberg, "What Teachers Should Know About the Bootstrap", The American Statistician 69 (2015) 371-386, section
    5.3. Simulated for mean costs and for costs per solved problem it covers up to 3 points more than the plain
    percentiles, about as much as BCa, and stands where that has no value (none solved). What is very skewed it covers
    too seldom with few problems: docs/statistics.md has the table. ``at_once``: how many intervals are to hold together
    (``simultaneous``).
    """
    known = resampled[~np.isnan(resampled)]
    if problems < 2 or not known.size:
        return Interval(value, None, None)
    tail = NormalDist().cdf(-((problems / (problems - 1)) ** 0.5) * student(simultaneous(at_once), problems - 1))
    # No mean of two neighbours: one may be infinite.
    low, high = np.quantile(known, (tail, 1 - tail), method="inverted_cdf")
    return Interval(value, float(low), float(high))


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


def ratio_interval(over: Array, under: Array, seed: int = 0, at_once: int = 1) -> Interval:
    """The sum of ``over`` by the sum of ``under``, both of the same problems, with its ``interval``."""
    drawn = sums(np.stack((over, under)), weights(len(over), seed))
    value = float(ratio(over.sum(), under.sum()))
    return interval(value, ratio(drawn[0], drawn[1]), len(over), at_once)


def means(problems: Sequence[str], trials: Iterable[Trial], of: Callable[[Trial], float]) -> Array:
    """The mean over the trials of each problem, so that every problem weighs the same; nan where there is no trial."""
    place = {problem: at for at, problem in enumerate(problems)}
    held = [(place[trial.problem], of(trial)) for trial in trials if trial.problem in place]
    at = np.array([one for one, _ in held], dtype=np.intp)
    values = np.array([value for _, value in held], dtype=np.float64)
    total = np.bincount(at, values, len(problems)).astype(np.float64)
    return ratio(total, np.bincount(at, minlength=len(problems)).astype(np.float64))
