"""pass@k and pass^k for more draws than were made: the beta-binomial fit, and the draws that are too few for it."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import betaln, expit
from scipy.stats import betabinom, binom

from koderz_core.analysis.extrapolation import FEWEST_PROBLEMS, extrapolation, fit, log_likelihood, refusal

Counts = dict[str, tuple[int, int]]


def drawn(n: int, draws: int, zero: float, one: float, a: float, b: float, seed: int = 0) -> Counts:
    """Problems with a mass at 0, a mass at 1, and a beta distribution between."""
    random = np.random.default_rng(seed)
    kind, chance = random.random(n), random.beta(a, b, n)
    chance = np.where(kind < zero, 0.0, np.where(kind > 1 - one, 1.0, chance))
    return {str(at): (int(random.binomial(draws, p)), draws) for at, p in enumerate(chance)}


def by_scipy(cells: dict[tuple[int, int], int], a: float, b: float, zero: float, one: float) -> float:
    """Without binomial coefficients, which are those of the chance 1/2."""
    logs = 0.0
    for (c, n), problems in cells.items():
        pmf = (1 - zero - one) * betabinom.pmf(c, n, a, b) + zero * (c == 0) + one * (c == n)
        logs += problems * (np.log(pmf) - (binom.logpmf(c, n, 0.5) + n * np.log(2)))
    return float(logs)


def test_the_likelihood_is_that_of_scipy_with_masses_at_both_ends():
    cells = {(0, 5): 7, (2, 5): 3, (5, 5): 4, (1, 3): 2, (3, 3): 1, (0, 4): 2}
    a, b, zero, one = np.array([0.4, 3.0]), np.array([1.2, 0.7]), np.array([0.0, 0.2, 0.1]), np.array([0.0, 0.1, 0.5])
    found = log_likelihood(cells, (a, b), (zero, one))
    for beta in range(2):
        for mass in range(3):
            expected = by_scipy(cells, a[beta], b[beta], zero[mass], one[mass])
            assert found[beta, mass] == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("truth", [(0.0, 0.0, 0.5, 1.0), (0.3, 0.1, 1.0, 2.0)])
def test_the_fit_has_the_largest_likelihood_that_scipy_finds(truth):
    counts = drawn(120, 6, *truth)
    cells = {cell: list(counts.values()).count(cell) for cell in counts.values()}

    def unlikely(x: np.ndarray) -> float:
        mean, total, weight, at_0 = expit(x[0]), np.exp(-x[1]), expit(x[2]), expit(x[3])
        parts = mean * total, (1 - mean) * total, (1 - weight) * at_0, (1 - weight) * (1 - at_0)
        a, b, zero, one = (np.array([part]) for part in parts)
        return -float(log_likelihood(cells, (a, b), (zero, one))[0, 0])

    starts, bounds = np.random.default_rng(1).normal(0, 1.5, (8, 4)), [(-8, 8), (-8, 8), (-12, 12), (-12, 12)]
    largest = max(-minimize(unlikely, start, bounds=bounds).fun for start in starts)
    found = fit(counts)
    assert largest - 0.05 < found.likelihood < largest + 1e-6
    assert found.likelihood == pytest.approx(by_scipy(cells, found.a, found.b, found.zero, found.one))


def test_estimates_are_those_of_the_fit():
    counts = drawn(164, 5, 0.2, 0.1, 0.5, 1.0)
    fitted, found = fit(counts), extrapolation(counts, (20,), 5)
    weight = 1 - fitted.zero - fitted.one
    none, every = (
        weight * np.exp(betaln(*after) - betaln(fitted.a, fitted.b))
        for after in ((fitted.a, fitted.b + 20), (fitted.a + 20, fitted.b))
    )
    assert found.any_passes[20].value == pytest.approx(1 - fitted.zero - none)
    assert found.all_pass[20].value == pytest.approx(fitted.one + every)
    assert found.gain.value == pytest.approx(fitted.any_passes(6) - fitted.any_passes(5))


def test_intervals_widen_with_k_and_shrink_with_draws():
    def width(draws: int, k: int) -> float:
        interval = extrapolation(drawn(100, draws, 0.2, 0.0, 0.5, 1.0), (k,), draws).any_passes[k]
        return interval.high - interval.low

    assert width(50, 50) < width(5, 10) < width(5, 50)


def test_an_interval_holds_chances_that_no_beta_distribution_has():
    """Half of the problems are solved by 5 % of draws and half by 80 %: after 50 draws, 96 % are solved."""
    random = np.random.default_rng(0)
    counts = {str(at): (int(random.binomial(10, 0.8 if at % 2 else 0.05)), 10) for at in range(164)}
    interval = extrapolation(counts, (50,), 10).any_passes[50]
    assert interval.low < 1 - 0.95**50 / 2 < interval.high


def test_too_few_draws_are_refused():
    assert refusal({str(at): (at % 3, 2) for at in range(500)}) == "few draws"
    assert refusal(drawn(FEWEST_PROBLEMS - 1, 5, 0, 0, 1, 1)) == "few problems"
    for right in (0, 5):
        assert refusal({str(at): (right, 5) for at in range(50)}) == "no variation"
    assert refusal(drawn(FEWEST_PROBLEMS, 5, 0, 0, 1, 1)) is None
