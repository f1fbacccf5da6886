"""Success against what was used, the ceiling of false passes, and where cheap reaches frontier."""

from __future__ import annotations

from functools import partial
from itertools import pairwise
from math import inf

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_courses import answers, course
from msgspec.structs import replace
from statsmodels.duration.survfunc import CumIncidenceRight, SurvfuncRight

from koderz_core.analysis.comparison import AXES
from koderz_core.analysis.curves import break_even, ceiling, curves
from koderz_core.analysis.incidence import courses, incidence, steps
from koderz_core.analysis.rates import by_problem, clustered, wilson

ENDS = st.sampled_from(["s", "f", "x", "c"])
MADE = st.lists(st.tuples(st.integers(0, 6), ENDS), min_size=1, max_size=40)


def only(trials, axis="attempts"):
    (curve,) = curves({"a": trials}, axis).curves
    return curve


def simulated(problems: int, seed: int) -> list:
    """Of 40 % the held-out tests pass and of 20 % the gate alone, after one attempt more each time; 40 % never."""
    draw = np.random.default_rng(seed)
    ends, lengths = draw.choice(list("sfx"), problems, p=[0.4, 0.2, 0.4]), np.minimum(draw.geometric(0.3, problems), 10)
    return [
        course(f"p/{n}", "x" * 10 if end == "x" else "x" * (length - 1) + end)
        for n, (end, length) in enumerate(zip(ends, lengths.tolist(), strict=True))
    ]


def survival(trials):
    """What Kaplan and Meier say if a false pass or a limit is taken for the end of watching."""
    found = SurvfuncRight([trial.iterations for trial in trials], [int(trial.solved) for trial in trials])
    return 1 - found.surv_prob[-1]


def test_a_ceiling_of_forty_percent_with_a_fifth_of_false_passes_is_found_where_kaplan_and_meier_rise_above_it():
    found = [(only(trials), survival(trials)) for trials in (simulated(164, seed) for seed in range(40))]
    assert np.mean([curve.low[-1] <= 0.4 <= curve.high[-1] for curve, _ in found]) >= 0.9
    assert np.mean([curve.share[-1] for curve, _ in found]) == pytest.approx(0.4, abs=0.02)
    assert np.mean([curve.false_passes for curve, _ in found]) == pytest.approx(0.2, abs=0.02)
    assert all(higher > curve.share[-1] for curve, higher in found)
    assert np.mean([higher for _, higher in found]) > 0.45


@given(MADE)
def test_the_curve_is_the_cumulative_incidence_of_statsmodels(made):
    trials = [course(f"p/{n}", "x" * before + end) for n, (before, end) in enumerate(made)]
    held = courses(trials, "attempts", [trial.problem for trial in trials])
    if not (held.events == 1).any():
        assert incidence(held, np.ones((len(trials), 1))).size == 0
        return
    with np.errstate(divide="ignore", invalid="ignore"):  # of its standard error, where none is left
        theirs = CumIncidenceRight(held.ends, held.events)
    at = [theirs.cinc[0][theirs.times == step][0] for step in steps(held)]
    assert incidence(held, np.ones((len(trials), 1)))[:, 0] == pytest.approx(at)


@settings(max_examples=30)
@given(MADE, st.data())
def test_a_problem_drawn_twice_counts_as_two(made, data):
    times = data.draw(st.lists(st.integers(0, 3), min_size=len(made), max_size=len(made)).filter(any))
    trials = [course(f"p/{n}", "x" * before + end) for n, (before, end) in enumerate(made)]
    copies = zip(trials, times, strict=True)
    drawn = [replace(item, problem=f"{item.problem}/{copy}") for item, many in copies for copy in range(many)]
    few = courses(trials, "attempts", [trial.problem for trial in trials])
    many = courses(drawn, "attempts", [trial.problem for trial in drawn])
    shown = np.isin(steps(few), steps(many))
    weighted = incidence(few, np.array(times, dtype=float)[:, None])[shown, 0]
    assert weighted == pytest.approx(incidence(many, np.ones((len(drawn), 1)))[:, 0])


