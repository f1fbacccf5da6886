"""Configurations against a baseline on the same problems: paired tests, prices, the problems that differ."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf

from koderz_core.analysis.bounds import ALPHA, WorstCase, worst_case
from koderz_core.analysis.configurations import ConfigurationFigures
from koderz_core.analysis.curves import BreakEven, break_even
from koderz_core.analysis.money import Savings, price_ratio, savings
from koderz_core.analysis.multiplicity import compatible, holm_of_known
from koderz_core.analysis.noninferiority import COST_MARGIN, MARGIN, CostMatch, Match, adjusted, cost_match, match
from koderz_core.analysis.paired import Paired, paired
from koderz_core.analysis.rates import Interval
from koderz_core.analysis.tradeoff import common_problems
from koderz_core.records import ScoreKind
from koderz_core.records.marks import kinds_by_problem
from koderz_core.records.trials import Trial, id_in_dataset

Key = tuple[str, str]
"""Benchmark and configuration."""


@dataclass(frozen=True, slots=True)
class DiscordantProblem:
    """A problem that one of the two solved in a larger share of its repeats, with an experiment of each as an example.

    ``code``: SHA-256 of the program that the experiment returned, None if it returned none.
    """

    problem: str
    solved_by_baseline: bool
    experiment: str
    baseline_experiment: str
    code: str | None
    baseline_code: str | None


@dataclass(frozen=True, slots=True)
class Pair:
    """A configuration, ``a`` of ``test``, against the baseline, ``b``; ``p_adjusted`` by Holm over all these pairs.

    All intervals hold for all these pairs at once, so also for a selected pair. That of ``test`` excludes 0 exactly if
    ``p_adjusted`` is at most ``ALPHA`` (``compatible``). ``worst``: what experiments without a result could change, its
    p adjusted as well; None if all pairs are complete.

    ``partings``: the discordant problems, those that only the baseline solved first, because they show what the other
    lacks. ``price``: its cost per solved problem divided by the baseline's. ``mixed``: on how many problems one of the
    two is scored by the tests it stopped on and the other by held-out tests; ``reported``: on how many an imported file
    states the results of one and koderz scored the other. ``match``: whether it matches the baseline within a margin;
    None without a common problem. ``cost_match``: whether it is no more expensive; None if that is unknown.
    ``sequential``: the benchmark stops depending on the results of this pair, so tests and intervals would not be valid
    and are None. ``finding``: all of it in words.
    """

    key: Key
    baseline: Key
    test: Paired
    p_adjusted: float | None
    partings: tuple[DiscordantProblem, ...]
    price: Interval | None
    break_even: BreakEven | None
    savings: Savings | None
    mixed: int
    worst: WorstCase | None = None
    reported: int = 0
    match: Match | None = None
    cost_match: CostMatch | None = None
    sequential: bool = False
    finding: str = ""

    @property
    def significant(self) -> bool:
        """Whether the difference is significant after the adjustment, also in the worst case of missing results."""
        worst = self.worst is None or (self.worst.p is not None and self.worst.p <= ALPHA)
        return self.significant_so_far and worst

    @property
    def significant_so_far(self) -> bool:
        """Whether the difference is significant on the problems with a result alone."""
        return self.p_adjusted is not None and self.p_adjusted <= ALPHA


def pairs(
    baseline: ConfigurationFigures,
    others: Sequence[ConfigurationFigures],
    trials_by_key: Mapping[Key, Sequence[Trial]],
    margin: float = MARGIN,
    cost_margin: float = COST_MARGIN,
    untested: Collection[frozenset[Key]] = (),
) -> tuple[Pair, ...]:
    """One pair per other configuration, in their order. ``margin``: of ``match``; ``cost_margin``: of its cost.

    ``untested``: the pairs that sequential benchmarks depend on. They have no tests and no intervals, and other pairs
    are not adjusted for them.
    """
    base = trials_by_key[baseline.key]
    valid = [other for other in others if frozenset((other.key, baseline.key)) not in untested]
    tested = sum(bool(common_problems((trials_by_key[other.key], base))) for other in valid) or 1
    tests = [_tested(paired(trials_by_key[other.key], base, tested), valid=other in valid) for other in others]
    adjusted_p = holm_of_known([test.p for test in tests])
    worst = _worst([worst_case(trials_by_key[it.key], base, test) for it, test in zip(others, tests, strict=True)])
    matches = adjusted([match(trials_by_key[it.key], base, margin) if it in valid else None for it in others])
    found = []
    for other, raw, p, case, matched in zip(others, tests, adjusted_p, worst, matches, strict=True):
        trials, test = trials_by_key[other.key], compatible(raw, p, ALPHA)
        price, saved = price_ratio(trials, base, tested), savings(trials, base, tested)
        even = break_even(trials, base, tested, _direction(test, p))
        mixed, reported = (of_two_kinds((trials, base), kind) for kind in ("oracle", "reported"))
        partings = tuple(_partings(test, trials, base))
        cheap = cost_match(trials, base, cost_margin, tested)
        of = (test, p, partings, price, even, saved, mixed, case, reported, matched, cheap)
        pair = Pair(other.key, baseline.key, *of)
        found.append(pair if other in valid else _without_intervals(pair))
    return tuple(found)


def _tested(test: Paired, *, valid: bool) -> Paired:
    """Without a p and an interval if they are not valid."""
    return test if valid else replace(test, p=None, low=None, high=None)


def _without_intervals(pair: Pair) -> Pair:
    """The pair of a sequential benchmark, without costs that were tested and without the intervals of costs."""
    even, saved = pair.break_even, pair.savings
    return replace(
        pair,
        price=pair.price and _value(pair.price),
        cost_match=None,
        break_even=even and replace(even, low=None, high=None, never=None),
        savings=saved and replace(saved, saved_usd=_value(saved.saved_usd), share=saved.share and _value(saved.share)),
        sequential=True,
    )


def _value(of: Interval) -> Interval:
    """The number without its bounds."""
    return Interval(of.value, None, None)


def of_two_kinds(groups: Iterable[Sequence[Trial]], one: ScoreKind = "oracle") -> int:
    """On how many problems one of these has a score of the kind ``one``, and another one of another kind."""
    kinds: defaultdict[str, set[ScoreKind]] = defaultdict(set)
    for trials in groups:
        scored = ((trial.problem, trial.score_kind) for trial in trials if trial.scored)
        for problem, kind in kinds_by_problem(scored).items():
            kinds[problem].add(kind)
    return sum(len(kind) > 1 and one in kind for kind in kinds.values())


def _worst(cases: Sequence[WorstCase]) -> list[WorstCase | None]:
    """With adjusted p, for every pair if any has a missing result, because the adjustment depends on all pairs."""
    if not any(case.missing for case in cases):
        return [None] * len(cases)
    return [replace(case, p=p) for case, p in zip(cases, holm_of_known([case.p for case in cases]), strict=True)]


def leading_pair(found: Sequence[Pair]) -> Pair | None:
    """The pair to look at first; None if there are no pairs.

    A significant difference comes before one that missing results could make insignificant, and before all others. Then
    in this order: more solved for less per solved problem; more for more; fewer, the smallest difference first. Without
    a significant difference, the cheapest comes first, and pairs without a test come last. Pairs scored by tests of
    different kinds on most problems come after all others, because their difference is not due to the configurations
    alone.
    """
    return min(found, key=_interest, default=None)


def _direction(test: Paired, p: float | None) -> int | None:
    """1 or -1: it solves significantly more or less than the baseline; 0: no significant difference; None: no test."""
    if p is None or test.difference is None:
        return None
    return 0 if p > ALPHA else 1 if test.difference > 0 else -1


def _interest(pair: Pair) -> tuple[bool, int, int, float]:
    difference, mixed = pair.test.difference, 2 * pair.mixed > pair.test.n
    price = pair.price.value if pair.price else inf
    if difference is None or pair.sequential:
        return mixed, 3, 0, price
    if not pair.significant_so_far:
        return mixed, 2, 0, price
    certainty = 0 if pair.significant else 1
    return (mixed, certainty, 2, -difference) if difference < 0 else (mixed, certainty, int(price >= 1), price)


def _partings(test: Paired, of_it: Sequence[Trial], of_baseline: Sequence[Trial]) -> Iterator[DiscordantProblem]:
    for problems, by_baseline in ((test.ids.only_b, True), (test.ids.only_a, False)):
        for problem in problems:
            it = _shown(of_it, problem, solved=not by_baseline)
            other = _shown(of_baseline, problem, solved=by_baseline)
            examples = (it.experiment, other.experiment, it.code, other.code)
            yield DiscordantProblem(id_in_dataset(problem), by_baseline, *examples)


def _shown(trials: Sequence[Trial], problem: str, *, solved: bool) -> Trial:
    """The first repeat with this result; both exist, because the two solved different shares of their repeats."""
    return next(trial for trial in trials if trial.problem == problem and trial.scored and trial.solved == solved)
