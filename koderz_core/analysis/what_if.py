"""Policies replayed on recorded attempts: what they would have solved and cost. Nothing is asked anew."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from koderz_core.analysis.rates import Interval
from koderz_core.records.attempts import Mixture, Policy, Source


@dataclass(frozen=True, slots=True)
class Replayed:
    """Means over the orders of the draws on one problem. None: a price or time is unknown.

    ``accepted_wrong``: the share in which a wrong program was accepted.
    """

    problem: str
    solved: float
    accepted_wrong: float
    attempts: float
    usd: float | None
    seconds: float | None
    tokens: float | None


@dataclass(frozen=True, slots=True)
class Simulated:
    """What a policy would have done on recorded attempts; means over problems, with 95 % intervals for it alone.

    ``problems``: the results by problem, in natural order. ``left_out``: problems of the benchmarks on which it needs a
    model that was not asked. ``solved``: the share. ``usd``: per problem; ``usd_per_solved``: infinite if none is
    solved. ``loss``: dollars per problem with the price of a wrong answer. None: a price is unknown. ``independent``:
    whether its attempts are independent draws; ``why`` if not. ``folds``: of a tuned policy, on how many folds other
    than those that judged it.
    """

    policy: Policy | Mixture
    sources: tuple[str, ...]
    problems: tuple[Replayed, ...]
    left_out: tuple[str, ...]
    solved: Interval
    accepted_wrong: Interval
    attempts: float
    usd: Interval | None
    usd_per_solved: Interval | None
    loss: Interval | None
    seconds: float | None
    tokens: float | None
    independent: bool
    why: str = ""
    folds: int | None = None


@dataclass(frozen=True, slots=True)
class Tuned:
    """The best of several policies, chosen by the mean loss.

    ``honest``: each problem is judged with the policy that was best on the other folds. ``hindsight``: the policy that
    is best on the same problems that judge it, which looks better than it is. ``chosen``: on how many folds each policy
    was the best.
    """

    honest: Simulated
    hindsight: Simulated
    chosen: Mapping[str, int]


def simulate(
    policy: Policy | Mixture, sources: Mapping[str, Source], problems: Sequence[str], wrong_usd: float = 0.0
) -> Simulated:
    """Raises UsageError if the recorded attempts do not determine what the policy would have done."""
    raise NotImplementedError


def tune(
    policies: Sequence[Policy | Mixture],
    sources: Mapping[str, Source],
    problems: Sequence[str],
    wrong_usd: float,
    folds: int = 5,
) -> Tuned:
    """Raises UsageError as ``simulate``, or if there is no price to tune by."""
    raise NotImplementedError


def folds_of(problems: Sequence[str], folds: int, seed: int = 0) -> tuple[frozenset[str], ...]:
    """The problems in folds of equal size by chance, the same for the same seed."""
    raise NotImplementedError
