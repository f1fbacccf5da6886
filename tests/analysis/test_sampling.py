"""Several draws per problem: pass@k and pass^k, which programs are draws, and what a selection missed."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_courses import answers, course
from made_trials import trials
from msgspec.structs import replace

from koderz_core.analysis.paired import bonett_price
from koderz_core.analysis.rates import Interval, clustered
from koderz_core.analysis.sampling import (
    further_draw,
    pass_at_k,
    pass_hat_k,
    pass_rate,
    sampling,
    selection,
)
from koderz_core.strategies import PRESETS, STRATEGIES, facts_of


def published(n: int, c: int, k: int) -> float:
    """Figure 3 of Chen et al., "Evaluating Large Language Models Trained on Code", arXiv 2107.03374."""
    return 1.0 if n - c < k else float(1.0 - np.prod(1.0 - k / np.arange(n - c + 1, n + 1)))


@given(st.integers(1, 200), st.data())
def test_pass_at_k_is_that_of_the_published_code(n, data):
    c, k = data.draw(st.integers(0, n)), data.draw(st.integers(1, n))
    assert pass_at_k(n, c, k) == pytest.approx(published(n, c, k), abs=1e-12)


@given(st.integers(1, 9), st.data())
def test_both_are_the_shares_of_all_choices_of_k_of_the_draws(n, data):
    c, k = data.draw(st.integers(0, n)), data.draw(st.integers(1, n))
    chosen = list(combinations([True] * c + [False] * (n - c), k))
    assert pass_at_k(n, c, k) == pytest.approx(sum(map(any, chosen)) / len(chosen))
    assert pass_hat_k(n, c, k) == pytest.approx(sum(map(all, chosen)) / len(chosen))


def test_at_k_1_both_are_the_clustered_rate():
    counts = {"p": (1, 5), "q": (5, 5), "r": (0, 4), "s": (2, 3)}
    once, rate = pass_rate(counts, 1), clustered(counts)
    for found in (once.any_passes, once.all_pass):
        assert (found.value, found.low, found.high) == pytest.approx((rate.value, rate.low, rate.high))


def test_problems_with_fewer_than_k_draws_are_left_out_and_counted():
    (draws,) = sampling(trials("a", {"p": "110", "q": "100", "r": "0e1", "s": "1e", "t": "ee"}), samples=False).draws
    assert [(rate.k, rate.problems, rate.left_out) for rate in draws.rates] == [(1, 4, 1), (2, 3, 2)]
    assert draws.rates[1].any_passes.value == pytest.approx((1 + 2 / 3 + 1) / 3)
    assert draws.refusal == "few problems"


def test_the_largest_measured_k_is_the_largest_for_which_half_of_the_problems_have_enough_draws():
    (draws,) = sampling(trials("a", {"p": "110", "q": "100", "r": "11010", "s": "10100"}), samples=False).draws
    assert (draws.most, [(rate.k, rate.left_out) for rate in draws.rates][-2:]) == (5, [(4, 2), (5, 2)])


def test_one_draw_per_problem_shows_nothing():
    assert sampling(answers([1, 0, 1]), samples=False).draws == ()


def test_only_the_samples_of_best_of_are_independent():
    """Other strategies stop at the first program that passes, show earlier programs, or test only different ones."""
    assert [name for name in (*STRATEGIES, *PRESETS) if facts_of(name).independent_samples] == ["best_of"]
    tried = [course("p", "xsf"), course("q", "sxs"), course("p", "sss", repeat=1), course("q", "xxx", repeat=1)]
    experiments, samples = sampling(tried, samples=True).draws
    assert (experiments.kind, experiments.most, samples.kind, samples.most) == ("experiments", 2, "samples", 6)
    assert samples.rates[0].any_passes.value == pytest.approx((4 / 6 + 2 / 6) / 2)
    assert [draws.kind for draws in sampling(tried, samples=False).draws] == ["experiments"]


def test_selected_is_compared_with_what_was_there_and_with_chance():
    lost = replace(course("p", "xsx"), code="p/0/3")  # the second program is right, the third was submitted
    found = selection([lost, course("q", "xxs"), course("r", "xx"), course("s", "s")])
    assert found is not None
    assert (found.coverage.value, found.selected.value, found.missed.value) == pytest.approx((0.75, 0.5, 0.25))
    assert found.chance.value == pytest.approx((1 / 3 + 1 / 3 + 0 + 1) / 4)
    assert (found.gained.low, found.gained.high) == pytest.approx(bonett_price([-1 / 3, 2 / 3, 0, 0]))
    assert found.candidates == pytest.approx(9 / 4)


def test_a_program_that_passes_the_gate_alone_is_not_right_and_one_tested_program_is_no_selection():
    found = selection([course("p", "fx"), course("q", "ff")])
    assert found is not None
    assert found.coverage.value == found.chance.value == 0
    assert selection([course("p", "s"), *answers([1])]) is None


def test_a_further_draw_costs_its_price_by_what_it_adds_and_an_unknown_price_stays_unknown():
    found = further_draw(Interval(0.02, 0.0, 0.04), Interval(0.5, 0.4, 0.6))
    assert found.usd_per_solve == Interval(25.0, 10.0, float("inf"))
    assert further_draw(Interval(0.02, 0.0, 0.04), None).usd_per_solve is None
    assert further_draw(Interval(0.02, 0.0, 0.04), Interval(0.0, 0.0, 0.0)).usd_per_solve == Interval(0.0, 0.0, 0.0)


def test_the_price_of_a_sample_is_its_share_of_the_dollars_up_to_the_last_test():
    by_problem = [
        course(str(at), "xs" if at % 2 else "xx", usd=0.5, repeat=repeat) for at in range(20) for repeat in (0, 1)
    ]
    asked_more = [replace(trial, usd=9.0) for trial in by_problem]  # by a judge, after the last test
    experiments, samples = sampling(asked_more, samples=True).draws
    assert experiments.refusal == "few draws"
    assert samples.further is not None
    assert samples.further.usd is not None
    assert samples.further.usd.value == pytest.approx(0.5)
    unpriced = [replace(asked_more[0], tries=course("0", "xx", usd=None).tries), *asked_more[1:]]
    assert sampling(unpriced, samples=True).draws[1].further.usd is None
