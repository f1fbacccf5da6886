"""Resampled problems, and the intervals of means and ratios."""

from __future__ import annotations

from math import inf

import numpy as np
import pytest
from scipy.stats import bootstrap, ttest_1samp

from koderz_core.analysis.bootstrap import RESAMPLES, mean_interval, ratio_interval, weights
from koderz_core.analysis.rates import Interval

DRAW = np.random.default_rng(5)


def test_each_resample_draws_as_many_problems_as_there_are_and_the_same_ones_for_the_same_seed():
    drawn = weights(30, seed=3)
    assert drawn.shape == (30, RESAMPLES)
    assert (drawn.sum(axis=0) == 30).all()
    assert drawn.var() == pytest.approx(29 / 30, rel=0.05)  # of a binomial count
    assert not (drawn == weights(30, seed=4)).all()
    weights.cache_clear()
    assert (drawn == weights(30, seed=3)).all()


def test_nobody_can_change_the_weights_that_all_share():
    with pytest.raises(ValueError, match="read-only"):
        weights(5)[0, 0] = 9


def test_the_interval_of_a_ratio_is_nearly_scipys_paired_bootstrap():
    usd, solved = DRAW.lognormal(0, 0.7, 200), (DRAW.random(200) < 0.6).astype(float)
    ours = ratio_interval(usd, solved)
    theirs = bootstrap(
        (usd, solved),
        lambda a, b, axis: a.sum(axis=axis) / b.sum(axis=axis),
        paired=True,
        method="percentile",
        n_resamples=4000,
        rng=1,
    ).confidence_interval
    width = theirs.high - theirs.low
    assert ours.value == usd.sum() / solved.sum()
    assert (ours.low, ours.high) == pytest.approx((theirs.low, theirs.high), abs=0.08 * width)


def test_of_constant_lower_parts_the_interval_is_students_of_the_logarithms_to_the_first_order():
    usd = DRAW.lognormal(0, 0.1, 40)
    found, theirs = ratio_interval(usd, np.ones(40), 9), ttest_1samp(np.log(usd), 0).confidence_interval(1 - 0.05 / 9)
    assert found.high / found.low == pytest.approx(np.exp(theirs.high - theirs.low), rel=0.02)


def test_the_interval_of_a_mean_is_students():
    values = DRAW.normal(1, 2, 12)
    theirs = ttest_1samp(values, 0).confidence_interval(1 - 0.05 / 3)
    found = mean_interval(values, 3)
    assert (found.low, found.value, found.high) == pytest.approx((theirs.low, values.mean(), theirs.high), rel=2e-3)


def test_of_fifty_skewed_costs_about_as_often_as_said_the_interval_holds_the_true_mean():
    costs = DRAW.lognormal(0, 0.7, (400, 50))
    found = [ratio_interval(cost, np.ones(50)) for cost in costs]
    covered = np.mean([result.low <= np.exp(0.245) <= result.high for result in found])
    assert 0.89 <= covered <= 0.97


def test_where_nothing_was_solved_the_price_of_a_solve_has_no_end_and_where_nothing_was_paid_it_is_nothing():
    assert ratio_interval(np.ones(20), np.zeros(20)) == Interval(inf, inf, inf)
    assert ratio_interval(np.zeros(20), np.ones(20)) == Interval(0, 0, 0)
    assert ratio_interval(np.zeros(20), np.zeros(20)).low is None


def test_one_problem_alone_tells_no_interval():
    assert ratio_interval(np.ones(1), np.ones(1)).low is None
    assert mean_interval(np.ones(1)).high is None
