"""How large a true difference between two configurations must be to be seen with a given number of problems."""

from __future__ import annotations

from math import inf, sqrt
from statistics import NormalDist
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from numpy import float64, int_
    from numpy.typing import NDArray

    Array = NDArray[float64]
    Numbers = NDArray[int_]

_NEGLIGIBLE_DEVIATIONS = 8.0
_ALMOST_ONE = 1 - 1e-15
_ROUNDING = 1e-9


def power(n: int, difference: float, discordant: float, alpha: float = 0.05, variance_left: float = 1.0) -> float:
    """The chance that the paired test on n problems has a p of at most ``alpha`` if the true difference is this one.

    ``difference`` and ``discordant`` are shares of problems: what one of the two solves more, and on how many problems
    the two have different outcomes in one trial each. A difference above ``discordant`` makes that as large: the better
    one then wins every problem on which they differ, so this is the most that can be hoped for.

    ``variance_left``: the part of the variance of a problem's difference that is left with repeats
    (``variance_left_by``). At 1, one trial of each problem, the test is the exact McNemar test and all outcomes are
    summed: the number of discordant problems is binomial and, given it, so is the number that the better one won
    (Miettinen, Biometrics 24 (1968) 339-352). Below 1 it is the label permutation test by the normal
    approximation, which in simulations is at most 0.06 too low (30 problems).
    """
    assert n >= 0, f"{n} problems"
    assert 0 < discordant <= 1, f"a discordant share of {discordant}"
    assert -1 <= difference <= 1, f"a difference of {difference}"
    assert 0 < alpha < 1, f"alpha {alpha}"
    assert 0 <= variance_left <= 1, f"a part of {variance_left} left of the variance"
    share = max(discordant, abs(difference))
    if variance_left < 1:
        return _of_means(n, abs(difference), share, alpha, variance_left)
    return _of_counts(n, abs(difference), share, alpha)


def detectable(n: int, discordant: float, power: float = 0.8, alpha: float = 0.05, variance_left: float = 1.0) -> float:
    """The smallest true difference, a share of problems, seen with this ``power``; inf if not even 1 would be."""
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

    Agresti and Coull's adjusted share, as if four problems more had been observed and two of them were discordant:
    "Approximate is Better than 'Exact' for Interval Estimation of Binomial Proportions", The American Statistician 52
    (1998) 119-126. So it is never 0: that two did not differ on 10 problems does not mean that they never would.
    """
    assert 0 <= discordant <= n, f"{discordant} of {n} problems are discordant"
    return (discordant + 2) / (n + 4)


def variance_left_by(repeats: int, from_chance: float) -> float:
    """The part of the variance of a problem's difference in one trial each that is left when each is repeated.

    ``from_chance``: the part of that variance that lies between trials of one problem, the rest lies between problems
    and stays whatever the number of repeats. The law of total variance: Miller, "Adding Error Bars to Evals", arXiv
    2411.00640 (2024), section 3; measured by Wang, "Measuring all the noises of LLM evals", arXiv 2512.21326 (2025).
    """
    assert repeats >= 1, f"{repeats} repeats"
    assert 0 <= from_chance <= 1, f"a part of {from_chance} from chance"
    return 1 - from_chance + from_chance / repeats


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
    import numpy as np  # noqa: PLC0415 (slow, and few commands need it)

    share, wins = min(share, _ALMOST_ONE), min((share + difference) / 2 / share, _ALMOST_ONE)
    factorials = np.concatenate(([0.0], np.log(np.arange(1, n + 1)).cumsum()))
    reach = _NEGLIGIBLE_DEVIATIONS * (1 + sqrt(n * share * (1 - share)))
    discordant = np.arange(max(0, int(n * share - reach)), min(n, int(n * share + reach)) + 1)
    rarer = np.arange(discordant[-1] // 2 + 1)  # how many the one with fewer may have
    of, fewer = discordant[:, None], np.minimum(rarer, discordant[:, None])
    p = 2 * np.where(rarer <= of, _binomial(factorials, of, fewer, 0.5), 0.0).cumsum(axis=1)
    told_apart = (p <= alpha * (1 + _ROUNDING)) & (rarer <= of)
    chances = _binomial(factorials, of, fewer, wins) + _binomial(factorials, of, fewer, 1 - wins)
    return float(_binomial(factorials, np.array(n), discordant, share) @ (chances * told_apart).sum(axis=1))


def _binomial(factorials: Array, n: Numbers, k: Numbers, p: float) -> Array:
    """The chance of k successes of n; ``factorials``: the logarithms of 0!, 1!, ..."""
    import numpy as np  # noqa: PLC0415 (as above)

    chances: Array = np.exp(factorials[n] - factorials[k] - factorials[n - k] + k * np.log(p) + (n - k) * np.log1p(-p))
    return chances
