"""Contribution of specs and reviews: problems solved alone or guided, and gate tests before and after its reviews."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from koderz_core.analysis.bootstrap import mean_interval
from koderz_core.analysis.money import FrontierShare, frontier_share
from koderz_core.analysis.rates import ClusteredRate, Interval, clustered, counted
from koderz_core.records.plans import natural
from koderz_core.records.trials import Trial, Try


@dataclass(frozen=True, slots=True)
class Review:
    """One checkpoint: the mean share of gate tests passed by the last try before it and by the first after it.

    Covers the ``trials`` that continued. ``change``: with its interval over problems. It is not the effect of the
    review: only stuck trials are reviewed, and these regress to their mean without a review too. An ablation measures
    the effect. Reviews without advice are not counted.
    """

    checkpoint: int
    trials: int
    before: float
    after: float
    change: Interval


@dataclass(frozen=True, slots=True)
class Supervision:
    """Trials with a result: ``before`` were solved before the first checkpoint, ``after`` solved after it.

    ``alone``: the rate of all trials solved without help. ``guided``: the rate of the trials that continued after a
    checkpoint. The two rates are of different problems, and the second ones are harder: never add or average them. A
    spec written by a stronger model is not a checkpoint; its dollars are in ``frontier``.
    """

    trials: int
    before: int
    after: int
    never: int
    alone: ClusteredRate
    guided: ClusteredRate
    reviews: tuple[Review, ...]
    frontier: FrontierShare


def supervision(trials: Sequence[Trial]) -> Supervision | None:
    """The results of one configuration's trials before and after its checkpoints; None if no trial had one."""
    scored = [trial for trial in trials if trial.scored]
    helped = [trial for trial in scored if any(try_.checkpoints for try_ in trial.tries)]
    if not helped:
        return None
    alone = [trial.solved and not _guided(trial) for trial in scored]
    guided = [trial.solved and _guided(trial) for trial in helped]
    last = max(trial.tries[-1].checkpoints for trial in helped)
    return Supervision(
        trials=len(scored),
        before=sum(alone),
        after=sum(guided),
        never=len(scored) - sum(alone) - sum(guided),
        alone=clustered(counted(zip((trial.problem for trial in scored), alone, strict=True))),
        guided=clustered(counted(zip((trial.problem for trial in helped), guided, strict=True))),
        reviews=tuple(review for number in range(1, last + 1) if (review := _review(helped, number))),
        frontier=frontier_share(scored),
    )


def _review(helped: Sequence[Trial], number: int) -> Review | None:
    pairs = [(trial.problem, pair) for trial in helped if (pair := _around(trial, number))]
    if not pairs:
        return None
    before, after = (np.array([pair[side] for _, pair in pairs]) for side in (0, 1))
    problems = sorted({problem for problem, _ in pairs}, key=natural)
    row = [problems.index(problem) for problem, _ in pairs]
    change = mean_interval(
        np.bincount(row, after - before).astype(np.float64), counts=np.bincount(row).astype(np.float64)
    )
    low, high = (None if bound is None else min(1.0, max(-1.0, bound)) for bound in (change.low, change.high))
    return Review(number, len(pairs), float(before.mean()), float(after.mean()), Interval(change.value, low, high))


def _around(trial: Trial, number: int) -> tuple[float, float] | None:
    """The shares of tests passed by the last try before and the first after a checkpoint, if both exist."""
    before = [_share(try_) for try_ in trial.tries if try_.checkpoints < number]
    after = [_share(try_) for try_ in trial.tries if try_.checkpoints >= number]
    return (before[-1], after[0]) if before and after else None


def _share(try_: Try) -> float:
    """A reply without a program that can be run has no tests, and passes none."""
    return try_.tests_passed / try_.tests_total if try_.tests_total else float(try_.gate_passed)


def _guided(trial: Trial) -> bool:
    """Whether its program was first tried after a checkpoint."""
    first = next((try_ for try_ in trial.tries if try_.code == trial.code), None)
    return first is not None and first.checkpoints > 0
