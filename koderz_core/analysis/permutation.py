"""A permutation test of the labels of two configurations among the trials of each problem."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import ceil, comb, floor, sqrt

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Complex = NDArray[np.complex128]
Counts = tuple[int, int]
"""Solved trials and all trials."""
_Table = tuple[int, int, int, int]
"""Solved and trials of a, solved and trials of b, on one problem."""

_STEPS = 2.0  # per standard deviation of the square of one score
_LOG_LOST = 20.0  # of the chance outside of the computed grid: e**-20 is 2e-9
_NEARLY = 1e-9  # sums of equal numbers may differ in the last digits


@dataclass(frozen=True, slots=True)
class _Kind:
    """The permutations on each of ``problems`` with the same numbers of trials and solved trials.

    ``counts``: the possible numbers of a's solved trials, with their ``chances``; ``scores``: counts less their mean.
    ``steps``: the squares of the scores, in whole units above ``least``.
    """

    problems: int
    counts: Array
    chances: Array
    scores: Array
    least: float = 0.0
    steps: Array = field(default_factory=lambda: np.zeros(0))


@dataclass(frozen=True, slots=True)
class _Axis:
    """The possible values of a sum over all problems, ``size`` of them from ``low`` on; ``terms``: by kind."""

    low: int
    size: int
    terms: tuple[Array, ...]

    @property
    def values(self) -> Array:
        """In the order of a discrete Fourier transform."""
        return self.low + (np.arange(self.size, dtype=np.float64) - self.low) % self.size

    def waves(self, frequencies: int) -> list[Complex]:
        """By kind, a row per frequency and a column per term."""
        return [np.exp(-2j * np.pi / self.size * np.outer(np.arange(frequencies), terms)) for terms in self.terms]


def label_permutation(of_a: Sequence[Counts], of_b: Sequence[Counts]) -> float:
    """The two-sided p of the test that both solve each problem with the same chance, from counts by problem.

    Under that hypothesis all trials of a problem are exchangeable for any number of repeats: the number of a's trials
    among its m solved ones is hypergeometric. Each problem's score is that number less its mean, and the statistic is
    the sum of scores (that of Cochran, Biometrics 10 (1954) 417-451, and of Mantel and Haenszel, Journal of the
    National Cancer Institute 22 (1959) 719-748) divided by the square root of the sum of their squares. Studentized in
    this way, the test nearly keeps its level even if chances differ between problems and only their means are equal:
    Janssen, Statistics & Probability Letters 36 (1997) 9-21; Chung and Romano, Annals of Statistics 41 (2013) 484-507.

    p is twice the tail on the side of the observed difference (Fay, The R Journal 2:1 (2010) 53-58), at most 1. It is 1
    if the mean of the problems' differences lies on the other side, and at least ``2 / 2**n``, the p of n discordant
    problems that all went one way, because repeats that always agree are not further problems. Both only make it
    larger. With one trial of each problem it is ``mcnemar``. It is not random: the joint distribution of both sums is
    computed by a Fourier transform. For that, squares are rounded to half the standard deviation of one of them, in the
    observed statistic as in all others, so the test stays exact; the error of p is below 1e-8.
    """
    tables = Counter((s, a, t, b) for (s, a), (t, b) in zip(of_a, of_b, strict=True))
    score = sum(n * (s - a * (s + t) / (a + b)) for (s, a, t, b), n in tables.items())
    difference = sum(n * (s / a - t / b) for (s, a, t, b), n in tables.items())
    discordant = sum(n for (s, a, t, b), n in tables.items() if s * b != t * a)
    if min(abs(score), abs(difference)) <= _NEARLY or score * difference < 0:
        return 1.0
    return min(1.0, max(2 * _tail(tables, score), 2.0 ** (1 - discordant)))


def _tail(tables: Mapping[_Table, int], score: float) -> float:
    """The chance of a statistic at least as extreme, on the side of the observed one."""
    kinds, unit = _kinds(tables)
    mean = sum(kind.problems * (kind.counts[0] - kind.scores[0]) for kind in kinds.values())
    least = sum(kind.problems * kind.least for kind in kinds.values())
    squares = least + unit * sum(
        n * kinds[a, b, s + t].steps[s - int(kinds[a, b, s + t].counts[0])]
        for (s, a, t, b), n in tables.items()
        if (a, b, s + t) in kinds
    )
    seen = score / sqrt(squares)
    of_counts, of_steps, chances = _joint(list(kinds.values()))
    statistic = (of_counts - mean)[:, None] / np.sqrt(np.maximum(least + unit * of_steps, _NEARLY))
    as_far = statistic >= seen - _NEARLY if seen > 0 else statistic <= seen + _NEARLY
    return float(chances[as_far].sum())


def _kinds(tables: Mapping[_Table, int]) -> tuple[dict[tuple[int, int, int], _Kind], float]:
    """The kinds by trials of both and number solved, without those with one permutation only; and the unit of steps."""
    times: Counter[tuple[int, int, int]] = Counter()
    for (s, a, t, b), n in tables.items():
        times[a, b, s + t] += n * (0 < s + t < a + b)
    bare = {key: _kind(*key, n) for key, n in times.items() if n}
    spread = sqrt(sum(kind.problems * _variance(kind.chances, kind.scores**2) for kind in bare.values()))
    unit = spread / sqrt(sum(times.values())) / _STEPS if spread > _NEARLY**0.5 else 1.0
    if all(a == b for a, b, _ in bare):  # then squares differ by whole numbers
        unit = max(floor(unit), 1.0)
    return {key: _stepped(kind, unit) for key, kind in bare.items()}, unit


def _kind(a: int, b: int, solved: int, problems: int) -> _Kind:
    counts = range(max(0, solved - b), min(a, solved) + 1)
    chances = [comb(a, count) * comb(b, solved - count) / comb(a + b, solved) for count in counts]
    return _Kind(problems, np.array(counts, float), np.array(chances), np.array(counts) - a * solved / (a + b))


def _stepped(kind: _Kind, unit: float) -> _Kind:
    """Rounded twice, so that equal squares are not rounded differently at a half."""
    squares = kind.scores**2
    return replace(kind, least=float(squares.min()), steps=np.rint(np.round((squares - squares.min()) / unit, 6)))


def _joint(kinds: Sequence[_Kind]) -> tuple[Array, Array, Array]:
    """The values of the sums of counts and of steps, and the chance of each pair of them.

    This is not a matrix product, because that starts threads, which takes far longer on a busy machine.
    """
    of_counts = _axis(kinds, [kind.counts for kind in kinds])
    of_steps = _axis(kinds, [kind.steps for kind in kinds])
    half = of_steps.size // 2 + 1  # the transform of real numbers
    transform = np.ones((of_counts.size, half), dtype=np.complex128)
    waves = zip(kinds, of_counts.waves(of_counts.size), of_steps.waves(half), strict=True)
    for kind, rows, columns in waves:
        transform *= _power(np.einsum("ik,jk->ij", rows * kind.chances, columns), kind.problems)
    return of_counts.values, of_steps.values, np.fft.irfft2(transform, (of_counts.size, of_steps.size))


def _power(base: Complex, n: int) -> Complex:
    """``base ** n``, ten times as fast as numpy's power of complex numbers."""
    if n == 1:
        return base
    half = _power(base, n // 2)
    return half * half * base if n % 2 else half * half


def _axis(kinds: Sequence[_Kind], terms: Sequence[Array]) -> _Axis:
    """All values of the sum of terms, or the values within Bernstein's bound if these are fewer.

    Bennett, "Probability Inequalities for the Sum of Independent Random Variables", JASA 57 (1962) 33-45, equation (7).
    """
    of = list(zip(kinds, terms, strict=True))
    low, high = (int(sum(kind.problems * end(term) for kind, term in of)) for end in (np.min, np.max))
    mean = sum(kind.problems * float(kind.chances @ term) for kind, term in of)
    spread = sum(kind.problems * _variance(kind.chances, term) for kind, term in of)
    part = _LOG_LOST / 3 * max(float(np.abs(term - kind.chances @ term).max()) for kind, term in of)
    reach = sqrt(part * part + 2 * _LOG_LOST * spread) + part
    first, last = max(low, floor(mean - reach)), min(high, ceil(mean + reach))
    return _Axis(first, last - first + 1, tuple(terms))


def _variance(chances: Array, values: Array) -> float:
    return max(0.0, float(chances @ values**2 - (chances @ values) ** 2))
