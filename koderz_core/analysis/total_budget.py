"""How much of a whole set a configuration solves under one budget for all problems, attempt by attempt."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from koderz_core.analysis.bootstrap import Array, sums, weights
from koderz_core.analysis.incidence import Axis, amount_used
from koderz_core.analysis.rates import Interval, share_bounds_of
from koderz_core.records.trials import Trial

RESAMPLED = 500  # resamples: enough for a variance


@dataclass(frozen=True, slots=True)
class Breadth:
    """After each number of attempts on every unsolved problem: the mean amount ``spent`` per problem and the ``share``.

    On ``problems`` with a result. Both begin with 0. The first attempts of all problems come before the second
    attempts, so what solved problems do not need is left for the others.
    """

    problems: int
    spent: tuple[float, ...]
    share: tuple[float, ...]
    spent_by_problem: Array
    solved_by_problem: Array

    def at(self, budget: float) -> Interval | None:
        """The share solved with this mean amount per problem; None if the configuration never spends as much.

        Between two numbers of attempts, problems come in random order, so the share is a straight line between both.
        The variance is that of resamples of problems, because further problems may cost more or less than these.
        """
        if not 0 <= budget <= self.spent[-1] * (1 + 1e-9):
            return None
        share = float(np.interp(budget, self.spent, self.share))
        drawn = weights(self.problems)[:, :RESAMPLED] / self.problems
        spent, solved = (sums(of.T, drawn).T for of in (self.spent_by_problem, self.solved_by_problem))
        variance = np.var([np.interp(budget, *lines) for lines in zip(spent, solved, strict=True)])
        return Interval(share, *share_bounds_of(share, float(variance) * self.problems, self.problems))


def breadth_first(trials: Sequence[Trial], axis: Axis) -> Breadth | None:
    """The coverage of a set of problems under one total budget; None if an amount is unknown or nothing has a result.

    Meir, Keidar, Levi, Reuveni and Hirshberg, "More Bang for the Buck", arXiv 2601.21522 (2026): one attempt for each
    unsolved problem in turn (reset and discard) solves more than many attempts on one problem after the other. koderz
    replays the attempts that were made: a problem leaves as soon as its experiment ended.
    """
    by_problem: dict[str, list[list[tuple[float, bool]]]] = {}
    for trial in trials:
        if trial.scored:
            attempts = _attempts(trial, axis)
            if attempts is None:
                return None
            by_problem.setdefault(trial.problem, []).append(attempts)
    if not by_problem:
        return None
    rounds = max(len(attempts) for of in by_problem.values() for attempts in of)
    spent, solved = np.zeros((2, len(by_problem), rounds + 1))
    for row, of in enumerate(by_problem.values()):
        for attempts in of:
            padded = [(0.0, False), *attempts] + [attempts[-1]] * (rounds - len(attempts))
            spent[row] += [amount / len(of) for amount, _ in padded]
            solved[row] += [passed / len(of) for _, passed in padded]
    return Breadth(
        len(by_problem), tuple(spent.mean(axis=0).tolist()), tuple(solved.mean(axis=0).tolist()), spent, solved
    )


def _attempts(trial: Trial, axis: Axis) -> list[tuple[float, bool]] | None:
    """The amount used up to the end of each attempt, and whether the trial is solved then; None if one is unknown."""
    used: list[float | None] = [getattr(attempt, axis) for attempt in trial.tries[:-1]]
    used.append(amount_used(trial, axis))
    if any(amount is None for amount in used):
        return None
    return [(float(amount or 0.0), trial.solved and place == len(used)) for place, amount in enumerate(used, 1)]