def test_only_what_was_cancelled_or_failed_on_our_side_leaves_the_denominator():
    first, second = course("p/1", "s"), course("p/2", "xs")
    assert only([first, second, course("p/3", "f")]).share[-1] == pytest.approx(2 / 3)
    assert only([first, second, course("p/3", "xxx")]).share[-1] == pytest.approx(2 / 3)
    assert only([first, second, course("p/3", "x")]).share[-1] == pytest.approx(2 / 3)  # it gave up before the second
    assert only([first, second, course("p/3", "c")]).share[-1] == 1.0
    assert only([first, second, course("p/3", "xc")]).share[-1] == 1.0
    assert only([first, second, course("p/3", "xc")]).share[1] == pytest.approx(1 / 3)
    assert only([first, second, course("p/3", "xc")]).censored == 1


def test_of_trials_interrupted_at_random_the_curve_ends_at_the_truth_and_the_rate_of_the_others_above_it():
    """Each attempt is interrupted with 15 %; of 40 % the tests pass after a geometric number of at most 5 attempts."""
    draw, ends, rates = np.random.default_rng(1), [], []
    for _ in range(40):
        kinds, lengths = draw.choice(list("sfx"), 164, p=[0.4, 0.2, 0.4]), draw.geometric(0.3, 164)
        cuts, drawn = draw.geometric(0.15, 164), zip(kinds, lengths, strict=True)
        whole = ["xxxxx" if kind == "x" or length > 5 else "x" * (length - 1) + kind for kind, length in drawn]
        made = [marks if cut > len(marks) else marks[: cut - 1] + "c" for marks, cut in zip(whole, cuts, strict=True)]
        trials = [course(f"p/{n}", marks) for n, marks in enumerate(made)]
        ends.append(only(trials).share[-1])
        rates.append(clustered(by_problem(trials)).value)
    assert (np.mean(ends), np.mean(rates)) == pytest.approx((0.4 * (1 - 0.7**5), 0.41), abs=0.02)


def test_repeats_weigh_their_problem_no_more_so_the_curve_ends_at_the_rate():
    trials = [course("p/1", "xs", repeat=n) for n in range(4)] + [course("p/2", "xx"), course("p/3", "s")]
    assert only(trials).share[-1] == pytest.approx(clustered(by_problem(trials)).value)


@pytest.mark.parametrize("solved", [0, 1, 80, 163, 164])
def test_with_one_trial_of_each_problem_the_band_is_wilsons_also_where_resamples_do_not_vary(solved):
    curve = only(answers([1] * solved + [0] * (164 - solved)))
    rate = wilson(solved, 164)
    bounds = (rate.low, rate.high) if solved else (0, 0)  # without a step there is nothing to be unsure of yet
    assert (curve.low[-1], curve.high[-1]) == pytest.approx(bounds, abs=0.004)


def test_neither_repeats_nor_what_was_cancelled_at_once_make_a_sure_thing_surer():
    solved = [course(f"p/{n}", "s", repeat=repeat) for n in range(20) for repeat in range(3)]
    curve = only([*solved, *(course(f"q/{n}", "c") for n in range(80))])
    assert (curve.problems, curve.trials, curve.censored) == (20, 140, 80)
    assert (curve.share[-1], curve.low[-1]) == pytest.approx((1.0, wilson(20, 20).low), abs=0.004)


def test_each_curve_runs_to_its_own_last_attempt_and_the_axis_to_the_longest_of_them():
    long, short = [course("p/1", "xxxxs"), course("p/2", "x" * 8)], [course("p/1", "xs"), course("p/2", "xxx")]
    found = curves({"long": long, "short": short, "direct": answers([1, 0])}, "attempts")
    assert [(curve.end, curve.share[-1]) for curve in found.curves] == [(8, 0.5), (3, 0.5), (1, 0.5)]
    assert found.end == 8


@settings(max_examples=30)
@given(MADE, MADE)
def test_another_configuration_changes_no_curve(made, others):
    def drawn(several):
        keyed = {key: [course(f"p/{n}", "x" * x + end) for n, (x, end) in enumerate(of)] for key, of in several.items()}
        return {curve.key: curve for curve in curves(keyed, "attempts").curves}

    assert drawn({"a": made, "b": others}).get("a") == drawn({"a": made}).get("a")


