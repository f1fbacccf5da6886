"""What solving costs."""

from __future__ import annotations

from math import inf, isnan, log

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_courses import answers, course
from made_trials import trials
from msgspec.structs import replace
from scipy.stats import t

from koderz_core.analysis.money import (
    FrontierShare,
    attempt_costs,
    cost_per_solved,
    frontier_share,
    margins,
    parts_per_solved,
    price_ratio,
    savings,
)

RESULTS = st.lists(st.tuples(st.booleans(), st.floats(0, 10, allow_subnormal=False)), min_size=2, max_size=12)


@settings(max_examples=40)
@given(RESULTS)
def test_the_cost_per_solved_problem_is_all_that_was_spent_by_how_many_were_solved(results):
    solved, usd = zip(*results, strict=True)
    found = cost_per_solved(answers(solved, usd))
    if any(solved):
        assert found.value == pytest.approx(sum(usd) / sum(solved))
        assert found.low <= found.value + 1e-9
        assert found.value <= found.high + 1e-9
    else:
        assert found.value == inf if sum(usd) else isnan(found.value)


def test_what_ended_without_a_result_is_not_counted_and_an_unknown_price_is_not_zero():
    assert cost_per_solved([*answers([1, 0]), course("p/2", "xxc")]).value == 2.0
    assert cost_per_solved([*answers([1, 0]), course("p/0", "xxxc")]).value == 2.0
    assert cost_per_solved(answers([1, 0], [1.0, None])) is None
    assert cost_per_solved([course("p/2", "xxc")]) is None


def test_the_parts_of_the_tiers_add_up_to_the_cost_per_solved_problem():
    spent = {"usd": 1.0, "frontier_usd": 0.75, "small_frontier_usd": 0.25}
    trials = [replace(trial, **spent) for trial in answers([1, 0, 1, 1])]
    found = parts_per_solved([*trials, course("p/9", "xxc", usd=100.0)])
    assert found == pytest.approx({"local": 1 / 3, "small_frontier": 1 / 3, "frontier": 2 / 3})
    assert sum(found.values()) == pytest.approx(cost_per_solved(trials).value)
    assert parts_per_solved([])["local"] is None


def test_repeats_of_a_problem_weigh_as_one():
    trials = [*answers([1, 0]), *(replace(trial, repeat=1) for trial in answers([1]))]
    assert cost_per_solved(trials).value == 2.0


def test_one_price_in_terms_of_another_is_paired_so_it_is_surer_than_either():
    usd = [0.1, 5.0, 0.3, 2.0, 9.0, 0.2, 0.7, 0.4] * 4
    solved = [1, 1, 1, 0, 1, 1, 0, 1] * 4
    found = price_ratio(answers(solved, [cost / 9 for cost in usd]), answers(solved, usd))
    assert (found.value, found.low, found.high) == pytest.approx((1 / 9, 1 / 9, 1 / 9))
    assert price_ratio(answers([0, 0]), answers([1, 1])) is None
    assert price_ratio(answers([1, 1]), answers([0, 0])) is None
    assert price_ratio(answers([1, 1], 0.0), answers([1, 1])).value == 0.0
    assert price_ratio(answers([1, 1]), answers([1, 1], 0.0)) is None


def test_a_price_ratio_holds_the_true_one_about_as_often_as_said_on_24_problems():
    draw, found = np.random.default_rng(4), []
    for _ in range(400):
        cheap, dear = (answers(draw.random(24) < rate, draw.lognormal(0, 0.7, 24).tolist()) for rate in (0.5, 0.8))
        found.append(price_ratio(cheap, dear))
    assert 0.93 <= np.mean([result.low <= 0.8 / 0.5 <= result.high for result in found]) <= 0.98


