"""Success against attempts, dollars and other amounts; the ceiling set by false passes; the break-even price."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import inf, isfinite
from typing import Generic, TypeVar

import numpy as np

from koderz_core.analysis.bootstrap import Array, means, sums, weights
from koderz_core.analysis.incidence import (
    CENSORED,
    FALSE_PASS,
    NEARLY,
    Axis,
    Courses,
    at_the_end,
    courses,
    gaps,
    incidence,
    resampled,
    steps,
)
from koderz_core.analysis.paired import bonett_price_of
from koderz_core.analysis.rates import ClusteredRate, clustered, counted
from koderz_core.analysis.tradeoff import common_problems
from koderz_core.records.plans import natural
from koderz_core.records.trials import Trial

K = TypeVar("K")


@dataclass(frozen=True, slots=True)
class Curve(Generic[K]):
    """The ``share`` of problems solved with at most ``at``: a staircase from 0 to ``end``.

    ``low`` and ``high`` bound each step (95 %, one step at a time). ``false_passes``: the share that stopped on the
    gate but fails the held-out tests. ``problems``: those with a result; ``censored`` trials were cancelled, ended as
    error or have not ended.
    """

    key: K
    at: tuple[float, ...]
    share: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]
    false_passes: float
    problems: int
    trials: int
    censored: int

    @property
    def end(self) -> float:
        """The most that one of its trials used: no trial went further, so the share does not change after it."""
        return self.at[-1]

    def step(self, amount: float) -> int:
        """The index of the step at an amount; with a tolerance, because amounts are rounded."""
        return bisect_right(self.at, amount * (1 + 1e-9)) - 1


@dataclass(frozen=True, slots=True)
class Curves(Generic[K]):
    """Curves of one axis, each to its own end, and the last of these ends.

    ``left_out``: configurations without a result, or with an unknown amount, such as a price.
    """

    axis: Axis
    end: float
    curves: tuple[Curve[K], ...]
    left_out: tuple[K, ...]


@dataclass(frozen=True, slots=True)
class Ceiling:
    """How far retrying until the gate passes can go: ``rate`` is P(held-out tests pass | gate passes).

    ``false_positives``: P(gate passes | held-out tests fail). Both are over the distinct programs of each trial; every
    problem weighs the same.
    """

    rate: ClusteredRate
    false_positives: ClusteredRate


@dataclass(frozen=True, slots=True)
class BreakEven:
    """The dollars per problem at which the cheap configuration solves ``target``, the share of the frontier one.

    ``usd``, ``low`` and ``high``: infinite means never; a bound is None if there is only one problem, or if it would
    not be valid. ``never``: the share of resamples in which it never does, of those in which the frontier one solved
    something. If the frontier one solved nothing, there is no target, and all four are None. ``frontier_usd``: what the
    frontier one spends on a problem, None if unknown.
    """

    usd: float | None
    low: float | None
    high: float | None
    never: float | None
    target: float
    frontier_usd: float | None


def curves(trials_by_key: Mapping[K, Sequence[Trial]], axis: Axis, seed: int = 0) -> Curves[K]:
    """The cumulative incidence of success along an axis.

    A false pass of the gate ends a trial and stays in the denominator, as does a limit of the configuration; Kaplan and
    Meier's estimator would drop both and rise above the ceiling (Stroebl, Kapoor, Narayanan, arXiv 2411.17501). Each
    curve depends only on the trials of its own configuration. If every trial has a result, it ends at the
    configuration's share solved.
    """
    problems = {key: sorted({it.problem for it in trials}, key=natural) for key, trials in trials_by_key.items()}
    by_key = {key: courses(trials, axis, problems[key]) for key, trials in trials_by_key.items()}
    known = {key: ends for key, ends in by_key.items() if ends is not None and (ends.events != CENSORED).any()}
    drawn = tuple(_curve(key, ends, seed) for key, ends in known.items())
    end = max((curve.end for curve in drawn), default=0.0)
    return Curves(axis, end, drawn, tuple(key for key in trials_by_key if key not in known))


def ceiling(trials: Iterable[Trial]) -> Ceiling | None:
    """The ceiling of one configuration; None if none of its programs was run on both kinds of tests.

    Stroebl, Kapoor and Narayanan, "The Limits of Inference Scaling Through Resampling", arXiv 2411.17501, section 3.
    """
    judged = [(trial.problem, *verdicts) for trial in trials for verdicts in _verdicts(trial)]
    passing = counted((problem, held_out) for problem, gate, held_out in judged if gate)
    failing = counted((problem, gate) for problem, gate, held_out in judged if not held_out)
    return Ceiling(clustered(passing), clustered(failing)) if passing or failing else None


def break_even(
    cheap: Sequence[Trial],
    frontier: Sequence[Trial],
    at_once: int = 1,
    direction: int | None = None,
    seed: int = 0,
) -> BreakEven | None:
    """Where the cheap configuration's curve reaches the frontier one's success; None if unknown.

    This needs a problem with a result of both, and the prices of the cheap one. Limits are part of a configuration:
    "never" holds for the cheap one with its own limits of iterations and dollars. The bounds are the first and the last
    dollars at which Bonett and Price's interval of the difference between the curve and the frontier one's success
    contains 0. ``at_once``: the number of such intervals. ``direction``: the result of the test of the whole
    difference, as in ``pairs._direction``; the bounds do not contradict it.
    """
    problems = common_problems((cheap, frontier))
    data = courses(cheap, "usd", problems) if problems else None
    if data is None:
        return None
    scored = [trial for trial in frontier if trial.scored]
    solved = means(problems, scored, lambda trial: trial.solved)
    paid = float(means(problems, scored, lambda trial: trial.usd).mean())
    n = len(problems)
    drawn, plain, target = weights(n, seed), incidence(data, np.ones((n, 1)))[:, 0], float(solved.mean())
    targets = sums(solved, drawn) / n
    never = (at_the_end(data, drawn) < targets - NEARLY)[targets > NEARLY]
    at = next((float(used) for used, share in zip(steps(data), plain, strict=True) if share >= target - NEARLY), inf)
    bounds = _where_even(data, solved, at_once, direction, seed) if target and n > 1 else None
    return BreakEven(
        usd=at if target else None,
        low=min(bounds[0], at) if bounds else None,
        high=max(bounds[1], at) if bounds else None,
        never=float(never.mean()) if target else None,
        target=target,
        frontier_usd=paid if isfinite(paid) else None,
    )


def _where_even(data: Courses, solved: Array, at_once: int, direction: int | None, seed: int) -> tuple[float, float]:
    """The first and the last amount at which the curve may equal the mean of ``solved``.

    These are the steps at which ``bonett_price``'s interval of the difference contains 0. Before the first step the
    curve is 0.
    """
    at, n = np.append(steps(data), np.inf), data.problems
    mean, variance = gaps(data, solved, seed)
    low, high = bonett_price_of(n, mean, variance * n + mean**2, at_once)
    # The first step that may reach it, and the step after the last that may not.
    first = int(np.argmax(high >= 0)) if (high >= 0).any() else len(low)
    after = int(np.flatnonzero(low < 0)[-1]) + 1 if (low < 0).any() else 0
    last = max(len(low) - 1, 0)
    if direction == 1:
        first, after = min(first, last), min(after, last)
    elif direction == -1:
        first, after = len(low), len(low)
    elif direction == 0:
        first, after = min(first, last), max(after, last)
    return float(at[first]), float(at[after])


def _curve(key: K, data: Courses, seed: int) -> Curve[K]:
    share = incidence(data, np.ones((data.problems, 1)))[:, 0]
    return drawn_curve(key, data, share, *band(data, share, resampled(data, seed).var(axis=1)))


def drawn_curve(key: K, data: Courses, share: Array, low: Array, high: Array) -> Curve[K]:
    """The curve from 0 to its end, from its heights and bounds at ``steps``."""
    stopped = incidence(data, np.ones((data.problems, 1)), FALSE_PASS)[:, 0]
    return Curve(
        key,
        at=(0.0, *steps(data).tolist(), float(data.ends[-1])),
        share=_to_the_end(share),
        low=_to_the_end(low),
        high=_to_the_end(high),
        false_passes=float(stopped[-1]) if len(stopped) else 0.0,
        problems=data.with_result,
        trials=len(data.ends),
        censored=int((data.events == CENSORED).sum()),
    )


def _to_the_end(heights: Array) -> tuple[float, ...]:
    """The heights from 0 on, and flat after the last step."""
    rising = [0.0, *heights.tolist()]
    return (*rising, rising[-1])


def band(data: Courses, share: Array, variance: Array) -> tuple[Array, Array]:
    """Wilson's interval with the effective number of problems by the bootstrap's variance, as in ``clustered``."""
    z, worth = 1.959963984540054, effective_problems(data, share, variance)
    middle = (share * worth + z * z / 2) / (worth + z * z)
    reach = z / (worth + z * z) * np.sqrt(share * (1 - share) * worth + z * z / 4)
    return np.maximum(middle - reach, 0), np.minimum(middle + reach, 1)


def effective_problems(data: Courses, share: Array, variance: Array) -> Array:
    """The number of independent problems of which a share would have this variance.

    Resamples with only successes, or with none, do not vary. So one problem that is always solved and one that is never
    solved are added.
    """
    n = data.with_result
    squares = variance * n * n + n * share**2 + 1
    mean = (n * share + 1) / (n + 2)
    worth = n * mean * (1 - mean) / (squares / (n + 2) - mean**2)
    at_most: Array = np.minimum(worth, (data.events != CENSORED).sum())
    return at_most


def _verdicts(trial: Trial) -> Iterable[tuple[bool, bool]]:
    """Whether each distinct program passed the gate and the held-out tests."""
    if trial.score_kind != "held_out":
        return ()
    tried = {
        try_.code: (try_.gate_passed, try_.held_out_passed) for try_ in trial.tries if try_.held_out_passed is not None
    }
    if not tried and trial.gate_passed is not None:
        return ((trial.gate_passed, trial.solved),)
    return [(gate, bool(held_out)) for gate, held_out in tried.values()]
