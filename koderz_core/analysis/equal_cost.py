"""Which configuration solves most at an equal amount per problem, with bands for all configurations and budgets."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from math import inf
from statistics import NormalDist
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from koderz_core.analysis.bootstrap import Array
from koderz_core.analysis.bounds import within
from koderz_core.analysis.curves import Curve, Curves, band, drawn_curve, effective_problems
from koderz_core.analysis.difficulty import Key
from koderz_core.analysis.incidence import CENSORED, Axis, Courses, courses, incidence, steps
from koderz_core.analysis.paired import adjusted_wald
from koderz_core.analysis.rates import Interval, simultaneous, student
from koderz_core.analysis.total_budget import Breadth, breadth_first
from koderz_core.analysis.tradeoff import common_problems
from koderz_core.records.plans import natural
from koderz_core.records.trials import Trial

FEWEST = 10
"""Problems: with fewer, the normal approximation of the bands is too rough."""
DRAWS = 1000
COSTS: tuple[Axis, ...] = ("usd", "tokens", "seconds", "joules")
"""The amounts that can be made equal."""
_SMALL = 1e-5  # a step along a direction of weights, small enough for a derivative
_NOTHING = 1e-8  # standard deviations below it are rounding errors of the derivative
_HALVINGS = 50
Why = Literal["few problems", "few configurations", "nothing solved", "free", "mixed energy"]


@dataclass(frozen=True, slots=True)
class Area:
    """The mean share solved over budgets from ``least`` to ``most`` of ``EqualCost``; the difference to the baseline.

    Every doubling of the budget weighs the same. The intervals of the differences hold for all pairs at once.
    ``difference``: None for the baseline. It has no bounds if its interval would not be valid.
    """

    key: Key
    share: Interval
    difference: Interval | None


@dataclass(frozen=True, slots=True)
class Supported:
    """The band shows that ``better`` solves more from the budget ``start`` to below ``end`` (infinite: and above)."""

    better: Key
    worse: Key
    start: float
    end: float


@dataclass(frozen=True, slots=True)
class EqualCost:
    """The shares that configurations solve within equal amounts per problem, on problems given to all of them.

    ``problems``: those with a result of all. The bands of ``curves`` hold for all configurations and budgets at once
    (95 %), and so do the ``supported`` differences, of all pairs. ``critical`` and ``critical_pairs``: how many
    standard errors the bands extend. ``least`` and ``most``: the budgets between which a curve rises. ``areas``: in the
    order of the configurations. ``breadth``: the whole set under one budget. ``energy``: where joules come from.
    ``why``: the reason if nothing was computed.
    """

    axis: Axis
    problems: int
    curves: Curves[Key]
    critical: float = 0.0
    critical_pairs: float = 0.0
    least: float = 0.0
    most: float = 0.0
    supported: tuple[Supported, ...] = ()
    areas: tuple[Area, ...] = ()
    breadth: Mapping[Key, Breadth] = field(default_factory=dict)
    energy: tuple[str, ...] = ()
    why: Why | None = None


@dataclass(frozen=True, slots=True)
class _Process:
    """A curve at its steps, and its deviations (steps x draws) if the weights of the problems are normal."""

    data: Courses
    at: Array
    share: Array
    deviations: Array

    def on(self, budgets: Array) -> tuple[Array, Array]:
        """The curve and the deviations at these budgets."""
        place = np.searchsorted(self.at, budgets, side="right")
        empty = np.zeros((1, self.deviations.shape[1]))
        return np.append(0.0, self.share)[place], np.vstack((empty, self.deviations))[place]


def equal_cost(
    trials_by_key: Mapping[Key, Sequence[Trial]],
    axis: Axis,
    baseline: Key | None,
    energy: Sequence[str] = (),
    seed: int = 0,
    untested: Collection[frozenset[Key]] = (),
) -> EqualCost:
    """The success of configurations against an amount, with simultaneous bands; the curves are those of ``curves``.

    The largest studentised deviation over all configurations and budgets is simulated by normal weights of the problems
    (multiplier bootstrap: Chernozhukov, Chetverikov and Kato, Annals of Statistics 41 (2013) 2786-2819; as a band:
    Montiel Olea and Plagborg-Møller, Journal of Applied Econometrics 34 (2019) 1-17). All configurations get the same
    weights, so that their results on one problem stay together. With censored trials, the deviations are derivatives of
    the estimator with respect to the weights (infinitesimal jackknife). ``energy``: the sources of joules.
    ``untested``: pairs whose tests and intervals would not be valid.
    """
    if axis == "joules" and len(energy) > 1:
        return EqualCost(axis, 0, Curves(axis, 0.0, (), tuple(trials_by_key)), energy=tuple(energy), why="mixed energy")
    problems, known = _known(trials_by_key, axis)
    budgets = np.unique(np.concatenate([np.zeros(0), *map(steps, known.values())]))
    left_out, n = tuple(key for key in trials_by_key if key not in known), _with_results(known.values())
    if why := _refusal(len(known), n, budgets):
        return EqualCost(axis, n, Curves(axis, 0.0, (), left_out), why=why)
    normal = np.random.default_rng(seed).standard_normal((len(problems), DRAWS))
    processes = {key: _process(data, normal) for key, data in known.items()}
    critical = _widened(max_t([process.deviations for process in processes.values()]), n)
    drawn = tuple(_with_band(key, process, critical) for key, process in processes.items())
    found = EqualCost(axis, n, Curves(axis, max(curve.end for curve in drawn), drawn, left_out), critical)
    critical_pairs, supported = _supported(processes, n, untested)
    return replace(
        found,
        critical_pairs=critical_pairs,
        supported=supported,
        least=float(budgets[budgets > 0][0]),
        most=float(budgets[-1]),
        areas=_areas(processes, budgets[budgets > 0], baseline, n, untested),
        breadth=_breadth({key: trials_by_key[key] for key in known}, axis),
        energy=tuple(energy) if axis == "joules" else (),
    )


def _known(trials_by_key: Mapping[Key, Sequence[Trial]], axis: Axis) -> tuple[list[str], dict[Key, Courses]]:
    """The problems given to all configurations, and the courses of those with a result and known amounts."""
    of_all = [{trial.problem for trial in trials} for trials in trials_by_key.values()]
    problems = sorted(set.intersection(*of_all), key=natural) if of_all else []
    every = {key: courses(trials, axis, problems) for key, trials in trials_by_key.items()} if problems else {}
    known = {key: data for key, data in every.items() if data is not None and (data.events != CENSORED).any()}
    return problems, known


def _with_results(known: Iterable[Courses]) -> int:
    """How many problems have a result of all: the others, such as those that have not ended, show no difference."""
    of_all = [set(data.problem[data.events != CENSORED].tolist()) for data in known]
    return len(set.intersection(*of_all)) if of_all else 0


def _refusal(configurations: int, problems: int, budgets: Array) -> Why | None:
    if configurations < 2:
        return "few configurations"
    if problems < FEWEST:
        return "few problems"
    if not budgets.size:
        return "nothing solved"
    return None if budgets[-1] > 0 else "free"


def max_t(deviations: Iterable[Array]) -> float:
    """The 95 % quantile of the largest absolute deviation in standard deviations, over all rows of all matrices.

    Columns are draws. Rows that do not vary are omitted; without any other row, it is that of one normal number.
    """
    largest: Array = np.zeros(1)
    for matrix in deviations:
        deviation = matrix.std(axis=1)
        varying = deviation > _NOTHING
        if varying.any():
            own = np.abs(matrix[varying] / deviation[varying, None]).max(axis=0)
            largest = np.maximum(largest, own)
    return float(np.quantile(largest, 0.95)) if largest.any() else NormalDist().inv_cdf(simultaneous(1))


def _process(data: Courses, normal: Array) -> _Process:
    plain = incidence(data, np.ones((data.problems, 1)))
    return _Process(data, steps(data), plain[:, 0], (incidence(data, 1 + _SMALL * normal) - plain) / _SMALL)


def _with_band(key: Key, process: _Process, critical: float) -> Curve[Key]:
    data, share = process.data, process.share
    worth = effective_problems(data, share, process.deviations.var(axis=1))
    curve = drawn_curve(key, data, share, *likelihood_band(share, worth, critical))
    nothing = likelihood_band(np.zeros(1), np.array([float(data.with_result)]), critical)[1]
    return replace(curve, high=(float(nothing[0]), *curve.high[1:]))  # up to the first solved problem


def likelihood_band(share: Array, worth: Array, critical: float) -> tuple[Array, Array]:
    """The rates whose binomial likelihood ratio is at least that of a normal number ``critical`` deviations from 0.

    Owen, "Nonparametric Likelihood Confidence Bands for a Distribution Function", JASA 90 (1995) 516-521. Where few
    problems are solved, Wilson's bounds are too narrow for a maximum over many budgets. ``worth``: the number of
    independent problems.
    """

    def outer(beyond: float) -> Array:
        inside, outside = share.copy(), np.full_like(share, beyond)
        for _ in range(_HALVINGS):
            middle = (inside + outside) / 2
            kept = 2 * worth * _divergence(share, middle) <= critical**2
            inside, outside = np.where(kept, middle, inside), np.where(kept, outside, middle)
        return outside

    return outer(0.0), outer(1.0)


def _divergence(share: Array, rate: Array) -> Array:
    """Kullback and Leibler's, of two binomial distributions."""
    with np.errstate(divide="ignore", invalid="ignore"):
        successes = np.where(share > 0, share * np.log(share / rate), 0.0)
        failures = np.where(share < 1, (1 - share) * np.log((1 - share) / (1 - rate)), 0.0)
    total: Array = successes + failures
    return total


