"""How often koderz's 95 % intervals cover the truth: simulated, and exact where outcomes can be enumerated.

Run: ``python benchmarks/coverage.py`` (needs the ``dev`` extra; about a minute). It draws experiments with a known rate
or difference, computes the intervals of ``koderz_core.analysis``, and prints tables of the share that covers it, next
to intervals that koderz does not use. The exact share is the sum of the probabilities of all outcomes whose interval
covers the truth; the exit code is 1 if a simulated share is further from it than chance allows.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from math import sqrt

import numpy as np
from numpy.typing import NDArray
from process_tree import machine
from scipy import stats

from koderz_core.analysis.paired import bonett_price
from koderz_core.analysis.rates import ClusteredRate, Rate, clustered, wilson

SIZES = (20, 164, 378)
SMALL = (5, 10, 18, 24)
RATES = (0.005, 0.05, 0.5, 0.95, 0.995)
PAIRS = ((0.02, 0.02), (0.05, 0.05), (0.12, 0.0), (0.12, 0.05), (0.30, 0.20))
"""Share of problems that one alone solves, and difference; where these are the same, one solves all the other does."""
REPEATS = 5
ALIKE = (0.0, 0.5, 1.0)
"""Correlation of two repeats of a problem: each like a new problem, in between, always the same."""
RATES_OF_PAIRS = ((0.5, 0.5), (0.95, 0.90), (0.8, 0.6))
MANY, SOME, RESAMPLES = 20_000, 2_000, 1_000
MOST_ERRORS = 4.0
"""Standard errors that a simulated share may be away from the exact one: some 50 are looked at."""
Interval = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Share:
    """Simulated and exact share of intervals that cover the truth."""

    simulated: float
    exact: float
    n: int

    @property
    def of_limit(self) -> float:
        """The difference, where 1 is the largest that chance allows; one draw of difference is always allowed."""
        allowed = MOST_ERRORS * sqrt(self.exact * (1 - self.exact) / self.n) + 1 / self.n
        return abs(self.simulated - self.exact) / allowed


def main() -> int:
    draw = np.random.default_rng(20261121)
    print(f"{machine()}, {datetime.now(UTC).date()}; simulated {MANY:,} times (exact) or {SOME:,} times.\n")
    checked = [*_wilsons(draw), *_pairs(draw), *_clusters(draw)]
    _repeated_pairs(draw)
    worst = max(check.of_limit for check in checked)
    print(
        f"None of {len(checked)} simulated shares differs from its exact value by more than {worst:.2f} of the limit."
    )
    return int(worst > 1)


def _wilsons(draw: np.random.Generator) -> Iterator[Share]:
    print("| problems | true rate | Wilson, exact | simulated | share of limit |\n|---|---|---|---|---|")
    for n in (*SMALL, *SIZES):
        intervals = [_ends(wilson(successes, n)) for successes in range(n + 1)]
        for rate in RATES:
            held = np.array([low <= rate <= high for low, high in intervals])
            chances = stats.binom.pmf(np.arange(n + 1), n, rate)
            share = Share(held[draw.binomial(n, rate, MANY)].mean(), float(chances[held].sum()), MANY)
            print(f"| {n} | {rate} | {share.exact:.3f} | {share.simulated:.3f} | {share.of_limit:.2f} |")
            yield share
    print()
    _lowest()


def _lowest() -> None:
    print("| problems | Wilson, lowest of true rates 1, 2, ... 99 % | at | mean |\n|---|---|---|---|")
    rates = np.arange(1, 100) / 100
    for n in (*SMALL, *SIZES):
        low, high = np.array([_ends(wilson(successes, n)) for successes in range(n + 1)]).T[:, :, None]
        held = (low <= rates) & (rates <= high)
        exact = (stats.binom.pmf(np.arange(n + 1)[:, None], n, rates) * held).sum(axis=0)
        print(f"| {n} | {exact.min():.3f} | {rates[exact.argmin()]:.0%} | {exact.mean():.3f} |")
    print()


def _pairs(draw: np.random.Generator) -> Iterator[Share]:
    print("| problems | discordant | difference | Bonett-Price, exact | simulated | share of limit | bootstrap |")
    print("|---|---|---|---|---|---|---|")
    for n in SIZES:
        for discordant, difference in PAIRS:
            chances = (discordant + difference) / 2, (discordant - difference) / 2, 1 - discordant
            held = _held_of_counts(n, difference)
            outcomes = draw.multinomial(n, chances, MANY)
            share = Share(held[outcomes[:, 0], outcomes[:, 1]].mean(), _exact_of_counts(held, n, chances), MANY)
            boot = np.mean(
                [_holds(_bootstrap_of_counts(n, *map(int, outcome)), difference) for outcome in outcomes[:SOME, :2]]
            )
            row = f"| {n} | {discordant} | {difference} | {share.exact:.3f} | {share.simulated:.3f}"
            print(f"{row} | {share.of_limit:.2f} | {boot:.3f} |")
            yield share
    print()


def _held_of_counts(n: int, difference: float) -> NDArray[np.bool_]:
    """Whether the interval of each pair of counts covers the difference: one row per problem that only a solved."""
    held = np.zeros((n + 1, n + 1), dtype=bool)
    for only_a in range(n + 1):
        for only_b in range(n + 1 - only_a):
            held[only_a, only_b] = _holds(_bonett_price_of_counts(n, only_a, only_b), difference)
    return held


@cache
def _bonett_price_of_counts(n: int, only_a: int, only_b: int) -> Interval:
    return bonett_price([1.0] * only_a + [-1.0] * only_b + [0.0] * (n - only_a - only_b))


def _exact_of_counts(held: NDArray[np.bool_], n: int, chances: Sequence[float]) -> float:
    only_a, only_b = np.nonzero(held)
    return float(stats.multinomial.pmf(np.stack([only_a, only_b, n - only_a - only_b], axis=1), n, chances).sum())


@cache
def _bootstrap_of_counts(n: int, only_a: int, only_b: int) -> Interval:
    chances = only_a / n, only_b / n, (n - only_a - only_b) / n
    again = np.random.default_rng(0).multinomial(n, chances, RESAMPLES)
    return _middle_95((again[:, 0] - again[:, 1]) / n)


def _clusters(draw: np.random.Generator) -> Iterator[Share]:
    print(f"| problems, {REPEATS} times | repeats alike | true rate | clustered | exact | all as independent | t |")
    print("|---|---|---|---|---|---|---|")
    for n in SIZES:
        for alike in ALIKE:
            for rate in RATES:
                shares = draw.binomial(REPEATS, _chances(draw.random((SOME, n)), rate, alike)) / REPEATS
                ours = _held(_clustered, shares, rate)
                exact = _exact_of_clusters(n, rate, alike)
                naive, student = _held(_independent, shares, rate), _held(_student, shares, rate)
                known = f"{exact:.3f}" if exact is not None else "-"
                print(f"| {n} | {alike} | {rate} | {ours:.3f} | {known} | {naive:.3f} | {student:.3f} |")
                if exact is not None:
                    yield Share(ours, exact, SOME)
    print()


def _exact_of_clusters(n: int, rate: float, alike: float) -> float | None:
    """Known if all repeats of a problem agree: then it is Wilson's with one trial of each."""
    if alike < 1:
        return None
    held = [_holds(_ends(wilson(successes, n)), rate) for successes in range(n + 1)]
    return float(stats.binom.pmf(np.nonzero(held)[0], n, rate).sum())


