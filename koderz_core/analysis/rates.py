"""Rates over problems with confidence intervals: Wilson, clustered, several at once; quantiles of Student's t."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import exp, inf, lgamma, log, log1p, sqrt
from statistics import NormalDist, fmean

from koderz_core.records.progress import SummaryRow
from koderz_core.records.trials import Trial

_TERMS = 1000
_SMALLEST = 1e-300
_NEARLY = 1e-15
_HALVINGS = 34  # of an interval from 0 to 1


@dataclass(frozen=True, slots=True)
class Rate:
    """``successes`` of ``n`` independent trials; ``low`` and ``high`` bound the true rate, None without trials."""

    successes: int
    n: int
    low: float | None
    high: float | None

    @property
    def value(self) -> float | None:
        """The observed rate; None without trials."""
        return self.successes / self.n if self.n else None


@dataclass(frozen=True, slots=True)
class ClusteredRate:
    """``successes`` of ``n`` trials of ``problems``, at least one trial of each.

    ``value``: the mean over problems of the share solved, so that every problem weighs the same. ``low`` and ``high``
    bound the rate over all problems like these, not over further repeats of only these. All three are None without
    trials.
    """

    problems: int
    successes: int
    n: int
    value: float | None
    low: float | None
    high: float | None


def wilson(successes: int, n: int, confidence: float = 0.95) -> Rate:
    """The rate with Wilson's score interval, without continuity correction, for one trial per problem.

    ``low`` and ``high`` solve ``|p - successes / n| = z sqrt(p (1 - p) / n)`` for p. Wilson, "Probable Inference, the
    Law of Succession, and Statistical Inference", JASA 22 (1927) 209-212; recommended for small n by Brown, Cai and
    DasGupta, "Interval Estimation for a Binomial Proportion", Statistical Science 16 (2001) 101-133, equation (4).
    """
    assert 0 <= successes <= n, f"successes must be from 0 to {n}, not {successes}"
    return Rate(successes, n, *_score_interval(successes / n, n, confidence)) if n else Rate(0, 0, None, None)


def rate_of(row: SummaryRow) -> Rate | None:
    """The rate with Wilson's interval, which is for independent trials: None if problems are repeated."""
    return wilson(row.solved, row.solved + row.unsolved) if row.planned == row.problems else None


def clustered(successes_by_problem: Mapping[str, tuple[int, int]], confidence: float = 0.95) -> ClusteredRate:
    """The rate of repeated problems, from ``(successes, trials)`` of each: Wilson's interval, clustered.

    Repeats of a problem resemble each other, so Wilson's n becomes the effective number of independent trials (Kish,
    Survey Sampling, 1965, section 8.2; for intervals Korn and Graubard, Survey Methodology 24 (1998) 193-201):
    ``p (1 - p) / v``, where v is the variance of the mean of the problems' shares. It is at least the number of
    problems and at most the number of trials. For p and v, one problem that is always solved and one that is never
    solved are added, as Bonett and Price (2012) do for pairs: without them v is 0 at 0 and 100 %, and too small near
    these. With one trial of each problem the result is that of ``wilson``.
    """
    counts = [(successes, n) for successes, n in successes_by_problem.values() if n]
    assert all(0 <= successes <= n for successes, n in counts), "a problem has more successes than trials"
    problems, successes, n = len(counts), sum(solved for solved, _ in counts), sum(n for _, n in counts)
    if not problems:
        return ClusteredRate(0, 0, 0, None, None, None)
    shares = [solved / n for solved, n in counts]
    return ClusteredRate(problems, successes, n, fmean(shares), *share_bounds(shares, n, confidence))


def share_bounds(shares: Sequence[float], most: float, confidence: float = 0.95) -> tuple[float, float]:
    """The bounds of the mean of numbers from 0 to 1, one for each problem, at least one, as in ``clustered``.

    ``most``: the largest effective number of independent trials; the smallest is the number of problems.
    """
    return _score_interval(fmean(shares), _effective_trials(shares, most), confidence)


def mid_p_bounds(shares: Sequence[float], most: float) -> tuple[float, float]:
    """The 95 % bounds as in ``share_bounds``, but by the mid-p form of Clopper and Pearson's exact interval.

    Half of the probability of the observed number counts as more extreme (Berry and Armitage, The Statistician 44
    (1995) 417-423). With few problems and rates near 0 or 1, its coverage is higher than that of Wilson's interval: at
    least 92.5 % instead of 85 % with 18 independent trials. The binomial tails are incomplete beta functions, which
    also exist for an effective number of trials that is not whole.
    """
    n = _effective_trials(shares, most)
    right = fmean(shares) * n
    return _mid_p_bound(right, n), 1 - _mid_p_bound(n - right, n)


