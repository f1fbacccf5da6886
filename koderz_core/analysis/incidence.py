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
NEARLY = 1e-9  # sums of equal numbers may differ in the last digits


@dataclass(frozen=True, slots=True)
class Courses:
    """What trials had used when they ended, in rising order (equals: censored last), and which of the events it was.

    ``problem``: of which row of the weights each is; ``share``: its part in that problem, so that all weigh the same.
    What was censored at 0 shows nothing, so its part is 0.
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
    held = [trial for trial in trials if trial.problem in place and (trial.scored or _used(trial, axis) is not None)]
    used = [_used(trial, axis) for trial in held]
    ends = np.array([value for value in used if value is not None], dtype=np.float64)
    if len(ends) < len(used):
        return None
    events = np.array([_event(trial) for trial in held], dtype=np.intp)
    order = np.lexsort((events == CENSORED, ends))
    problem = np.array([place[trial.problem] for trial in held], dtype=np.intp)[order]
    shows = ((events != CENSORED) | (ends > 0))[order]
    count = np.bincount(problem, shows, len(problems))
    return Courses(ends[order], events[order], problem, shows / np.maximum(count, 1)[problem], len(problems))


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
    ends, problem, share = _together(held, event)
    happened = drawn[problem] * share[:, None]
    if (held.events == CENSORED).any():
        happened /= _watched(held, drawn, ends)
    first = np.searchsorted(ends, steps(held, event))
    risen = np.add.reduceat(happened, first, axis=0) if len(first) else happened
    counted = drawn[_known(held)].sum(axis=0)
    shares: Array = np.cumsum(risen, axis=0) / np.where(counted > 0, counted, 1)  # 0: only problems that show nothing
    return shares


def at_the_end(held: Courses, drawn: Array) -> Array:
    """The last of ``incidence`` per column of problem weights, without computing the others where nothing is lost."""
    if _lost(held):
        shares = incidence(held, drawn)
        return shares[-1] if len(shares) else np.zeros(drawn.shape[1])
    solved = held.events == SUCCESS
    each = np.bincount(held.problem[solved], held.share[solved], held.problems).astype(np.float64)
    end: Array = sums(each, drawn) / drawn.sum(axis=0)
    return end


def gaps(held: Courses, solved: Array, seed: int) -> tuple[Array, Array]:
    """At each step the mean over problems of what the curve has less ``solved``, and the variance of that mean.

    Where something is censored, the variance is that of resamples.
    """
    if _lost(held):
        drawn = weights(held.problems, seed)
        plain = incidence(held, np.ones((held.problems, 1)))[:, 0]
        return plain - solved.mean(), (resampled(held, seed) - sums(solved, drawn) / held.problems).var(axis=1)
    each = _risen(held) - solved
    return each.mean(axis=1), each.var(axis=1) / held.problems


def resampled(held: Courses, seed: int) -> Array:
    """``incidence`` of success in each bootstrap resample of problems."""
    return incidence(held, weights(held.problems, seed))


def _together(held: Courses, event: int) -> tuple[Array, NDArray[np.intp], Array]:
    """End, problem and share of the trials of an event, those that ended at once on one problem as one."""
    rows = np.flatnonzero(held.events == event)
    ends, at = np.unique(held.ends[rows], return_inverse=True)
    place, which = np.unique(at * held.problems + held.problem[rows], return_inverse=True)
    share: Array = np.bincount(which, held.share[rows], len(place)).astype(np.float64)
    return ends[place // held.problems], place % held.problems, share


def _risen(held: Courses) -> Array:
    """By step and problem: its part of the successes so far."""
    ends, problem, share = _together(held, SUCCESS)
    risen = np.zeros((len(steps(held)), held.problems))
    risen[np.searchsorted(steps(held), ends), problem] = share
    return np.cumsum(risen, axis=0, out=risen)


def _lost(held: Courses) -> bool:
    """Whether the success of some problem is not known to the end."""
    return bool((held.events == CENSORED).any() or not _known(held).all())


def _known(held: Courses) -> NDArray[np.bool_]:
    """Of which problems a trial shows something."""
    known: NDArray[np.bool_] = np.bincount(held.problem, held.share, held.problems) > 0
    return known


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
        return last.iteration if last else trial.attempts
    if axis == "usd":
        return trial.usd if last is None or last.usd is None else last.usd
    return last.seconds if last else trial.seconds
