"""Many configurations: which pairs differ significantly when all pairs are tested."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import TypeVar

from koderz_core.analysis.bounds import worst_case
from koderz_core.analysis.paired import Paired, paired
from koderz_core.analysis.rates import by_problem, clustered
from koderz_core.records.trials import Trial

K = TypeVar("K", bound=Hashable)


def holm(p: Sequence[float]) -> list[float]:
    """The p-values, in their order, adjusted for their number: a family has a false positive with chance at most alpha.

    Holm, "A Simple Sequentially Rejective Multiple Test Procedure", Scandinavian Journal of Statistics 6 (1979) 65-70.
    """
    adjusted, highest = [0.0] * len(p), 0.0
    for place, index in enumerate(sorted(range(len(p)), key=p.__getitem__)):
        highest = max(highest, min(1.0, (len(p) - place) * p[index]))
        adjusted[index] = highest
    return adjusted


def holm_of_known(p: Sequence[float | None]) -> list[float | None]:
    """As ``holm`` over the p-values that are known; the others stay None."""
    left = iter(holm([value for value in p if value is not None]))
    return [None if value is None else next(left) for value in p]


def compatible(test: Paired, p: float | None, alpha: float = 0.05) -> Paired:
    """The test with an interval that never contradicts ``p``, which is its own p adjusted for the number of tests.

    If p is at most ``alpha``, 0 is not in the interval: a bound on the other side of 0 becomes 0, which is then
    excluded. Otherwise 0 is in it. So the interval contains a true difference of 0 exactly as often as the test does
    not reject it, and any other difference at least as often as before, except for rejections in the wrong direction.
    The compatible one-sided bounds for Holm's procedure have 0 there too: Strassburger and Bretz, Statistics in
    Medicine 27 (2008) 4914-4927; Guilbaud, Biometrical Journal 50 (2008) 678-692. Those hold for all pairs at once by
    construction. These start from Bonferroni's intervals, which are two-sided and more informative if p is small;
    simulations confirm their coverage (docs/statistics.md).
    """
    if p is None or test.low is None or test.high is None or test.difference is None:
        return test
    if p > alpha:
        return replace(test, low=min(test.low, 0.0), high=max(test.high, 0.0))
    if test.difference > 0:
        return replace(test, low=max(test.low, 0.0))
    return replace(test, high=min(test.high, 0.0))


def rank_groups(
    keys: Sequence[K],
    trials_by_key: Mapping[K, Sequence[Trial]],
    alpha: float = 0.05,
    untested: Collection[frozenset[K]] = (),
) -> list[tuple[K, ...]]:
    """Groups of configurations, best first: two share a group exactly if they do not differ significantly.

    Two differ significantly if the p of their paired test is at most ``alpha`` after Holm's adjustment over all pairs
    with a common problem, and also in the worst case of experiments without a result (``worst_case``). Groups are as
    large as possible, so a configuration may be in several, for example if it differs neither from the best nor from
    the worst. Inside a group the order is that of ``keys`` and has no meaning; groups are ordered by the shares solved
    of their members, the best first. A configuration without a result is in no group. This is the compact letter
    display, computed by insert-and-absorb: Piepho, Journal of Computational and Graphical Statistics 13 (2004) 456-466.
    ``untested``: pairs whose test is not valid, so that it does not count.
    """
    shares = {key: share for key in keys if (share := clustered(by_problem(trials_by_key[key])).value) is not None}
    known = [key for key in keys if key in shares]
    groups = [frozenset(known)] if known else []
    tested = [pair for pair in combinations(known, 2) if frozenset(pair) not in untested]
    for a, b in _significant(tested, trials_by_key, alpha):
        groups = _split(groups, a, b)
    best_first = {key: place for place, key in enumerate(sorted(known, key=shares.__getitem__, reverse=True))}
    groups.sort(key=lambda group: sorted(best_first[key] for key in group))
    return [tuple(key for key in known if key in group) for group in groups]


def _significant(
    pairs: Sequence[tuple[K, K]], trials_by_key: Mapping[K, Sequence[Trial]], alpha: float
) -> list[tuple[K, K]]:
    tested, known, worst = [], [], []
    for a, b in pairs:
        test = paired(trials_by_key[a], trials_by_key[b])
        case = worst_case(trials_by_key[a], trials_by_key[b], test)
        if test.p is not None and case.p is not None:
            tested.append((a, b))
            known.append(test.p)
            worst.append(case.p)
    adjusted = zip(tested, holm(known), holm(worst), strict=True)
    return [pair for pair, p, at_worst in adjusted if max(p, at_worst) <= alpha]


def _split(groups: Sequence[frozenset[K]], a: K, b: K) -> list[frozenset[K]]:
    """The groups after separating these two, without groups inside another."""
    halves: list[frozenset[K]] = []
    for group in groups:
        halves += [group - {a}, group - {b}] if {a, b} <= group else [group]
    distinct = list(dict.fromkeys(halves))
    return [group for group in distinct if not any(group < larger for larger in distinct)]