def _repeated_pairs(draw: np.random.Generator) -> None:
    print(f"| problems, {REPEATS} times | repeats alike | rates | Bonett-Price of means | t | bootstrap |")
    print("|---|---|---|---|---|---|")
    for n in SIZES[:2]:
        for alike in ALIKE:
            for a, b in RATES_OF_PAIRS:
                difficulty = draw.random((SOME, n))  # the same for both
                of_a, of_b = (draw.binomial(REPEATS, _chances(difficulty, rate, alike)) for rate in (a, b))
                differences = (of_a - of_b) / REPEATS
                ours, student = (_held(interval, differences, a - b) for interval in (bonett_price, _student))
                boot = _held(_bootstrap, differences[: SOME // 4], a - b)
                print(f"| {n} | {alike} | {a}, {b} | {ours:.3f} | {student:.3f} | {boot:.3f} |")
    print()


def _chances(difficulty: NDArray[np.float64], rate: float, alike: float) -> NDArray[np.float64]:
    """The probability to solve each problem, beta distributed about the rate, from numbers drawn evenly from 0 to 1."""
    if alike in (0.0, 1.0):
        return np.where(difficulty < rate, 1.0, 0.0) if alike else np.full_like(difficulty, rate)
    total = 1 / alike - 1
    return np.asarray(stats.beta.ppf(difficulty, rate * total, (1 - rate) * total))


def _held(interval: Callable[[Sequence[float]], Interval], samples: NDArray[np.float64], truth: float) -> float:
    return float(np.mean([_holds(interval(sample.tolist()), truth) for sample in samples]))


def _holds(interval: Interval, truth: float) -> bool:
    low, high = interval
    return low - 1e-12 <= truth <= high + 1e-12


def _clustered(shares: Sequence[float]) -> Interval:
    counts = {str(place): (round(share * REPEATS), REPEATS) for place, share in enumerate(shares)}
    return _ends(clustered(counts))


def _independent(shares: Sequence[float]) -> Interval:
    return _ends(wilson(round(sum(shares) * REPEATS), len(shares) * REPEATS))


def _student(values: Sequence[float]) -> Interval:
    reach = float(stats.t.ppf(0.975, len(values) - 1)) * float(np.std(values, ddof=1)) / sqrt(len(values))
    return float(np.mean(values)) - reach, float(np.mean(values)) + reach


def _bootstrap(values: Sequence[float]) -> Interval:
    again = np.random.default_rng(0).integers(0, len(values), (RESAMPLES, len(values)))
    return _middle_95(np.asarray(values)[again].mean(axis=1))


def _middle_95(means: NDArray[np.float64]) -> Interval:
    low, high = np.quantile(means, (0.025, 0.975))
    return float(low), float(high)


def _ends(rate: Rate | ClusteredRate) -> Interval:
    assert rate.low is not None
    assert rate.high is not None
    return rate.low, rate.high


if __name__ == "__main__":
    sys.exit(main())
