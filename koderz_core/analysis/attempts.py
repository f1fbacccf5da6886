"""Attempt by attempt: how many solve, what errors turn into, and how often the same program comes again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from koderz_core.analysis.money import AttemptCost, attempt_costs
from koderz_core.analysis.rates import ClusteredRate, clustered
from koderz_core.records.trials import Trial
from koderz_core.records.verdicts import ErrorClass


@dataclass(frozen=True, slots=True)
class Attempt:
    """One attempt of the trials that came to it (``at_risk``).

    ``hazard``: the share of these that it solved, with an interval. ``false_passes``: those that it ended by a pass of
    the gate which the held-out tests refute. ``tests``: the mean share of gate tests passed by ``tested`` of them; None
    if none was tested.
    """

    attempt: int
    at_risk: int
    solved: int
    false_passes: int
    hazard: ClusteredRate
    tests: float | None
    tested: int


@dataclass(frozen=True, slots=True)
class Transition:
    """How often an attempt that ended as ``before`` was followed by one that ended as ``after``; None: it passed."""

    before: ErrorClass | None
    after: ErrorClass | None
    count: int


@dataclass(frozen=True, slots=True)
class Repeats:
    """Of ``programs`` tried, ``repeated`` say to Python what one before them in the same trial said.

    That happened in ``trials`` of the trials.
    """

    programs: int
    repeated: int
    trials: int


@dataclass(frozen=True, slots=True)
class AttemptByAttempt:
    """What one configuration's trials show, attempt by attempt. ``costs``: None if a price is unknown."""

    attempts: tuple[Attempt, ...]
    costs: tuple[AttemptCost, ...] | None
    transitions: tuple[Transition, ...]
    repeats: Repeats


def attempt_by_attempt(trials: Sequence[Trial], shapes: Mapping[str, str]) -> AttemptByAttempt:
    """All of it. ``shapes``: of SHA-256 of programs, equal for those that are the same but for layout and comments."""
    return AttemptByAttempt(attempts(trials), attempt_costs(trials), transitions(trials), repeats(trials, shapes))


def attempts(trials: Sequence[Trial]) -> tuple[Attempt, ...]:
    """Attempts 1, 2, ... of trials that have a result; an untested answer is the first and only attempt of its trial.

    The hazard in discrete time: Kalbfleisch and Prentice, The Statistical Analysis of Failure Time Data, 2002, section
    2.4.2. Later attempts are made on what is left, the harder problems: a falling hazard is not tiredness.
    """
    scored = [trial for trial in trials if trial.scored]
    longest = max((_length(trial) for trial in scored), default=0)
    return tuple(_attempt(scored, number) for number in range(1, longest + 1))


def transitions(trials: Sequence[Trial]) -> tuple[Transition, ...]:
    """Which error follows which, most frequent first."""
    counts = Counter((one.error, other.error) for trial in trials for one, other in pairwise(trial.tries))
    return tuple(Transition(before, after, count) for (before, after), count in counts.most_common())


def repeats(trials: Sequence[Trial], shapes: Mapping[str, str]) -> Repeats:
    """How often models went round in circles; a program without a shape is the same as itself only."""
    programs = [[shapes.get(try_.code, try_.code) for try_ in trial.tries if try_.code is not None] for trial in trials]
    again = [len(tried) - len(set(tried)) for tried in programs]
    return Repeats(sum(map(len, programs)), sum(again), sum(number > 0 for number in again))


def _attempt(scored: Sequence[Trial], number: int) -> Attempt:
    at_risk = [trial for trial in scored if _length(trial) >= number]
    ended = [trial for trial in at_risk if _length(trial) == number]
    tries = [trial.tries[number - 1] for trial in at_risk if trial.tries]
    shares = [try_.tests_passed / try_.tests_total if try_.tests_total else float(try_.gate_passed) for try_ in tries]
    counts: dict[str, tuple[int, int]] = {}
    for one in at_risk:
        solved, n = counts.get(one.problem, (0, 0))
        counts[one.problem] = solved + (one.solved and _length(one) == number), n + 1
    return Attempt(
        attempt=number,
        at_risk=len(at_risk),
        solved=sum(trial.solved for trial in ended),
        false_passes=sum(bool(trial.gate_passed) and not trial.solved for trial in ended),
        hazard=clustered(counts),
        tests=sum(shares) / len(shares) if shares else None,
        tested=len(shares),
    )


def _length(trial: Trial) -> int:
    return len(trial.tries) or trial.attempts