def test_bounds_for_several_pairs_are_further_out_and_none_of_them_is_drawn():
    trials = answers([1, 1, 0, 1] * 6, [0.1, 0.4, 2.0, 0.3] * 6), answers([1, 0, 1, 1] * 6, [0.3, 0.2, 0.1, 0.5] * 6)
    alone, of_nine = price_ratio(*trials), price_ratio(*trials, at_once=9)
    assert log(of_nine.high / of_nine.low) / log(alone.high / alone.low) == pytest.approx(
        t.isf(0.025 / 9, 23) / t.isf(0.025, 23), rel=1e-3
    )
    assert alone.low * alone.high == pytest.approx(alone.value**2)


def test_savings_are_of_the_problems_both_solved_beside_the_difference_in_success():
    found = savings(answers([1, 1, 0, 1], [1.0, 2.0, 100.0, 3.0]), answers([1, 1, 1, 0], [4.0, 6.0, 5.0, 100.0]))
    assert (found.problems, found.usd, found.baseline_usd, found.saved_usd.value) == (2, 1.5, 5.0, 3.5)
    assert (found.share.value, found.difference, found.of) == (pytest.approx(0.7), 0.0, 4)
    assert savings(answers([1, 0]), answers([1, 0], 0.0)).share is None


def test_repeats_that_failed_are_paid_for_before_anything_is_saved():
    first, again = answers([1], 1.0)[0], replace(answers([0], 9.0)[0], repeat=1)
    assert savings([first, again], answers([1], 5.0)).saved_usd.value == 0.0


def test_without_a_problem_that_both_solved_nothing_was_saved_or_lost():
    assert savings(answers([1, 0]), answers([0, 1])) is None
    assert savings(answers([1], None), answers([1])) is None


def test_the_frontiers_share_is_unknown_if_a_part_of_it_is():
    known = [replace(trial, frontier_usd=0.25, frontier_tokens=30, tokens=120) for trial in answers([1, 0], 1.0)]
    assert frontier_share(known) == FrontierShare(0.25, 0.25)
    assert frontier_share([*known, replace(known[0], frontier_usd=None)]) == FrontierShare(None, 0.25)
    assert frontier_share(answers([1], 0.0)).usd is None


def test_a_margin_is_what_one_solve_more_costs_on_the_way_up_the_frontier():
    held = {
        "dear": answers([1, 1, 1, 0], 4.0),
        "worse": answers([1, 0, 0, 0], 5.0),
        "cheap": answers([1, 0, 0, 0], 1.0),
    }
    (found,) = margins(held)
    assert (found.cheaper, found.dearer, found.usd, found.solved) == ("cheap", "dear", 3.0, 0.5)
    assert found.usd_per_solve == 6.0
    assert 0.9 < found.sure < 1.0  # not where neither of the two that part them is drawn
    assert margins({}) == ()


def test_configurations_that_solve_equally_much_have_no_margin():
    """Means of thirds may differ in their last digit."""
    solved = {"dear": [0, 2, 0, 0, 1, 2, 3, 2, 1, 0, 1, 2, 2, 2, 3, 3, 3, 0, 1, 3]}
    solved["cheap"] = [1, 0, 1, 1, 1, 3, 3, 1, 1, 2, 2, 0, 2, 3, 3, 1, 1, 0, 2, 3]
    held = {
        key: [
            replace(one, usd=usd)
            for one in trials(key, {f"p/{at}": "1" * n + "0" * (3 - n) for at, n in enumerate(of)})
        ]
        for (key, of), usd in zip(solved.items(), (0.02, 0.01), strict=True)
    }
    assert margins(held) == ()


def test_each_attempt_has_its_own_dollars_and_those_after_the_last_are_the_lasts():
    trials = [course("p/1", "xs"), replace(course("p/2", "xx"), usd=2.5), course("p/3", "s"), *answers([1], 4.0)]
    first, second = attempt_costs(trials)
    assert (first.usd, first.usd_per_solve) == (7.0, 3.5)
    assert (second.usd, second.usd_per_solve) == (2.5, 2.5)
    assert attempt_costs([course("p/1", "xs", usd=None)]) is None
    assert attempt_costs([course("p/1", "x")])[0].usd_per_solve == inf
