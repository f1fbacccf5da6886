"""Success at equal cost: simultaneous bands, supported differences, areas, and the whole set under one budget."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import inf, log, sqrt

import numpy as np
import pytest
from made_courses import course
from made_trials import trials
from msgspec.structs import replace
from scipy.optimize import brentq
from scipy.stats import binom, multivariate_normal, norm

from koderz_core.analysis.curves import curves
from koderz_core.analysis.equal_cost import equal_cost, likelihood_band, max_t
from koderz_core.analysis.rates import clustered
from koderz_core.records.trials import Trial

A, B = ("bench", "a"), ("bench", "b")


def made(name: str, marks: Sequence[str], usd: float = 1.0) -> list[Trial]:
    """A course per problem, in which each attempt costs ``usd``."""
    return [replace(course(f"p/{at}", mark, usd=usd), configuration=name) for at, mark in enumerate(marks)]


def compared(a: Sequence[str], b: Sequence[str], usd: float = 1.0) -> Mapping[tuple[str, str], list[Trial]]:
    return {A: made("a", a), B: made("b", b, usd)}


@pytest.mark.parametrize(("number", "correlation"), [(1, 0.0), (3, 0.0), (3, 0.5), (5, 0.9)])
def test_the_critical_value_is_the_quantile_of_the_largest_of_correlated_normal_numbers(number, correlation):
    covariance = np.full((number, number), correlation) + (1 - correlation) * np.eye(number)
    draws = np.random.default_rng(1).standard_normal((number, 200_000))
    matrix = 3 * np.linalg.cholesky(covariance) @ draws

    def excess(bound: float) -> float:
        box = multivariate_normal.cdf(
            np.full(number, bound), cov=covariance, lower_limit=np.full(number, -bound), rng=1, maxpts=200_000
        )
        return float(box) - 0.95

    assert max_t([matrix]) == pytest.approx(brentq(excess, 1.5, 4.0, xtol=1e-3), abs=0.02)


def test_the_critical_value_is_dunnetts_for_three_comparisons_with_a_control():
    """Dunnett, Biometrics 20 (1964) 482-491, table II: two-sided, 5 %, infinite degrees of freedom."""
    control, *others = np.random.default_rng(2).standard_normal((4, 200_000))
    assert max_t([np.stack([other - control]) for other in others]) == pytest.approx(2.35, abs=0.02)


def test_nothing_that_varies_leaves_one_normal_number():
    rounding = np.zeros((3, 1000))
    rounding[1, ::10] = 1e-11  # where all problems are solved
    assert max_t([rounding]) == pytest.approx(norm.ppf(0.975))


@pytest.mark.parametrize(("successes", "n"), [(0, 18), (1, 18), (9, 18), (18, 18), (100, 164)])
def test_the_band_contains_the_rates_with_a_small_likelihood_ratio(successes, n):
    low, high = likelihood_band(np.array([successes / n]), np.array([float(n)]), 2.5)
    best = binom.logpmf(successes, n, successes / n)
    for bound, end in ((float(low[0]), 0.0), (float(high[0]), 1.0)):
        if successes / n == end:
            assert bound == pytest.approx(end, abs=1e-9)
        else:
            assert 2 * (best - binom.logpmf(successes, n, bound)) == pytest.approx(2.5**2, rel=1e-6)


def test_curves_are_those_of_the_summary_with_wider_bands():
    trials = compared(["s", "xs", "xxs", "xxx"] * 6, ["s", "xx"] * 12)
    found = equal_cost(trials, "usd", A)
    for ours, plain in zip(found.curves.curves, curves(trials, "usd").curves, strict=True):
        assert (ours.at, ours.share) == (plain.at, pytest.approx(plain.share))
        assert all(low <= other + 1e-9 for low, other in zip(ours.low, plain.low, strict=True))
        assert all(high >= other - 1e-9 for high, other in zip(ours.high, plain.high, strict=True))
    assert norm.ppf(0.975) < found.critical < 4


def test_a_configuration_that_solves_the_same_for_less_is_better_only_below_the_price_of_the_other():
    found = equal_cost(compared(["s"] * 38 + ["x"] * 2, ["s"] * 38 + ["x"] * 2, usd=10.0), "usd", A)
    assert [(of.better, of.worse, of.start, of.end) for of in found.supported] == [(A, B, 1.0, 10.0)]
    same = equal_cost(compared(["s", "x"] * 20, ["s", "x"] * 20), "usd", A)
    assert same.supported == ()


def test_the_area_is_the_mean_share_over_the_logarithm_of_the_budget():
    found = equal_cost(compared(["s", "xs", "xxxs", "xxxx"] * 5, ["xxxs"] * 20), "usd", A)
    first, second = found.areas
    assert (found.least, found.most) == (1.0, 4.0)
    assert first.share.value == pytest.approx((0.25 * log(2) + 0.5 * log(2)) / log(4))
    assert second.share.value == pytest.approx(0.0)
    assert first.difference is None
    assert second.difference is not None
    assert second.difference.value == pytest.approx(-first.share.value)
    each = np.array([1.0, 0.5, 0.0, 0.0] * 5)
    assert second.difference.high is not None
    middle, square = -each.sum() / 22, ((each**2).sum() + 2) / 22
    assert second.difference.high == pytest.approx(middle + 1.96 * sqrt((square - middle**2) / 22), abs=0.01)


def test_censored_trials_widen_the_band_and_stay_in_the_curve():
    whole = equal_cost(compared(["s", "xs", "xx"] * 8, ["s"] * 24), "usd", A)
    cut = equal_cost(compared(["s", "xs", "xc"] * 8, ["s"] * 24), "usd", A)
    assert cut.curves.curves[0].share[-1] > whole.curves.curves[0].share[-1]
    assert cut.curves.curves[0].censored == 8


@pytest.mark.parametrize(
    ("trials", "why"),
    [
        (compared(["s"] * 9, ["s"] * 9), "few problems"),
        ({A: made("a", ["s"] * 20)}, "few configurations"),
        ({A: made("a", ["s"] * 20, 0.0), B: made("b", ["s"] * 20, 0.0)}, "free"),
        (compared(["x"] * 20, ["x"] * 20), "nothing solved"),
    ],
)
def test_too_little_is_refused_with_the_reason(trials, why):
    found = equal_cost(trials, "usd", A)
    assert (found.why, found.curves.curves, found.supported) == (why, (), ())


def test_problems_that_have_not_ended_support_no_difference():
    """Else three problems of an unfinished benchmark would count as sixty."""
    given = [replace(trial, usd=0.0) for trial in trials("a", {f"p/{at}": "-" for at in range(3, 60)})]
    started = {A: [*made("a", ["s"] * 3), *given], B: [*made("b", ["x"] * 3), *given]}
    found = equal_cost(started, "usd", A)
    assert (found.problems, found.why) == (3, "few problems")


def test_joules_of_different_sources_are_not_compared():
    trials = compared(["s"] * 20, ["xs"] * 20)
    assert equal_cost(trials, "joules", A, ["65 W", "65 W + GPUs as measured"]).why == "mixed energy"
    assert equal_cost(trials, "joules", A, ["65 W"]).why is None


def test_breadth_first_gives_every_problem_a_first_attempt_before_any_second_one():
    found = equal_cost(compared(["s", "xs", "xxs", "xxx"] * 5, ["s"] * 20), "usd", A).breadth
    loop = found[A]
    assert (loop.spent, loop.share) == ((0.0, 1.0, 1.75, 2.25), (0.0, 0.25, 0.5, 0.75))
    half, full = loop.at(0.5), loop.at(2.25)
    assert half is not None and full is not None  # noqa: PT018
    assert (half.value, full.value) == (pytest.approx(0.125), pytest.approx(0.75))
    assert (half.low or 0.0) < 0.125 < (half.high or 0.0)
    rate = clustered({str(at): (at < 15, 1) for at in range(20)})
    assert (rate.low or 0.0) - 0.1 < (full.low or 0.0) <= (rate.low or 0.0)  # other problems may cost more
    assert (loop.at(2.3), found[B].at(0.5)) == (None, pytest.approx(found[B].at(0.5)))


def test_breadth_first_compares_the_problems_that_have_a_result_of_all():
    found = equal_cost(compared(["s"] * 10 + ["x"] * 10, ["s"] * 10 + ["xc"] * 10), "usd", A).breadth
    assert [(of.problems, of.share[-1]) for of in found.values()] == [(10, 1.0), (10, 1.0)]


def test_the_end_of_a_supported_range_is_infinite_if_it_lasts():
    found = equal_cost(compared(["s"] * 40, ["x"] * 20 + ["s"] * 20), "usd", B)
    assert [(of.better, of.end) for of in found.supported] == [(A, inf)]
