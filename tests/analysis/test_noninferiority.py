"""Whether one is not worse than another by a margin, and how many problems show it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar
from scipy.stats import multinomial, norm

from koderz_core.analysis.paired import bonett_price
from koderz_core.analysis.power import noninferiority_p, noninferiority_power, noninferiority_problems

LEVELS = (0.05, 0.025, 0.025 / 3)


def outcomes(n: int) -> list[tuple[int, int]]:
    return [(a, b) for a in range(n + 1) for b in range(n + 1 - a)]


@settings(max_examples=30)
@given(st.integers(1, 60), st.floats(0.01, 0.4), st.data())
def test_p_is_that_of_the_score_statistic_under_the_likeliest_chances_at_the_margin(n, margin, data):
    only_a = data.draw(st.integers(0, n))
    only_b = data.draw(st.integers(0, n - only_a))

    def unlikely(worse: float) -> float:
        logs = np.log([worse - margin, worse, 1 - 2 * worse + margin])
        return -float(np.dot([only_a, only_b, n - only_a - only_b], logs))

    bounds = (margin + 1e-9, (1 + margin) / 2 - 1e-9)
    worse = minimize_scalar(unlikely, bounds=bounds, method="bounded", options={"xatol": 1e-10}).x
    score = (only_a - only_b + n * margin) / np.sqrt(n * (2 * worse - margin - margin**2))
    assert noninferiority_p(only_a, only_b, n, margin) == pytest.approx(norm.sf(score), abs=1e-5)


@pytest.mark.parametrize(("only_it", "only_baseline", "p"), [(7, 8, 0.10), (6, 8, 0.15), (5, 9, 0.30), (5, 1, 0.001)])
def test_the_pairs_of_the_study_have_the_p_that_its_review_found(only_it, only_baseline, p):
    assert noninferiority_p(only_it, only_baseline, 60, 0.1) == pytest.approx(p, abs=0.006)


@pytest.mark.parametrize(
    ("n", "margin", "discordant", "difference"), [(20, 0.1, 0.25, 0.0), (35, 0.2, 0.5, -0.1), (12, 0.1, 0.2, 0.2)]
)
def test_power_is_the_sum_over_all_outcomes_with_a_small_p(n, margin, discordant, difference):
    chances = (discordant + difference) / 2, (discordant - difference) / 2, 1 - discordant
    shown = [(a, b) for a, b in outcomes(n) if noninferiority_p(a, b, n, margin) <= 0.025]
    expected = sum(multinomial.pmf((a, b, n - a - b), n, chances) for a, b in shown)
    assert noninferiority_power(n, margin, discordant, difference) == pytest.approx(expected, abs=1e-9)


def test_60_problems_rarely_show_that_two_equal_ones_match():
    by_level = [noninferiority_power(60, 0.1, 0.25, alpha=alpha) for alpha in LEVELS]
    assert by_level == pytest.approx([0.45, 0.31, 0.17], abs=0.006)


@pytest.mark.parametrize(("discordant", "chance"), [(0.25, 0.18), (0.12, 0.40)])
def test_by_the_rule_of_the_study_they_match_with_the_chance_that_its_review_found(discordant, chance):
    """Its rule: the lower bound of Bonett and Price for three pairs simultaneously is above the margin."""
    matched = [(a, b) for a, b in outcomes(60) if bonett_price([1] * a + [-1] * b + [0] * (60 - a - b), 3)[0] > -0.1]
    chances = (discordant / 2, discordant / 2, 1 - discordant)
    found = sum(multinomial.pmf((a, b, 60 - a - b), 60, chances) for a, b in matched)
    assert found == pytest.approx(chance, abs=0.006)


@pytest.mark.parametrize(("alpha", "by_formula", "exact"), [(0.05, 155, 157), (0.025, 197, 202), (0.025 / 3, 262, 271)])
def test_as_many_problems_are_named_as_the_score_test_takes(alpha, by_formula, exact):
    deviations = norm.isf(alpha) + norm.ppf(0.8)
    assert int(np.ceil(deviations**2 * 0.25 / 0.1**2)) == by_formula
    assert noninferiority_problems(0.1, 0.25, alpha=alpha) == exact
    assert (
        noninferiority_power(exact, 0.1, 0.25, alpha=alpha)
        >= 0.8
        > noninferiority_power(by_formula, 0.1, 0.25, alpha=alpha)
    )


def test_no_number_of_problems_shows_that_a_worse_one_is_not_worse():
    assert noninferiority_problems(0.1, 0.25, difference=-0.1) is None
    assert noninferiority_problems(0.1, 0.25, difference=0.05) < noninferiority_problems(0.1, 0.25)


@pytest.mark.parametrize("n", [60, 164])
@pytest.mark.parametrize("discordant", [0.12, 0.25, 0.4])
@pytest.mark.parametrize("alpha", LEVELS)
def test_one_that_is_worse_by_the_margin_seldom_passes(n, discordant, alpha):
    assert noninferiority_power(n, 0.1, discordant, difference=-0.1, alpha=alpha) < 1.03 * alpha


def test_power_is_that_of_simulated_benchmarks():
    draw = np.random.default_rng(0).multinomial(100, (0.13, 0.13, 0.74), 4000)
    shown = np.mean([noninferiority_p(int(a), int(b), 100, 0.1) <= 0.025 for a, b, _ in draw])
    assert noninferiority_power(100, 0.1, 0.26) == pytest.approx(shown, abs=4 * np.sqrt(0.25 / 4000))
