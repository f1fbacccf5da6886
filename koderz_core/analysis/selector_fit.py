"""Fits a selector to recorded results, and judges it on folds of problems that it was not fitted on.

Needs scikit-learn, the extra ``learn``, which nothing else imports.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from koderz_core.analysis.folds import folds_of
from koderz_core.analysis.selector import (
    Array,
    design,
    expit,
    features_of,
    probabilities,
    probability_right,
)
from koderz_core.analysis.selector_value import (
    LENGTH,
    SELECTOR,
    Table,
    calibration,
    judged,
    least_detectable,
    verdict,
)
from koderz_core.errors import UsageError
from koderz_core.records import PublicProblem
from koderz_core.records.selectors import FEATURES, After, Answer, Before, Calibration, Card, Case, Selector
from koderz_core.sums import known_mean

FOLDS, INNER = 5, 4
FEWEST, FEWEST_ANSWERS = 20, 40
"""Problems, and tested programs on as many problems, that a fit needs."""
PENALTIES = (0.1, 0.3, 1.0, 3.0, 10.0, 30.0)


@dataclass(frozen=True, slots=True)
class Evidence:
    """What a selector is fitted to. ``gate``: of the tests that the ``answers`` were run on, "" without answers.

    ``tested``: the problems of the answers. ``configurations``, ``left_out`` and ``scripted``: for the card.
    """

    models: tuple[str, ...]
    cases: tuple[Case, ...]
    answers: tuple[Answer, ...] = ()
    gate: str = ""
    tested: tuple[PublicProblem, ...] = ()
    configurations: tuple[str, ...] = ()
    left_out: Mapping[str, int] | None = None
    scripted: bool = False


def require_sklearn() -> None:
    """Raise UsageError if the extra is not installed."""
    try:
        import sklearn  # noqa: F401, PLC0415 (optional and heavy)
    except ImportError:
        raise UsageError("Fitting a selector needs a package: pip install 'koderz[learn]'") from None


def fit(name: str, evidence: Evidence, seed: int = 0) -> Selector:
    """Raises UsageError with too few problems or models, or without scikit-learn."""
    require_sklearn()
    cases, models = evidence.cases, len(evidence.models)
    different = len({case.group for case in cases})
    if models < 2 or len(cases) < FEWEST or different < 2 * FOLDS:
        raise UsageError(
            f"A selector needs results of at least two models on at least {FEWEST} common problems. "
            f"Found: {models} models "
            f"({', '.join(evidence.models) or 'none'}) with {len(cases)} common problems "
            f"({different} if near-duplicates count once). Name benchmarks in which several models ran on the same "
            "problems with the strategy direct."
        )
    from threadpoolctl import threadpool_limits  # noqa: PLC0415 (comes with scikit-learn)

    with threadpool_limits(1):  # matrices this small take longer with several threads
        return _fitted(name, evidence, seed)


def _fitted(name: str, evidence: Evidence, seed: int) -> Selector:
    cases, models = evidence.cases, len(evidence.models)
    penalty = _penalty(cases, models, seed)
    return Selector(
        name,
        evidence.models,
        tuple(known_mean([case.usd[model] for case in cases]) for model in range(models)),
        fit_before(cases, models, penalty),
        fit_before(cases, models, penalty, 1),
        _after(evidence, seed),
        _card(evidence, penalty, seed),
        tuple(dict.fromkeys([*(case.problem for case in cases), *evidence.tested])),
    )


def fit_before(cases: Sequence[Case], models: int, penalty: float, width: int = len(FEATURES)) -> Before:
    """The posterior mode and its Laplace approximation. ``width``: how many of the ``FEATURES`` are used.

    Each model has one more problem with average features, half solved, so that the mode is finite.
    """
    raw = np.array([features_of(case.problem)[:width] for case in cases])
    centre, scale = raw.mean(axis=0), raw.std(axis=0)
    scale[scale == 0] = 1.0
    datasets = tuple(sorted({case.dataset for case in cases}))
    rows = design((raw - centre) / scale, [case.dataset for case in cases], datasets, models)
    average = design(np.zeros((1, width)), [""], datasets, models)
    x = np.concatenate([rows, average]).reshape(-1, rows.shape[2])
    y = np.concatenate([np.array([case.solved for case in cases]), np.full((1, models), 0.5)]).ravel()
    weights = _ridge(x, y, penalty)
    p = expit(x @ weights)
    covariance = np.linalg.inv((x.T * (p * (1 - p))) @ x + penalty * np.eye(len(weights)))
    return Before(datasets, _floats(centre), _floats(scale), _floats(weights), tuple(map(_floats, covariance)))


def _card(evidence: Evidence, penalty: float, seed: int) -> Card:
    cases, models = evidence.cases, len(evidence.models)
    solved = np.array([case.solved for case in cases])
    usd = np.array([[np.nan if value is None else value for value in case.usd] for case in cases])
    predicted = {SELECTOR: np.zeros_like(solved), LENGTH: np.zeros_like(solved)}
    single = [0] * len(cases)
    for fold in folds_of([case.group for case in cases], FOLDS, seed):
        some, held = [cases[at] for at in fold.others], fold.held
        own = _penalty(some, models, seed)
        for rule, width in ((SELECTOR, len(FEATURES)), (LENGTH, 1)):
            before = fit_before(some, models, own, width)
            predicted[rule][held] = _predicted(before, [cases[at] for at in held], models)
        best = int(solved[fold.others].mean(axis=0).argmax())
        for at in held:
            single[at] = best
    table = Table(solved, usd, single)
    rows = judged(table, predicted)
    by_rule = {row.rule: row for row in rows}
    headroom, least = by_rule["oracle"].gain, least_detectable(table)
    return Card(
        evidence.configurations,
        len(cases),
        FOLDS,
        seed,
        penalty,
        headroom,
        least,
        verdict(headroom.value, by_rule[SELECTOR].gain, least),
        rows,
        calibration(predicted[SELECTOR].ravel().tolist(), solved.ravel().tolist()),
        _after_calibration(evidence, seed),
        evidence.left_out or {},
        evidence.scripted,
    )


def _penalty(cases: Sequence[Case], models: int, seed: int) -> float:
    """The penalty with the smallest log loss on inner folds."""

    def lost(penalty: float) -> float:
        total = 0.0
        for fold in folds_of([case.group for case in cases], INNER, seed + 1):
            before = fit_before([cases[at] for at in fold.others], models, penalty)
            some = [cases[at] for at in fold.held]
            p, y = _predicted(before, some, models), np.array([case.solved for case in some])
            total -= float((y * np.log(p + 1e-12) + (1 - y) * np.log(1 - p + 1e-12)).sum())
        return total

    return min(PENALTIES, key=lost)


def _after(evidence: Evidence, seed: int) -> After | None:
    answers = evidence.answers
    problems, kinds = {answer.group for answer in answers}, {answer.right for answer in answers}
    if len(answers) < FEWEST_ANSWERS or len(problems) < FEWEST or len(kinds) < 2:
        return None
    return fit_after(answers, evidence.gate, seed)


def _after_calibration(evidence: Evidence, seed: int) -> Calibration | None:
    """Of answers to problems that neither the model nor its calibration was fitted on."""
    answers = evidence.answers
    if _after(evidence, seed) is None:
        return None
    pairs = [
        (probability_right(after, answers[at].values), float(answers[at].right))
        for fold in folds_of([answer.group for answer in answers], FOLDS, seed)
        for after in [fit_after([answers[at] for at in fold.others], evidence.gate, seed)]
        for at in fold.held
    ]
    return calibration([p for p, _ in pairs], [y for _, y in pairs])


def fit_after(answers: Sequence[Answer], gate: str, seed: int) -> After:
    """A logistic model, calibrated by isotonic regression on scores of inner folds.

    Zadrozny and Elkan, KDD 2002; for a cascade of models: UCCI (arXiv 2605.18796). The calibrated values stay away from
    0 and 1 by one answer, because no number of answers proves certainty.
    """
    from sklearn.isotonic import IsotonicRegression  # noqa: PLC0415 (as above)

    x, y = np.array([answer.values for answer in answers]), np.array([float(answer.right) for answer in answers])
    centre, scale = x.mean(axis=0), x.std(axis=0)
    scale[scale == 0] = 1.0
    with_bias = np.hstack([np.ones((len(x), 1)), (x - centre) / scale])
    scores = np.zeros(len(y))
    for fold in folds_of([answer.group for answer in answers], INNER, seed + 1):
        scores[fold.held] = with_bias[fold.held] @ _ridge(with_bias[fold.others], y[fold.others], 1.0)
    edge = 1 / (len(y) + 2)
    steps = IsotonicRegression(y_min=edge, y_max=1 - edge, out_of_bounds="clip").fit(scores, y)
    points = tuple(zip(_floats(steps.X_thresholds_), _floats(steps.y_thresholds_), strict=True))
    return After(gate, _floats(centre), _floats(scale), _floats(_ridge(with_bias, y, 1.0)), points)


def _ridge(x: Array, y: Array, penalty: float) -> Array:
    """The weights of a logistic regression with a ridge penalty; ``y`` may be shares."""
    from sklearn.linear_model import LogisticRegression  # noqa: PLC0415 (as above)

    twice, labels = np.concatenate([x, x]), np.repeat([1.0, 0.0], len(y))
    weights = np.concatenate([y, 1 - y])
    used = weights > 0
    if len(set(labels[used])) < 2:  # all answers alike: half an answer of the other kind keeps the mode finite
        weights, used = weights + 0.5 / len(y), used | True
    model: Any = LogisticRegression(C=1 / penalty, fit_intercept=False, solver="newton-cholesky")  # Any: no types
    found: Array = model.fit(twice[used], labels[used], sample_weight=weights[used]).coef_[0]
    return found


def _predicted(before: Before, cases: Sequence[Case], models: int) -> Array:
    return probabilities(before, [case.problem for case in cases], [case.dataset for case in cases], models)


def _floats(values: Any) -> tuple[float, ...]:  # Any: an array of numpy
    return tuple(float(value) for value in values)
