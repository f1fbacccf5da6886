"""Gates in plans: which problems they leave out, how long tests may take, and what old benchmarks are scored on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from koderz_core.conditions import (
    BY_CANONICAL,
    BY_TEST,
    HELD_OUT,
    PLUS,
    check_same,
    conditions,
    of_prompts,
    policy_of,
)
from koderz_core.config import Settings, load_settings
from koderz_core.datasets import load
from koderz_core.errors import PlanError, UnknownNameError
from koderz_core.events import BenchmarkOpened, CandidateScored, ExperimentFinished
from koderz_core.grading.testsets import Outside, Split, TestPolicy, split
from koderz_core.plan.clone import ONCE_NAMED
from koderz_core.plan.order import Order, Wanted
from koderz_core.plan.planner import draft
from koderz_core.records import Configuration, Dataset, DatasetOrigin, Plan, PlusTests, Problem, PublicProblem, TestSet

Make = Callable[..., Any]  # Any: Bench of conftest.py, which a test module cannot import
CODER = {"coder": "scripted/weak"}
OURS = [Configuration("supervised", {"coder": ("scripted/it",)})]
RIGHT = "```python\ndef add(a, b):\n    return a + b\n```"
WRONG = "```python\ndef add(a, b):\n    return a - b\n```"


def planned(*wanted: Wanted, problems: str = "30:40", **settings: Any) -> Plan:
    own = load_settings(**settings)
    return draft(Order(wanted, problems), load("humaneval", own), own)


def test_a_gate_leaves_problems_out_for_all_configurations_and_says_why() -> None:
    plan = planned(Wanted("direct", CODER), Wanted("supervised", CODER, gate="split:.5"))
    assert list(plan.outside) == ["HumanEval/32", "HumanEval/34", "HumanEval/38"]
    assert len(plan.problems) == 7
    assert "one assert or one loop" in plan.outside["HumanEval/32"]
    assert [configuration.gate for configuration in plan.configurations] == ["tests", "split:0.5"]
    assert not planned(Wanted("supervised", CODER)).outside


def test_a_sample_that_is_empty_is_refused() -> None:
    with pytest.raises(PlanError, match=r"\(gate=split:0\.5\)\. For example, HumanEval/32: the tests"):
        planned(Wanted("supervised", CODER, gate="split:0.5"), problems="32:33")


@pytest.mark.parametrize(
    ("wanted", "said"),
    [
        (Wanted("supervised", CODER, gate="half"), "gate: 'half'"),
        (Wanted("supervised", CODER, feedback="much"), "feedback: 'much'"),
        (Wanted("direct", CODER, gate="examples"), "direct never runs gate tests"),
        (Wanted("direct", CODER, feedback="none"), "direct never runs gate tests"),
        (Wanted("supervised", CODER, gate="split:2"), "between 0 and 1"),
    ],
)
def test_policies_that_are_none_are_refused_before_anything_is_paid(wanted: Wanted, said: str) -> None:
    with pytest.raises((PlanError, UnknownNameError), match=said):
        planned(wanted)


def test_policies_by_default_change_no_identity() -> None:
    assert Configuration("direct", {}).id == Configuration("direct", {}, gate="tests", feedback="full").id
    ours = planned(Wanted("supervised", CODER))
    assert replace(ours, outside={"p/0": "said otherwise"}).id == ours.id


def test_who_sets_the_time_limit_is_told_in_the_conditions() -> None:
    assert conditions(OURS, load_settings())["test_timeout"] == BY_CANONICAL
    assert conditions(OURS, load_settings(test_timeout=10.0))["test_timeout"] == 10.0


def test_the_limit_that_was_recorded_holds_where_nobody_asks_for_another() -> None:
    check_same("b", conditions(OURS, load_settings()), {"test_timeout": 10.0})
    canonical = "4 times the time of the canonical solution"
    each = f"{canonical}, for each plus test separately"
    for then, shown in ((BY_CANONICAL, canonical), (BY_TEST, each), (10.0, "10.0 s")):
        with pytest.raises(PlanError, match=f"the time limit of tests was {shown} and is now 9.0 s"):
            check_same("b", conditions(OURS, load_settings(test_timeout=9.0)), {"test_timeout": then})


@pytest.mark.parametrize(
    ("recorded", "policy"),
    [
        ({}, TestPolicy()),
        ({"test_timeout": 10.0}, TestPolicy(seconds=10.0)),
        ({"test_timeout": BY_CANONICAL, HELD_OUT: PLUS}, TestPolicy(by_canonical=True, plus=True)),
        ({"test_timeout": BY_TEST, HELD_OUT: PLUS}, TestPolicy(by_canonical=True, plus=True, each_limited=True)),
    ],
)
def test_what_a_journal_recorded_decides_how_tests_are_used(bench: Make, recorded: Any, policy: TestPolicy) -> None:
    plan = replace(bench(lambda _: "").plan, conditions=recorded)
    assert policy_of(plan, plan.configurations[0]) == policy


PLUSSED = Dataset(
    DatasetOrigin("plus", "0" * 64, "MIT"),
    (Problem(PublicProblem("p/0", "", "f"), TestSet("def check(c):\n    assert c(1)\n"), "", PlusTests("[[1]]")),),
)


def test_a_plan_names_what_it_is_scored_on_and_one_from_before_is_found_without(settings: Settings) -> None:
    order = Order([Wanted("direct", CODER)])
    plan = draft(order, PLUSSED, settings)
    assert (plan.conditions[HELD_OUT], plan.conditions["test_timeout"]) == (PLUS, BY_TEST)
    prompts = of_prompts(ONCE_NAMED)
    once = {name: value for name, value in plan.conditions.items() if name != HELD_OUT}
    once |= {"test_timeout": 10.0, **prompts}
    before = replace(plan, conditions=once)
    settings.journals_dir.mkdir(parents=True)
    (settings.journals_dir / f"{before.id}.jsonl").touch()
    assert draft(order, PLUSSED, settings) == before
    together = replace(plan, conditions={**plan.conditions, "test_timeout": BY_CANONICAL})
    (settings.journals_dir / f"{together.id}.jsonl").touch()
    assert draft(order, PLUSSED, settings) == together


def test_an_older_benchmark_goes_on_as_it_was_scored(bench: Make) -> None:
    made = bench(lambda _: RIGHT)
    made.plan = replace(made.plan, name="mine", conditions={"test_timeout": 10.0})
    made.go()
    now = {"test_timeout": BY_TEST, HELD_OUT: PLUS, "vllm at": "http://a/v1"}
    made.plan = replace(made.plan, problems=("tiny/1",), conditions=now)
    assert made.go().plan.conditions == {"test_timeout": 10.0, "vllm at": "http://a/v1"}


def test_problems_that_a_gate_leaves_out_are_not_added_to_it(bench: Make) -> None:
    made = bench(lambda _: RIGHT)
    made.plan = replace(made.plan, name="mine", outside={"tiny/1": "It has no example."})
    made.go()
    made.plan = replace(made.plan, problems=("tiny/1",), outside={})
    with pytest.raises(PlanError, match="tiny/1"):
        made.runner()
    assert [entry.event.plan.outside for entry in made.entries() if isinstance(entry.event, BenchmarkOpened)] == [
        {"tiny/1": "It has no example."}
    ]


def scored(made: Any) -> tuple[list[CandidateScored], ExperimentFinished]:
    made.go()
    events = [entry.event for entry in made.entries()]
    (end,) = (event for event in events if isinstance(event, ExperimentFinished))
    return [event for event in events if isinstance(event, CandidateScored)], end


def gated(made: Any, gate: str) -> Any:
    made.plan = replace(
        made.plan, configurations=tuple(replace(configuration, gate=gate) for configuration in made.plan.configurations)
    )
    return made


def test_a_program_that_passes_only_the_gate_is_not_solved_and_says_so(bench: Make) -> None:
    made = gated(bench(lambda _: RIGHT, "supervised", spec=False, checkpoints=False), "split:0.5")
    right = made.judge.check

    def check(problem: Problem, code: str, tests: TestSet) -> Any:
        return right(problem, code if "(1, 2)" in tests.source else WRONG, tests)

    made.judge.check = check
    made.divide = lambda test, _: Split(
        test.tests, test.tests, TestSet("def check(candidate):\n    assert candidate(5, 5)\n")
    )
    (candidate,), end = scored(made)
    assert (candidate.gate.passed, candidate.held_out.passed) == (True, False)
    assert (end.outcome, end.reason, end.score_kind) == ("unsolved", "gate", "held_out")


def test_who_never_ran_the_gate_is_scored_on_all_base_tests_and_no_gate(bench: Make) -> None:
    made = gated(bench(lambda _: RIGHT), "split:0.5")
    (candidate,), end = scored(made)
    assert (candidate.gate, candidate.held_out.tests_total) == (None, 2)
    assert (end.outcome, end.score_kind) == ("solved", "held_out")


def test_examples_are_no_part_of_the_score(bench: Make) -> None:
    made = gated(bench(lambda _: RIGHT, "supervised", spec=False, checkpoints=False, max_iterations=1), "examples")
    right = made.judge.check
    examples = TestSet("def check(candidate):\n    assert candidate(9)\n")
    made.judge.check = lambda problem, code, tests: right(problem, WRONG if tests == examples else code, tests)
    made.divide = lambda test, _: Split(examples, test.tests, test.tests, within_base=False)
    (candidate,), end = scored(made)
    assert (candidate.gate.passed, candidate.held_out.passed) == (False, True)
    assert (end.outcome, end.reason) == ("solved", "iterations")


@pytest.mark.parametrize(("right_on_shown", "outcome"), [(True, "solved"), (False, "unsolved")])
def test_base_tests_that_the_examples_show_count_and_are_not_held_out(
    bench: Make, right_on_shown: bool, outcome: str
) -> None:
    made = gated(bench(lambda _: RIGHT, "supervised", spec=False, checkpoints=False, max_iterations=1), "examples")
    right, shown = made.judge.check, TestSet("def check(candidate):\n    assert candidate(1, 2) == 3\n")
    made.judge.check = lambda problem, code, tests: right(
        problem, WRONG if tests == shown and not right_on_shown else code, tests
    )
    made.divide = lambda test, _: Split(test.tests, test.tests, TestSet(), within_base=False, shown=shown)
    (candidate,), end = scored(made)
    assert (candidate.gate.passed, candidate.held_out) == (True, None)
    assert (end.outcome, end.score_kind) == (outcome, "oracle")


@pytest.mark.parametrize(("right_on_shown", "outcome"), [(True, "solved"), (False, "unsolved")])
def test_plus_tests_that_make_a_call_of_the_gate_count_and_are_not_held_out(
    bench: Make, right_on_shown: bool, outcome: str
) -> None:
    made = bench(lambda _: RIGHT, "supervised", spec=False, checkpoints=False, max_iterations=1)
    right, shown = made.judge.check, TestSet("def check(candidate):\n    assert candidate(1, 2) == 3\n")
    made.judge.check = lambda problem, code, tests: right(
        problem, WRONG if tests == shown and not right_on_shown else code, tests
    )
    made.divide = lambda test, _: Split(test.tests, test.tests, plus=shown, plus_shown=shown)
    (candidate,), end = scored(made)
    assert (candidate.gate.passed, candidate.held_out) == (True, None)
    assert (end.outcome, end.score_kind) == (outcome, "oracle")


def test_a_problem_outside_the_gate_is_our_error(bench: Make) -> None:
    made = gated(bench(lambda _: RIGHT, "supervised"), "examples")
    scores, end = scored(made)
    assert (scores, end.outcome, made.requests) == ([], "error", [])
    assert "tiny/0 cannot be used with the gate examples" in str(end.error)


def test_the_same_part_gates_all_configurations_and_another_seed_draws_another(test_data: Path) -> None:
    problems = load("mbpp+", load_settings(datasets_dir=test_data)).problems[:40]
    drawn = [[split(problem, TestPolicy("split:0.5", seed)) for problem in problems] for seed in (0, 0, 1)]
    assert not any(isinstance(item, Outside) for item in drawn[0])
    assert drawn[0] == drawn[1] != drawn[2]
