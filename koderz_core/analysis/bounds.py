"""What experiments without a result could change: worst and best case, without assumptions about why they are missing.

Manski, "Nonparametric Bounds on Treatment Effects", American Economic Review 80 (1990) 319-323. An experiment may be
missing because it was hard (it ran longest when the budget ended), so omitting it can flatter a configuration.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement, product
from math import comb, prod
from statistics import fmean
from typing import TypeVar

from msgspec import structs

from koderz_core.analysis.paired import Paired, paired
from koderz_core.analysis.rates import by_problem
from koderz_core.records.trials import Trial

K = TypeVar("K")
ALPHA = 0.05
MOST_COMPLETIONS = 128
"""The most completions that are tested: each test takes 1 to 50 ms."""
_Counts = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Cases:
    """Bounds of a share, or of a difference of shares, of all planned experiments."""

    worst: float
    best: float


@dataclass(frozen=True, slots=True)
class WorstCase:
    """Two configurations on all problems that both were given.

    ``missing``: how many of their experiments there have no result. ``difference``: a's share solved less b's, at least
    (a's missing experiments unsolved, b's solved) and at most. ``p``: the largest p of the paired test over all
    possible missing results; if it is above ``ALPHA``, it may be a smaller one that is above it too. It is 1 if some
    possible results leave no difference, or if there are too many to test them all. If nothing is missing, the figures
    are those of ``Paired``.
    """

    missing: int
    difference: Cases | None
    p: float | None


def completed(trials: Sequence[Trial], *, solved: bool) -> list[Trial]:
    """The same trials with every missing result filled in."""
    outcome = "solved" if solved else "unsolved"
    return [trial if trial.scored else structs.replace(trial, outcome=outcome) for trial in trials]


def cases(trials: Sequence[Trial]) -> Cases | None:
    """The share solved of all planned trials, every problem weighing the same; None if none is planned."""
    worst, best = (by_problem(completed(trials, solved=solved)).values() for solved in (False, True))
    if not worst:
        return None
    return Cases(fmean(solved / n for solved, n in worst), fmean(solved / n for solved, n in best))


def given_to_all(trials_by_key: Mapping[K, Sequence[Trial]]) -> dict[K, list[Trial]]:
    """The trials of the problems that were given to all, with or without a result."""
    found = [{trial.problem for trial in trials} for trials in trials_by_key.values()]
    return within(trials_by_key, set.intersection(*found) if found else ())


def within(trials_by_key: Mapping[K, Sequence[Trial]], problems: Collection[str]) -> dict[K, list[Trial]]:
    """The trials of these problems."""
    return {key: [trial for trial in trials if trial.problem in problems] for key, trials in trials_by_key.items()}


def on_common_problems(a: Sequence[Trial], b: Sequence[Trial]) -> tuple[list[Trial], list[Trial]]:
    """The trials of the problems that were given to both, with or without a result."""
    of_a, of_b = given_to_all({"a": a, "b": b}).values()
    return of_a, of_b


def worst_case(a: Sequence[Trial], b: Sequence[Trial], test: Paired) -> WorstCase:
    """The worst case of ``test``, of a against b, over their missing results."""
    of_a, of_b = on_common_problems(a, b)
    missing = sum(not trial.scored for trial in (*of_a, *of_b))
    if not missing:
        known = None if test.difference is None else Cases(test.difference, test.difference)
        return WorstCase(0, known, test.p)
    cases_a, cases_b = cases(of_a), cases(of_b)
    assert cases_a
    assert cases_b  # a problem with a missing result was given to both
    difference = Cases(cases_a.worst - cases_b.best, cases_a.best - cases_b.worst)
    if test.difference is None or test.p is None:
        return WorstCase(missing, difference, None)
    better = test.difference > 0
    left = difference.worst if better else -difference.best
    if left <= 0:
        return WorstCase(missing, difference, 1.0)
    against = paired(completed(of_a, solved=not better), completed(of_b, solved=better))
    if against.method == "exact McNemar" or against.p is None or against.p > ALPHA:
        return WorstCase(missing, difference, against.p)
    return WorstCase(missing, difference, _largest_p(of_a, of_b))


def _largest_p(a: Sequence[Trial], b: Sequence[Trial]) -> float:
    """Over all possible missing results, up to the first p above ``ALPHA``; 1 if there are too many of them.

    With repeats, the p of a studentized statistic can be larger although fewer results contradict the difference, so
    no single completion is known to be the worst. Problems with the same counts are interchangeable.
    """
    from koderz_core.analysis.permutation import label_permutation  # noqa: PLC0415 (numpy is slow to import)

    possibilities = Counter(zip(_possible(a), _possible(b), strict=True))
    kinds = [(tuple(product(*possible)), problems) for possible, problems in possibilities.items()]
    if prod(comb(len(results) + problems - 1, problems) for results, problems in kinds) > MOST_COMPLETIONS:
        return 1.0
    largest = 0.0
    for completion in product(*(combinations_with_replacement(results, problems) for results, problems in kinds)):
        tables = [table for some in completion for table in some]
        largest = max(largest, label_permutation([of_a for of_a, _ in tables], [of_b for _, of_b in tables]))
        if largest > ALPHA:
            break
    return largest


def _possible(trials: Sequence[Trial]) -> Iterator[tuple[_Counts, ...]]:
    """By problem, the possible counts of solved trials, of all planned."""
    by_id: defaultdict[str, list[Trial]] = defaultdict(list)
    for trial in trials:
        by_id[trial.problem].append(trial)
    for _, of_problem in sorted(by_id.items()):
        solved = sum(trial.solved for trial in of_problem)
        missing = sum(not trial.scored for trial in of_problem)
        yield tuple((solved + more, len(of_problem)) for more in range(missing + 1))
