"""Launch tells what will be paid, and takes what may be."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace

import pytest
from reading import said
from streamlit.testing.v1 import AppTest

from koderz_core import Order, Wanted, open_workspace
from koderz_core.events import AllowanceSet, CallFailed, CallStarted, Entry
from koderz_core.journal import Journal
from koderz_core.records import Allowance, Budget, Plan, Sampling

Visit = Callable[..., AppTest]


def test_what_is_not_known_is_said_to_be_so(visit: Visit) -> None:
    app = visit("launch")
    assert not app.error
    assert "No estimate yet" in said(app)


def test_an_interval_that_leaves_no_room_for_a_review_is_named(visit: Visit) -> None:
    app = visit("launch", preset="quick look")
    assert "No review will take place" not in said(app)
    next(element for element in app.number_input if element.label == "Review interval").set_value(3).run()
    assert "No review will take place in supervised SCRIPTED weak: its checkpoint_interval is 3" in said(app)


def test_a_budget_is_part_of_the_command_that_does_the_same(visit: Visit) -> None:
    app = visit("launch")
    app.number_input(key="budget 1").set_value(2.5).run()
    app.number_input(key="budget each 1").set_value(0.5).run()
    assert not app.exception
    command = app.code[-1].value
    assert "--max-cost 2.5" in command
    assert "--max-cost-per-experiment 0.5" in command


@pytest.mark.parametrize(("page", "fields"), [("launch", 2), ("workbench", 1)])
def test_a_budget_below_a_cent_is_shown_as_entered(visit: Visit, page: str, fields: int) -> None:
    budgets = [box for box in visit(page).number_input if box.label.startswith("Budget")]
    assert [box.proto.format % 0.0004 for box in budgets] == ["0.0004"] * fields


def test_a_limit_that_is_entered_together_with_a_removal_is_kept(visit: Visit) -> None:
    app = visit("launch", preset="quick look")
    app.number_input(key="budget 1").set_value(5.0)
    app.button(key="remove 2 1").click().run()
    assert [box.label for box in app.selectbox if box.label == "Strategy"] == ["Strategy"]
    assert app.number_input(key="budget 2").value == 5.0
    assert "--max-cost 5" in app.code[-1].value


@pytest.mark.usefixtures("recorded")
def test_what_was_launched_tells_at_its_end_what_it_cost_beside_what_was_foretold(visit: Visit) -> None:
    with open_workspace() as workspace:
        plan = workspace.plans.plan(Order([Wanted("direct", {"coder": "scripted/strong"})], "0:2", name="foretold"))
        workspace.runs.start(plan, forecast=workspace.costs.forecast(plan))
        while workspace.runs.is_here(plan.id):
            time.sleep(0.01)
    text = said(visit("live", benchmark=plan.id))
    assert "The last run cost $0.00 (estimate: about $0.00" in text


def test_what_has_ended_tells_what_the_next_will_take(recorded: Plan) -> None:
    with open_workspace() as workspace:
        order = Order([Wanted("direct", {"coder": "scripted/strong"})], "0:20", budget=Budget(1.0))
        plan = workspace.plans.plan(order)
        forecast = workspace.costs.forecast(plan, 4)
        assert (forecast.experiments, forecast.past, forecast.unknown) == (20, 3, ())
        assert forecast.cost_usd
        assert forecast.cost_usd.p90 == 0
        workspace.costs.check(replace(plan, budget=Budget(0.0)))


def test_a_model_that_keeps_failing_is_told_while_its_benchmark_runs_wherever_that_is(
    visit: Visit, recorded: Plan
) -> None:
    experiment = recorded.experiments()[0].id
    asked = CallStarted("coder", 0, "openai/down", "hash", (), Sampling(), 0, 1)
    with open_workspace() as workspace:
        journal = Journal(workspace.settings.journals_dir / f"{recorded.id}.jsonl")
    for ordinal in range(100, 110):
        for event in (asked, CallFailed("<b>it is down", 0.1, True, 503)):
            journal.append(Entry(time.time() - 2 * (110 - ordinal), event, experiment, ordinal))
    text = said(visit("live", benchmark=recorded.id))
    journal.close()
    assert "openai/down: HTTP 503 (10 times in " in text
    assert "openai/down: HTTP 503" not in said(visit("live", benchmark=recorded.id))


def test_a_budget_that_was_changed_during_the_run_is_shown_and_confirmed_in_place_of_the_entered_one(
    visit: Visit, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KODERZ_CONFIRM_USD", "0")
    with open_workspace() as workspace:
        plan = workspace.plans.plan(Order([Wanted("direct", {"coder": "scripted/strong"})], "0:3", budget=Budget(5.0)))
        with workspace.runs.runner(plan, pilot=1) as runner:
            runner.start()
            runner.wait()
        journal = Journal(workspace.settings.journals_dir / f"{plan.id}.jsonl")
    journal.append(Entry(time.time(), AllowanceSet(Allowance(20.0, 1), 1, Allowance(5.0, 1))))
    journal.close()
    app = visit("launch", clone=plan.id)
    assert "This budget still applies." not in said(app)
    app.number_input(key="budget 1").set_value(5.0).run()
    changed = "The budget was changed to $20.00 while the benchmark was running. This budget still applies."
    assert changed in said(app)
    app.button(key="start").click().run()
    assert not app.exception
    assert "The benchmark may cost up to $20.00." in said(app)
    assert "including the cost so far, above $20.00." in said(app)


def test_what_the_plan_can_show_changes_with_its_problems(visit: Visit) -> None:
    app = visit("launch")
    assert "no difference can be statistically significant" in said(app)
    app.segmented_control(key="way 1").set_value("all").run()
    assert "With 164 problems, a difference below" in said(app)
    assert "These numbers assume that two configurations differ on about 25 % of the problems" in said(app)
