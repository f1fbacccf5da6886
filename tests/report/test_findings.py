"""Sentences that claim no more than was tested."""

from __future__ import annotations

from dataclasses import replace
from math import inf

import pytest
from made_courses import answers

from koderz_core.analysis.curves import BreakEven
from koderz_core.analysis.paired import paired
from koderz_core.analysis.pairs import Pair
from koderz_core.analysis.rates import Interval
from koderz_core.analysis.tradeoff import tradeoff
from koderz_core.report import findings
from koderz_core.report.findings import frontier, selection_note

TEST = paired(answers([1] * 130 + [0] * 34), answers([0] * 5 + [1] * 135 + [0] * 24))
LABELS = {("b", "qwen"): "qwen supervised", ("b", "opus"): "opus direct"}
OF = Pair(("b", "qwen"), ("b", "opus"), TEST, 0.3, (), Interval(0.111, 0.08, 0.15), None, None, 0)
EVEN = BreakEven(inf, 0.2, inf, 0.9, 0.8, 0.04)


def finding(pair: Pair) -> str:
    return findings.finding(pair, LABELS)


def test_a_difference_that_may_be_luck_is_not_told_apart_and_says_what_this_size_can_show():
    assert finding(OF) == (
        "On 164 problems, qwen supervised solved 3.05 percentage points less than opus direct (95 % interval: -8 to "
        "+2; p = 0.3): no significant difference; with this number of problems, a true difference below 5.3 percentage "
        "points is usually not detected; qwen supervised cost a ninth as much per solved problem (95 % interval: "
        "0.08 to 0.15 times)."
    )


@pytest.mark.parametrize(("discordant", "points"), [(0, "9.4"), (8, "11"), (16, "15"), (40, "22")])
def test_what_goes_unnoticed_is_judged_by_how_many_problems_the_two_differ_on(discordant, points):
    half = [1, 0] * (discordant // 2)
    test = paired(
        answers(half + [1] * (60 - discordant)), answers([1 - item for item in half] + [1] * (60 - discordant))
    )
    unnoticed = f"a true difference below {points} percentage points is usually not detected"
    assert unnoticed in finding(replace(OF, test=test, p_adjusted=1.0))


def test_only_a_small_p_is_more_than_luck():
    assert ": significant;" in finding(replace(OF, p_adjusted=0.0004))
    assert "p < 0.001" in finding(replace(OF, p_adjusted=0.0004))
    assert ": significant;" not in finding(replace(OF, p_adjusted=0.051))


@pytest.mark.parametrize(
    ("low", "high", "p", "said"),
    [
        (0.0, 0.2, 0.01, "(95 % interval: >0 to +20"),
        (-0.2, -0.001, 0.01, "(95 % interval: -20 to <0"),
        (0.0, 0.2, 0.06, "(95 % interval: +0 to +20"),
        (0.02, 0.2, 0.01, "(95 % interval: +2 to +20"),
    ],
)
def test_the_interval_of_two_that_are_told_apart_is_not_written_as_if_it_held_0(low, high, p, said):
    assert said in finding(replace(OF, test=replace(TEST, low=low, high=high), p_adjusted=p))


def test_what_differs_by_nothing_solved_as_many():
    same = paired(answers([1, 0] * 10), answers([1, 0] * 10))
    assert "solved the same share as opus direct" in finding(replace(OF, test=same, p_adjusted=1.0))


def test_a_handful_of_problems_is_said_to_show_nothing():
    few = paired(answers([1, 1, 0]), answers([0, 0, 0]))
    assert "with this number of problems, no difference can be statistically significant" in finding(
        replace(OF, test=few, p_adjusted=0.5)
    )
    assert "cannot be compared" in finding(replace(OF, test=paired([], []), p_adjusted=None))


@pytest.mark.parametrize(
    ("price", "said"),
    [
        (
            Interval(0.5, 0.4, 0.6),
            "qwen supervised cost half as much per solved problem (95 % interval: 0.4 to 0.6 times)",
        ),
        (Interval(0.02, None, None), "qwen supervised cost 1/50 as much per solved problem."),
        (
            Interval(0.8, 0.6, 1.1),
            "supervised cost 0.8 times as much per solved problem (95 % interval: 0.6 to 1.1 times, so either",
        ),
        (
            Interval(3.0, 2.0, float("inf")),
            "supervised cost 3 times as much per solved problem (95 % interval: 2 to ∞ times)",
        ),
        (Interval(0.0, 0.0, 0.0), "qwen supervised cost nothing"),
        (None, "their costs per solved problem cannot be compared"),
    ],
)
def test_a_price_is_told_with_its_bounds(price, said):
    assert said in finding(replace(OF, price=price))


def test_never_and_where_are_told_with_how_many_resamples_disagree():
    assert (
        "does not reach the success rate of opus direct (in 90 % of resamples it never reaches that rate)"
        in finding(replace(OF, break_even=EVEN))
    )
    there = replace(EVEN, usd=0.00012, low=0.0001, high=inf, never=0.04)
    said = (
        "at $0.00012 per problem (95 % interval: $0.00010 to never; in 4 % of resamples it never reaches that rate); "
        "opus direct spent $0.04"
    )
    assert said in finding(replace(OF, break_even=there))


def test_of_a_baseline_that_solved_nothing_nobody_is_said_to_reach_it():
    none = replace(EVEN, usd=None, low=None, high=None, never=None, target=0.0)
    assert "reaches" not in finding(replace(OF, break_even=none))
    assert "opus direct solved nothing, so there is no break-even cost." in finding(replace(OF, break_even=none))


def test_one_problem_gives_a_break_even_no_bounds():
    said = finding(replace(OF, break_even=replace(EVEN, usd=0.1, low=None, high=None, never=0.0)))
    assert said.endswith(
        "qwen supervised reaches the success rate of opus direct at $0.10 per problem; "
        "opus direct spent $0.040 per problem."
    )


def test_the_more_pairs_are_tested_the_larger_is_what_goes_unnoticed():
    assert "a true difference below 7.5 percentage points" in finding(replace(OF, test=replace(TEST, at_once=12)))


def test_bounds_that_hold_for_several_pairs_say_so_and_so_does_a_pair_that_was_picked():
    there = replace(EVEN, usd=0.1, low=0.05, high=inf, never=0.04)
    said = finding(replace(OF, test=replace(TEST, at_once=12), break_even=there))
    assert said.count("95 % interval adjusted for 12 pairs:") == 3
    assert "selected from 12 pairs after the results were known" in selection_note(12)
    assert selection_note(1) is None


def test_a_mixture_of_oracle_and_held_out_and_what_was_left_out_is_never_passed_over():
    assert "(oracle)" in finding(replace(OF, mixed=True))
    assert "oracle" not in finding(OF)
    left = paired(answers([1, 1, 1]), answers([1, 1]))
    said = finding(replace(OF, test=left))
    assert "Excluded: 1 problem on which at least one of the two configurations has no result." in said


def test_the_frontier_is_told_with_who_cannot_be_ruled_out():
    held = {
        "a": answers([1, 0] * 20),
        "b": answers([1, 1, 1, 0] * 10, 2.0),
        "c": answers([1, 1, 0, 1] * 9 + [0] * 4, 2.1),
    }
    said = frontier({"a": "cheap", "b": "good", "c": "near"}, tradeoff(held))
    assert said.startswith("Pareto frontier on 40 problems: cheap (100 %) and good (")
    assert "; possibly also near (" in said
    assert frontier({"a": "cheap"}, tradeoff({"a": held["a"]})) is None
