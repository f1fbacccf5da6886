"""Many configurations: Holm's adjustment, and who shares a group."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_trials import once, trials
from statsmodels.stats.multitest import multipletests

from koderz_core.analysis.multiplicity import compatible, holm, rank_groups
from koderz_core.analysis.paired import paired


def solving(**solved):
    """Configurations that solve so many of the same 60 problems, the first ones."""
    return {name: once(name, [place < number for place in range(60)]) for name, number in solved.items()}


@settings(max_examples=7)  # statsmodels takes a tenth of a second for each
@given(st.lists(st.floats(0, 1), min_size=5, max_size=30))
def test_holm_is_statsmodels(p):
    assert holm(p) == pytest.approx(multipletests(p, method="holm")[1].tolist(), abs=1e-12)


def test_of_no_tests_none_is_adjusted():
    assert holm([]) == []


def test_one_in_the_middle_that_differs_from_neither_end_is_in_both_groups():
    made = solving(w=20, m=25, b=30)
    assert paired(made["w"], made["b"]).p < 0.01
    assert rank_groups("wmb", made) == [("m", "b"), ("w", "m")]


def test_all_that_are_told_apart_stand_alone_best_first():
    made = solving(a=0, b=50, c=20)
    assert rank_groups("abc", made) == [("b",), ("c",), ("a",)]


def test_a_group_inside_another_is_none_of_its_own():
    assert rank_groups("abc", solving(a=0, b=50, c=51)) == [("b", "c"), ("a",)]


def test_a_group_keeps_the_order_asked_for_whoever_solved_more():
    made = solving(a=19, b=21, c=20)
    assert rank_groups("cab", made) == [("c", "a", "b")]


def test_the_adjustment_is_for_all_pairs():
    made = {"a": once("a", [0] * 6), "b": once("b", [1] * 6)}
    assert rank_groups("ab", made) == [("b",), ("a",)]  # p = 0.031 for one pair
    assert rank_groups("abc", made | {"c": once("c", [1] * 6)}) == [("a", "b", "c")]  # 3 times as much


def test_a_pair_without_a_valid_test_separates_no_groups_and_does_not_adjust_others():
    made = {"a": once("a", [0] * 6), "b": once("b", [1] * 6), "c": once("c", [1] * 6)}
    assert rank_groups("ab", made, untested=[frozenset("ab")]) == [("a", "b")]
    assert rank_groups("abc", made, untested=[frozenset("ac"), frozenset("bc")]) == [("b", "c"), ("a", "c")]


def test_who_has_no_result_is_in_no_group_and_who_shares_no_problem_is_not_told_apart():
    made = {
        "a": once("a", [1] * 9),
        "b": once("b", [0] * 9),
        "x": trials("x", {"p/0": "e"}),
        "o": trials("o", {"z": "0"}),
    }
    assert rank_groups("abxo", made) == [("a", "o"), ("b", "o")]
    assert rank_groups("x", made) == []


@settings(max_examples=30)
@given(
    st.lists(st.lists(st.booleans(), min_size=25, max_size=25), min_size=1, max_size=6), st.sampled_from([0.05, 0.5])
)
def test_two_share_a_group_exactly_if_they_are_not_told_apart(solved, alpha):
    made = {place: once(str(place), item) for place, item in enumerate(solved)}
    pairs = list(combinations(made, 2))
    adjusted = holm([paired(made[first], made[second]).p for first, second in pairs])
    groups = rank_groups(list(made), made, alpha)
    for (first, second), p in zip(pairs, adjusted, strict=True):
        assert any(first in group and second in group for group in groups) == (p > alpha)
    assert {key for group in groups for key in group} == set(made)
    assert not any(set(small) < set(large) for small in groups for large in groups)


MARKS = st.lists(st.tuples(*[st.text("10", min_size=1, max_size=3)] * 2), min_size=1, max_size=25)


@settings(deadline=None)
@given(MARKS, st.sampled_from([1, 4, 11]), st.floats(1, 11))
def test_the_interval_of_a_pair_leaves_out_0_exactly_if_the_two_are_told_apart(marks, at_once, more):
    a, b = (trials(name, {f"p/{n}": mark[side] for n, mark in enumerate(marks)}) for side, name in enumerate("ab"))
    raw = paired(a, b, at_once)
    p = min(1.0, more * raw.p)
    found = compatible(raw, p)
    if p > 0.05:
        assert found.low <= 0 <= found.high
    else:
        assert found.low >= 0 if raw.difference > 0 else found.high <= 0
    assert found.low <= raw.difference <= found.high


def test_a_bound_beyond_0_is_moved_to_it_and_no_other():
    test = paired(once("a", [1] * 7 + [0] * 13), once("b", [0] * 6 + [1] + [0] * 13))
    apart, not_apart = compatible(replace(test, low=-0.1), 0.05), compatible(test, 0.06)
    assert (apart.low, apart.high) == (0.0, test.high)
    assert test.low > 0 == not_apart.low
    assert compatible(test, 0.03) == test
