"""The value of a selector beside the oracle, the best single model, random choice and length alone.

``doubly_robust`` judges a rule by the recorded choices of another rule whose propensities are known.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from koderz_core.analysis.bootstrap import mean_interval
from koderz_core.analysis.paired import bonett_price
from koderz_core.analysis.power import detectable, observed_discordance
from koderz_core.analysis.tradeoff import turn
from koderz_core.records.selectors import Calibration, Estimate, Judged

Array = NDArray[np.float64]
BINS = 10
ORACLE, SELECTOR, LENGTH, RANDOM, BEST = "oracle", "selector", "length only", "random", "best single"
BETTER, UNDECIDED, NOTHING = "better", "undecided", "nothing to learn"
_WORTH = (*np.geomspace(1e-3, 1e3, 61), np.inf)
"""Prices of a solved problem for the curve of success against cost, in units of the most expensive model's price."""


@dataclass(frozen=True, slots=True)
class Table:
    """Problem × model: the shares solved and the dollars (nan: unknown). ``single``: the best model of other folds."""

    solved: Array
    usd: Array
    single: Sequence[int]


@dataclass(frozen=True, slots=True)
class Logged:
    """A recorded choice: the propensity of each model, the chosen one, its result, and P(right) by a model of it.

    ``target``: the probability with which the judged rule chooses each model. ``problem``: repeats of a problem are
    not independent.
    """

    problem: str
    propensities: Sequence[float]
    chosen: int
    right: float
    predicted: Sequence[float]
    target: Sequence[float]


@dataclass(frozen=True, slots=True)
class OffPolicy:
    """The value of a rule by another rule's choices. ``effective``: Kish's effective sample size of the weights."""

    solved: Estimate
    choices: int
    problems: int
    effective: float


def judged(table: Table, predictions: Mapping[str, Array]) -> tuple[Judged, ...]:
    """The oracle, the best single model, random choice, and a row per rule with its predictions on other folds."""
    rows = np.arange(len(table.solved))
    shares = {BEST: _picked(table, table.single), RANDOM: (table.solved.mean(axis=1), table.usd.mean(axis=1))}
    price = _price(table.usd)
    for rule, found in {ORACLE: table.solved, **predictions}.items():
        shares[rule] = _picked(table, choices(found, price))
    oracle, single = shares[ORACLE][0], shares[BEST][0]
    areas = {rule: area(table, found) for rule, found in predictions.items()}
    areas[BEST] = area(table, np.tile(table.solved.mean(axis=0), (len(rows), 1)))
    return tuple(
        Judged(
            rule,
            _mean(solved),
            None if np.isnan(usd).any() else float(usd.mean()),
            _difference(oracle - solved),
            _difference(solved - single),
            areas.get(rule),
        )
        for rule, (solved, usd) in shares.items()
    )


def choices(predicted: Array, price: Array, per_solved: float = np.inf) -> list[int]:
    """The model with the largest P(right) of each problem, or with the best value if a solved problem has a price.

    The cheaper model wins a tie.
    """
    worth = predicted if np.isinf(per_solved) else predicted * per_solved - price
    order = np.argsort(np.nan_to_num(price, nan=np.inf), kind="stable")
    return [int(order[at]) for at in np.round(worth, 12)[:, order].argmax(axis=1)]


def area(table: Table, predicted: Array) -> float | None:
    """The area under the curve of success against cost: AIQ of Hu et al., "RouterBench" (arXiv 2403.12031), section 3.

    The mean height of the non-decreasing convex hull between the prices of the cheapest and of the most expensive
    model. Mixing two rules by chance reaches each point between them. None: a price is unknown, or all are equal.
    """
    price = _price(table.usd)
    if np.isnan(table.usd).any() or price.min() == price.max():
        return None
    found = [_picked(table, choices(predicted, price, price.max() * worth)) for worth in _WORTH]
    points = [(float(usd.mean()), float(solved.mean())) for solved, usd in found]
    low, high = float(price.min()), float(price.max())
    hull = _hull([*points, (high, max(y for _, y in points))])
    at = np.linspace(low, high, 1001)
    return float(np.interp(at, [x for x, _ in hull], [y for _, y in hull]).mean())


