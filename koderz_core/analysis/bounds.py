"""What experiments without a result could change: the worst and the best case, with no assumption why they are missing.

Manski, "Nonparametric Bounds on Treatment Effects", American Economic Review 80 (1990) 319-323. An experiment may be
missing because it was hard (it ran longest when the budget ended), so leaving it out can flatter a configuration.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from msgspec import structs

from koderz_core.analysis.paired import Paired, paired
from koderz_core.analysis.rates import by_problem
from koderz_core.records.trials import Trial


@dataclass(frozen=True, slots=True)
class Cases:
    """A share, or a difference of shares, of all planned experiments: ``worst`` and ``best`` bound what it can be."""

    worst: float
    best: float


@dataclass(frozen=True, slots=True)
class WorstCase:
    """Two configurations on all problems that both were given.

    ``missing``: how many of their experiments there have no result. ``difference``: a's share solved less b's, at
    least (a's missing ones unsolved, b's solved) and at most. ``p``: that of the paired test with the missing ones
    counted against whichever solves more of what has a result; 1 if that turns the difference round, as then some
    results of the missing ones leave no difference at all. Where nothing is missing all is as in ``Paired``.
    """

    missing: int
    difference: Cases | None
    p: float | None


def filled(trials: Sequence[Trial], *, solved: bool) -> list[Trial]:
    """The same with every missing result made up."""
    outcome = "solved" if solved else "unsolved"
    return [one if one.scored else structs.replace(one, outcome=outcome) for one in trials]


def cases(trials: Sequence[Trial]) -> Cases | None:
    """The share solved of all that was planned, every problem weighing the same; None if nothing was."""
    worst, best = (by_problem(filled(trials, solved=solved)).values() for solved in (False, True))
    if not worst:
        return None
    return Cases(fmean(solved / n for solved, n in worst), fmean(solved / n for solved, n in best))


def worst_case(a: Sequence[Trial], b: Sequence[Trial], test: Paired) -> WorstCase:
    """What ``test``, of a against b, becomes if their missing results are made up."""
    given = {one.problem for one in a} & {one.problem for one in b}
    of_a, of_b = ([one for one in trials if one.problem in given] for trials in (a, b))
    missing = sum(not one.scored for one in (*of_a, *of_b))
    if not missing:
        known = None if test.difference is None else Cases(test.difference, test.difference)
        return WorstCase(0, known, test.p)
    its, others = cases(of_a), cases(of_b)
    assert its
    assert others  # what is missing was given to both
    difference = Cases(its.worst - others.best, its.best - others.worst)
    if test.difference is None or test.p is None:
        return WorstCase(missing, difference, None)
    better = test.difference > 0
    left = difference.worst if better else -difference.best
    if left <= 0:
        return WorstCase(missing, difference, 1.0)
    against = paired(filled(of_a, solved=not better), filled(of_b, solved=better))
    return WorstCase(missing, difference, against.p)
