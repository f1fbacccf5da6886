"""Labels swapped within problems: the exact test where problems are repeated, equally often or not."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import hypergeom, norm

from koderz_core.analysis.paired import mcnemar
from koderz_core.analysis.permutation import label_permutation

SIDE = st.integers(1, 3).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


def side(solved, trials):
    return [(int(number), trials) for number in solved]


def every_swap(of_a, of_b):
    """The two-sided p by going through all ways to hand the label a to as many trials of each problem."""
    trials = [(s, a, s + t, a + b) for (s, a), (t, b) in zip(of_a, of_b, strict=True)]
    flat = [list(set_of(m, n, a)) for _, a, m, n in trials]
    means = np.array([a * m / n for _, a, m, n in trials])
    weighed = [(np.array([s for s, _ in way]), np.prod([chance for _, chance in way])) for way in product(*flat)]
    statistic = [score(counts - means) for counts, _ in weighed]
    seen = score(np.array([s for s, *_ in trials]) - means)
    further = [value >= seen - 1e-9 if seen > 0 else value <= seen + 1e-9 for value in statistic]
    return 2 * sum(chance for (_, chance), yes in zip(weighed, further, strict=True) if yes)


def set_of(solved, trials, of_a):
    for count in range(max(0, solved - trials + of_a), min(of_a, solved) + 1):
        yield count, hypergeom(trials, solved, of_a).pmf(count)


def score(away):
    return away.sum() / max((away**2).sum(), 1e-9) ** 0.5


@given(st.integers(0, 60), st.integers(0, 60), st.integers(0, 9), st.integers(0, 9))
def test_with_one_trial_of_each_problem_it_is_the_exact_mcnemar_test(only_a, only_b, both, neither):
    a = side([1] * (only_a + both) + [0] * (only_b + neither), 1)
    b = side([0] * only_a + [1] * (both + only_b) + [0] * neither, 1)
    assert label_permutation(a, b) == pytest.approx(mcnemar(only_a, only_b), abs=1e-8)


def check_against_every_swap(problems):
    of_a, of_b = ([problem[at] for problem in problems] for at in (0, 1))
    scores = [s - a * (s + t) / (a + b) for (s, a), (t, b) in problems]
    difference = sum(s / a - t / b for (s, a), (t, b) in problems)
    least = 2.0 ** (1 - sum(abs(score) > 1e-9 for score in scores))
    expected = min(1, max(least, every_swap(of_a, of_b))) if sum(scores) * difference > 1e-9 else 1
    assert label_permutation(of_a, of_b) == pytest.approx(expected, abs=1e-7)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.integers(1, 3).flatmap(lambda n: st.tuples(*[st.tuples(st.integers(0, n), st.just(n))] * 2)), max_size=6
    )
)
def test_it_is_the_share_of_all_swaps_that_are_as_extreme_but_for_the_two_limits(problems):
    check_against_every_swap(problems)


@pytest.mark.parametrize(
    "problems",
    [
        [
            ((1, 1), (3, 10)),
            ((1, 1), (6, 10)),
            ((0, 1), (1, 10)),
            ((1, 1), (9, 10)),
            ((1, 1), (4, 10)),
            ((1, 1), (2, 10)),
        ],
        [((3, 3), (1, 2)), ((1, 2), (0, 3)), ((2, 3), (1, 3)), ((1, 1), (0, 3)), ((3, 3), (2, 3)), ((1, 1), (0, 1))],
        [
            ((0, 1), (9, 10)),
            ((0, 1), (10, 10)),
            ((1, 1), (10, 10)),
            ((0, 1), (8, 10)),
            ((0, 1), (7, 10)),
            ((0, 1), (9, 10)),
        ],
    ],
)
def test_so_it_is_where_the_two_were_not_asked_equally_often(problems):
    check_against_every_swap(problems)


@settings(deadline=None)
@given(st.lists(st.tuples(SIDE, SIDE), min_size=1, max_size=30))
def test_p_is_the_same_whichever_of_the_two_comes_first(problems):
    of_a, of_b = ([problem[at] for problem in problems] for at in (0, 1))
    assert label_permutation(of_a, of_b) == pytest.approx(label_permutation(of_b, of_a), abs=1e-9)


@pytest.mark.parametrize(("a", "b", "rate"), [(1, 10, 0.95), (10, 1, 0.95), (1, 5, 0.5)])
def test_two_that_solve_each_problem_alike_are_rarely_told_apart_however_often_each_was_asked(a, b, rate):
    draw = np.random.default_rng(a * 100 + b)
    pairs = [(side(draw.binomial(a, rate, 18), a), side(draw.binomial(b, rate, 18), b)) for _ in range(400)]
    assert np.mean([label_permutation(*pair) <= 0.05 for pair in pairs]) <= 0.065


def test_two_that_solve_different_problems_equally_often_are_rarely_told_apart_for_having_many_repeats():
    draw = np.random.default_rng(8)
    chances = draw.beta(0.9, 0.1, (300, 2, 20))
    pairs = [[side(draw.binomial(10, chance), 10) for chance in both] for both in chances]
    assert np.mean([label_permutation(*pair) <= 0.05 for pair in pairs]) <= 0.09


def test_five_problems_that_went_one_way_show_no_more_for_having_been_repeated():
    five = side([10] * 5 + [10] * 10 + [0] * 5, 10), side([0] * 5 + [10] * 10 + [0] * 5, 10)
    assert label_permutation(*five) == mcnemar(5, 0) == 0.0625


def test_of_a_thousand_problems_with_dozens_of_repeats_it_is_nearly_the_normal_tail():
    draw = np.random.default_rng(1)
    chances = draw.beta(2, 1, 1000)
    a, b = (draw.binomial(25, np.clip(chances + more, 0, 1)) for more in (0.01, 0.0))
    assert label_permutation(side(a, 25), side(b, 25)) == pytest.approx(2 * norm.sf(abs(score(a - b))), abs=3e-3)