def _hull(points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """The upper convex hull, without decreasing parts, by Andrew's monotone chain."""
    hull: list[tuple[float, float]] = []
    for point in sorted(points):
        if hull and point[1] <= hull[-1][1] and point[0] < max(x for x, _ in points):
            continue
        while len(hull) > 1 and turn(hull[-2], hull[-1], point) >= 0:
            hull.pop()
        hull.append(point)
    return hull


def doubly_robust(logged: Sequence[Logged]) -> OffPolicy:
    """The success rate of the judged rule: Dudík, Langford and Li, "Doubly Robust Policy Evaluation", ICML 2011.

    Unbiased if the propensities are exact, as those of the strategy ``router`` are, whatever the predictions. The
    interval is by problem: that of the mean over choices with the results of each problem added up. Kish's
    effective sample size, Survey Sampling (1965): the square of the sum of the weights by the sum of their squares.
    """
    weights = np.array([entry.target[entry.chosen] / entry.propensities[entry.chosen] for entry in logged])
    expected = np.array([np.dot(entry.target, entry.predicted) for entry in logged])
    residual = np.array([entry.right - entry.predicted[entry.chosen] for entry in logged])
    _, problem = np.unique([entry.problem for entry in logged], return_inverse=True)
    counts: Array = np.bincount(problem).astype(np.float64)
    added: Array = np.bincount(problem, expected + weights * residual).astype(np.float64)
    squares = float((weights**2).sum())
    return OffPolicy(
        _mean(added, counts),
        len(logged),
        len(counts),
        float(weights.sum()) ** 2 / squares if squares else 0.0,
    )


def calibration(predicted: Sequence[float], right: Sequence[float]) -> Calibration:
    """The expected calibration error in ten bins of equal size (Naeini et al., AAAI 2015), and the AUC.

    ``right``: 0 or 1, or the share of repeats.
    """
    p, y = np.array(predicted), np.array(right)
    parts = [part for part in np.array_split(np.argsort(p, kind="stable"), BINS) if len(part)]
    ece = sum(len(part) * abs(p[part].mean() - y[part].mean()) for part in parts) / len(p)
    up, down = p[y > 0.5], p[y <= 0.5]
    above = (up[:, None] > down).mean() + (up[:, None] == down).mean() / 2 if len(up) and len(down) else None
    return Calibration(len(p), float(ece), None if above is None else float(above))


def least_detectable(table: Table) -> float:
    """The gain over the best single model that this number of problems shows with power 80 %.

    The discordance is that of the best two models.
    """
    best, second = np.argsort(-table.solved.mean(axis=0), kind="stable")[:2]
    n = len(table.solved)
    discordant = float(np.abs(table.solved[:, best] - table.solved[:, second]).sum())
    return detectable(n, observed_discordance(discordant, n))


def verdict(headroom: float, gain: Estimate, least: float) -> str:
    """``better``: a significant gain. ``nothing to learn``: headroom below the detectable gain, or no gain shows.

    A gain shows if it exceeds its standard error. Otherwise a rule without any signal would often be undecided.
    """
    if gain.low is None or gain.high is None:
        return NOTHING
    if gain.low > 0:
        return BETTER
    error = (gain.high - gain.low) / (2 * NormalDist().inv_cdf(0.975))
    return NOTHING if headroom < least or gain.value <= error else UNDECIDED


def _picked(table: Table, chosen: Sequence[int]) -> tuple[Array, Array]:
    rows = np.arange(len(table.solved))
    return table.solved[rows, list(chosen)], table.usd[rows, list(chosen)]


def _price(usd: Array) -> Array:
    price: Array = usd.mean(axis=0)
    return price


def _mean(values: Array, counts: Array | None = None) -> Estimate:
    found = mean_interval(values, counts=counts)
    return Estimate(found.value, found.low, found.high)


def _difference(values: Array) -> Estimate:
    return Estimate(float(values.mean()), *bonett_price([float(value) for value in values]))
