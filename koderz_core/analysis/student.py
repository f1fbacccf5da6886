"""Student's t: how far out a quantile is."""

from __future__ import annotations

from functools import lru_cache
from math import exp, inf, lgamma, log, log1p

_TERMS = 1000
_SMALLEST = 1e-300
_NEARLY = 1e-15


@lru_cache(maxsize=256)
def student(quantile: float, freedom: float) -> float:
    """The quantile, above a half, of Student's t with so many degrees of freedom, which need not be whole.

    Found by halving from the tail, which is half of the regularized incomplete beta function (Abramowitz and Stegun,
    Handbook of Mathematical Functions, 1964, 26.7.1 and 26.5.8).
    """
    assert 0.5 < quantile < 1, f"quantile {quantile}"
    assert freedom > 0, f"{freedom} degrees of freedom"
    low, high = 0.0, 1.0
    while _tail(high, freedom) > 1 - quantile and high < inf:
        low, high = high, 2 * high
    while high - low > _NEARLY * high:
        middle = (low + high) / 2
        if middle in (low, high):
            break
        low, high = (middle, high) if _tail(middle, freedom) > 1 - quantile else (low, middle)
    return high


def _tail(t: float, freedom: float) -> float:
    if t * t < 3:  # where the fraction converges fast
        return 0.5 - _beta(t * t / (freedom + t * t), 0.5, freedom / 2) / 2
    return _beta(freedom / (freedom + t * t), freedom / 2, 0.5) / 2


def _beta(x: float, a: float, b: float) -> float:
    """The regularized incomplete beta function, by its continued fraction, evaluated as Lentz (1976) does."""
    if x <= 0:
        return 0.0
    front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x)) / a
    c, d = 1.0, 1 / _not_0(1 - (a + b) * x / (a + 1))
    value = d
    for m in range(1, _TERMS):
        before = value
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        for term in (even, odd):
            d = 1 / _not_0(1 + term * d)
            c = _not_0(1 + term / c)
            value *= c * d
        if abs(value - before) <= _NEARLY * abs(value):
            break
    return front * value


def _not_0(number: float) -> float:
    return number if abs(number) > _SMALLEST else _SMALLEST
