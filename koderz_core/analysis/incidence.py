"""How many have succeeded by when, if some stop for good before and of some the end is not known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from koderz_core.analysis.bootstrap import Array, ratio, sums, weights
from koderz_core.records.trials import Trial

Axis = Literal["attempts", "usd", "seconds"]
CENSORED, SUCCESS, FALSE_PASS, GAVE_UP = range(4)


@dataclass(frozen=True, slots=True)
class Courses:
    """What trials had used when they ended, in rising order (equals: censored last), and which of the events it was.

    ``problem``: of which row of the weights each is; ``share``: its part in that problem, so that all weigh the same.
    """

    ends: Array
    events: NDArray[np.intp]
    problem: NDArray[np.intp]
    share: Array
    problems: int

    @property
    def with_result(self) -> int:
        """How many problems have a trial that is not censored."""
        return len(np.unique(self.problem[self.events != CENSORED]))


def courses(trials: Sequence[Trial], axis: Axis, problems: Sequence[str]) -> Courses | None:
    """Trials of these problems along an axis; None if it is not known how far a scored one went.

    A trial ends where it stopped, at its try that passed the gate if that was its last. What was cancelled, failed on
    our side or has not ended is censored at what it had used, and left out if that is unknown.
    """
    place = {problem: at for at, problem in enumerate(problems)}
    held = [one for one in trials if one.problem in place and (one.scored or _used(one, axis) is not None)]
    used = [_used(one, axis) for one in held]
    ends = np.array([one for one in used if one is not None], dtype=np.float64)
    if len(ends) < len(used):
        return None
    events = np.array([_event(one) for one in held], dtype=np.intp)
    order = np.lexsort((events == CENSORED, ends))
    problem = np.array([place[one.problem] for one in held], dtype=np.intp)[order]
    count = np.bincount(problem, minlength=len(problems))
    return Courses(ends[order], events[order], problem, 1 / count[problem], len(problems))


def steps(held: Courses, event: int = SUCCESS) -> Array:
    """Where the curve of an event rises."""
    return np.unique(held.ends[held.events == event])


def incidence(held: Courses, drawn: Array, event: int = SUCCESS) -> Array:
    """The share to which the event has happened by each of ``steps`` (rows), per column of problem weights.

    Aalen and Johansen's estimator of the cumulative incidence (Scandinavian Journal of Statistics 5 (1978) 141-150):
    ends other than the event are competing and stay in the denominator, only the censored leave it. Computed as the
    plain share in which each event stands for those like it that were lost before, which is the same number:
    Satten and Datta, The American Statistician 55 (2001) 207-210. With nothing censored it is that share.
    """
    rows = np.flatnonzero(held.events == event)
    happened = drawn[held.problem[rows]] * held.share[rows, None]
    if (held.events == CENSORED).any():
        happened /= _watched(held, drawn, held.ends[rows])
    last = np.searchsorted(held.ends[rows], steps(held, event), side="right") - 1
    known = np.bincount(held.problem, minlength=held.problems) > 0
    shares: Array = np.cumsum(happened, axis=0)[last] / drawn[known].sum(axis=0)
    return shares


def resampled(held: Courses, seed: int) -> Array:
    """``incidence`` of success in each bootstrap resample of problems."""
    return incidence(held, weights(held.problems, seed))


def _watched(held: Courses, drawn: Array, at: Array) -> Array:
    """The chance not to have been censored before each of these ends: Kaplan and Meier's estimator, of censoring."""
    parts = np.zeros((len(held.ends) + 1, held.problems))
    parts[np.arange(len(held.ends)), held.problem] = held.share
    left = parts[::-1].cumsum(axis=0)[::-1]  # from this one on, by problem
    censored = held.events == CENSORED
    times = np.unique(held.ends[censored])
    first = np.searchsorted(held.ends[censored], times)
    at_risk = left[np.flatnonzero(censored)[first]]  # what ended otherwise at that time is sorted before
    after = left[np.searchsorted(held.ends, times, side="right")]
    kept = ratio(sums(after, drawn), sums(at_risk, drawn))
    chance = np.vstack((np.ones_like(drawn[:1]), np.cumprod(np.nan_to_num(kept), axis=0)))
    return np.maximum(chance[np.searchsorted(times, at)], 1e-9)  # 0: of them none is left to happen


def _event(trial: Trial) -> int:
    if not trial.scored:
        return CENSORED
    if trial.solved:
        return SUCCESS
    return FALSE_PASS if trial.gate_passed else GAVE_UP


def _used(trial: Trial, axis: Axis) -> float | None:
    """None: unknown."""
    last = trial.tries[-1] if trial.tries and (trial.tries[-1].gate_passed or not trial.scored) else None
    if axis == "attempts":
        return last.iteration if last else trial.iterations
    if axis == "usd":
        return trial.usd if last is None or last.usd is None else last.usd
    return last.seconds if last else trial.seconds
