"""Resampled problems, and the interval of what has no formula."""

from __future__ import annotations

from math import inf

import numpy as np
import pytest
from scipy.stats import bootstrap

from koderz_core.analysis.bootstrap import RESAMPLES, interval, ratio_interval, weights

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


def test_the_interval_of_a_ratio_is_scipys_paired_bootstrap_a_little_wider():
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


def test_of_fifty_skewed_costs_about_as_often_as_said_the_interval_holds_the_true_mean():
    costs = DRAW.lognormal(0, 0.7, (400, 50))
    found = [ratio_interval(one, np.ones(50)) for one in costs]
    covered = np.mean([one.low <= np.exp(0.245) <= one.high for one in found])
    assert 0.89 <= covered <= 0.97


def test_what_may_be_endless_has_an_endless_bound_and_not_a_mean_of_two():
    found = ratio_interval(np.ones(20), np.array([1.0, 1.0] + [0.0] * 18))
    assert (found.value, found.high) == (10.0, inf)
    assert 0 < found.low < 10
    assert ratio_interval(np.ones(20), np.zeros(20)).low == inf


def test_one_problem_alone_tells_no_interval():
    assert ratio_interval(np.ones(1), np.ones(1)).low is None
    assert interval(1.0, np.full(10, np.nan), 5).high is None
