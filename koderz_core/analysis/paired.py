"""Two configurations on the same problems: which solves more, by how much, and whether that could be luck."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import comb, gcd, lcm, sqrt
from statistics import NormalDist
from typing import Literal

from koderz_core.analysis.rates import by_problem
from koderz_core.analysis.simultaneous import simultaneous
from koderz_core.records.order import natural
from koderz_core.records.trials import Trial

PairedTest = Literal["exact McNemar", "sign-flip permutation"]
_MOST_STEPS = 1 << 24  # additions of numbers, about 20 ms
_DRAWS = 20_000


@dataclass(frozen=True, slots=True)
class Discordant:
    """The problems that one of two configurations solved, or solved in more of its repeats than the other."""

    only_a: tuple[str, ...]
    only_b: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Paired:
    """a against b on the ``n`` problems where both have a result; ``unpaired``: where only one has, or neither.

    ``only_a`` problems were solved by a alone, with repeats in a larger share of them than by b; ``both`` by both
    alike, ``neither`` by none. ``difference``: a's share solved less b's, from -1 to 1, every problem weighing the
    same; ``low`` and ``high`` bound the true one, with 95 % those of ``at_once`` pairs together. ``p``: of ``method``,
    two-sided and of this pair alone; adjusted for all pairs it decides whether they are told apart, and the interval
    how far: near the limit the two may differ. These four are None if ``n`` is 0.
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
    """Compare the trials of two configurations, problem by problem; what has no result is left out and counted.

    With one trial of each problem the exact McNemar test, else the sign-flip permutation test of the problems' mean
    differences, which is the same where there is one of each. The interval is ``bonett_price``'s.
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
    p = sign_flip(list(steps.values())) if repeated else mcnemar(only_a, only_b)
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
        method="sign-flip permutation" if repeated else "exact McNemar",
        ids=ids,
        unpaired=len({trial.problem for trial in (*a, *b)}) - len(problems),
        at_once=at_once,
    )


def mcnemar(only_a: int, only_b: int) -> float:
    """The two-sided p of the exact test that a problem solved by one alone is as likely to be either's.

    Twice the smaller binomial tail, at most 1. McNemar, Psychometrika 12 (1947) 153-157; exact and not mid-p, because
    it never claims more often than it says.
    """
    n = only_a + only_b
    tail = sum(comb(n, k) for k in range(min(only_a, only_b) + 1))
    return min(1.0, float(2 * tail / 2**n))


def bonett_price(differences: Sequence[float], at_once: int = 1) -> tuple[float, float]:
    """The adjusted Wald 95 % interval of the mean of differences, one per problem, each from -1 to 1; at least one.

    As if one problem more had been solved by a alone and one by b alone. Bonett and Price, "Adjusted Wald Confidence
    Interval for a Difference of Binomial Proportions Based on Paired Data", Journal of Educational and Behavioral
    Statistics 37 (2012) 479-488, where differences are -1, 0 or 1. With repeats the two are still whole problems, since
    repeats tell nothing about problems that were not drawn (so does ``evalstats`` 0.3.3). ``at_once``: how many
    intervals are to hold together (``simultaneous``).
    """
    n = len(differences) + 2
    middle = sum(differences) / n
    variance = (sum(one * one for one in differences) + 2) / n - middle * middle
    reach = NormalDist().inv_cdf(simultaneous(at_once)) * sqrt(variance / n)
    return max(-1.0, middle - reach), min(1.0, middle + reach)


def sign_flip(differences: Sequence[int], seed: int = 0) -> float:
    """The two-sided p of the test that each problem's difference, in any unit, could as well have the other sign.

    The share of all 2^n choices of signs whose sum is as far from 0 as the observed one (Fisher, The Design of
    Experiments, 1935, section 21). Sums are whole numbers, so all choices are counted at once by how often each sum
    comes up (Pagano and Tritchler, JASA 78 (1983) 435-440), exactly for any n; only where there are too many sums are
    signs drawn, with ``seed``, and the observed choice is counted among them (Phipson and Smyth, 2010), p never 0.
    """
    common = gcd(*differences) or 1
    sizes = [abs(one) // common for one in differences if one]
    lower = (sum(sizes) - abs(sum(differences)) // common) // 2
    if lower * len(sizes) > _MOST_STEPS:
        return _drawn([one / max(sizes) / common for one in differences], seed)
    return _counted(sizes, lower)


def _counted(sizes: Sequence[int], lower: int) -> float:
    """Twice the chance that those whose sign is negative sum up to at most ``lower``: both tails are alike."""
    import numpy as np  # noqa: PLC0415 (slow, and only repeats need it)

    chances = np.zeros(lower + 1)
    chances[0] = 1.0
    for size in sizes:
        if size <= lower:
            chances[size:] += chances[: lower + 1 - size]
        chances *= 0.5
    return min(1.0, 2 * float(chances.sum()))


def _drawn(differences: Sequence[float], seed: int) -> float:
    import numpy as np  # noqa: PLC0415 (as above)

    draw, sums = np.random.default_rng(seed), np.zeros(_DRAWS)
    for one in differences:
        sums += one * draw.choice((-1.0, 1.0), _DRAWS)
    # A hair less, as rounding must not part sums that are equal.
    as_far = np.abs(sums) >= abs(sum(differences)) - 1e-9
    return float(1 + as_far.sum()) / (1 + _DRAWS)


def _steps(result: tuple[int, int], unit: int) -> int:
    solved, n = result
    return solved * (unit // n)
