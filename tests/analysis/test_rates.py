"""Wilson's interval."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from koderz_core.analysis.rates import Rate, wilson


@given(st.integers(1, 5000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))), st.floats(0.5, 0.999))
def test_wilson_agrees_with_scipy(counts, confidence):
    successes, n = counts
    ours = wilson(successes, n, confidence)
    theirs = binomtest(successes, n).proportion_ci(confidence, method="wilson")
    assert (ours.low, ours.high) == (pytest.approx(theirs.low, abs=1e-12), pytest.approx(theirs.high, abs=1e-12))


@given(st.integers(1, 10**6).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_the_interval_holds_the_observed_rate_and_is_possible(counts):
    rate = wilson(*counts)
    assert 0 <= rate.low <= rate.value <= rate.high <= 1


def test_of_no_trials_nothing_is_known():
    rate = wilson(0, 0)
    assert rate == Rate(0, 0, None, None)
    assert rate.value is None


@pytest.mark.parametrize("counts", [(3, 2), (-1, 2)])
def test_impossible_counts_are_refused(counts):
    with pytest.raises(AssertionError):
        wilson(*counts)
