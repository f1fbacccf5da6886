"""The frontier of cost and success, and how sure it is who is on it."""

from __future__ import annotations

import warnings
from itertools import combinations

import numpy as np
import pandas
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_courses import answers
from made_trials import trials
from msgspec.structs import replace

from koderz_core.analysis.money import cost_per_solved
from koderz_core.analysis.rates import wilson
from koderz_core.analysis.tradeoff import hull, non_dominated, tradeoff

# "AI Agents That Matter" (arXiv 2407.01502), GPT-4-turbo-2024-04-09 and GPT-3.5-0125 on HumanEval, means of five runs
# in benediktstroebl/agent-evals, plot_data_0409.csv: accuracy in %, dollars for all 164 problems, dollars per solved.
MEASURED = {
    "GPT-3.5 zero-shot": (73.9, 0.055, 0.00045),
    "Escalation": (85.0, 0.273, 0.00196),
    "LDB (3.5 + 3.5)": (80.2, 0.629, 0.00478),
    "GPT-4 zero-shot": (89.6, 1.930, 0.01313),
    "LDB (3.5 on 4)": (91.0, 2.189, 0.01467),
    "Warming": (93.2, 2.448, 0.01602),
    "Retry": (92.0, 2.507, 0.01663),
    "Reflexion": (87.8, 3.898, 0.02707),
    "LDB (3.5 + Reflexion)": (88.9, 4.193, 0.02876),
    "LDB (4 + 4)": (93.3, 6.355, 0.04154),
    "LDB (4 + Reflexion)": (92.9, 7.262, 0.04765),
    "LATS (3.5)": (80.4, 9.486, 0.07197),
    "LATS (4)": (88.0, 134.502, 0.93146),
}
PLANE = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), min_size=1, max_size=9)


def five_times(accuracy: float, usd: float) -> list:
    """164 problems five times each, with that mean accuracy and those dollars in all."""
    solved = round(accuracy / 100 * 820)
    marks = {f"HumanEval/{n}": "".join("1" if 5 * n + k < solved else "0" for k in range(5)) for n in range(164)}
    return [replace(trial, usd=usd / 164) for trial in trials("a", marks)]


def test_the_frontier_and_the_costs_are_those_of_ai_agents_that_matter():
    held = {name: five_times(accuracy, usd) for name, (accuracy, usd, _) in MEASURED.items()}
    points = {point.key: point for point in tradeoff(held).points}
    on = ["GPT-3.5 zero-shot", "Escalation", "GPT-4 zero-shot", "LDB (3.5 on 4)", "Warming", "LDB (4 + 4)"]
    assert [name for name in held if points[name].on_frontier] == on
    assert [name for name in held if points[name].on_hull] == [on[0], on[1], "Warming", "LDB (4 + 4)"]
    for name, (_, usd, per_solved) in MEASURED.items():
        assert points[name].usd * 164 == pytest.approx(usd)
        assert cost_per_solved(held[name]).value == pytest.approx(per_solved, rel=0.01)


@given(PLANE)
def test_whom_nobody_beats_is_on_the_frontier(plane):
    usd, success = np.array(plane, dtype=float).T

    def beaten(x, y):
        return any(a <= x and b >= y and (a, b) != (x, y) for a, b in plane)

    assert non_dominated(usd, success).tolist() == [not beaten(x, y) for x, y in plane]


@given(PLANE)
def test_whom_no_mixture_of_two_beats_is_on_the_hull(plane):
    usd, success = np.array(plane, dtype=float).T

    def beaten(x, y):
        between = ((a, b) for a, b in combinations(plane, 2) if min(a[0], b[0]) <= x <= max(a[0], b[0]))
        lines = (max(a[1], b[1]) if a[0] == b[0] else a[1] + (b[1] - a[1]) * (x - a[0]) / (b[0] - a[0])
                 for a, b in between)  # fmt: skip
        return any(height > y + 1e-9 for height in lines)

    expected = [bool(on) and not beaten(x, y) for on, (x, y) in zip(non_dominated(usd, success), plane, strict=True)]
    assert hull(usd, success).tolist() == expected


