"""Results attempt by attempt: solves, transitions between errors, and repeated programs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from koderz_core.analysis.money import AttemptCost, attempt_costs
from koderz_core.analysis.rates import ClusteredRate, clustered, counted
from koderz_core.records.trials import Trial
from koderz_core.records.verdicts import ErrorClass


@dataclass(frozen=True, slots=True)
class Attempt:
    """One attempt of the trials that reached it (``at_risk``).

    ``solved``: trials that ended at it and are solved. ``hazard``: the share of ``at_risk`` that these are, with an
    interval. ``false_passes``: trials that it ended by passing the gate but not the held-out tests. ``tests``: the mean
    share of gate tests passed by the ``tested`` programs; None if none was tested.
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
    """How often an attempt with the error ``before`` was followed by one with ``after``; None: it passed the gate."""

    before: ErrorClass | None
    after: ErrorClass | None
    count: int


@dataclass(frozen=True, slots=True)
class Repeats:
    """Of ``programs`` tried, ``repeated`` are the same to Python as an earlier one of the same trial.

    ``trials``: the number of trials with such a program.
    """

    programs: int
    repeated: int
    trials: int


@dataclass(frozen=True, slots=True)
class AttemptByAttempt:
    """The results of one configuration's trials, attempt by attempt. ``costs``: None if a price is unknown.

    ``chooses``: in some trial, a program passed the gate before the last attempt, so the attempt at which the trial
    ended is not always the one that found its program.
    """

    attempts: tuple[Attempt, ...]
    costs: tuple[AttemptCost, ...] | None
    transitions: tuple[Transition, ...]
    repeats: Repeats
    chooses: bool = False


def attempt_by_attempt(trials: Sequence[Trial], shapes: Mapping[str, str]) -> AttemptByAttempt:
    """All of it. ``shapes``: by SHA-256 of programs, equal for programs that differ only in layout and comments."""
    chooses = any(try_.gate_passed for trial in trials if trial.scored for try_ in trial.tries[:-1])
    of = (attempts(trials), attempt_costs(trials), transitions(trials), repeats(trials, shapes))
    return AttemptByAttempt(*of, chooses)


def attempts(trials: Sequence[Trial]) -> tuple[Attempt, ...]:
    """Attempts 1, 2, ... of trials with a result; an untested answer is the only attempt of its trial.

    The hazard in discrete time: Kalbfleisch and Prentice, The Statistical Analysis of Failure Time Data, 2002, section
    2.4.2. Later attempts are made on the remaining, harder problems, so a falling hazard does not mean that models get
    worse.
    """
    scored = [trial for trial in trials if trial.scored]
    longest = max((_length(trial) for trial in scored), default=0)
    return tuple(_attempt(scored, number) for number in range(1, longest + 1))


def transitions(trials: Sequence[Trial]) -> tuple[Transition, ...]:
    """Which error follows which, most frequent first."""
    counts = Counter((try_.error, following.error) for trial in trials for try_, following in pairwise(trial.tries))
    return tuple(Transition(before, after, count) for (before, after), count in counts.most_common())


def repeats(trials: Sequence[Trial], shapes: Mapping[str, str]) -> Repeats:
    """How often models repeated a program; a program without a shape only equals itself."""
    programs = [[shapes.get(try_.code, try_.code) for try_ in trial.tries if try_.code is not None] for trial in trials]
    again = [len(tried) - len(set(tried)) for tried in programs]
    return Repeats(sum(map(len, programs)), sum(again), sum(number > 0 for number in again))


def _attempt(scored: Sequence[Trial], number: int) -> Attempt:
    at_risk = [trial for trial in scored if _length(trial) >= number]
    ended = [trial for trial in at_risk if _length(trial) == number]
    tries = [trial.tries[number - 1] for trial in at_risk if trial.tries]
    shares = [try_.tests_passed / try_.tests_total if try_.tests_total else float(try_.gate_passed) for try_ in tries]
    return Attempt(
        attempt=number,
        at_risk=len(at_risk),
        solved=sum(trial.solved for trial in ended),
        false_passes=sum(bool(trial.gate_passed) and not trial.solved for trial in ended),
        hazard=clustered(counted((trial.problem, trial.solved and _length(trial) == number) for trial in at_risk)),
        tests=sum(shares) / len(shares) if shares else None,
        tested=len(shares),
    )


def _length(trial: Trial) -> int:
    return len(trial.tries) or trial.attempts
