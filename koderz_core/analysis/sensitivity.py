"""What a plan can show: how large a difference must be to be seen, and what past pairs say about its configurations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations
from math import inf
from statistics import median

from koderz_core.analysis.power import detectable, observed_discordance
from koderz_core.records import Configuration, Plan
from koderz_core.records.forecasts import PastPair
from koderz_core.records.plans import scripted

ASSUMED_DISCORDANCE = 0.25
"""Share of problems on which two configurations are assumed to differ where no past pair tells. In koderz' own study
(docs/study) the three pairs that were chosen before it began differed on 14 or 15 of 60 problems of HumanEval+."""

_LEVEL = 0.05
_Kind = tuple[str, tuple[tuple[str, tuple[str, ...]], ...]]


@dataclass(frozen=True, slots=True)
class Expectation:
    """How two configurations of a plan are expected to differ, and what that is known from.

    ``discordance``: on what share of the problems; the median over ``pairs`` past pairs, an assumption if these are 0.
    ``same``: they were of strategies and models that the plan pairs too, otherwise of any on its ``dataset``.
    ``from_chance``: as ``PastPair`` has it, the median over ``repeated`` of them; None if these are 0.
    """

    dataset: str
    discordance: float = ASSUMED_DISCORDANCE
    pairs: int = 0
    same: bool = False
    from_chance: float | None = None
    repeated: int = 0


@dataclass(frozen=True, slots=True)
class Visible:
    """True differences, as shares of problems: one that half of all benchmarks show, one that four in five do."""

    half: float
    most: float


def expected(plan: Plan, past: Sequence[PastPair]) -> Expectation:
    """What past pairs on its dataset say about the pairs of a plan.

    Those of the same strategies and models as two configurations of the plan, otherwise all. Those with scripted models
    say nothing about models, so they count only for plans that have some as well.
    """
    wanted = {_pair(_kind(one), _kind(other)) for one, other in combinations(plan.configurations, 2)}
    comparable = [pair for pair in past if _scripted(pair) == scripted(plan.models())]
    same = [pair for pair in comparable if _pair(*map(_kind_of, pair.strategies, pair.models)) in wanted]
    like = same or comparable
    if not like:
        return Expectation(plan.dataset.name)
    from_chance = [pair.from_chance for pair in like if pair.from_chance is not None]
    return Expectation(
        plan.dataset.name,
        median(observed_discordance(pair.discordant, pair.problems) for pair in like),
        len(like),
        bool(same),
        median(from_chance) if from_chance else None,
        len(from_chance),
    )


@cache
def visible(n: int, pairs: int, discordance: float, variance_left: float) -> Visible | None:
    """What ``n`` problems show of each of so many pairs; None if no difference can be significant.

    With more than two configurations each is held against one of them, and told apart by the strictest step that Holm's
    adjustment may take: the level divided by the number of such pairs.
    """
    half, most = (detectable(n, discordance, power, _LEVEL / pairs, variance_left) for power in (0.5, 0.8))
    return None if half == inf else Visible(half, most)


def _scripted(pair: PastPair) -> bool:
    return scripted(name for models in pair.models for members in models.values() for name in members)


def _kind(of: Configuration) -> _Kind:
    return _kind_of(of.strategy, of.models)


def _kind_of(strategy: str, models: Mapping[str, tuple[str, ...]]) -> _Kind:
    return strategy, tuple(sorted(models.items()))


def _pair(one: _Kind, other: _Kind) -> tuple[_Kind, ...]:
    return tuple(sorted((one, other)))
