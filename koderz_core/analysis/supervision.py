"""What the supervisor contributed: solved alone or guided, and what the gate says before and after its reviews."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from koderz_core.analysis.bootstrap import mean_interval
from koderz_core.analysis.money import FrontierShare, frontier_share
from koderz_core.analysis.rates import ClusteredRate, Interval, clustered
from koderz_core.records.plans import natural
from koderz_core.records.trials import Trial, Try


@dataclass(frozen=True, slots=True)
class Review:
    """One checkpoint: the mean share of gate tests passed by the last try before it and by the first after it.

    Of the ``trials`` that tried on. ``change`` is theirs, with its interval over problems. It is no effect: those that
    need a review are stuck, and the stuck regress to their mean without one. An ablation tells the effect. Reviews that
    advised nothing are not counted.
    """

    checkpoint: int
    trials: int
    before: float
    after: float
    change: Interval


@dataclass(frozen=True, slots=True)
class Supervision:
    """Trials with a result: ``before`` were solved before the first checkpoint, ``after`` solved after it.

    ``alone``: of all, those solved without help. ``guided``: of those that tried on after a checkpoint, those solved.
    The two rates are of different problems, of which the second are the harder: never add or average them. A spec
    written by a stronger model is no checkpoint; its dollars are in ``frontier``.
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
    """What came of one configuration's trials before and after its checkpoints; None if no trial had one."""
    scored = [trial for trial in trials if trial.scored]
    helped = [trial for trial in scored if _helped(trial)]
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
        alone=_rate(scored, alone),
        guided=_rate(helped, guided),
        reviews=tuple(one for number in range(1, last + 1) if (one := _review(helped, number))),
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
    low, high = (None if one is None else min(1.0, max(-1.0, one)) for one in (change.low, change.high))
    return Review(number, len(pairs), float(before.mean()), float(after.mean()), Interval(change.value, low, high))


def _around(trial: Trial, number: int) -> tuple[float, float] | None:
    """The shares of tests passed by the last try before and the first after a checkpoint, if there are both."""
    before = [_share(try_) for try_ in trial.tries if try_.checkpoints < number]
    after = [_share(try_) for try_ in trial.tries if try_.checkpoints >= number]
    return (before[-1], after[0]) if before and after else None


def _share(one: Try) -> float:
    """A reply without a program that can be run has no tests, and passes none."""
    return one.tests_passed / one.tests_total if one.tests_total else float(one.gate_passed)


def _helped(trial: Trial) -> bool:
    return any(try_.checkpoints for try_ in trial.tries)


def _guided(trial: Trial) -> bool:
    """Whether its program was first tried after a checkpoint."""
    first = next((try_ for try_ in trial.tries if try_.code == trial.code), None)
    return first is not None and first.checkpoints > 0


def _rate(trials: Sequence[Trial], solved: Sequence[bool]) -> ClusteredRate:
    counts: dict[str, tuple[int, int]] = {}
    for trial, one in zip(trials, solved, strict=True):
        so_far, n = counts.get(trial.problem, (0, 0))
        counts[trial.problem] = so_far + one, n + 1
    return clustered(counts)
