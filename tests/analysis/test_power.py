"""What a plan can show before it is run."""

from __future__ import annotations

import math
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import multinomial

from koderz_core.analysis.paired import mcnemar
from koderz_core.analysis.power import can_show, detectable, power


@pytest.mark.parametrize(
    ("n", "shares"), [(164, (0.14, 0.38, 0.70)), (378, (0.34, 0.78, 0.98)), (1140, (0.82, 1.0, 1.0))]
)
def test_a_gap_of_3_5_or_7_points_is_seen_with_the_known_power(n, shares):
    assert [power(n, gap) for gap in (0.03, 0.05, 0.07)] == pytest.approx(shares, abs=0.006)


@settings(max_examples=15)
@given(st.integers(1, 25), st.floats(-1, 1), st.floats(0.01, 1), st.sampled_from([0.01, 0.05, 0.25]))
def test_the_power_is_the_sum_over_all_outcomes_of_those_told_apart(n, difference, discordant, alpha):
    share = max(discordant, abs(difference))
    better = (share + abs(difference)) / 2
    outcomes = [(a, b) for a, b in product(range(n + 1), repeat=2) if a + b <= n and mcnemar(a, b) <= alpha]
    chance = sum(multinomial.pmf((a, b, n - a - b), n, (better, share - better, 1 - share)) for a, b in outcomes)
    assert power(n, difference, alpha, discordant) == pytest.approx(chance, abs=1e-9)


@pytest.mark.parametrize("n", [6, 20, 164, 378])
@pytest.mark.parametrize("wanted", [0.5, 0.8])
def test_the_detectable_difference_is_the_smallest_with_that_power(n, wanted):
    least = detectable(n, wanted)
    assert power(n, least) >= wanted
    assert power(n, least - 0.002) < wanted


def test_repeats_help_but_never_as_much_as_as_many_problems():
    assert detectable(400) < detectable(100, repeats=4) < detectable(100)
    assert detectable(100, repeats=1000) > detectable(210)


def test_a_plan_of_5_problems_shows_nothing():
    assert detectable(5) == math.inf
    assert can_show(5) == "With 5 problems no difference, however large, can be told from luck."
    assert can_show(1).startswith("With 1 problem no difference")


def test_the_sentence_says_what_goes_unnoticed_and_what_is_seen():
    assert can_show(20) == (
        "With 20 problems a difference below 28 points will usually go unnoticed; "
        "one of 37 points is seen four times in five."
    )
    assert can_show(164, repeats=5) == (
        "With 164 problems, 5 times each, a difference below 4.5 points will usually go unnoticed; "
        "one of 6.1 points is seen four times in five."
    )


@pytest.mark.parametrize("n", [6, 7, 10, 2000])
def test_the_sentence_never_speaks_of_more_than_all_problems(n):
    assert "e+" not in can_show(n)
    assert detectable(n) < 0.995


def test_with_many_configurations_a_difference_must_be_larger_to_be_seen():
    assert detectable(164, alpha=0.05 / 5) > detectable(164)
    assert f"one of {100 * detectable(164, alpha=0.05 / 5):.2g} points" in can_show(164, configurations=6)
    assert can_show(164, configurations=6).endswith("(5 configurations against one).")
