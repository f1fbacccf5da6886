"""What a number of problems can show: detectable differences, power, and what past pairs suggest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations
from math import ceil, floor, inf, sqrt
from statistics import NormalDist, median
from typing import TYPE_CHECKING

from koderz_core.records import Plan
from koderz_core.records.plans import scripted
from koderz_core.records.progress import PastPair

if TYPE_CHECKING:  # numpy is slow to import, and few commands need it
    from numpy import float64, int_
    from numpy.typing import NDArray

    Array = NDArray[float64]
    Numbers = NDArray[int_]

ASSUMED_DISCORDANCE = 0.25
"""Share of problems on which two configurations are assumed to differ if no past pair is known. In koderz' own study
(docs/study) the three pairs that were chosen beforehand differed on 14 or 15 of 60 problems of HumanEval+."""

_LEVEL = 0.05
_NEGLIGIBLE_DEVIATIONS = 8.0
_ALMOST_ONE = 1 - 1e-15
_ROUNDING = 1e-9
_Kind = tuple[str, tuple[tuple[str, tuple[str, ...]], ...]]


def power(n: int, difference: float, discordant: float, alpha: float = 0.05, variance_left: float = 1.0) -> float:
    """The chance that the paired test on n problems has a p of at most ``alpha`` if the true difference is this one.

    ``difference`` and ``discordant`` are shares of problems: what one of the two solves more, and on how many problems
    the two have different outcomes in one trial each. A difference above ``discordant`` raises ``discordant`` to it:
    the better one then wins every problem on which they differ, so this is an upper bound.

    ``variance_left``: the part of the variance of a problem's difference that is left with repeats
    (``variance_left_by``). At 1, one trial of each problem, the test is the exact McNemar test and all outcomes are
    summed: the number of discordant problems is binomial and, given it, so is the number that the better one won
    (Miettinen, Biometrics 24 (1968) 339-352). Below 1 it is the label permutation test by the normal
    approximation, which in simulations is at most 0.06 too low (30 problems).
    """
    assert n >= 0, f"{n} problems"
    assert 0 < discordant <= 1, f"discordant must be above 0 and at most 1, not {discordant}"
    assert -1 <= difference <= 1, f"difference must be from -1 to 1, not {difference}"
    assert 0 < alpha < 1, f"alpha {alpha}"
    assert 0 <= variance_left <= 1, f"variance_left must be from 0 to 1, not {variance_left}"
    share = max(discordant, abs(difference))
    if variance_left < 1:
        return _of_means(n, abs(difference), share, alpha, variance_left)
    return _of_counts(n, abs(difference), share, alpha)


def detectable(n: int, discordant: float, power: float = 0.8, alpha: float = 0.05, variance_left: float = 1.0) -> float:
    """The smallest true difference, a share of problems, detected with this ``power``; inf if not even 1 is."""
    assert 0 < power < 1, f"power {power}"

    def enough(difference: float) -> bool:
        return _power(n, difference, discordant, alpha, variance_left) >= power

    if not enough(1.0):
        return inf
    low, high = 0.0, 1.0
    while high - low > 1e-4:
        middle = (low + high) / 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


_power = power  # the parameter of ``detectable`` has its name


def observed_discordance(discordant: float, n: int) -> float:
    """The share of problems that only one of two solves, from the ``discordant`` of ``n`` problems that were observed.

    Agresti and Coull's adjusted share, as if four more problems had been observed and two of them were discordant:
    "Approximate is Better than 'Exact' for Interval Estimation of Binomial Proportions", The American Statistician 52
    (1998) 119-126. So it is never 0: that two did not differ on 10 problems does not mean that they never would.
    """
    assert 0 <= discordant <= n, f"discordant must be from 0 to {n}, not {discordant}"
    return (discordant + 2) / (n + 4)


def variance_left_by(repeats: int, from_chance: float) -> float:
    """The part of the variance of a problem's difference in one trial each that is left when each is repeated.

    ``from_chance``: the part of that variance between trials of one problem. The rest lies between problems and does
    not depend on the number of repeats. The law of total variance: Miller, "Adding Error Bars to Evals", arXiv
    2411.00640 (2024), section 3; measured by Wang, "Measuring all the noises of LLM evals", arXiv 2512.21326 (2025).
    """
    assert repeats >= 1, f"{repeats} repeats"
    assert 0 <= from_chance <= 1, f"from_chance must be from 0 to 1, not {from_chance}"
    return 1 - from_chance + from_chance / repeats


@dataclass(frozen=True, slots=True)
class Expectation:
    """How two configurations of a plan are expected to differ, and the evidence for it.

    ``discordance``: on what share of the problems, the median over ``pairs`` past pairs; an assumption if there are
    none. ``same``: the pairs have strategies and models that the plan pairs too, otherwise any on its ``dataset``.
    ``from_chance``: as in ``PastPair``, the median over ``repeated`` of them; None if there are none.
    """

    dataset: str
    discordance: float = ASSUMED_DISCORDANCE
    pairs: int = 0
    same: bool = False
    from_chance: float | None = None
    repeated: int = 0


@dataclass(frozen=True, slots=True)
class Visible:
    """True differences, as shares of problems, that are detected with power 0.5 (``half``) and 0.8 (``most``)."""

    half: float
    most: float


def expected(plan: Plan, past: Sequence[PastPair]) -> Expectation:
    """What past pairs on its dataset suggest about the pairs of a plan.

    Uses the pairs with the same strategies and models as two configurations of the plan, otherwise all. Pairs with
    scripted models show nothing about models, so they count only for plans that have scripted models as well.
    """
    wanted = {
        _pair(_kind(a.strategy, a.models), _kind(b.strategy, b.models)) for a, b in combinations(plan.configurations, 2)
    }
    comparable = [pair for pair in past if _scripted(pair) == scripted(plan.models())]
    same = [pair for pair in comparable if _pair(*map(_kind, pair.strategies, pair.models)) in wanted]
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
    """What ``n`` problems show about each of several pairs; None if no difference can be significant.

    With more than two configurations each is compared with one of them, at the strictest level that Holm's adjustment
    may use: the level divided by the number of these pairs.
    """
    half, most = (detectable(n, discordance, power, _LEVEL / pairs, variance_left) for power in (0.5, 0.8))
    return None if half == inf else Visible(half, most)


def _scripted(pair: PastPair) -> bool:
    return scripted(name for models in pair.models for members in models.values() for name in members)


def _kind(strategy: str, models: Mapping[str, tuple[str, ...]]) -> _Kind:
    return strategy, tuple(sorted(models.items()))


def _pair(a: _Kind, b: _Kind) -> tuple[_Kind, ...]:
    return tuple(sorted((a, b)))


def _of_means(n: int, difference: float, share: float, alpha: float, variance_left: float) -> float:
    """Signs are flipped around 0, so the test takes the mean square of the differences for their variance."""
    if 2 * 0.5**n > alpha:
        return 0.0  # no choice of signs is rarer than that
    normal = NormalDist()
    variance = (share - difference**2) * variance_left
    if variance <= 0:
        return 1.0 if difference else 0.0
    limit = normal.inv_cdf(1 - alpha / 2) * sqrt(variance + difference**2)
    return sum(normal.cdf((sign * sqrt(n) * difference - limit) / sqrt(variance)) for sign in (1, -1))


def _of_counts(n: int, difference: float, share: float, alpha: float) -> float:
    import numpy as np  # noqa: PLC0415 (as above)

    share, wins = min(share, _ALMOST_ONE), min((share + difference) / 2 / share, _ALMOST_ONE)
    factorials = log_factorials(n)
    discordant = likely_counts(n, share)
    rarer = np.arange(discordant[-1] // 2 + 1)  # how many the one with fewer may have
    of, fewer = discordant[:, None], np.minimum(rarer, discordant[:, None])
    p = 2 * np.where(rarer <= of, _binomial(factorials, of, fewer, 0.5), 0.0).cumsum(axis=1)
    significant = (p <= alpha * (1 + _ROUNDING)) & (rarer <= of)
    chances = _binomial(factorials, of, fewer, wins) + _binomial(factorials, of, fewer, 1 - wins)
    return float(_binomial(factorials, np.array(n), discordant, share) @ (chances * significant).sum(axis=1))


def _binomial(factorials: Array, n: Numbers, k: Numbers, p: float) -> Array:
    """The chance of k successes of n; ``factorials``: the logarithms of 0!, 1!, ..."""
    import numpy as np  # noqa: PLC0415 (as above)

    chances: Array = np.exp(factorials[n] - factorials[k] - factorials[n - k] + k * np.log(p) + (n - k) * np.log1p(-p))
    return chances


def log_factorials(n: int) -> Array:
    import numpy as np  # noqa: PLC0415 (as above)

    return np.concatenate(([0.0], np.log(np.arange(1, n + 1)).cumsum()))


def likely_counts(n: int, chance: float) -> Numbers:
    """The numbers of successes, of n, whose chance is not negligible."""
    import numpy as np  # noqa: PLC0415 (as above)

    reach = _NEGLIGIBLE_DEVIATIONS * (1 + sqrt(n * chance * (1 - chance)))
    return np.arange(max(0, floor(n * chance - reach)), min(n, ceil(n * chance + reach)) + 1)
