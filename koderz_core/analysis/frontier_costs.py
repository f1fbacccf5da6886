"""What models cost and solve when they are asked directly, as measured, with how sure that is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from koderz_core.analysis.bootstrap import Interval, ratio_interval
from koderz_core.analysis.rates import ClusteredRate, clustered
from koderz_core.records.measurements import Measured


@dataclass(frozen=True, slots=True)
class FrontierCost:
    """``usd``: dollars per problem, None if a call has no price."""

    measured: Measured
    rate: ClusteredRate
    usd: Interval | None


def frontier_cost(one: Measured) -> FrontierCost:
    """The rate and the mean cost of a model that was asked directly, both over problems."""
    held: dict[str, list[int]] = {}
    for place, problem in enumerate(one.problems):
        held.setdefault(problem, []).append(place)
    counts = {problem: (sum(one.solved[at] for at in places), len(places)) for problem, places in held.items()}
    return FrontierCost(one, clustered(counts), _usd([[one.usd[at] for at in places] for places in held.values()]))


def _usd(by_problem: Sequence[Sequence[float | None]]) -> Interval | None:
    known = [[usd for usd in repeats if usd is not None] for repeats in by_problem]
    if not known or any(len(some) < len(repeats) for some, repeats in zip(known, by_problem, strict=True)):
        return None
    return ratio_interval(np.array([sum(some) / len(some) for some in known]), np.ones(len(known)))
