"""A selector's predictions: P(right) of each model before a call, of an answer after it, and propensities.

The model before a call is a partially pooled logistic regression, as in Gelman and Hill, Data Analysis Using Regression
and Multilevel/Hierarchical Models (2007), chapter 12: all models share the effects of a problem's features, and each
model deviates from them, with a narrower prior for its deviations. Predictions need no further package.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from functools import lru_cache
from math import isnan, log1p, nan

import numpy as np
from numpy.typing import NDArray

from koderz_core.grading.examples import examples_in
from koderz_core.records import PublicProblem
from koderz_core.records.selectors import After, Before, Selector

Array = NDArray[np.float64]
DRAWS = 1000
"""Draws from the posterior for propensities. One more is added per model, so that no propensity is 0."""
OWN = 0.5
"""Prior standard deviation of a model's deviations from the common effects, whose own is 1."""
_NO_PROGRAM = ("extraction", "truncated", "refused", "turn_timeout", "context")


@lru_cache(4096)
def features_of(problem: PublicProblem) -> tuple[float, ...]:
    """The values of ``FEATURES``."""
    text = problem.prompt
    return log1p(len(text)), log1p(len(text.split())), float(len(examples_in(problem)))


def answer_features(
    marks: tuple[int, int], error: str | None, tokens: int | None, iteration: int, votes: float
) -> tuple[float, ...]:
    """The values of ``ANSWER_FEATURES``. ``marks``: gate tests passed and run. ``error``: its class, empty if none.

    ``votes``: the share of the programs so far that are the same as this one. Unknown ``tokens`` are nan.
    """
    passed, total = marks
    share = passed / total if total else 0.0
    none = error in _NO_PROGRAM
    crash = not none and error not in (None, "", "assertion")
    size = nan if tokens is None else log1p(tokens)
    return share, float(not error and share == 1), float(none), float(crash), size, iteration, votes


def design(features: Array, datasets: Sequence[str], known: Sequence[str], models: int) -> Array:
    """A matrix of problem × model × weights, for standardised features.

    The columns: common effects of the features and datasets; then for each model its own level, and its deviations from
    the effects of the features. Narrow priors are smaller columns, so that one ridge penalty serves all.
    """
    of_dataset = np.array([[float(name == dataset) for dataset in known] for name in datasets]).reshape(
        len(datasets), -1
    )
    common = np.hstack([features, of_dataset])
    own = np.hstack([np.ones((len(features), 1)), OWN * features])
    width, each = common.shape[1], own.shape[1]
    found = np.zeros((len(features), models, width + models * each))
    for model in range(models):
        found[:, model, :width] = common
        found[:, model, width + model * each : width + (model + 1) * each] = own
    return found


def rows_of(before: Before, problems: Sequence[PublicProblem], datasets: Sequence[str], models: int) -> Array:
    """The design of these problems, each of its dataset, with as many features as were fitted."""
    values = np.array([features_of(problem)[: len(before.centre)] for problem in problems])
    return design((values - before.centre) / before.scale, datasets, before.datasets, models)


def probabilities(before: Before, problems: Sequence[PublicProblem], datasets: Sequence[str], models: int) -> Array:
    """P(right) of the first answer to each problem (rows) of each model (columns)."""
    return expit(rows_of(before, problems, datasets, models) @ np.array(before.weights))


def loss(probability: float, usd: float | None, error_usd: float) -> float:
    """Expected dollars of an answer with the price of a wrong one. Without that price, only P(right) counts."""
    return (usd or 0.0) + (1 - probability) * error_usd if error_usd else -probability


def propensities(
    selector: Selector, problem: PublicProblem, dataset: str, choice: tuple[Sequence[int], float, int]
) -> list[float]:
    """The probability with which Thompson sampling chooses each model: how often it is the best in the posterior.

    ``choice``: the places of the models, the price of an error in dollars, and a seed. Thompson, Biometrika 25 (1933)
    285-294. The model is then drawn with these probabilities, so they are exact propensities.
    """
    places, error_usd, seed = choice
    (every,) = rows_of(selector.before, [problem], [dataset], len(selector.models))
    rows, usd, count = every[list(places)], [selector.usd[place] for place in places], len(places)
    means, covariance = rows @ np.array(selector.before.weights), rows @ np.array(selector.before.covariance) @ rows.T
    root = np.linalg.cholesky(covariance + 1e-9 * np.eye(count))
    normal = np.random.default_rng(seed).standard_normal((DRAWS, count))
    drawn = expit(means + normal @ root.T)
    price = np.array([dollars or 0.0 for dollars in usd])
    losses = price + (1 - drawn) * error_usd if error_usd else -drawn
    best = np.bincount(losses.argmin(axis=1), minlength=count) + 1
    return [float(share) for share in best / best.sum()]


def probability_right(after: After, values: Sequence[float]) -> float:
    """The calibrated P(right) of an answer with these values of ``ANSWER_FEATURES``; nan counts as the average."""
    bias, *weights = after.weights
    parts = zip(values, after.centre, after.scale, weights, strict=True)
    score = bias + sum((value - centre) / scale * weight for value, centre, scale, weight in parts if not isnan(value))
    return between(after.points, score)


def between(points: Sequence[tuple[float, float]], x: float) -> float:
    """The value at ``x`` on the lines between points, which are sorted; constant beyond the outer ones."""
    at = bisect_right([place for place, _ in points], x)
    if at in (0, len(points)):
        return points[min(at, len(points) - 1)][1]
    (left, low), (right, high) = points[at - 1], points[at]
    return low + (high - low) * (x - left) / (right - left)


def expit(x: Array) -> Array:
    """The inverse of the logit."""
    found: Array = 1 / (1 + np.exp(-np.clip(x, -700, 700)))
    return found
