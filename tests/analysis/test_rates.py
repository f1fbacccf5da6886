"""Wilson's interval, the same where problems are repeated, and pass@k."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_trials import trials
from scipy.stats import binom, binomtest

from koderz_core.analysis.rates import ClusteredRate, Rate, by_problem, clustered, mid_p_bounds, wilson

COUNTS = st.integers(1, 12).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


@given(st.integers(1, 5000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))), st.floats(0.5, 0.999))
def test_wilson_agrees_with_scipy(counts, confidence):
    successes, n = counts
    ours = wilson(successes, n, confidence)
    theirs = binomtest(successes, n).proportion_ci(confidence, method="wilson")
    assert (ours.low, ours.high) == (pytest.approx(theirs.low, abs=1e-12), pytest.approx(theirs.high, abs=1e-12))


@pytest.mark.parametrize("n", [1, 18, 164])
def test_at_the_mid_p_bounds_half_of_the_observed_number_and_all_beyond_it_have_a_chance_of_a_40th(n):
    for right in {0, 1, n // 2, n - 1, n}:
        low, high = mid_p_bounds([1.0] * right + [0.0] * (n - right), n)
        for bound, beyond in ((low, binom.sf(right, n, low)), (high, binom.cdf(right - 1, n, high))):
            chance = beyond + binom.pmf(right, n, bound) / 2
            assert chance == pytest.approx(0.025, abs=1e-8) or (bound, right) in ((0.0, 0), (1.0, n))


def test_the_mid_p_bounds_cover_every_rate_of_few_problems():
    bounds = [mid_p_bounds([1.0] * right + [0.0] * (18 - right), 18) for right in range(19)]
    for rate in (percent / 200 for percent in range(1, 200)):
        assert (
            sum(binom.pmf(right, 18, rate) for right, (low, high) in enumerate(bounds) if low <= rate <= high) > 0.925
        )


@given(st.integers(1, 10**6).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_the_interval_holds_the_observed_rate_and_is_possible(counts):
    rate = wilson(*counts)
    assert 0 <= rate.low <= rate.value <= rate.high <= 1


def test_of_no_trials_nothing_is_known():
    rate = wilson(0, 0)
    assert rate == Rate(0, 0, None, None)
    assert rate.value is None
    assert clustered({"p": (0, 0)}) == ClusteredRate(0, 0, 0, None, None, None)


@pytest.mark.parametrize("counts", [(3, 2), (-1, 2)])
def test_impossible_counts_are_refused(counts):
    with pytest.raises(AssertionError):
        wilson(*counts)
    with pytest.raises(AssertionError):
        clustered({"p": counts})


@given(st.lists(st.booleans(), min_size=1, max_size=200))
def test_with_one_trial_of_each_problem_the_clustered_interval_is_wilsons(solved):
    ours = clustered({str(place): (int(item), 1) for place, item in enumerate(solved)})
    theirs = wilson(sum(solved), len(solved))
    assert (ours.value, ours.low, ours.high) == pytest.approx((theirs.value, theirs.low, theirs.high), abs=1e-12)


@given(st.lists(st.booleans(), min_size=1, max_size=50), st.integers(2, 9))
def test_repeats_that_always_agree_tell_no_more_than_one(solved, repeats):
    once = clustered({str(place): (int(item), 1) for place, item in enumerate(solved)})
    often = clustered({str(place): (item * repeats, repeats) for place, item in enumerate(solved)})
    assert (often.low, often.high) == pytest.approx((once.low, once.high), abs=1e-12)


def test_repeats_that_differ_as_trials_of_different_problems_do_count_nearly_as_those():
    apart = clustered({str(place): (2 + place % 2, 5) for place in range(100)})
    pooled = wilson(250, 500)
    assert apart.high - apart.low == pytest.approx(pooled.high - pooled.low, rel=0.01)


@given(st.lists(COUNTS, min_size=1, max_size=40))
def test_the_clustered_interval_lies_between_those_of_all_and_of_one_per_problem(counts):
    rate = clustered({str(place): count for place, count in enumerate(counts)})
    assert 0 <= rate.low <= rate.value <= rate.high <= 1
    assert rate.value == pytest.approx(sum(item / n for item, n in counts) / len(counts))
    if len({n for _, n in counts}) == 1 and rate.value * rate.problems == int(rate.value * rate.problems):
        few = wilson(int(rate.value * rate.problems), rate.problems)
        all_of_them = wilson(rate.successes, rate.n)
        assert few.low - 1e-12 <= rate.low <= all_of_them.low + 1e-12


def test_every_problem_weighs_the_same_however_often_it_was_tried():
    assert clustered({"a": (1, 1), "b": (0, 9)}).value == 0.5


@pytest.mark.parametrize(("problems", "rate"), [(20, 0.5), (20, 0.95), (164, 0.05), (164, 0.99)])
def test_the_clustered_interval_holds_the_true_rate_as_often_as_it_says(problems, rate):
    draw, held, trials_made = random.Random(5), 0, 400
    for _ in range(trials_made):
        chances = [draw.betavariate(rate, 1 - rate) for _ in range(problems)]  # one repeat tells half of the next
        made = {str(place): (sum(draw.random() < chance for _ in range(3)), 3) for place, chance in enumerate(chances)}
        found = clustered(made)
        held += found.low <= rate <= found.high
    assert held / trials_made >= 0.92


def test_only_what_has_a_result_counts():
    made = trials("a", {"p": "10", "q": "1e-", "r": "ec"})
    assert by_problem(made) == {"p": (1, 2), "q": (1, 1)}
