"""Rates with an interval that says how sure they are."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from statistics import NormalDist


@dataclass(frozen=True, slots=True)
class Rate:
    """``successes`` of ``n`` independent trials; ``low`` and ``high`` bound the true rate, None if none was made."""

    successes: int
    n: int
    low: float | None
    high: float | None

    @property
    def value(self) -> float | None:
        """The observed rate; None if no trial was made."""
        return self.successes / self.n if self.n else None


def wilson(successes: int, n: int, confidence: float = 0.95) -> Rate:
    """The rate with Wilson's score interval, without continuity correction, for one trial per problem.

    ``low`` and ``high`` solve ``|p - successes / n| = z sqrt(p (1 - p) / n)`` for p. Wilson, "Probable Inference, the
    Law of Succession, and Statistical Inference", JASA 22 (1927) 209-212; recommended for small n by Brown, Cai and
    DasGupta, "Interval Estimation for a Binomial Proportion", Statistical Science 16 (2001) 101-133, equation (4).
    """
    assert 0 <= successes <= n, f"{successes} successes of {n}"
    assert 0 < confidence < 1, f"confidence {confidence}"
    if n == 0:
        return Rate(0, 0, None, None)
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    middle = (successes + z * z / 2) / (n + z * z)
    reach = z / (n + z * z) * sqrt(successes * (n - successes) / n + z * z / 4)
    # Exact at the ends, where rounding would leave the interval a hair off the possible.
    low = 0.0 if successes == 0 else max(0.0, middle - reach)
    high = 1.0 if successes == n else min(1.0, middle + reach)
    return Rate(successes, n, low, high)