@dataclass(frozen=True, slots=True)
class _Gap:
    """The curve of ``a`` less that of ``b`` at the steps of both, with its variance."""

    a: Key
    b: Key
    at: Array
    share: Array
    variance: Array


def _supported(
    processes: Mapping[Key, _Process], n: int, untested: Collection[frozenset[Key]]
) -> tuple[float, tuple[Supported, ...]]:
    """The number of standard errors for all pairs and budgets, and the budgets at which a difference excludes 0."""
    gaps: list[_Gap] = []
    pairs = [pair for pair in combinations(processes, 2) if frozenset(pair) not in untested]

    def deviations() -> Iterator[Array]:  # one pair at a time: together they could fill the memory
        for a, b in pairs:
            at = np.union1d(processes[a].at, processes[b].at)
            (of_a, away_a), (of_b, away_b) = processes[a].on(at), processes[b].on(at)
            away = away_a - away_b
            gaps.append(_Gap(a, b, at, of_a - of_b, away.var(axis=1)))
            yield away

    critical = _widened(max_t(deviations()), n)
    found = []
    for gap in gaps:
        low, high = adjusted_wald(n, gap.share, gap.variance * n + gap.share**2, critical)
        for better, worse, shown in ((gap.a, gap.b, low > 0), (gap.b, gap.a, high < 0)):
            found += [Supported(better, worse, start, end) for start, end in _runs(gap.at, shown)]
    return critical, tuple(found)


