"""What a person is asked before a launch: only what may cost or take much, and with the reason."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from koderz_core import Order, Wanted, Workspace, open_workspace
from koderz_core.errors import PlanError
from koderz_core.records import Budget, Plan
from koderz_core.records.progress import Forecast, Range

NOTHING = Forecast(4, None, None, None, 0, ("conf",), ())
CHEAP = Forecast(4, Range(4, 8), Range(0.2, 0.9), Range(60.0, 600.0), 9, (), ())
LOCAL, PAID = "scripted/weak", "openai/gpt-4o-mini"


@pytest.fixture
def workspace() -> Iterator[Workspace]:
    with open_workspace() as opened:
        yield opened


def planned(workspace: Workspace, model: str, usd: float | None = None) -> Plan:
    return workspace.plans.plan(Order([Wanted("direct", {"coder": model})], "0:2", budget=Budget(usd)))


@pytest.mark.parametrize(
    ("model", "usd", "forecast", "said"),
    [
        (LOCAL, None, NOTHING, ""),
        (PAID, None, CHEAP, ""),
        (PAID, None, NOTHING, "The cost cannot be estimated yet"),
        (PAID, 0.5, NOTHING, ""),
        (PAID, 5.0, NOTHING, "The benchmark may cost up to $5.00. koderz asks for confirmation above $1.00"),
        (PAID, None, replace(CHEAP, cost_usd=Range(1.0, 3.0)), "The benchmark may cost up to $3.00"),
        (PAID, 0.9, replace(CHEAP, cost_usd=Range(1.0, 3.0)), ""),
        (PAID, 5.0, replace(CHEAP, cost_usd=Range(4.0, 9.0), spent_usd=4.5), ""),
        (PAID, 0.5, replace(CHEAP, unpriced=(PAID,)), f"the cost of {PAID}, because no price is known"),
        (LOCAL, None, replace(CHEAP, unpriced=(LOCAL,)), ""),
        (LOCAL, None, replace(CHEAP, seconds=Range(600.0, 7200.0)), "time is 2 h 00 min. koderz asks"),
        (PAID, None, replace(CHEAP, experiments=0, cost_usd=Range(9.0, 9.0)), ""),
    ],
)
def test_only_what_may_cost_or_take_much_is_asked_about(
    workspace: Workspace, model: str, usd: float | None, forecast: Forecast, said: str
) -> None:
    concern = workspace.plans.concern(planned(workspace, model, usd), forecast)
    assert said in " ".join(concern.reasons) if concern else not said


def test_what_is_asked_about_says_the_cap_and_where_it_runs(workspace: Workspace) -> None:
    dear = replace(CHEAP, cost_usd=Range(4.0, 9.0))
    concern = workspace.plans.concern(planned(workspace, PAID, 5.0), dear)
    assert concern
    assert concern.cap == (
        "The benchmark stops before a call that could raise its total cost, including the cost so far, above $5.00."
    )
    assert "calls models of openai at https://api.openai.com/v1." in concern.where


def test_a_seed_that_a_browser_cannot_count_is_no_seed_of_a_clone(workspace: Workspace) -> None:
    plan = workspace.plans.plan(Order([Wanted("direct", {"coder": LOCAL})], "0:1", seed=2**60))
    workspace.runs.run(plan)
    with pytest.raises(PlanError, match="too large for a browser"):
        workspace.plans.clone(plan.id)
