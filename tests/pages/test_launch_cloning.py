"""Launch begins with any benchmark that is recorded: the same until something is changed."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from reading import said
from streamlit.testing.v1 import AppTest

from koderz_core import Order, Wanted, open_workspace
from koderz_core.config import load_settings
from koderz_core.records import Budget, Plan

Visit = Callable[..., AppTest]


@pytest.fixture
def unusual() -> Plan:
    """A benchmark that differs from every default, as the runner recorded it."""
    coders, parameters = ("scripted/weak", "scripted/strong"), {"max_tokens": 99, "coder.top_p": 0.9}
    two = Wanted("escalation", {"coder": coders}, parameters, gate="examples")
    order = Order([two], "3,0,7", seed=5, repeats=2, name="<b>mine", budget=Budget(3.0, 0.5, True))
    with open_workspace() as workspace:
        plan = workspace.plans.plan(order)
        workspace.runs.run(plan)
    return plan


def test_a_clone_is_the_same_benchmark_until_something_is_changed(visit: Visit, unusual: Plan) -> None:
    app = visit("launch", clone=unusual.id)
    assert not app.exception
    assert "Already recorded: 6 of 6 experiments" in said(app)
    command = app.code[-1].value
    assert "'escalation coder=scripted/weak,scripted/strong max_tokens=99 coder.top_p=0.9 gate=examples'" in command
    for words in ("--seed 5", "--repeats 2", "--name '<b>mine'", "--max-cost 3.0", "--max-cost-per-experiment 0.5"):
        assert words in command
    app.number_input(key="seed 1").set_value(6).run()
    assert f"Changed: seed. This plan therefore creates a new benchmark and does not extend {unusual.id}." in said(app)
    assert "Already recorded" not in said(app)


def test_a_clone_is_found_by_how_its_id_begins_and_asks_for_no_baselines_again(visit: Visit, recorded: Plan) -> None:
    app = visit("launch", clone=recorded.id.removeprefix("bench_")[:6])
    assert f"Already recorded: 6 of {len(recorded.experiments())} experiments" in said(app)
    assert not app.checkbox(key="baselines 1").value
    app.number_input(key="to 1").set_value(5).run()
    assert "Changed: problems." in said(app)
    assert app.metric[0].value == "10"


def test_what_is_not_here_cannot_be_cloned_and_a_launch_can_begin_all_the_same(visit: Visit) -> None:
    app = visit("launch", clone="bench_000000000000")
    assert not app.exception
    assert "unknown value of the parameter `clone`" in said(app)
    assert app.metric[0].value == "6"


def test_a_clone_of_a_benchmark_that_is_deleted_meanwhile_warns_once(visit: Visit, recorded: Plan) -> None:
    app = visit("launch", clone=recorded.id)
    (load_settings().home / "journals" / f"{recorded.id}.jsonl").unlink()
    assert "unknown value of the parameter `clone`" in said(app.run())
    assert "clone" not in app.query_params
    assert "unknown value" not in said(app.run())
    assert "clone" not in app.query_params


@pytest.mark.parametrize("page", ["overview", "live", "compare"])
def test_the_way_to_a_clone_stands_on_every_page_of_a_benchmark(visit: Visit, recorded: Plan, page: str) -> None:
    links = [link for link in visit(page).get("page_link") if link.proto.label == "Clone"]
    assert [link.proto.query_string for link in links] == [f"benchmarks={recorded.id}&clone={recorded.id}"]
