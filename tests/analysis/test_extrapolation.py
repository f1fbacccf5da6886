"""pass@k and pass^k for more draws than were made: the likelihood, the fit, and the draws that are too few for it."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import betaln, expit
from scipy.stats import betabinom, binom

from koderz_core.analysis.extrapolation import DROP, FEWEST_PROBLEMS, fit, log_likelihood, refusal

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
def test_the_grid_finds_the_largest_likelihood_and_the_interval_of_the_profile_that_scipy_finds(truth):
    counts = drawn(120, 6, *truth)
    cells = {cell: list(counts.values()).count(cell) for cell in counts.values()}
    found, starts = fit(counts), np.random.default_rng(1).normal(0, 1.5, (8, 4))
    bounds = [(-8, 8), (-8, 8), (-12, 12), (-12, 12)]

    def parts(x: np.ndarray) -> tuple[float, float, float, float]:
        total, weight, at_0 = np.exp(-x[1]), expit(x[2]), expit(x[3])
        return expit(x[0]) * total, (1 - expit(x[0])) * total, (1 - weight) * at_0, (1 - weight) * (1 - at_0)

    def logs(x: np.ndarray) -> float:
        a, b, zero, one = (np.array([part]) for part in parts(x))
        return float(log_likelihood(cells, (a, b), (zero, one))[0, 0])

    def pass_at_30(x: np.ndarray) -> float:
        a, b, zero, one = parts(x)
        return float(1 - zero - (1 - zero - one) * np.exp(betaln(a, b + 30) - betaln(a, b)))

    largest = max(-minimize(lambda x: -logs(x), start, bounds=bounds).fun for start in starts)
    inside = {"type": "ineq", "fun": lambda x: logs(x) - largest + DROP}
    ends = [
        minimize(lambda x, sign=sign: sign * pass_at_30(x), start, method="SLSQP", bounds=bounds, constraints=inside).x
        for start in starts
        for sign in (1, -1)
    ]
    reached = [pass_at_30(x) for x in ends if logs(x) >= largest - DROP - 1e-4]
    assert largest - 0.1 < found.likelihood < largest + 1e-6
    interval = found.any_passes(30)
    assert (interval.low, interval.high) == pytest.approx((min(reached), max(reached)), abs=0.005)


def test_values_are_those_of_the_best_distribution_and_intervals_widen_with_k():
    found = fit(drawn(164, 5, 0.2, 0.1, 0.5, 1.0))
    a, b = found.a[found.beta[found.best]], found.b[found.beta[found.best]]
    zero, one = found.zero[found.best], found.one[found.best]
    weight = 1 - zero - one
    assert found.any_passes(20).value == pytest.approx(1 - zero - weight * np.exp(betaln(a, b + 20) - betaln(a, b)))
    assert found.all_pass(20).value == pytest.approx(one + weight * np.exp(betaln(a + 20, b) - betaln(a, b)))
    assert found.gain(20).value == pytest.approx(found.any_passes(21).value - found.any_passes(20).value)
    near, far = found.any_passes(10), found.any_passes(100)
    assert near.high - near.low < far.high - far.low
    assert 0 < found.gain(20).low <= found.gain(20).value <= found.gain(20).high


def test_problems_that_are_never_solved_and_rarely_solved_are_not_distinguished_by_few_draws():
    """Half of the problems are always solved; the other half failed in 5 draws, so their chance may be small or 0."""
    interval = fit({str(at): (5 * (at % 2), 5) for at in range(100)}).any_passes(50)
    assert interval.low == pytest.approx(0.4, abs=0.02)
    assert interval.high > 0.62


def test_too_few_draws_are_refused():
    assert refusal({str(at): (at % 3, 2) for at in range(500)}) == "few draws"
    assert refusal(drawn(FEWEST_PROBLEMS - 1, 5, 0, 0, 1, 1)) == "few problems"
    assert (
        refusal({str(at): (0, 5) for at in range(50)})
        == refusal({str(at): (5, 5) for at in range(50)})
        == "no variation"
    )
    assert refusal(drawn(FEWEST_PROBLEMS, 5, 0, 0, 1, 1)) is None


def test_more_draws_make_the_interval_of_the_same_k_narrower():
    few, many = (fit(drawn(100, draws, 0.2, 0.0, 0.5, 1.0)).any_passes(50) for draws in (5, 50))
    assert many.high - many.low < 0.7 * (few.high - few.low)
