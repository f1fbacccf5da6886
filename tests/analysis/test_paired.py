"""Two configurations on the same problems: the exact tests, the interval, and which problems they differ on."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_trials import once, trials
from scipy.stats import binomtest, norm
from statsmodels.stats.contingency_tables import mcnemar as statsmodels_mcnemar

from koderz_core.analysis.paired import Discordant, bonett_price, mcnemar, paired

COUNT = st.integers(0, 300)
MARKS = st.lists(st.tuples(*[st.text("10", min_size=1, max_size=4)] * 2), min_size=1, max_size=30)


@given(COUNT, COUNT)
def test_mcnemar_is_statsmodels_and_the_binomial_test(only_a, only_b):
    p = mcnemar(only_a, only_b)
    assert p == pytest.approx(statsmodels_mcnemar([[3, only_a], [only_b, 4]], exact=True).pvalue, abs=1e-12)
    if only_a + only_b:
        assert p == pytest.approx(binomtest(only_a, only_a + only_b).pvalue, abs=1e-9)


def test_mcnemar_of_thousands_of_problems_does_not_overflow():
    assert mcnemar(2000, 2000) == 1.0
    assert mcnemar(0, 3000) == 0.0


@pytest.mark.parametrize(
    ("both", "only_a", "only_b", "neither", "low", "high"),
    [
        # The example of ci.prop.ps in statpsych, the R package of D. G. Bonett.
        (6, 26, 4, 12, 0.2548067, 0.6251933),
        # Example 1 of Bonett and Price (2012), as statpsych and esci print it.
        (60, 22, 50, 68, -0.2198621, -0.05736562),
    ],
)
def test_the_interval_is_the_published_one(both, only_a, only_b, neither, low, high):
    a = [1] * (both + only_a) + [0] * (only_b + neither)
    b = [1] * both + [0] * only_a + [1] * only_b + [0] * neither
    found = paired(once("a", a), once("b", b))
    assert (found.both, found.only_a, found.only_b, found.neither) == (both, only_a, only_b, neither)
    assert (found.low, found.high) == pytest.approx((low, high), abs=1e-7)


@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=80))
def test_the_interval_is_the_formula_of_the_counts(pairs):
    n, only_a, only_b = len(pairs), sum(a and not b for a, b in pairs), sum(b and not a for a, b in pairs)
    p12, p21 = (only_a + 1) / (n + 2), (only_b + 1) / (n + 2)
    reach = 1.959963984540054 * ((p12 + p21 - (p12 - p21) ** 2) / (n + 2)) ** 0.5
    found = paired(once("a", [a for a, _ in pairs]), once("b", [b for _, b in pairs]))
    expected = (max(-1, p12 - p21 - reach), min(1, p12 - p21 + reach))
    assert (found.low, found.high) == pytest.approx(expected, abs=1e-12)


@given(MARKS)
def test_the_interval_holds_the_difference_and_turns_with_the_sides(marks):
    a, b = (
        trials(name, {f"p/{place}": mark[side] for place, mark in enumerate(marks)}) for side, name in enumerate("ab")
    )
    there, back = paired(a, b), paired(b, a)
    assert -1 <= there.low <= there.difference <= there.high <= 1
    assert (back.difference, back.low, back.high) == pytest.approx((-there.difference, -there.high, -there.low))
    assert (back.only_a, back.only_b, back.ids.only_a) == (there.only_b, there.only_a, there.ids.only_b)
    assert back.p == pytest.approx(there.p)
    assert there.both + there.only_a + there.only_b + there.neither == there.n == len(marks)


def test_repeats_are_compared_by_the_share_solved_of_each_problem():
    a = trials("a", {"p/10": "110", "p/9": "11", "q": "11", "r": "00"})
    b = trials("b", {"p/10": "000", "p/9": "10", "q": "1", "r": "01"})
    found = paired(a, b)
    assert (found.n, found.both, found.neither, found.unpaired) == (4, 1, 0, 0)
    assert found.ids == Discordant(only_a=("p/9", "p/10"), only_b=("r",))
    assert found.difference == pytest.approx((2 / 3 + 1 / 2 - 1 / 2) / 4)
    # Scores are 1/2, 1 and -1/2. As far are 1/2, 1, 1/2 and 1/2, 1, -1/2 and -1/2, 1, 1/2 (each 1/20) and 1/2, 0, 1/2
    # (3/20), as of p/10 all three labels are on the two solved with chance 1/5, on one of them with 3/5.
    assert (found.method, found.p) == ("label permutation", pytest.approx(0.6))


def test_repeats_that_always_agree_leave_the_interval_as_it_was():
    one = paired(once("a", [1, 1, 0, 1]), once("b", [0, 1, 0, 0]))
    many = paired(
        trials("a", {"p": "111", "q": "111", "r": "000", "s": "111"}),
        trials("b", {"p": "000", "q": "111", "r": "000", "s": "000"}),
    )
    assert (many.low, many.high) == pytest.approx((one.low, one.high))
    assert many.p == one.p == 0.5  # two problems that went one way


def test_only_problems_where_both_have_a_result_count_and_the_others_are_counted():
    a = trials("a", {"p": "1", "q": "1", "r": "e", "s": "0", "t": "c"})
    b = trials("b", {"p": "0", "q": "-", "r": "1", "u": "1", "t": "c"})
    found = paired(a, b)
    assert (found.n, found.only_a, found.unpaired) == (1, 1, 5)
    assert found.method == "exact McNemar"


def test_of_no_common_problem_nothing_is_known():
    found = paired(once("a", []), once("b", [1]))
    assert (found.n, found.difference, found.low, found.high, found.p, found.unpaired) == (0, None, None, None, None, 1)


def test_ten_intervals_that_hold_at_once_are_each_at_a_tenth_of_five_percent():
    differences = [1.0] * 12 + [-1.0] * 4 + [0.0] * 34
    alone, of_ten = bonett_price(differences), bonett_price(differences, 10)
    wider = (of_ten[1] - of_ten[0]) / (alone[1] - alone[0])
    assert wider == pytest.approx(norm.isf(0.0025) / norm.isf(0.025))


def test_where_all_agree_the_interval_still_has_a_width():
    low, high = bonett_price([0.0] * 20)
    assert (low, high) == pytest.approx((-0.126, 0.126), abs=0.001)