def _effective_trials(shares: Sequence[float], most: float) -> float:
    gain = _gain(len(shares), sum(shares), sum(share * share for share in shares))
    return min(max(most, len(shares)), len(shares) * gain)


def _mid_p_bound(right: float, n: float) -> float:
    """The lower bound: the rate at which at least this many of n are right with a mid-p of 2.5 %."""
    if right <= 0:
        return 0.0
    low, high = 0.0, 1.0
    for _ in range(_HALVINGS):
        rate = (low + high) / 2
        more = _incomplete_beta(rate, right + 1, n - right) if right < n else 0.0
        tail = (_incomplete_beta(rate, right, n - right + 1) + more) / 2
        low, high = (rate, high) if tail < 0.025 else (low, rate)
    return low


def share_bounds_of(share: float, variance: float, problems: int) -> tuple[float, float]:
    """The bounds of ``share_bounds`` from a mean and the variance of the problems' parts, each worth one trial."""
    gain = _gain(problems, share * problems, (variance + share**2) * problems)
    return _score_interval(share, problems * min(1.0, gain), 0.95)


def by_problem(trials: Iterable[Trial]) -> dict[str, tuple[int, int]]:
    """How many trials of each problem were solved, and how many have a result; problems without results are omitted."""
    return counted((trial.problem, trial.solved) for trial in trials if trial.scored)


def counted(results: Iterable[tuple[str, bool]]) -> dict[str, tuple[int, int]]:
    """Successes and number of results of each problem, from pairs of a problem and whether it was a success."""
    counts: dict[str, tuple[int, int]] = {}
    for problem, success in results:
        successes, n = counts.get(problem, (0, 0))
        counts[problem] = successes + success, n + 1
    return counts


def _score_interval(share: float, n: float, confidence: float) -> tuple[float, float]:
    assert 0 < confidence < 1, f"confidence {confidence}"
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    middle = (share * n + z * z / 2) / (n + z * z)
    reach = z / (n + z * z) * sqrt(share * (1 - share) * n + z * z / 4)
    # Exact at the ends, where rounding could put a bound outside 0 to 1.
    low = 0.0 if share == 0 else max(0.0, middle - reach)
    high = 1.0 if share == 1 else min(1.0, middle + reach)
    return low, high


def _gain(problems: int, total: float, squares: float) -> float:
    """The effective number of independent trials per problem; at least 1, because no share varies more than 0 or 1.

    From the sums of shares and of their squares, after two problems are added.
    """
    n = problems + 2
    mean = (total + 1) / n
    return mean * (1 - mean) / ((squares + 1) / n - mean * mean)


@dataclass(frozen=True, slots=True)
class Interval:
    """A number with the bounds of the true one (95 %). The bounds are None if the data do not vary.

    Each may be infinite, for example the price of something that may not exist.
    """

    value: float
    low: float | None
    high: float | None


def simultaneous(at_once: int) -> float:
    """The upper quantile of a 95 % interval if ``at_once`` intervals are to hold together.

    Bonferroni's division of the 5 %, valid for any dependence between the intervals: Dunn, "Multiple Comparisons Among
    Means", JASA 56 (1961) 52-64. So an interval that was selected because it looks best does not claim too much.
    """
    return 1 - 0.025 / at_once


@lru_cache(maxsize=256)
def student(quantile: float, freedom: float) -> float:
    """The quantile, above a half, of Student's t with ``freedom`` degrees of freedom, which need not be whole.

    Computed by bisection on the tail, which is half of the regularized incomplete beta function (Abramowitz and Stegun,
    Handbook of Mathematical Functions, 1964, 26.7.1 and 26.5.8).
    """
    assert 0.5 < quantile < 1, f"quantile {quantile}"
    assert freedom > 0, f"degrees of freedom must be above 0, not {freedom}"
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
    if t * t < 3:  # there the fraction converges fast
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


def _incomplete_beta(x: float, a: float, b: float) -> float:
    """As ``_beta``, on the side on which its fraction converges fast."""
    return _beta(x, a, b) if x < (a + 1) / (a + b + 2) else 1 - _beta(1 - x, b, a)


def _not_0(number: float) -> float:
    return number if abs(number) > _SMALLEST else _SMALLEST
