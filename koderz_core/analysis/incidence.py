"""The share that has succeeded by an amount used, if some trials stop before and the end of some is unknown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from koderz_core.analysis.bootstrap import Array, ratio, sums, weights
from koderz_core.records.trials import Trial
from koderz_core.sums import all_known

Axis = Literal["attempts", "usd", "seconds", "tokens", "joules"]
CENSORED, SUCCESS, FALSE_PASS, GAVE_UP = range(4)
NEARLY = 1e-9  # sums of equal numbers can differ in the last digits


@dataclass(frozen=True, slots=True)
class Courses:
    """What trials had used when they ended, in rising order (equals: censored last), and their events.

    ``problem``: the row of each in the weights; ``share``: its part in the problem, so that all problems weigh the
    same. A trial censored at 0 carries no information, so its part is 0.
    """

    ends: Array
    events: NDArray[np.intp]
    problem: NDArray[np.intp]
    share: Array
    problems: int

    @property
    def with_result(self) -> int:
        """The number of problems with a trial that is not censored."""
        return len(np.unique(self.problem[self.events != CENSORED]))


def courses(trials: Sequence[Trial], axis: Axis, problems: Sequence[str]) -> Courses | None:
    """Trials of these problems along an axis; None if the amount that a scored one used is unknown.

    A trial ends where it stopped, or at its last try if that passed the gate. Cancelled trials, errors and trials that
    have not ended are censored at the amount they had used, and omitted if it is unknown.
    """
    place = {problem: at for at, problem in enumerate(problems)}
    kept = [
        trial for trial in trials if trial.problem in place and (trial.scored or amount_used(trial, axis) is not None)
    ]
    used = all_known(amount_used(trial, axis) for trial in kept)
    if used is None:
        return None
    ends = np.array(used, dtype=np.float64)
    events = np.array([_event(trial) for trial in kept], dtype=np.intp)
    order = np.lexsort((events == CENSORED, ends))
    problem = np.array([place[trial.problem] for trial in kept], dtype=np.intp)[order]
    shows = ((events != CENSORED) | (ends > 0))[order]
    count = np.bincount(problem, shows, len(problems))
    return Courses(ends[order], events[order], problem, shows / np.maximum(count, 1)[problem], len(problems))


def steps(data: Courses, event: int = SUCCESS) -> Array:
    """The amounts at which the curve of an event rises."""
    return np.unique(data.ends[data.events == event])


def incidence(data: Courses, drawn: Array, event: int = SUCCESS) -> Array:
    """The share of problems with the event by each of ``steps`` (rows), per column of problem weights.

    Aalen and Johansen's estimator of the cumulative incidence (Scandinavian Journal of Statistics 5 (1978) 141-150):
    other ends are competing events and stay in the denominator, only censored trials leave it. Computed as a share in
    which each event is weighted by the inverse chance not to be censored before, which gives the same number: Satten
    and Datta, The American Statistician 55 (2001) 207-210. Without censoring it is the plain share.
    """
    ends, problem, share = _merged(data, event)
    happened = drawn[problem] * share[:, None]
    if (data.events == CENSORED).any():
        happened /= _chance_uncensored(data, drawn, ends)
    first = np.searchsorted(ends, steps(data, event))
    risen = np.add.reduceat(happened, first, axis=0) if len(first) else happened
    counted = drawn[_known(data)].sum(axis=0)
    shares: Array = np.cumsum(risen, axis=0) / np.where(counted > 0, counted, 1)  # 0: only problems without information
    return shares


def at_the_end(data: Courses, drawn: Array) -> Array:
    """The last value of ``incidence`` per column of problem weights, computed alone if nothing is censored."""
    if _incomplete(data):
        shares = incidence(data, drawn)
        return shares[-1] if len(shares) else np.zeros(drawn.shape[1])
    solved = data.events == SUCCESS
    each = np.bincount(data.problem[solved], data.share[solved], data.problems).astype(np.float64)
    end: Array = sums(each, drawn) / drawn.sum(axis=0)
    return end


def gaps(data: Courses, solved: Array, seed: int) -> tuple[Array, Array]:
    """At each step the mean over problems of the curve less ``solved``, and the variance of that mean.

    If something is censored, the variance is that of resamples.
    """
    if _incomplete(data):
        drawn = weights(data.problems, seed)
        plain = incidence(data, np.ones((data.problems, 1)))[:, 0]
        return plain - solved.mean(), (resampled(data, seed) - sums(solved, drawn) / data.problems).var(axis=1)
    each = _risen(data) - solved
    return each.mean(axis=1), each.var(axis=1) / data.problems


def resampled(data: Courses, seed: int) -> Array:
    """``incidence`` of success in each bootstrap resample of problems."""
    return incidence(data, weights(data.problems, seed))


def _merged(data: Courses, event: int) -> tuple[Array, NDArray[np.intp], Array]:
    """End, problem and share of the trials of an event; trials of one problem with the same end are merged."""
    rows = np.flatnonzero(data.events == event)
    ends, at = np.unique(data.ends[rows], return_inverse=True)
    place, which = np.unique(at * data.problems + data.problem[rows], return_inverse=True)
    share: Array = np.bincount(which, data.share[rows], len(place)).astype(np.float64)
    return ends[place // data.problems], place % data.problems, share


def _risen(data: Courses) -> Array:
    """By step and problem: the successes so far."""
    ends, problem, share = _merged(data, SUCCESS)
    risen = np.zeros((len(steps(data)), data.problems))
    risen[np.searchsorted(steps(data), ends), problem] = share
    return np.cumsum(risen, axis=0, out=risen)


def _incomplete(data: Courses) -> bool:
    """Whether the success of some problem is not known until the end."""
    return bool((data.events == CENSORED).any() or not _known(data).all())


def _known(data: Courses) -> NDArray[np.bool_]:
    """Which problems have a trial with information."""
    known: NDArray[np.bool_] = np.bincount(data.problem, data.share, data.problems) > 0
    return known


def _chance_uncensored(data: Courses, drawn: Array, at: Array) -> Array:
    """The chance of not being censored before each of these ends: Kaplan and Meier's estimator of censoring."""
    parts = np.zeros((len(data.ends) + 1, data.problems))
    parts[np.arange(len(data.ends)), data.problem] = data.share
    left = parts[::-1].cumsum(axis=0)[::-1]  # from this trial on, by problem
    censored = data.events == CENSORED
    times = np.unique(data.ends[censored])
    first = np.searchsorted(data.ends[censored], times)
    at_risk = left[np.flatnonzero(censored)[first]]  # other ends at the same amount are sorted before
    after = left[np.searchsorted(data.ends, times, side="right")]
    stayed = ratio(sums(after, drawn), sums(at_risk, drawn))
    chance = np.vstack((np.ones_like(drawn[:1]), np.cumprod(np.nan_to_num(stayed), axis=0)))
    return np.maximum(chance[np.searchsorted(times, at)], 1e-9)  # 0: then no event is left


def _event(trial: Trial) -> int:
    if not trial.scored:
        return CENSORED
    if trial.solved:
        return SUCCESS
    return FALSE_PASS if trial.gate_passed else GAVE_UP


def amount_used(trial: Trial, axis: Axis) -> float | None:
    """What a trial used until its end; None: unknown.

    Its seconds are those until its last test if that was passed, because the whole time includes scoring.
    """
    if trial.scored and axis not in ("attempts", "seconds"):
        whole: float | None = getattr(trial, axis)
        return whole
    last = trial.tries[-1] if trial.tries and (trial.tries[-1].gate_passed or not trial.scored) else None
    if axis == "attempts":
        return last.iteration if last else trial.attempts
    used: float | None = getattr(last, axis, None)
    return getattr(trial, axis) if used is None else used
