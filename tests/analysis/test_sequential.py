"""A sequential comparison: e-values and a confidence sequence that hold at every look, and when it stops."""

from __future__ import annotations

import numpy as np
import pytest
from made_trials import once
from msgspec import structs

from koderz_core.analysis.registration import registered
from koderz_core.analysis.sequential import Observed, Rule, decide, fewest_equal, sequential
from koderz_core.records import Configuration, DatasetOrigin, Plan
from koderz_core.records.registrations import RecordedPlan, Registration
from koderz_core.report.registration import registration_numbers, registration_tables

DIFFERENCES = [0, 1, 0, 0, -1, 0, 0.5, 0, 0, 1, 0, -0.5, 0, 0, 0, 0, 1, 0, 0, 0] * 2


def observed(differences: list[float]) -> list[Observed]:
    return [Observed(float(value), float(value)) for value in differences]


def a_plan(problems: int = 40, repeats: int = 1) -> Plan:
    pair = tuple(Configuration("direct", {"coder": (name,)}) for name in ("local/b", "local/a", "local/c"))
    names = tuple(f"p/{at}" for at in range(problems))
    registration = Registration(1, 0, 0.1, "sequential")
    return Plan(DatasetOrigin("d", "0", "MIT"), names, pair, repeats=repeats, registration=registration)


def test_the_values_are_those_of_confseq():
    """Of ``diversified_betting_mart`` in confseq (github.com/gostevehoward/confseq, commit 70b1ef3, October 2024)."""
    row = np.array([DIFFERENCES], dtype=float)
    found, places = decide(row, row, 40, 0.1), [0, 4, 9, 19, 39]
    match = [1.0555555555555554, 0.8583423258649595, 2.0666692104860753, 4.0681264972931235, 18.0747421123716]
    short = [0.9545454545454545, 0.5903738815654667, 0.2579420168956631, 0.15806433039122955, 0.05464940379832055]
    assert np.exp(found.match[0])[places] == pytest.approx(match)
    assert np.exp(found.short[0])[places] == pytest.approx(short)
    whole = sequential(observed(DIFFERENCES), 1000, 0.1)
    assert (whole.low, whole.high) == pytest.approx((-0.12795437976767554, 0.33419794828261595), abs=1e-9)


@pytest.mark.parametrize("margin", [0.05, 0.1, 0.2])
def test_it_matches_exactly_when_the_confidence_sequence_excludes_the_margin(margin):
    random = np.random.default_rng(3)
    for _ in range(20):
        drawn = random.choice([0.0, 1.0, -1.0], p=[0.9, 0.06, 0.04], size=120).tolist()
        whole = sequential(observed(drawn), 1000, margin)
        assert (whole.e_match >= 40) == (whole.low > -margin)
        assert (whole.e_short >= 40) == (whole.high < -margin)


def test_a_match_takes_the_stated_number_of_equal_problems():
    n = fewest_equal(0.1)
    assert sequential(observed([0.0] * n), 100, 0.1).decision == "matches"
    assert sequential(observed([0.0] * (n - 1)), 100, 0.1).decision is None


def test_looking_after_every_problem_decides_wrongly_in_at_most_5_per_cent():
    drawn = np.random.default_rng(5).choice([0.0, 1.0, -1.0], p=[0.8, 0.05, 0.15], size=(2000, 164))
    found = decide(drawn, drawn, 164, 0.1)
    for logs in (found.match, found.short):
        assert (logs.max(axis=1) >= np.log(40)).mean() <= 0.025 + 3 * (0.025 * 0.975 / 2000) ** 0.5


def test_a_decision_is_final_and_a_hopeless_comparison_stops():
    assert sequential(observed([0.0] * fewest_equal(0.1) + [-1.0] * 60), 200, 0.1).decision == "matches"
    assert sequential(observed([-1.0] * 40), 200, 0.1).decision == "falls short"
    tossed = sequential(observed([-1.0, 0.0, 0.0, 0.0, 1.0, -1.0, 0.0, 0.0] * 6), 60, 0.1)
    assert (tossed.decision, tossed.at is not None) == ("hopeless", True)


def test_only_a_completed_start_of_the_drawn_order_counts():
    plan = a_plan(repeats=2)
    rule = Rule(plan)
    solved = {experiment.id: "solved" for experiment in plan.experiments()}
    missing = next(experiment for experiment in plan.experiments() if experiment.problem == "p/3")
    assert rule.state(solved).n > 3
    assert rule.state(solved | {missing.id: None}).n == 3
    assert rule.state(solved | {missing.id: "cancelled"}).n == 3


def test_problems_that_ended_after_the_decision_are_not_in_the_registered_result():
    plan, n = a_plan(problems=100), fewest_equal(0.1)
    planned = [it for it in plan.experiments() if it.problem in plan.problems[: n + 1]]
    late = (plan.problems[n], plan.configurations[1].id)
    (made,) = once("c", [True])
    trials = [
        structs.replace(
            made,
            configuration=it.configuration,
            experiment=it.id,
            problem=it.problem,
            outcome="unsolved" if (it.problem, it.configuration) == late else "solved",
        )
        for it in planned
    ]
    found = registered([RecordedPlan("bench", 0.0, plan)], trials)
    numbers = registration_numbers(found)
    assert (found.sequential.at, numbers["problems"], numbers["difference"]) == (n, n, 0.0)
    (table,) = registration_tables([found])
    counted = f"{n} with a result of both configurations (of the {n} that the stopping rule counts)"
    assert ("problems", "100", counted) in table.rows


def test_a_missing_result_counts_against_each_claim():
    plan = a_plan()
    outcomes = {experiment.id: "solved" for experiment in plan.experiments()}
    b, a, _ = (experiment.id for experiment in plan.experiments()[:3])  # the order: the primary pair, then the other
    assert Rule(plan)._observed(outcomes | {a: "error"})[0] == Observed(-1.0, 0.0)  # it is a claim about a
    assert Rule(plan)._observed(outcomes | {b: "error"})[0] == Observed(0.0, 1.0)


def test_missing_results_do_not_make_a_benchmark_hopeless():
    missing = Observed(-1.0, 1.0)
    found = sequential([*observed([0.0, 0.0, 0.0, -1.0]), *[missing] * 6], 164, 0.1)
    assert (found.decision, found.missing) == (None, 6)


def test_experiments_run_problem_by_problem_with_all_repeats_and_the_primary_pair_first():
    plan = a_plan(problems=2, repeats=2)
    ids = [configuration.id for configuration in plan.configurations]
    order = [(it.problem, it.repeat, ids.index(it.configuration)) for it in plan.experiments()]
    assert order[:6] == [("p/0", 0, 0), ("p/0", 0, 1), ("p/0", 0, 2), ("p/0", 1, 0), ("p/0", 1, 1), ("p/0", 1, 2)]
    assert [problem for problem, _, _ in order] == ["p/0"] * 6 + ["p/1"] * 6
