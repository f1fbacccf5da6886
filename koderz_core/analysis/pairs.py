"""Comparison of configurations with a baseline on the same problems: figures, paired tests, choice of the baseline."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf
from typing import TYPE_CHECKING

from koderz_core.analysis.bounds import ALPHA, Cases, WorstCase, worst_case
from koderz_core.analysis.energy import rental_usd
from koderz_core.analysis.many import compatible, holm
from koderz_core.analysis.paired import Paired, paired
from koderz_core.analysis.rates import ClusteredRate, Interval, Rate, rate_of
from koderz_core.records import ScoreKind, Tier
from koderz_core.records.marks import Marks, kinds_by_problem
from koderz_core.records.plans import scripted
from koderz_core.records.progress import SummaryRow, TierCost
from koderz_core.records.trials import Trial

if TYPE_CHECKING:
    from koderz_core.analysis.curves import BreakEven
    from koderz_core.analysis.money import Savings

Key = tuple[str, str]
"""Benchmark and configuration."""
_TIERS: Sequence[Tier] = ("local", "small_frontier", "frontier")
DIRECT, SUPERVISED = "direct", "supervised"
FEWEST = 2  # ablations that make a grid


@dataclass(frozen=True, slots=True)
class Parting:
    """A problem that one of the two solved, or solved in more of its repeats: an experiment of each that shows it.

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

    All intervals hold for all these pairs at once, so also for the one that is picked out. That of ``test`` leaves out
    0 exactly if ``p_adjusted`` is at most ``ALPHA`` (``compatible``). ``worst``: what experiments without a result
    could change, its p adjusted as well; None where all pairs are complete.

    ``partings``: those that only the baseline solved first, for they show what the other lacks. ``price``: its cost per
    solved problem by the baseline's. ``mixed``: on how many problems one of the two is scored by the tests it stopped
    on and the other by held-out tests. ``finding``: all of it in words.
    """

    key: Key
    baseline: Key
    test: Paired
    p_adjusted: float | None
    partings: tuple[Parting, ...]
    price: Interval | None
    break_even: BreakEven | None
    savings: Savings | None
    mixed: int
    worst: WorstCase | None = None
    finding: str = ""

    @property
    def told_apart(self) -> bool:
        """Whether the test, adjusted for how many there are, says that one of them solves more: in the worst case too.

        The worst case is that of experiments without a result.
        """
        worst = self.worst is None or (self.worst.p is not None and self.worst.p <= ALPHA)
        return self.seems_apart and worst

    @property
    def seems_apart(self) -> bool:
        """Whether the test says so of the problems with a result alone."""
        return self.p_adjusted is not None and self.p_adjusted <= ALPHA


def pairs(
    baseline: Compared,
    others: Sequence[Compared],
    trials_by_key: Mapping[Key, Sequence[Trial]],
) -> tuple[Pair, ...]:
    """One pair per other configuration, in their order."""
    from koderz_core.analysis.curves import break_even  # noqa: PLC0415 (numpy, which a summary does not need)
    from koderz_core.analysis.money import price_ratio, savings  # noqa: PLC0415 (as above)
    from koderz_core.analysis.tradeoff import common_problems  # noqa: PLC0415 (as above)

    base = trials_by_key[baseline.key]
    tested = sum(bool(common_problems((trials_by_key[one.key], base))) for one in others) or 1
    tests = [paired(trials_by_key[one.key], base, tested) for one in others]
    adjusted = _adjusted([test.p for test in tests])
    worst = _worst([worst_case(trials_by_key[one.key], base, test) for one, test in zip(others, tests, strict=True)])
    found = []
    for one, raw, p, case in zip(others, tests, adjusted, worst, strict=True):
        trials, test = trials_by_key[one.key], compatible(raw, p, ALPHA)
        price, saved = price_ratio(trials, base, tested), savings(trials, base, tested)
        even = break_even(trials, base, tested, _direction(test, p))
        mixed = of_two_kinds((trials, base))
        partings = tuple(_partings(test, trials, base))
        found.append(Pair(one.key, baseline.key, test, p, partings, price, even, saved, mixed, case))
    return tuple(found)


def of_two_kinds(held: Iterable[Sequence[Trial]]) -> int:
    """On how many problems one of these is scored by the tests it stopped on, and another by held-out tests."""
    kinds: defaultdict[str, set[ScoreKind]] = defaultdict(set)
    for trials in held:
        scored = ((one.problem, one.score_kind) for one in trials if one.scored)
        for problem, kind in kinds_by_problem(scored).items():
            kinds[problem].add(kind)
    return sum(len(one) > 1 for one in kinds.values())


def _adjusted(p: Sequence[float | None]) -> list[float | None]:
    """By Holm over those that are known."""
    left = iter(holm([one for one in p if one is not None]))
    return [None if one is None else next(left) for one in p]


def _worst(found: Sequence[WorstCase]) -> list[WorstCase | None]:
    """With adjusted p, of every pair if any has a missing result: how far p is raised depends on all of them."""
    if not any(one.missing for one in found):
        return [None] * len(found)
    return [replace(one, p=p) for one, p in zip(found, _adjusted([one.p for one in found]), strict=True)]


def telling(found: Sequence[Pair]) -> Pair | None:
    """The pair to look at first: of those that solve more for less per solved problem the cheapest, else of those that
    cannot be told to solve less for less, else of those that solve more, else that cannot be told to, else any. Those
    whose two are scored by tests of different kinds on most problems come after all others.
    """
    return min(found, key=_interest, default=None)


def _direction(test: Paired, p: float | None) -> int | None:
    """1 or -1: the test says that the one solves more or less than the baseline; 0: neither; None: it was not made."""
    if p is None or test.difference is None:
        return None
    return 0 if p > ALPHA else 1 if test.difference > 0 else -1


def _interest(pair: Pair) -> tuple[bool, int, float]:
    difference, mixed = pair.test.difference, 2 * pair.mixed > pair.test.n
    price = pair.price.value if pair.price else inf
    if difference is None or (pair.told_apart and difference < 0):
        return mixed, 4, -(difference or -1.0)
    return mixed, (0 if pair.told_apart else 1) + (0 if price < 1 else 2), price


def _partings(test: Paired, of_it: Sequence[Trial], of_baseline: Sequence[Trial]) -> Iterator[Parting]:
    for problems, by_baseline in ((test.ids.only_b, True), (test.ids.only_a, False)):
        for problem in problems:
            it = _shown(of_it, problem, solved=not by_baseline)
            other = _shown(of_baseline, problem, solved=by_baseline)
            yield Parting(problem, by_baseline, it.experiment, other.experiment, it.code, other.code)


def _shown(trials: Sequence[Trial], problem: str, *, solved: bool) -> Trial:
    """The first repeat that went that way: who solved more of them has one solved, the other has one unsolved."""
    return next(one for one in trials if one.problem == problem and one.scored and one.solved == solved)


@dataclass(frozen=True, slots=True)
class Compared:
    """One configuration of one benchmark.

    ``letter``: what it is called where its label has no room, by its place in the comparison.
    ``n`` experiments were solved or unsolved; ``share`` of them solved, None if there are none. ``rate`` has the
    interval too, clustered by problem where problems are repeated; None where their trials were not looked at.
    ``marks``: by which tests it is scored.
    ``tier``: the highest that answered a call. Costs are None if unknown. ``cost_usd`` is of all calls so far; per
    experiment it is of those that ended, with a result or without: infinite if money was spent on none, nan if nothing
    was. What a solved problem costs only trials can tell (``Measured.price``).
    ``rental_usd``: what its calls to local models would have cost where the same weights are rented.
    """

    letter: str
    benchmark: str
    configuration: str
    label: str
    strategy: str
    tier: Tier | None
    scripted: bool
    rate: Rate | ClusteredRate | None
    share: float | None
    n: int
    planned: int
    solved: int
    unsolved: int
    errors: int
    cancelled: int
    running: int
    marks: Marks
    cost_usd: float | None
    cost_per_experiment_usd: float | None
    seconds_per_experiment: float | None
    mean_iterations: float | None
    tiers: tuple[TierCost, ...]
    rental_usd: float | None = None

    @property
    def missing(self) -> int:
        """How many of the planned experiments have no result, whether they ended without one or have not ended."""
        return self.planned - self.n

    @property
    def not_ended(self) -> int:
        """How many of these have not ended."""
        return self.missing - self.errors - self.cancelled

    @property
    def cases(self) -> Cases | None:
        """The share solved of all planned if none of the missing was solved, and if all were; None if none is planned.

        Every problem is planned equally often, so that these are means over problems as ``share`` is.
        """
        if not self.missing and self.share is not None:
            return Cases(self.share, self.share)
        return Cases(self.solved / self.planned, 1 - self.unsolved / self.planned) if self.planned else None

    @property
    def key(self) -> tuple[str, str]:
        """What tells it from all others, as in ``Trial``."""
        return self.benchmark, self.configuration


def compared(row: SummaryRow, place: int) -> Compared:
    """What the summary of a configuration says; ``place``: its place in the comparison, from 0."""
    n = row.solved + row.unsolved
    ended = n + row.errors + row.cancelled
    return Compared(
        letter=letter(place),
        benchmark=row.benchmark,
        configuration=row.configuration,
        label=row.label,
        strategy=row.strategy,
        tier=_highest(row.tiers),
        scripted=scripted(model for members in row.models.values() for model in members),
        rate=rate_of(row),
        share=row.solved / n if n else None,
        n=n,
        planned=row.planned,
        solved=row.solved,
        unsolved=row.unsolved,
        errors=row.errors,
        cancelled=row.cancelled,
        running=row.running,
        marks=row.marks,
        cost_usd=row.cost_usd,
        cost_per_experiment_usd=_per(row.ended_cost_usd, ended),
        seconds_per_experiment=row.seconds / ended if ended else None,
        mean_iterations=row.mean_iterations,
        tiers=row.tiers,
        rental_usd=rental_usd(row.tiers),
    )


def letter(place: int) -> str:
    """A, B, ... Z, then AA, AB, ...: by its place, from 0."""
    return (letter(place // 26 - 1) if place >= 26 else "") + chr(ord("A") + place % 26)


def _highest(tiers: Sequence[TierCost]) -> Tier | None:
    called = [one.tier for one in tiers if one.tier is not None and one.calls]
    return max(called, key=_TIERS.index, default=None)


def _per(cost_usd: float | None, number: int) -> float | None:
    if cost_usd is None or number:
        return None if cost_usd is None else cost_usd / number
    return math.inf if cost_usd else math.nan


def usual_baseline(rows: Sequence[SummaryRow]) -> SummaryRow | None:
    """What others are ablations of, else the frontier model asked once, else the dearest asked once, else the first.

    All on these problems. Of several frontier models the dearest per experiment; a price that is not known counts as
    none. None of none.
    """
    if whole := ablated(rows):
        return whole
    asked_once = frontier_asked_once(rows) or [row for row in rows if row.strategy == DIRECT] or rows[:1]
    return max(asked_once, key=lambda row: (row.cost_usd or 0.0) / (row.planned or 1), default=None)


def frontier_asked_once(rows: Sequence[SummaryRow]) -> list[SummaryRow]:
    """The measured baselines: what frontier models solve when they are asked directly; errors measure nothing."""
    asked = [row for row in rows if row.strategy == DIRECT and any(one.tier == "frontier" for one in row.tiers)]
    return [row for row in asked if row.solved or row.unsolved]


def ablated(rows: Sequence[SummaryRow]) -> SummaryRow | None:
    """The supervised one that at least two others are ablations of, more than of any other; None: there is none."""
    counts = [sum(_is_ablation(other, row) for other in rows) for row in rows]
    most = max(counts, default=0)
    return rows[counts.index(most)] if most >= FEWEST and counts.count(most) == 1 else None


def _is_ablation(row: SummaryRow, whole: SummaryRow) -> bool:
    """Whether it is the whole but for one thing; a switch is one that was on there."""
    kin = row.strategy == whole.strategy == SUPERVISED and row.benchmark == whole.benchmark
    same = (row.gate, row.feedback) == (whole.gate, whole.feedback)
    if not kin or not same or any(members != whole.models.get(role) for role, members in row.models.items()):
        return False
    names = row.parameters.keys() | whole.parameters.keys()
    changed = {name for name in names if row.parameters.get(name) != whole.parameters.get(name)}
    changed -= {"retry_temperature"} if "temperature" in changed else set()
    return len(changed) == 1 and all(row.parameters.get(name) is not True for name in changed)