@settings(max_examples=50)
@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 6), st.sampled_from("sfx")), min_size=1, max_size=40))
def test_with_complete_results_a_curve_ends_at_the_rate_of_the_table_on_every_axis(made):
    trials = [course(f"p/{p}", "x" * before + end, repeat=n) for n, (p, before, end) in enumerate(made)]
    rate = clustered(by_problem(trials)).value
    assert [only(trials, axis).share[-1] for axis in AXES] == pytest.approx([rate] * len(AXES))


@given(MADE)
def test_a_curve_never_falls(made):
    trials = [course(f"p/{n}", "x" * before + end) for n, (before, end) in enumerate(made)]
    for curve in curves({"a": trials}, "attempts").curves:
        assert all(low <= high + 1e-12 for low, high in pairwise(curve.share))


def test_a_repeat_that_failed_before_its_first_attempt_leaves_the_curve_at_the_rate_of_the_table():
    trials = [course("p/1", mark, repeat=n) for n, mark in enumerate("sssc")] + [course("p/2", "xx")]
    assert only(trials).share[-1] == pytest.approx(clustered(by_problem(trials)).value) == 0.5
    assert (only(trials).trials, only(trials).censored) == (5, 1)


def test_calls_after_the_last_test_are_used_too_and_seconds_end_with_it():
    """``best_of`` asks a tester after it has tested all samples; the seconds of a trial include its scoring."""
    late = replace(course("p/1", "xs", usd=0.5), usd=9.0, seconds=99.0, tokens=99, joules=98.0)
    assert only([late], "tokens").at == (0.0, 99.0, 99.0)
    assert only([late], "joules").at == (0.0, 98.0, 98.0)
    assert only([late], "usd").at == (0.0, 9.0, 9.0)
    assert only([late], "seconds").at == (0.0, 4.0, 4.0)
    assert only(answers([1], 0.25), "usd").at == (0.0, 0.25, 0.25)


def test_a_dollar_limit_ends_the_curve_of_its_own_configuration_alone():
    cut = replace(course("p/1", "xx"), reason="budget", usd=3.0)
    found = curves({"a": [cut], "b": [course("p/1", "x" * 9)]}, "usd")
    assert [curve.end for curve in found.curves] == [3.0, 9.0]


def test_without_a_price_or_a_result_there_is_no_curve_and_it_is_said_of_whom():
    found = curves({"free": answers([1], 0.0), "unpriced": answers([1], None), "none": [course("p", "c")]}, "usd")
    assert [curve.key for curve in found.curves] == ["free"]
    assert found.left_out == ("unpriced", "none")
    assert curves({"paid": answers([1]), "local": [course("p", "s")]}, "joules").left_out == ("paid",)
    assert curves({}, "seconds").curves == ()


def test_the_ceiling_is_how_many_passes_of_the_gate_the_held_out_tests_confirm():
    found = ceiling([course("p/1", "xs"), course("p/2", "xxs"), course("p/3", "f"), course("p/4", "xxx")])
    assert (found.rate.successes, found.rate.n, found.rate.value) == (2, 3, pytest.approx(2 / 3))
    assert (found.rate.low, found.rate.high) == pytest.approx((wilson(2, 3).low, wilson(2, 3).high))
    assert (found.false_positives.successes, found.false_positives.n) == (1, 7)


def test_the_same_program_counts_once_for_the_ceiling():
    assert ceiling([course("p/1", "xxx", codes="aab")]).false_positives.n == 2


def test_who_was_scored_by_its_own_gate_or_saw_none_has_no_ceiling():
    assert ceiling([replace(course("p/1", "s"), score_kind="oracle")]) is None
    assert ceiling(answers([1, 0])) is None


