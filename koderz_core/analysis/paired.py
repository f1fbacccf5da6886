"""Two configurations on the same problems: which solves more, by how much, and whether that could be chance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import comb, lcm
from statistics import NormalDist
from typing import TYPE_CHECKING, Literal, TypeVar

from koderz_core.analysis.rates import by_problem, simultaneous
from koderz_core.records.plans import natural
from koderz_core.records.trials import Trial

if TYPE_CHECKING:  # numpy is slow to import
    import numpy as np
    from numpy.typing import NDArray

Number = TypeVar("Number", float, "NDArray[np.float64]")
_ByProblem = Mapping[str, tuple[int, int]]
PairedTest = Literal["exact McNemar", "label permutation"]


@dataclass(frozen=True, slots=True)
class Discordant:
    """The problems that one of two configurations solved in a larger share of its repeats than the other."""

    only_a: tuple[str, ...]
    only_b: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Paired:
    """a against b on the ``n`` problems with a result of both; ``unpaired``: the other problems.

    ``only_a`` problems were solved by a alone, with repeats in a larger share of them than by b; ``both`` by both in
    equal shares, ``neither`` by none. ``difference``: a's share solved less b's, from -1 to 1, every problem weighing
    the same; ``low`` and ``high`` bound the true one, at 95 % for ``at_once`` pairs together. ``p``: of ``method``,
    two-sided and for this pair alone. These four are None if ``n`` is 0.
    """

    n: int
    both: int
    only_a: int
    only_b: int
    neither: int
    difference: float | None
    low: float | None
    high: float | None
    p: float | None
    method: PairedTest
    ids: Discordant
    unpaired: int = 0
    at_once: int = 1


def paired(a: Sequence[Trial], b: Sequence[Trial], at_once: int = 1) -> Paired:
    """Compare the trials of two configurations, problem by problem; trials without a result are omitted and counted.

    With one trial of each problem the test is the exact McNemar test, else ``label_permutation``, which generalizes it.
    The interval is ``bonett_price``'s: ``compatible`` makes it agree with the adjusted p.
    """
    of_a, of_b = by_problem(a), by_problem(b)
    problems = sorted(of_a.keys() & of_b.keys(), key=natural)
    unit = lcm(*(n for problem in problems for n in (of_a[problem][1], of_b[problem][1])))
    steps = {problem: _steps(of_a[problem], unit) - _steps(of_b[problem], unit) for problem in problems}
    ids = Discordant(
        tuple(problem for problem in problems if steps[problem] > 0),
        tuple(problem for problem in problems if steps[problem] < 0),
    )
    only_a, only_b = len(ids.only_a), len(ids.only_b)
    both = sum(not steps[problem] and of_a[problem][0] > 0 for problem in problems)
    differences = [step / unit for step in steps.values()]
    low, high = bonett_price(differences, at_once) if problems else (None, None)
    repeated = any(of[problem][1] > 1 for problem in problems for of in (of_a, of_b))
    p = _permuted(of_a, of_b, problems) if repeated else mcnemar(only_a, only_b)
    return Paired(
        n=len(problems),
        both=both,
        only_a=only_a,
        only_b=only_b,
        neither=len(problems) - both - only_a - only_b,
        difference=sum(steps.values()) / unit / len(problems) if problems else None,
        low=low,
        high=high,
        p=p if problems else None,
        method="label permutation" if repeated else "exact McNemar",
        ids=ids,
        unpaired=len({trial.problem for trial in (*a, *b)}) - len(problems),
        at_once=at_once,
    )


def mcnemar(only_a: int, only_b: int) -> float:
    """The two-sided p of the exact test that a problem solved by one alone is equally likely to be a's or b's.

    Twice the smaller binomial tail, at most 1. McNemar, Psychometrika 12 (1947) 153-157; exact and not mid-p, because
    its error rate never exceeds its level.
    """
    n = only_a + only_b
    tail = sum(comb(n, k) for k in range(min(only_a, only_b) + 1))
    return min(1.0, float(2 * tail / 2**n))


def bonett_price(differences: Sequence[float], at_once: int = 1) -> tuple[float, float]:
    """The adjusted Wald 95 % interval of the mean of differences, one per problem, each from -1 to 1; at least one.

    One problem solved by a alone and one solved by b alone are added. Bonett and Price, "Adjusted Wald Confidence
    Interval for a Difference of Binomial Proportions Based on Paired Data", Journal of Educational and Behavioral
    Statistics 37 (2012) 479-488, where differences are -1, 0 or 1. With repeats the two are still whole problems,
    because repeats tell nothing about problems that were not drawn (``evalstats`` 0.3.3 does the same). ``at_once``:
    the number of intervals that are to hold together (``simultaneous``).
    """
    n = len(differences)
    low, high = bonett_price_of(n, sum(differences) / n, sum(value * value for value in differences) / n, at_once)
    return max(-1.0, low), min(1.0, high)


def bonett_price_of(n: int, mean: Number, square: Number, at_once: int = 1) -> tuple[Number, Number]:
    """The same from the means of n differences and of their squares, numbers or arrays; not limited to -1 and 1."""
    return adjusted_wald(n, mean, square, NormalDist().inv_cdf(simultaneous(at_once)))


def adjusted_wald(n: int, mean: Number, square: Number, deviations: float) -> tuple[Number, Number]:
    """The same interval, which extends by this number of standard errors."""
    middle = n * mean / (n + 2)
    variance = (n * square + 2) / (n + 2) - middle**2
    reach = deviations * (variance / (n + 2)) ** 0.5
    return middle - reach, middle + reach


def _steps(result: tuple[int, int], unit: int) -> int:
    solved, n = result
    return solved * (unit // n)


def _permuted(of_a: _ByProblem, of_b: _ByProblem, problems: Sequence[str]) -> float:
    from koderz_core.analysis.permutation import label_permutation  # noqa: PLC0415 (numpy, which only repeats need)

    return label_permutation([of_a[problem] for problem in problems], [of_b[problem] for problem in problems])
