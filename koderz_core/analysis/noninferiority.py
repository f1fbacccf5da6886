"""Whether a configuration is not worse than another by more than a margin, and how many problems show that."""

from __future__ import annotations

from math import ceil, floor, sqrt
from statistics import NormalDist
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from numpy import float64, int_
    from numpy.typing import NDArray

    Array = NDArray[float64]
    Numbers = NDArray[int_]

_NEGLIGIBLE_DEVIATIONS = 8.0


def noninferiority_p(only_a: int, only_b: int, n: int, margin: float) -> float:
    """The one-sided p of the score test that a solves a share of problems lower than b's by ``margin`` or more.

    ``only_a`` and ``only_b`` of the ``n`` problems were solved by one alone. Small: a is not worse than b by as much as
    the margin, a share of problems above 0. Tango, "Equivalence test and confidence interval for the difference in
    proportions for the paired-sample design", Statistics in Medicine 17 (1998) 891-908. It keeps its level better than
    the test by the observed variance (Liu, Hsueh, Hsieh and Chen, Statistics in Medicine 21 (2002) 231-245).
    """
    import numpy as np  # noqa: PLC0415 (slow, and few commands need it)

    assert only_a >= 0 <= only_b, f"{only_a} and {only_b} problems solved by one alone"
    assert only_a + only_b <= n > 0, f"{only_a} and {only_b} of {n} problems"
    return 1 - NormalDist().cdf(float(_score(np.array(only_a), np.array(only_b), n, margin)))


def noninferiority_power(
    n: int, margin: float, discordant: float, difference: float = 0.0, alpha: float = 0.025
) -> float:
    """The chance that n problems show that a is not worse by ``margin``: a ``noninferiority_p`` of at most ``alpha``.

    ``difference``: the true one, what a solves more, and ``discordant``: on how many problems the two differ, both
    shares of problems. The chances of all outcomes whose p is small enough are added up, so it is exact.
    """
    import numpy as np  # noqa: PLC0415 (as above)

    assert n > 0, f"{n} problems"
    assert abs(difference) <= discordant <= 1, f"a difference of {difference} with {discordant} discordant"
    chances = (discordant + difference) / 2, (discordant - difference) / 2, 1 - discordant
    only_a, only_b = (grid.ravel() for grid in np.meshgrid(*(_likely(n, chance) for chance in chances[:2])))
    shown = (only_a + only_b <= n) & (_score(only_a, only_b, n, margin) >= NormalDist().inv_cdf(1 - alpha))
    numbers = only_a[shown], only_b[shown], n - only_a[shown] - only_b[shown]
    factorials = np.concatenate(([0.0], np.log(np.arange(1, n + 1)).cumsum()))
    logs = factorials[n] - sum(factorials[number] for number in numbers)
    for number, chance in zip(numbers, chances, strict=True):
        logs = logs + (number * np.log(chance) if chance > 0 else np.where(number > 0, -np.inf, 0.0))
    return float(np.exp(logs).sum())


def noninferiority_problems(
    margin: float, discordant: float, power: float = 0.8, difference: float = 0.0, alpha: float = 0.025
) -> int | None:
    """How many problems it takes to show with this ``power`` that a is not worse by ``margin``; None: it is worse.

    The first number from ``(z_alpha + z_power)^2 (discordant - difference^2) / (margin + difference)^2`` on at which
    ``noninferiority_power`` is as large. That formula is of the test by the observed variance: Lu and Bean, "On the
    sample size for one-sided equivalence of sensitivities based upon McNemar's test", Statistics in Medicine 14 (1995)
    1831-1839. Where few problems are discordant it is too hopeful.
    """
    assert 0 < power < 1, f"power {power}"
    if difference <= -margin:
        return None
    normal = NormalDist()
    deviations = normal.inv_cdf(1 - alpha) + normal.inv_cdf(power)
    n = max(1, ceil(deviations**2 * (discordant - difference**2) / (margin + difference) ** 2))
    while noninferiority_power(n, margin, discordant, difference, alpha) < power:
        n += 1
    return n


def _likely(n: int, chance: float) -> Numbers:
    """The numbers of successes, of n, that are not beyond all likelihood."""
    import numpy as np  # noqa: PLC0415 (as above)

    reach = _NEGLIGIBLE_DEVIATIONS * (1 + sqrt(n * chance * (1 - chance)))
    return np.arange(max(0, floor(n * chance - reach)), min(n, ceil(n * chance + reach)) + 1)


def _score(only_a: Numbers, only_b: Numbers, n: int, margin: float) -> Array:
    """Tango's statistic: how far the difference is above ``-margin``, in standard deviations if that were the true one.

    ``worse``: the chance that b alone solves a problem, as likely as can be if a's chance is lower by the margin.
    """
    import numpy as np  # noqa: PLC0415 (as above)

    assert 0 < margin < 1, f"a margin of {margin}"
    b = -only_a - only_b - (2 * n - only_a + only_b) * margin
    c = only_b * margin * (1 + margin)
    worse = (np.sqrt(np.maximum(b * b - 8 * n * c, 0)) - b) / (4 * n)
    variance = n * (2 * worse - margin * (1 + margin))
    scores: Array = (only_a - only_b + n * margin) / np.sqrt(variance)  # above 0, as ``worse`` is at least the margin
    return scores