def test_the_probability_is_that_of_evalstats():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # its dependencies' own
        evalstats = pytest.importorskip("evalstats")
    draw = np.random.default_rng(1)
    held = {
        name: answers(draw.random(80) < share, (draw.lognormal(0, 0.5, 80) * usd).tolist())
        for name, share, usd in (("a", 0.6, 1.0), ("b", 0.65, 1.05), ("c", 0.65, 1.4), ("d", 0.9, 3.0))
    }
    rows = [(name, trial.problem, float(trial.solved), trial.usd) for name, all_of in held.items() for trial in all_of]
    frame = pandas.DataFrame(rows, columns=["name", "problem", "solved", "usd"])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = evalstats.tradeoff(
            frame, factor="name", item_col="problem", primary_metric="solved", secondary_metric={"usd": "min"},
            n_bootstrap=2000, rng=1,
        )  # fmt: skip
    ours = {point.key: point.probability for point in tradeoff(held).points}
    assert ours == pytest.approx(theirs.frontier_probability, abs=0.05)
    assert any(0.1 < share < 0.9 for share in ours.values())


def test_pairs_stay_pairs_so_a_dearer_twin_is_never_on_the_frontier_however_wide_the_intervals():
    solved, usd = [1, 0] * 10, np.random.default_rng(2).lognormal(0, 1, 20)
    cheap, dear = tradeoff(
        {"cheap": answers(solved, usd.tolist()), "dear": answers(solved, (usd * 1.01).tolist())}
    ).points
    assert (cheap.probability, dear.probability) == (1.0, 0.0)
    assert dear.usd_low < cheap.usd_high


def test_cost_and_success_of_a_resample_are_of_the_same_problems():
    draw = np.random.default_rng(3)
    solved = [(draw.random(30) < share).astype(int).tolist() for share in (0.5, 0.6)]  # each solve costs a dollar
    points = tradeoff(
        {name: answers(item, [float(won) for won in item]) for name, item in zip("ab", solved, strict=True)}
    ).points
    assert [point.probability for point in points] == [1.0, 1.0]


def test_costs_that_differ_by_rounding_alone_are_equal():
    held = {"a": answers([1, 1, 1], [0.1, 0.2, 0.3]), "b": answers([1, 1, 1], [0.3, 0.2, 0.1])}
    assert all(point.on_frontier for point in tradeoff(held).points)


def test_equals_share_the_frontier_in_every_resample():
    usd = [0.1, 0.2, 0.3, 0.7, 0.1]
    points = tradeoff({name: answers([1, 0, 1, 0, 1], usd) for name in "abcde"}).points
    assert all(point.on_frontier and point.probability == 1.0 for point in points)


def test_with_one_trial_of_each_problem_the_rate_has_wilsons_interval():
    (point,) = tradeoff({"a": answers([1] * 7 + [0] * 3)}).points
    rate = wilson(7, 10)
    assert (point.success, point.success_low, point.success_high) == pytest.approx((0.7, rate.low, rate.high))


def test_only_problems_that_all_have_a_result_of_are_compared_and_who_has_none_is_left_out():
    found = tradeoff({"a": answers([1, 1, 0, 1]), "b": answers([1, 0]), "none": trials("c", {"p/0": "e"})})
    assert (found.problems, found.left_out) == (2, ("none",))
    assert [point.success for point in found.points] == [1.0, 0.5]
    assert tradeoff({"a": answers([1]), "b": trials("b", {"q": "1"})}).points == ()
    assert tradeoff({}).points == ()


def test_who_has_no_price_is_not_placed_and_does_not_disturb_the_others():
    a, b, c = tradeoff({"a": answers([1, 0]), "b": answers([1, 1], [None, 1.0]), "c": answers([1, 1], 2.0)}).points
    assert (b.success, b.usd, b.on_frontier, b.probability) == (1.0, None, None, None)
    assert (a.on_frontier, c.on_frontier) == (True, True)


@settings(max_examples=30)
@given(st.lists(st.tuples(st.booleans(), st.sampled_from([0.0, 0.5, 2.0])), min_size=2, max_size=8))
def test_somebody_is_always_on_the_frontier(results):
    half = len(results) // 2
    held = {
        name: answers([item for item, _ in part], [usd for _, usd in part])
        for name, part in (("a", results[:half]), ("b", results[half : 2 * half]))
    }
    assert sum(point.probability for point in tradeoff(held).points) >= 1 - 1e-9
