"""``select:learned``: a fitted selector chooses the coder of each problem, never of one that it was fitted to."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from math import expm1
from pathlib import Path

import pytest
from msgspec import structs

from koderz_core import open_workspace
from koderz_core.analysis.selector_fit import fit
from koderz_core.errors import DataError, PlanError, UnknownNameError, UsageError
from koderz_core.events import CallFinished, CallStarted, Event, MemoryRecalled
from koderz_core.journal import read_all
from koderz_core.memory.leak_guard import twins
from koderz_core.plan.order import Order, Wanted
from koderz_core.records import Plan, PublicProblem
from koderz_core.records.trials import Try
from koderz_core.workspace import Workspace
from koderz_core.workspace.selector_evidence import gather

NEVER, STRONG = "scripted/never", "scripted/strong"


@pytest.fixture(scope="module")
def fitted(tmp_path_factory: pytest.TempPathFactory, test_data: Path) -> Iterator[Workspace]:
    """One model solved nothing of 24 problems, the other all or most; the selector is called made."""
    with open_workspace(home=tmp_path_factory.mktemp("fitted"), datasets_dir=test_data) as workspace:
        order = Order([Wanted("direct", {"coder": item}) for item in (NEVER, STRONG)], "0:24", name="first")
        workspace.runs.run(workspace.plans.plan(order))
        workspace.selectors.fit(["first"], "made")
        yield workspace


def planned(workspace: Workspace, problems: str, coder: str = "select:learned=made", **parameters: object) -> Plan:
    strategy = "router" if parameters else "direct"
    return workspace.plans.plan(Order([Wanted(strategy, {"coder": coder}, parameters)], problems))


def said(workspace: Workspace, plan: Plan) -> list[Event]:
    return [entry.event for entry in read_all(workspace.settings.journals_dir / f"{plan.id}.jsonl")]


def test_it_becomes_a_router_with_the_models_and_the_hash_of_the_selector(fitted: Workspace) -> None:
    (made,) = planned(fitted, "40:42").configurations
    assert (made.strategy, made.models["coder"]) == ("router", (NEVER, STRONG))
    assert made.parameters["selector"] == fitted.selectors.load("made").id == fitted.selectors.load().id


def test_it_asks_the_model_that_it_expects_to_be_right_and_the_journal_has_the_predictions(fitted: Workspace) -> None:
    plan = planned(fitted, "42:44")
    fitted.runs.run(plan)
    events = said(fitted, plan)
    assert [event.model for event in events if isinstance(event, CallStarted)] == [STRONG, STRONG]
    recalled = next(event for event in events if isinstance(event, MemoryRecalled))
    first, second = (memory.tags for memory in recalled.memories)
    assert float(first["probability"]) > float(second["probability"])
    assert (first["propensity"], second["propensity"]) == ("1.0", "0.0")


def test_exploration_is_replayed_exactly_and_its_choices_value_every_rule(fitted: Workspace) -> None:
    plan = planned(fitted, "44:50", explore=True)
    fitted.runs.run(plan, concurrency=1)
    events = said(fitted, plan)
    recalled = [event for event in events if isinstance(event, MemoryRecalled)]
    asked = [event.member for event in events if isinstance(event, CallStarted)]
    assert all(0 < float(memory.tags["propensity"]) < 1 for event in recalled for memory in event.memories)
    path = fitted.settings.journals_dir / f"{plan.id}.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(line for line in lines if b'"experiment_finished"' not in line))
    fitted.runs.run(plan)
    again = said(fitted, plan)
    assert [event for event in again if isinstance(event, MemoryRecalled)] == recalled
    assert [event.member for event in again if isinstance(event, CallStarted)] == asked
    assert sum(isinstance(event, CallFinished) for event in again) == 6
    values = fitted.selectors.value("made", [plan.id])
    assert list(values) == [f"only {NEVER}", f"only {STRONG}", "random", "length only", "selector"]
    assert values["selector"].solved.value > values[f"only {NEVER}"].solved.value
    assert values["selector"].choices == 6


def test_no_problem_of_its_fit_nor_a_near_duplicate_is_planned(fitted: Workspace) -> None:
    with pytest.raises(
        PlanError, match=r"was fitted to 2 of the planned problems, or to near-duplicates of them: HumanEval/22"
    ):
        planned(fitted, "22:26")
    text = "Return the sum of all even numbers in the given list of whole numbers, or zero."
    one, copy = PublicProblem("a", text, "f"), PublicProblem("b", f"{text} Please.", "g")
    other = PublicProblem("c", "Write something else entirely about strings that are reversed.", "h")
    assert list(twins([copy, other], [one])) == [(0, 0)]


def test_a_selector_may_be_fitted_to_several_datasets(fitted: Workspace) -> None:
    order = Order([Wanted("direct", {"coder": item}) for item in (NEVER, STRONG)], "0:3", name="second")
    fitted.runs.run(fitted.plans.plan(order, "mbpp+"))
    rows = fitted.comparisons.named(["first", "second"])
    trials = fitted.comparisons.trials_of_each(rows)
    evidence = gather(rows, trials, fitted.selectors.problem)
    assert [case.dataset for case in evidence.cases] == ["humaneval"] * 24 + ["mbpp+"] * 3
    other_order = {key: of[::-1] for key, of in trials.items()}
    assert gather(rows, other_order, fitted.selectors.problem) == evidence


def test_settings_of_one_model_are_not_averaged(fitted: Workspace) -> None:
    order = Order([Wanted("direct", {"coder": STRONG}, {"max_tokens": 99})], "0:3", name="shorter")
    fitted.runs.run(fitted.plans.plan(order))
    rows = fitted.comparisons.named(["first", "shorter"])
    with pytest.raises(UsageError, match="use the same model with different settings"):
        gather(rows, fitted.comparisons.trials_of_each(rows), fitted.selectors.problem)


def test_problems_of_which_only_programs_were_judged_are_not_planned_either(fitted: Workspace) -> None:
    order = Order([Wanted("ladder", {"coder": (NEVER, STRONG)}, gate="examples")], "60:62", name="tested")
    fitted.runs.run(fitted.plans.plan(order))
    rows = fitted.comparisons.named(["first", "tested"])
    evidence = gather(rows, fitted.comparisons.trials_of_each(rows), fitted.selectors.problem)
    assert len(evidence.cases) == 24
    assert [problem.id for problem in evidence.tested] == ["HumanEval/60", "HumanEval/61"]
    made = fit("both", replace(evidence, cases=evidence.cases[:20]))
    assert made.seen[20:] == evidence.tested
    assert made.after is None  # many programs of two problems judge no other problem


def test_a_program_that_failed_its_gate_is_not_right_even_if_it_passed_all_held_out_tests(fitted: Workspace) -> None:
    rows = fitted.comparisons.named(["first"])
    trials = fitted.comparisons.trials_of_each(rows)
    key, (trial, *others) = next(iter(trials.items()))
    steps = (
        Try(1, "a", False, 0, 1, "assertion", True, 0.0, 1.0, tokens=5),
        Try(2, "b", True, 1, 1, None, True, 0.0, 2.0, tokens=9),
    )
    tested = structs.replace(trial, code="c", outcome="unsolved", score_kind="held_out", tries=steps)
    evidence = gather(rows, trials | {key: [tested, *others]}, fitted.selectors.problem)
    assert [answer.right for answer in evidence.answers] == [False, True]


def test_programs_that_are_tested_after_several_calls_share_the_tokens_of_these_calls(fitted: Workspace) -> None:
    rows = fitted.comparisons.named(["first"])
    trials = fitted.comparisons.trials_of_each(rows)
    step = Try(1, "a program", False, 1, 2, None, False, None, None)
    tries = tuple(structs.replace(step, tokens=total) for total in (500, 500, 500, 500, 500, 560, None))
    (first, *others) = next(iter(trials.values()))
    made = {**trials, first.key: [structs.replace(first, tries=tries), *others]}
    answers = gather(rows, made, fitted.selectors.problem).answers
    assert [round(expm1(answer.values[4])) for answer in answers] == [100, 100, 100, 100, 100, 60]


def test_a_selector_that_cannot_choose_or_judge_is_refused(fitted: Workspace) -> None:
    with pytest.raises(UnknownNameError, match="Unknown selector: 'none'"):
        planned(fitted, "40:42", "select:learned=none")
    with pytest.raises(PlanError, match="works with the strategies direct and router, not with ladder"):
        fitted.plans.plan(Order([Wanted("ladder", {"coder": "select:learned"})], "40:42"))
    with pytest.raises(PlanError, match="router strategy needs a fitted selector"):
        fitted.plans.plan(Order([Wanted("router", {"coder": (NEVER, STRONG)})], "40:42"))
    with pytest.raises(PlanError, match="`checks` needs the price of a wrong answer"):
        planned(fitted, "40:42", checks=True)
    with pytest.raises(PlanError, match="cannot judge programs"):
        planned(fitted, "40:42", checks=True, error_usd=1.0)


def test_a_changed_file_is_refused(fitted: Workspace) -> None:
    file = fitted.settings.home / "selectors" / f"{fitted.selectors.load('made').id}.json"
    whole = file.read_bytes()
    try:
        file.write_bytes(whole.replace(b'"weights":[', b'"weights":[9.0,', 1))
        with pytest.raises(DataError, match="was changed after it was fitted"):
            fitted.selectors.load("made")
    finally:
        file.write_bytes(whole)