def _runs(at: Array, shown: NDArray[np.bool_]) -> list[tuple[float, float]]:
    """The budgets from which and below which something holds."""
    edges = np.flatnonzero(np.diff(np.concatenate(([False], shown, [False])).astype(int)))
    ends = np.append(at, inf)
    return [(float(ends[start]), float(ends[stop])) for start, stop in edges.reshape(-1, 2)]


def _areas(
    processes: Mapping[Key, _Process],
    budgets: Array,
    baseline: Key | None,
    n: int,
    untested: Collection[frozenset[Key]],
) -> tuple[Area, ...]:
    """Areas under the curves over the logarithm of the budget, divided by its range; empty if there is one budget.

    As RouterBench's average improvement in quality (Hu et al., arXiv 2403.12031 (2024), section 4), but over the
    logarithm, so that a configuration a hundred times as expensive does not decide alone.
    """
    if len(budgets) < 2:
        return ()
    widths = np.diff(np.log(budgets)) / np.log(budgets[-1] / budgets[0])
    invalid = {key for key in processes if baseline is not None and frozenset((key, baseline)) in untested}
    at_once = max(1, len(processes) - (baseline in processes) - len(invalid))
    z = NormalDist().inv_cdf(simultaneous(at_once))
    found = {key: _area(process, budgets[:-1], widths) for key, process in processes.items()}
    areas = []
    for key, (share, away) in found.items():
        data = processes[key].data
        low, high = band(data, np.array([share]), np.array([away.var()]))
        gap = None
        if baseline in found and baseline is not None and key != baseline:
            apart, moved = share - found[baseline][0], away - found[baseline][1]
            gap = Interval(apart, *adjusted_wald(n, apart, float(moved.var()) * n + apart**2, z))
            gap = Interval(apart, None, None) if key in invalid else gap
        areas.append(Area(key, Interval(share, float(low[0]), float(high[0])), gap))
    return tuple(areas)


def _area(process: _Process, budgets: Array, widths: Array) -> tuple[float, Array]:
    share, away = process.on(budgets)
    return float((share * widths).sum()), np.einsum("b,br->r", widths, away)


def _breadth(trials_by_key: Mapping[Key, Sequence[Trial]], axis: Axis) -> dict[Key, Breadth]:
    """On the problems with a result of all."""
    kept = within(trials_by_key, set(common_problems(list(trials_by_key.values()))))
    found = {key: breadth_first(trials, axis) for key, trials in kept.items()}
    return {key: breadth for key, breadth in found.items() if breadth is not None}


def _widened(critical: float, n: int) -> float:
    """The quantile of Student's t with n - 1 degrees of freedom at the level of this normal one."""
    return student(NormalDist().cdf(critical), n - 1)
