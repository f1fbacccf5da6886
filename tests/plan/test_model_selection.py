"""Models that are left to be chosen: by results on other problems, recorded with reasons, the same on replay."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pytest

from koderz_core import open_workspace
from koderz_core.config import load_settings
from koderz_core.errors import PlanError, UnknownNameError
from koderz_core.events import CallFinished, CallStarted, Event, MemoryRecalled
from koderz_core.journal import read_all
from koderz_core.plan.order import Order, Wanted
from koderz_core.plan.selection import sentence
from koderz_core.records import Plan
from koderz_core.workspace import Workspace

NEVER, STRONG = "scripted/never", "scripted/strong"
BOTH = f"{NEVER}+{STRONG}"


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    """Two models were asked directly on the first three problems; one solved none, the other all or most."""
    with open_workspace(home=tmp_path_factory.mktemp("measured")) as workspace:
        workspace.runs.run(
            workspace.plans.plan(Order([Wanted("direct", {"coder": item}) for item in (NEVER, STRONG)], "0:3"))
        )
        yield workspace


def planned(workspace: Workspace, coder: str | Sequence[str], problems: str = "3:5", strategy: str = "direct") -> Plan:
    return workspace.plans.plan(Order([Wanted(strategy, {"coder": coder})], problems))


def said(workspace: Workspace, plan: Plan) -> list[Event]:
    return [entry.event for entry in read_all(workspace.settings.journals_dir / f"{plan.id}.jsonl")]


def test_the_model_that_solved_more_elsewhere_is_planned_and_the_plan_says_why(measured: Workspace) -> None:
    plan = planned(measured, f"select:quality:{BOTH}")
    assert plan.configurations[0].models == {"coder": (STRONG,)}
    (one,) = plan.selections
    assert (one.role, one.policy, [row.model for row in one.ranked]) == ("coder", "quality", [STRONG, NEVER])
    assert [row.score for row in one.ranked] == [1.0, 0.0]
    assert (
        sentence(one) == "koderz selected the coder for the strategy direct with the policy quality: "
        f"{STRONG} (solved 100.0% on 3 problems). Next in the ranking: {NEVER}."
    )


def test_without_names_no_scripted_model_is_considered_whatever_it_solved(measured: Workspace) -> None:
    with pytest.raises(
        PlanError,
        match="cannot select a coder for the strategy direct, because no model has results that koderz can use for "
        "the choice",
    ):
        planned(measured, "select:quality")


def test_the_choice_is_in_the_journal_and_makes_no_other_benchmark_than_the_name_itself(measured: Workspace) -> None:
    plan = planned(measured, f"select:quality:{BOTH}", "5:6")
    assert plan.id == planned(measured, STRONG, "5:6").id
    measured.runs.run(plan)
    assert measured.runs.recorded(plan.id).selections == plan.selections != ()


def test_a_benchmark_that_is_extended_records_what_was_chosen_for_that() -> None:
    with open_workspace() as workspace:
        for coder in (NEVER, f"select:fixed:{STRONG}+{NEVER}", NEVER):
            plan = workspace.plans.plan(Order([Wanted("direct", {"coder": coder})], "0:1", name="grown"))
            workspace.runs.run(plan)
        assert [selection.chosen for selection in workspace.runs.recorded(plan.id).selections] == [STRONG]


def test_results_on_the_planned_problems_do_not_count(measured: Workspace) -> None:
    with pytest.raises(
        PlanError, match=r"cannot select a coder for the strategy direct with the policy quality: .*no results"
    ):
        planned(measured, f"select:quality:{BOTH}", "0:8")


def test_another_strategy_goes_by_its_own_results_once_all_have_some_and_else_by_asking_directly(
    measured: Workspace,
) -> None:
    (one,) = planned(measured, f"select:quality:{BOTH}", strategy="swarm").selections
    assert (one.strategy, one.chosen, one.results_of) == ("swarm", STRONG, "direct")
    assert f": {STRONG} (solved 100.0% on 3 problems with direct)." in sentence(one)
    measured.runs.run(planned(measured, NEVER, "8:9", "repair"))
    assert planned(measured, f"select:quality:{BOTH}", strategy="repair").selections[0].results_of == "direct"
    measured.runs.run(planned(measured, STRONG, "8:9", "repair"))
    (one,) = planned(measured, f"select:quality:{BOTH}", strategy="repair").selections
    assert (one.chosen, one.results_of) == (STRONG, "supervised")


def test_who_cannot_be_asked_is_passed_over_with_the_reason(measured: Workspace) -> None:
    (one,) = planned(measured, f"select:fixed:gpt-4o+{NEVER}").selections
    assert one.chosen == NEVER
    assert "OPENAI_API_KEY" in one.ranked[0].reason
    assert (
        f": {NEVER} (number 2 of 2 in the given order). Models that rank higher but are not available now: "
        "openai/gpt-4o (number 1 of 2 in the given order; " in sentence(one)
    )
    with pytest.raises(PlanError, match="No model is available now as coder for the strategy direct: openai/gpt-4o"):
        planned(measured, "select:fixed:gpt-4o")


def test_a_policy_that_there_is_none_of_and_two_choices_for_one_role_are_refused(measured: Workspace) -> None:
    with pytest.raises(UnknownNameError, match="Unknown selection policy: 'best'"):
        planned(measured, "select:best")
    with pytest.raises(PlanError, match="koderz selects only one model for the role coder"):
        planned(measured, ["select:quality", STRONG])


def test_only_models_on_the_list_are_planned_chosen_or_asked(measured: Workspace) -> None:
    with open_workspace(home=measured.settings.home, allowed_models=NEVER) as workspace:
        assert planned(workspace, f"select:quality:{BOTH}").selections[0].chosen == NEVER
        assert [row.model for row in planned(workspace, "select:cost", "0:8").selections[0].ranked] == [NEVER]
        with pytest.raises(PlanError, match=f"{STRONG} is not allowed: allowed_models lists only {NEVER}"):
            planned(workspace, STRONG)
        with pytest.raises(PlanError, match=f"{STRONG} is not allowed"):
            workspace.models.get(STRONG)


def test_an_experiment_asks_whoever_is_recommended_then_and_is_told_the_same_on_replay(measured: Workspace) -> None:
    plan = planned(measured, (NEVER, STRONG), "6:8", "selected")
    measured.runs.run(plan, concurrency=1)
    events = said(measured, plan)
    asked = [event.model for event in events if isinstance(event, CallStarted)]
    recalled = [event for event in events if isinstance(event, MemoryRecalled)]
    assert asked == [STRONG, STRONG]
    assert [[(memory.origin, memory.tags) for memory in event.memories] for event in recalled] == [
        [(STRONG, {"member": "1", "score": "1.0"}), (NEVER, {"member": "0", "score": "0.0"})]
    ] * 2
    path = measured.settings.journals_dir / f"{plan.id}.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(line for line in lines if b'"experiment_finished"' not in line))
    measured.runs.run(plan)
    again = said(measured, plan)
    assert sum(isinstance(event, CallFinished) for event in again) == 2
    assert [event for event in again if isinstance(event, MemoryRecalled)] == recalled


def test_what_has_ended_of_its_own_benchmark_recommends_nobody() -> None:
    beside = Wanted("direct", {"coder": STRONG})
    with open_workspace() as workspace:
        plan = workspace.plans.plan(Order([beside, Wanted("selected", {"coder": (NEVER, STRONG)})], "0:3"))
        workspace.runs.run(plan, concurrency=1)
        recalled = [event for event in said(workspace, plan) if isinstance(event, MemoryRecalled)]
    assert {memory.tags["score"] for event in recalled for memory in event.memories} == {"None"}


def test_an_order_without_choices_is_planned_without_a_question_to_the_store() -> None:
    with open_workspace() as workspace:
        assert planned(workspace, STRONG).selections == ()
        assert not load_settings().store_path.exists()