def test_the_break_even_is_where_the_cheap_curve_first_reaches_the_success_of_the_frontier():
    cheap = [course(f"p/{n}", marks, usd=0.1) for n, marks in enumerate(["s", "xs", "xxs", "xxxx"])]
    at = partial(break_even, cheap)
    assert at(answers([1, 0, 0, 0])).usd == pytest.approx(0.1)
    assert at(answers([1, 0, 0, 1])).usd == pytest.approx(0.2)
    found = at(answers([1, 1, 1, 0], 5.0))
    assert (found.usd, found.target, found.frontier_usd) == (pytest.approx(0.3), 0.75, 5.0)
    assert at(answers([1, 1, 1, 1])).usd == inf


def test_a_baseline_that_solved_nothing_gives_no_break_even_for_nothing_dollars():
    found = break_even([course("p/0", "s"), course("p/1", "xx")], answers([0, 0]))
    assert (found.usd, found.low, found.high, found.never, found.target) == (None, None, None, None, 0.0)


def test_resamples_in_which_the_baseline_solved_nothing_are_no_break_even_at_zero_dollars():
    cheap = [course(f"p/{n}", "s" if n < 4 else "xx") for n in range(12)]
    found = break_even(cheap, answers([1] + [0] * 11))  # in 35 % of the resamples the baseline solved nothing
    assert (found.usd, found.low, found.never) == (1.0, 1.0, 0.0)


def test_a_break_even_is_found_beyond_the_last_attempt_of_the_shortest_configuration():
    cheap = [course(f"p/{n}", marks, usd=0.1) for n, marks in enumerate(["s", "xxxxs", "xxxxx"])]
    found = curves({"cheap": cheap, "dear": answers([1, 1, 0], 0.2)}, "usd")
    assert break_even(cheap, answers([1, 1, 0], 0.2)).usd == pytest.approx(0.5) == found.end
    assert found.curves[0].share[-1] == pytest.approx(2 / 3)


def test_never_is_told_with_how_many_resamples_agree():
    cheap = [course(f"p/{n}", "s" if n < 60 else "xxx") for n in range(100)]
    sure, unsure = break_even(cheap, answers([1] * 90 + [0] * 10)), break_even(cheap, answers([1] * 61 + [0] * 39))
    assert (sure.usd, sure.low, sure.high, sure.never) == (inf, inf, inf, 1.0)
    assert 0.5 < unsure.never < 1.0  # the problem that parts them is drawn in 63 % of the resamples
    assert (unsure.low, unsure.high) == (1.0, inf)


def test_the_bounds_of_a_break_even_hold_it_about_as_often_as_said_and_more_often_for_several_pairs():
    """The curve of the cheap one truly reaches the 78.4 % of the frontier one with the third of its tries."""
    draw, found = np.random.default_rng(2), {1: [], 9: []}
    for _ in range(300):
        tries = draw.geometric(0.4, 40)
        cheap = [course(f"p/{n}", "x" * (k - 1) + "s" if k <= 5 else "xxxxx") for n, k in enumerate(tries)]
        frontier = answers(draw.random(40) < 0.784)
        for at_once, bounds in found.items():
            even = break_even(cheap, frontier, at_once)
            bounds.append(even.low <= 3 <= even.high)
    assert 0.93 <= np.mean(found[1]) < np.mean(found[9])


def test_the_bounds_of_a_break_even_never_contradict_the_test():
    cheap = [course(f"p/{n}", "s" if n < 6 else "xs" if n < 12 else "xxx") for n in range(20)]
    alike, fewer = answers([1] * 12 + [0] * 8), answers([1] * 13 + [0] * 7)
    assert break_even(cheap, alike).high == inf
    assert break_even(cheap, alike, direction=1).high == 2.0  # it solves more, so it reaches as many
    assert (break_even(cheap, fewer, direction=-1).low, break_even(cheap, fewer).low) == (inf, 2.0)
    none = answers([1] + [0] * 19)
    assert break_even(cheap, none, direction=0).high == 2.0 > break_even(cheap, none).high


def test_of_one_problem_the_bounds_are_unknown_and_not_never():
    found = break_even([course("p/0", "xxx")], answers([1]))
    assert (found.usd, found.low, found.high) == (inf, None, None)


def test_no_break_even_is_told_without_common_problems_or_without_prices():
    assert break_even([course("q", "s")], answers([1])) is None
    assert break_even(answers([1], None), answers([1])) is None
