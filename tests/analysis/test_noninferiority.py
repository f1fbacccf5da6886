"""Whether one is not worse than another by a margin, and how many problems show it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_trials import trials
from msgspec import structs
from scipy.optimize import minimize_scalar
from scipy.stats import multinomial, norm

from koderz_core.analysis.noninferiority import (
    LEVEL,
    Discordance,
    adjusted,
    cost_match,
    discordance,
    match,
    noninferiority_power,
    noninferiority_problems,
    score_interval,
    score_p,
)
from koderz_core.analysis.paired import bonett_price
from koderz_core.records.trials import Trial

LEVELS = (0.05, 0.025, 0.025 / 3)


def p_of(only_a: int, only_b: int, n: int, margin: float) -> float:
    return score_p(Discordance(n, only_a, only_b), -margin)


def made(name: str, marks: str) -> list[Trial]:
    """One trial per problem: ``1`` solved, ``0`` unsolved, ``e`` error."""
    return trials(name, {str(at): mark for at, mark in enumerate(marks)})


def outcomes(n: int) -> list[tuple[int, int]]:
    return [(a, b) for a in range(n + 1) for b in range(n + 1 - a)]


@settings(max_examples=30)
@given(st.integers(1, 60), st.floats(0.01, 0.4), st.data())
def test_p_is_that_of_the_score_statistic_under_the_likeliest_chances_at_the_margin(n, margin, data):
    only_a = data.draw(st.integers(0, n))
    only_b = data.draw(st.integers(0, n - only_a))

    def unlikely(worse: float) -> float:
        logs = np.log([worse - margin, worse, 1 - 2 * worse + margin])
        return -float(np.dot([only_a, only_b, n - only_a - only_b], logs))

    bounds = (margin + 1e-9, (1 + margin) / 2 - 1e-9)
    worse = minimize_scalar(unlikely, bounds=bounds, method="bounded", options={"xatol": 1e-10}).x
    score = (only_a - only_b + n * margin) / np.sqrt(n * (2 * worse - margin - margin**2))
    assert p_of(only_a, only_b, n, margin) == pytest.approx(norm.sf(score), abs=1e-5)


@pytest.mark.parametrize(("only_it", "only_baseline", "p"), [(7, 8, 0.10), (6, 8, 0.15), (5, 9, 0.30), (5, 1, 0.001)])
def test_the_pairs_of_the_study_have_the_p_that_its_review_found(only_it, only_baseline, p):
    assert p_of(only_it, only_baseline, 60, 0.1) == pytest.approx(p, abs=0.006)


@pytest.mark.parametrize(
    ("n", "margin", "discordant", "difference"), [(20, 0.1, 0.25, 0.0), (35, 0.2, 0.5, -0.1), (12, 0.1, 0.2, 0.2)]
)
def test_power_is_the_sum_over_all_outcomes_with_a_small_p(n, margin, discordant, difference):
    chances = (discordant + difference) / 2, (discordant - difference) / 2, 1 - discordant
    shown = [(a, b) for a, b in outcomes(n) if p_of(a, b, n, margin) <= 0.025]
    expected = sum(multinomial.pmf((a, b, n - a - b), n, chances) for a, b in shown)
    assert noninferiority_power(n, margin, discordant, difference) == pytest.approx(expected, abs=1e-9)


def test_60_problems_rarely_show_that_two_equal_ones_match():
    by_level = [noninferiority_power(60, 0.1, 0.25, alpha=alpha) for alpha in LEVELS]
    assert by_level == pytest.approx([0.45, 0.31, 0.17], abs=0.006)


@pytest.mark.parametrize(("discordant", "chance"), [(0.25, 0.18), (0.12, 0.40)])
def test_by_the_rule_of_the_study_they_match_with_the_chance_that_its_review_found(discordant, chance):
    """Its rule: the lower bound of Bonett and Price for three pairs simultaneously is above the margin."""
    matched = [(a, b) for a, b in outcomes(60) if bonett_price([1] * a + [-1] * b + [0] * (60 - a - b), 3)[0] > -0.1]
    chances = (discordant / 2, discordant / 2, 1 - discordant)
    found = sum(multinomial.pmf((a, b, 60 - a - b), 60, chances) for a, b in matched)
    assert found == pytest.approx(chance, abs=0.006)


@pytest.mark.parametrize(("alpha", "by_formula", "exact"), [(0.05, 155, 157), (0.025, 197, 202), (0.025 / 3, 262, 271)])
def test_as_many_problems_are_named_as_the_score_test_takes(alpha, by_formula, exact):
    deviations = norm.isf(alpha) + norm.ppf(0.8)
    assert int(np.ceil(deviations**2 * 0.25 / 0.1**2)) == by_formula
    assert noninferiority_problems(0.1, 0.25, alpha=alpha) == exact
    assert (
        noninferiority_power(exact, 0.1, 0.25, alpha=alpha)
        >= 0.8
        > noninferiority_power(by_formula, 0.1, 0.25, alpha=alpha)
    )


def test_no_number_of_problems_shows_that_a_worse_one_is_not_worse():
    assert noninferiority_problems(0.1, 0.25, difference=-0.1) is None
    assert noninferiority_problems(0.1, 0.25, difference=0.05) < noninferiority_problems(0.1, 0.25)


@pytest.mark.parametrize("n", [60, 164])
@pytest.mark.parametrize("discordant", [0.12, 0.25, 0.4])
@pytest.mark.parametrize("alpha", LEVELS)
def test_one_that_is_worse_by_the_margin_seldom_passes(n, discordant, alpha):
    assert noninferiority_power(n, 0.1, discordant, difference=-0.1, alpha=alpha) < 1.03 * alpha


def test_power_is_that_of_simulated_benchmarks():
    draw = np.random.default_rng(0).multinomial(100, (0.13, 0.13, 0.74), 4000)
    shown = np.mean([p_of(int(a), int(b), 100, 0.1) <= 0.025 for a, b, _ in draw])
    assert noninferiority_power(100, 0.1, 0.26) == pytest.approx(shown, abs=4 * np.sqrt(0.25 / 4000))


def test_the_interval_is_that_of_a_published_example():
    """Airway reactivity of 21 children before and after a transplantation: Bentur et al. (2009).

    Fagerland, Lydersen and Laake, "Recommended tests and confidence intervals for paired binomial proportions",
    Statistics in Medicine 33 (2014) 2850-2875, give Tango's interval for it.
    """
    assert score_interval(Discordance(21, 1, 7)) == pytest.approx((-0.517, -0.026), abs=0.0006)


@pytest.mark.parametrize(
    ("n", "only_a", "only_b", "low", "high"),
    [
        (160, 20, 40, -0.21806423, -0.03086459),
        (60, 7, 8, -0.15004854, 0.11632285),
        (60, 0, 18, -0.42508714, -0.19898168),
        (18, 6, 1, -0.01227321, 0.52975816),
        (18, 0, 0, -0.17587922, 0.17587922),
    ],
)
def test_the_interval_is_that_of_the_package_propcis_of_r(n, only_a, only_b, low, high):
    """``scoreci.mp(only_b, only_a, n, 0.95)`` of PropCIs 0.3-0 in R 4.2.2."""
    assert score_interval(Discordance(n, only_a, only_b)) == pytest.approx((low, high), abs=1e-6)


@settings(max_examples=50)
@given(st.integers(1, 80), st.data())
def test_interval_and_test_agree_and_both_directions_mirror_each_other(n, data):
    only_a = data.draw(st.integers(0, n))
    seen = Discordance(n, only_a, data.draw(st.integers(0, n - only_a)))
    low, high = score_interval(seen)
    assert low - 1e-9 <= seen.difference <= high + 1e-9
    assert score_interval(Discordance(n, seen.only_b, seen.only_a)) == pytest.approx((-high, -low), abs=1e-6)
    if low > -1 + 1e-6:
        assert score_p(seen, low) == pytest.approx(LEVEL, abs=1e-4) or abs(low - seen.difference) < 1e-6


def test_repeats_that_agree_are_worth_no_more_than_one_trial_and_independent_ones_are_worth_more():
    a, b = {str(at): (5 * (at % 4 > 0), 5) for at in range(20)}, {str(at): (5 * (at % 5 > 0), 5) for at in range(20)}
    once = discordance({p: (s // 5, 1) for p, (s, _) in a.items()}, {p: (s // 5, 1) for p, (s, _) in b.items()})
    assert discordance(a, b) == once == Discordance(20, 3, 4)
    apart = discordance({str(at): (3, 5) for at in range(20)}, {str(at): (3, 5) for at in range(20)})
    assert apart is not None
    assert 40 < apart.n <= 100
    assert apart.difference == pytest.approx(0)


def test_a_match_counts_missing_results_against_the_one_that_is_to_match():
    baseline = made("baseline", 200 * "1")
    whole, lost, far = (match(made("it", 150 * "1" + 50 * rest), baseline) for rest in "1e0")
    assert whole is not None
    assert (whole.verdict, whole.p_equal <= LEVEL, whole.p_worst) == ("matches", True, whole.p)
    assert lost is not None
    assert (lost.p < LEVEL < lost.p_worst, lost.verdict) == (True, "undecided")
    assert far is not None
    assert far.verdict == "falls short"
    assert match([], baseline) is None


def test_it_falls_short_only_if_missing_results_in_its_favour_could_not_change_that():
    baseline = made("baseline", 60 * "1")
    few, many = (match(made("it", 10 * "1" + 10 * "0" + rest), baseline) for rest in (2 * "e", 40 * "e"))
    assert few is not None
    assert (few.verdict, few.p_short <= LEVEL) == ("falls short", True)
    assert many is not None
    assert (many.verdict, many.p_short > LEVEL) == ("undecided", True)


def test_equivalence_counts_missing_results_against_both_directions():
    baseline = made("baseline", 150 * "1" + 50 * "0")
    same, unknown = (match(made("it", 150 * "1" + 20 * "0" + 30 * rest), baseline) for rest in "0e")
    assert same is not None
    assert (same.equivalent, same.verdict) == (True, "matches")
    assert unknown is not None  # all missing ones may be solved
    assert (unknown.equivalent, unknown.verdict) == (False, "matches")


def priced(name: str, marks: str, usd: float) -> list[Trial]:
    """Trials whose costs vary around ``usd``; an error has none."""
    costs = (usd * (0.9 + 0.2 * (at % 2)) for at in range(len(marks)))
    return [
        structs.replace(trial, usd=cost if trial.scored else None)
        for trial, cost in zip(made(name, marks), costs, strict=True)
    ]


@pytest.mark.parametrize(
    ("marks", "usd", "verdict"),
    [
        (100 * "1", 1.0, "matches"),
        (100 * "1", 2.0, "falls short"),
        (50 * "10", 1.0, "falls short"),  # each solved problem costs twice as much
        (85 * "1" + 15 * "0", 1.0, "undecided"),
        (99 * "1" + "e", 0.1, "undecided"),  # what the missing experiment would have cost is unknown
        (99 * "1" + "e", 2.0, "undecided"),
    ],
)
def test_a_match_in_cost_is_decided_by_the_bounds_of_the_cost_per_solved_problem(marks, usd, verdict):
    it, baseline = priced("it", marks, usd), priced("baseline", 100 * "1", 1.0)
    found = cost_match(it, baseline)
    assert found is not None
    assert found.verdict == verdict


def test_an_unknown_cost_is_no_match_in_cost():
    it, baseline = made("it", 100 * "1"), priced("baseline", 100 * "1", 1.0)
    assert cost_match(it, baseline) is None


def test_several_pairs_are_adjusted_for_their_number():
    one = match(made("it", 60 * "1"), made("baseline", 60 * "1"))
    assert one is not None
    first, none, _ = adjusted([one, None, one])
    assert none is None
    assert first is not None
    assert first.p == pytest.approx(2 * one.p)


@pytest.mark.parametrize("repeats", [1, 5])
def test_one_that_is_worse_by_the_margin_seldom_matches_with_repeats_too(repeats):
    """Chances vary between problems, and a's are lower by the margin on average."""
    draw = np.random.default_rng(7)
    n, matched, runs = 60, 0, 1500
    for _ in range(runs):
        chance = draw.beta(3, 1, n) * 0.9 + 0.1
        a, b = (draw.binomial(repeats, rate) for rate in (chance - 0.1, chance))
        of_a, of_b = ({str(at): (int(s), repeats) for at, s in enumerate(of)} for of in (a, b))
        seen = discordance(of_a, of_b)
        assert seen is not None
        matched += score_p(seen, -0.1) <= LEVEL
    assert matched / runs < 0.04
