"""How large a true difference is seen with a given number of problems."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import multinomial

from koderz_core.analysis.paired import mcnemar
from koderz_core.analysis.permutation import label_permutation
from koderz_core.analysis.power import detectable, observed_discordance, power, variance_left_by


@pytest.mark.parametrize(
    ("n", "discordant", "shares"),
    [
        (164, 0.25, (0.09, 0.20, 0.38)),
        (164, 0.12, (0.14, 0.38, 0.70)),
        (378, 0.12, (0.34, 0.78, 0.98)),
        (1140, 0.12, (0.82, 1.0, 1.0)),
    ],
)
def test_a_gap_of_3_5_or_7_points_is_seen_with_the_known_power(n, discordant, shares):
    assert [power(n, gap, discordant) for gap in (0.03, 0.05, 0.07)] == pytest.approx(shares, abs=0.006)


def test_three_pairs_on_60_problems_show_what_the_review_of_the_study_found():
    seen = [100 * detectable(60, 0.25, wanted, 0.05 / 3) for wanted in (0.5, 0.8)]
    assert seen == pytest.approx([16.5, 20.4], abs=0.05)


@settings(max_examples=15)
@given(st.integers(1, 25), st.floats(-1, 1), st.floats(0.01, 1), st.sampled_from([0.01, 0.05, 0.25]))
def test_the_power_is_the_sum_over_all_outcomes_of_those_told_apart(n, difference, discordant, alpha):
    share = max(discordant, abs(difference))
    better = (share + abs(difference)) / 2
    outcomes = [(a, b) for a, b in product(range(n + 1), repeat=2) if a + b <= n and mcnemar(a, b) <= alpha]
    chance = sum(multinomial.pmf((a, b, n - a - b), n, (better, share - better, 1 - share)) for a, b in outcomes)
    assert power(n, difference, discordant, alpha) == pytest.approx(chance, abs=1e-9)


@pytest.mark.parametrize("n", [6, 20, 164, 378])
@pytest.mark.parametrize("wanted", [0.5, 0.8])
@pytest.mark.parametrize("left", [1.0, 0.6])
def test_the_detectable_difference_is_the_smallest_with_that_power(n, wanted, left):
    least = detectable(n, 0.25, wanted, variance_left=left)
    assert power(n, least, 0.25, variance_left=left) >= wanted
    assert power(n, least - 0.002, 0.25, variance_left=left) < wanted


def test_the_more_two_differ_the_larger_a_difference_must_be():
    assert detectable(164, 0.12) < detectable(164, 0.25) < detectable(164, 0.4)


def test_repeats_help_only_as_far_as_chance_makes_trials_differ():
    five_times = [detectable(164, 0.25, variance_left=variance_left_by(5, chance)) for chance in (0.0, 0.4, 1.0)]
    assert five_times[0] == detectable(164, 0.25)
    assert five_times == sorted(five_times, reverse=True)
    assert five_times[2] == pytest.approx(detectable(5 * 164, 0.25), rel=0.05)


@pytest.mark.parametrize(
    ("n", "repeats", "difference", "alike"),
    [(60, 5, 0.1, 0.9), (60, 2, 0.15, 0.5), (164, 5, 0.05, 0.8), (30, 3, 0.2, 0.9)],
)
def test_power_with_repeats_is_that_of_simulated_label_permutations(n, repeats, difference, alike):
    """Chances to solve a problem are beta distributed; ``alike``: the share of problems that suit both equally."""
    draw, times = np.random.default_rng(n), 600
    b = draw.beta(0.5, 0.5, (times, n))
    a = np.where(draw.random((times, n)) < alike, b, draw.beta(0.5, 0.5, (times, n)))
    a[draw.random((times, n)) < 2 * difference] = 1.0  # 1/2 before, on average
    solved = zip(draw.binomial(repeats, a), draw.binomial(repeats, b), strict=True)
    counts = [[[(int(s), repeats) for s in row] for row in both] for both in solved]
    simulated = np.mean([label_permutation(*both) <= 0.05 for both in counts])
    discordant, within = np.mean(a * (1 - b) + b * (1 - a)), np.mean(a * (1 - a) + b * (1 - b))
    true = np.mean(a - b)
    left = variance_left_by(repeats, float(within / (discordant - true**2)))
    assert power(n, float(true), float(discordant), variance_left=left) == pytest.approx(simulated - 0.03, abs=0.06)


def test_a_handful_of_problems_shows_nothing_however_often_they_are_repeated():
    assert detectable(5, 0.25) == math.inf
    assert detectable(5, 0.25, variance_left=variance_left_by(100, 1.0)) == math.inf


@pytest.mark.parametrize("n", [6, 7, 10, 2000])
def test_no_difference_is_larger_than_all_problems(n):
    assert detectable(n, 0.25) < 0.995


def test_two_that_did_not_differ_on_ten_problems_may_still_differ():
    assert observed_discordance(0, 10) == pytest.approx(1 / 7)
    assert observed_discordance(15, 60) == pytest.approx(17 / 64)
