"""Which problems carry a comparison, and how well the result on each problem agrees with the results on the others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from math import atanh, sqrt, tanh
from statistics import NormalDist, StatisticsError, correlation, fmean

from koderz_core.analysis.difficulty import Key
from koderz_core.analysis.rates import Interval, by_problem
from koderz_core.records.plans import natural
from koderz_core.records.trials import Trial

FEWEST = 6
"""Configurations: with fewer, even a correlation of 0.8 is not significant, so item-rest correlations mislead."""
MOST = 0.9
"""The share of the variance that the problems which carry a comparison hold."""


@dataclass(frozen=True, slots=True)
class Item:
    """A problem with a result.

    ``shares``: of its repeats that each configuration with a result solved. ``correlation``: item-rest; None with fewer
    than ``FEWEST`` configurations, if one has no result on the problem, or if nothing varies. ``variance``:
    by key of a pair, its part of the variance of the difference if there is no true difference.
    """

    problem: str
    shares: Mapping[Key, float]
    correlation: Interval | None
    variance: Mapping[Key, float]

    @property
    def share(self) -> float:
        """The mean of ``shares``, so that each configuration weighs the same."""
        return fmean(self.shares.values())

    @property
    def differs(self) -> bool:
        """Whether the configurations solved different shares."""
        return len(set(self.shares.values())) > 1


@dataclass(frozen=True, slots=True)
class Carriers:
    """The problems that carry the comparison of ``key`` with the baseline, of ``problems`` with a result of both.

    ``discordant``: those with different results. ``needed``: the smallest number of problems that hold ``MOST`` of the
    variance.
    """

    key: Key
    problems: int
    discordant: int
    needed: int


@dataclass(frozen=True, slots=True)
class Discrimination:
    """Problems, those that carry most first; ``configurations``: how many have results."""

    configurations: int
    items: tuple[Item, ...]
    carriers: tuple[Carriers, ...]


def discrimination(trials_by_key: Mapping[Key, Sequence[Trial]], baseline: Key | None) -> Discrimination:
    """What each problem tells about the differences of configurations; those without any result are omitted.

    If there is no true difference, the variance of the mean difference is the sum of the problems' squared differences,
    divided by the square of their number. This is the variance in McNemar's test: only discordant problems hold a part
    of it. The rest in ``item_rest`` is that of the problems with a result of all.
    """
    counts = {key: found for key, trials in trials_by_key.items() if (found := by_problem(trials))}
    shares = {key: {problem: solved / n for problem, (solved, n) in of.items()} for key, of in counts.items()}
    base = shares.get(baseline) if baseline is not None else None
    others = [key for key in shares if key != baseline] if base else []
    parts = {key: _parts(shares[key], base or {}) for key in others}
    given = sorted({problem for of in shares.values() for problem in of}, key=natural)
    complete = {problem for problem in given if all(problem in of for of in shares.values())}
    totals = [sum(of[problem] for problem in complete) for of in shares.values()]
    items = []
    for problem in given:
        solved = {key: of[problem] for key, of in shares.items() if problem in of}
        row = list(solved.values())
        testable = problem in complete and len(complete) > 1 and len(row) >= FEWEST
        agrees = (
            item_rest(row, [round(total - own, 9) for total, own in zip(totals, row, strict=True)])
            if testable
            else None
        )
        of_pairs = {key: of[problem] for key, of in parts.items() if problem in of}
        items.append(Item(problem, solved, agrees, of_pairs))
    items.sort(key=lambda item: -sum(item.variance.values()))
    carriers = tuple(_carriers(key, parts[key]) for key in others)
    return Discrimination(len(shares), tuple(items), carriers)


def item_rest(item: Sequence[float], rest: Sequence[float]) -> Interval | None:
    """The correlation over configurations of the share solved of one problem with the mean share of the others.

    None if one of the two does not vary. The corrected item-total correlation: Henrysson, Psychometrika 28 (1963)
    211-218; with one trial of each, a point-biserial one. The interval is Fisher's, whose standard error is
    ``1 / sqrt(n - 3)`` (Metron 1:4 (1921) 3-32); it is approximate, because results are not normally distributed.
    """
    try:
        found = correlation(item, rest)
    except StatisticsError:
        return None
    found = max(-1.0, min(1.0, found))
    if abs(found) > 1 - 1e-12:
        return Interval(found, None, None)
    reach = NormalDist().inv_cdf(0.975) / sqrt(len(item) - 3)
    return Interval(found, tanh(atanh(found) - reach), tanh(atanh(found) + reach))


def _parts(a: Mapping[str, float], b: Mapping[str, float]) -> dict[str, float]:
    """By problem, its part of the sum of squared differences; 0 for all if there are none."""
    squares = {problem: (a[problem] - b[problem]) ** 2 for problem in a if problem in b}
    total = sum(squares.values()) or 1.0
    return {problem: square / total for problem, square in squares.items()}


def _carriers(key: Key, parts: Mapping[str, float]) -> Carriers:
    largest = sorted((part for part in parts.values() if part), reverse=True)
    needed = sum(so_far - part < MOST - 1e-9 for part, so_far in zip(largest, accumulate(largest), strict=True))
    return Carriers(key, len(parts), len(largest), needed)
