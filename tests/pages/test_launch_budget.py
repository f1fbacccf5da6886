"""Launch tells what will be paid, and takes what may be."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from reading import said
from streamlit.testing.v1 import AppTest

from koderz_core import Order, Wanted, open_workspace
from koderz_core.records import Budget, Plan

Visit = Callable[..., AppTest]


def test_what_is_not_known_is_said_to_be_so(visit: Visit) -> None:
    app = visit("launch")
    assert not app.error
    assert "Price and time are not known" in said(app)


def test_a_budget_is_part_of_the_command_that_does_the_same(visit: Visit) -> None:
    app = visit("launch")
    app.number_input(key="budget").set_value(2.5).run()
    app.number_input(key="budget each").set_value(0.5).run()
    assert not app.exception
    command = app.code[-1].value
    assert "--max-cost 2.5" in command
    assert "--max-cost-per-experiment 0.5" in command


def test_what_has_ended_tells_what_the_next_will_take(recorded: Plan) -> None:
    with open_workspace() as workspace:
        order = Order([Wanted("direct", {"coder": "scripted/strong"})], "0:20", budget=Budget(1.0))
        plan = workspace.plan(order)
        forecast = workspace.costs.forecast(plan, 4)
        assert (forecast.experiments, forecast.past, forecast.unknown) == (20, 3, ())
        assert forecast.cost_usd
        assert forecast.cost_usd.p90 == 0
        workspace.costs.check(replace(plan, budget=Budget(0.0)))


def test_what_the_plan_can_show_changes_with_its_problems(visit: Visit) -> None:
    app = visit("launch")
    assert "no difference, however large, can be told from luck" in said(app)
    app.segmented_control(key="way").set_value("all").run()
    assert "With 164 problems a difference below" in said(app)
