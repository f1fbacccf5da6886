"""The Live page: how fresh it is, what a benchmark may take, and how that is changed while it runs."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest
from faulty_server import serving_faults
from reading import components, said
from streamlit.testing.v1 import AppTest

from koderz_core import Order, Wanted, the_workspace
from koderz_core.records import Budget, Plan

Visit = Callable[..., AppTest]


def begun(budget: Budget) -> Plan:
    wanted = Wanted("supervised", {"coder": "scripted/stubborn"}, {"max_iterations": 50})
    plan = the_workspace().plans.plan(Order([wanted], "0:3", budget=budget))
    the_workspace().runs.start(plan, 1)
    return plan


def eventually(claim: Callable[[], object], seconds: float = 10.0) -> bool:
    deadline = time.monotonic() + seconds
    while not claim() and time.monotonic() < deadline:
        time.sleep(0.02)
    return bool(claim())


def test_budget_and_places_are_changed_while_it_runs_and_that_is_told(visit: Visit) -> None:
    visit("overview")
    plan = begun(Budget(5.0, allow_unpriced=True))
    app = visit("live", benchmark=plan.id)
    assert "of $5.00" in said(app)
    app.number_input(key=f"budget of {plan.id}").set_value(2.5)
    app.number_input(key=f"concurrency of {plan.id}").set_value(3)
    next(button for button in app.button if button.label == "Change").click().run()
    assert not app.exception
    assert eventually(lambda: the_workspace().results.benchmark(plan.id).running == 3)
    app.run()
    words = said(app)
    assert "of $2.50" in words
    assert "budget $5.00 → $2.50, concurrency 1 → 3" in words
    assert "partial" in words or "no result yet" in words


def test_a_change_that_cannot_be_had_says_why_and_changes_nothing(visit: Visit) -> None:
    visit("overview")
    plan = begun(Budget())
    app = visit("live", benchmark=plan.id)
    next(button for button in app.button if button.label == "Change").click().run()
    assert "Give a new budget" in said(app)
    assert the_workspace().results.progress(plan.id).changes == ()


def test_a_click_on_a_cell_puts_its_experiment_into_the_address_and_its_transcript_on_the_page(
    visit: Visit, recorded: Plan
) -> None:
    experiment = next(item.id for item in recorded.experiments() if item.problem == "HumanEval/1")
    app = visit("live", benchmark=recorded.id, experiment=experiment)
    assert "HumanEval/1 · " in said(app)
    assert matrix_of(app)["chosen"][:2] == [1, 0]
    assert app.segmented_control(key="choice of view").value == "Program"
    app.button(key="close transcript").click().run()
    assert "experiment" not in app.query_params
    assert "Transcript" not in said(app)


def test_two_repeats_that_run_at_once_have_different_names(visit: Visit) -> None:
    visit("overview")
    wanted = Wanted("supervised", {"coder": "scripted/stubborn"}, {"max_iterations": 50})
    plan = the_workspace().plans.plan(Order([wanted], "0:1", repeats=2))
    the_workspace().runs.start(plan, 2)
    assert eventually(lambda: the_workspace().results.benchmark(plan.id).running == 2)
    (box,) = (box for box in visit("live", benchmark=plan.id).selectbox if box.label == "Experiment")
    assert [label[-10:] for label in sorted(box.options)] == [", repeat 1", ", repeat 2"]


def output() -> None:
    from types import SimpleNamespace as Fake  # noqa: PLC0415 (AppTest runs the body alone)

    import streamlit as st  # noqa: PLC0415

    from pages.ui.live_view import show_stream  # noqa: PLC0415

    common = {"label": "direct", "repeat": 0, "state": "running"}
    rows = [Fake(id=f"exp_{number}", problem=f"P/{number}", **common) for number in st.session_state["running"]]
    live = Fake(of=lambda experiment: None)
    workspace = Fake(runs=Fake(is_here=lambda benchmark: True, live=live))
    show_stream(workspace, Fake(benchmark=Fake(id="bench_1", under_way=True), experiments=rows))


def test_the_chosen_live_output_stays_when_other_experiments_end_and_start() -> None:
    app = AppTest.from_function(output, default_timeout=30)
    app.session_state["running"] = [1, 2, 3]
    app.run().selectbox[0].set_value("exp_3").run()
    app.session_state["running"] = [2, 3, 4]
    assert app.run().selectbox[0].value == "exp_3"
    app.session_state["running"] = [2, 4]  # the chosen one has ended
    assert app.run().selectbox[0].value == "exp_2"
    assert not app.exception


def test_an_experiment_of_another_benchmark_is_not_shown(visit: Visit, recorded: Plan) -> None:
    app = visit("live", benchmark=recorded.id, experiment="exp_000000000000")
    assert "unknown value" in said(app)
    assert "experiment" not in app.query_params


def test_the_beginning_of_an_id_in_the_address_is_enough(visit: Visit, recorded: Plan) -> None:
    experiment = next(item.id for item in recorded.experiments())
    app = visit("live", benchmark=recorded.id, experiment=experiment[:9])  # would otherwise be redrawn without end
    assert "Transcript" in said(app)
    assert app.query_params["experiment"] == experiment


def matrix_of(app: AppTest) -> Any:  # Any: JSON
    return next(data for data in components(app) if "lines" in data)


def test_it_says_how_fresh_it_is_and_of_what_is_over_no_rate_is_partial(visit: Visit, recorded: Plan) -> None:
    words = said(visit("live", benchmark=recorded.id))
    assert "Updated" in words
    assert "newest event" in words
    assert "partial" not in words
    assert "solved 100 %" in words


def test_a_rate_has_its_mark_here_too_and_the_mark_its_meaning(visit: Visit, recorded: Plan) -> None:
    app = visit("live", benchmark=recorded.id)
    assert "]* of 3 experiments" in said(app)
    assert "an oracle rate, not pass@1" in said(app)


def test_a_failing_provider_is_named_and_so_is_what_happens_next(visit: Visit, monkeypatch: pytest.MonkeyPatch) -> None:
    with serving_faults() as server:
        server.fault = lambda: "500"
        monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-a")
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
        visit("overview")
        plan = the_workspace().plans.plan(Order([Wanted("direct", {"coder": "claude-opus-4-5"})], "0:1"))
        the_workspace().runs.start(plan, 1)
        app = visit("live", benchmark=plan.id)
        assert eventually(lambda: "anthropic/claude-opus-4-5: HTTP 500 (" in said(app.run()))
        assert "of 7 retries used." in said(app)
        the_workspace().runs.stop(plan.id)


def test_the_page_of_an_experiment_begins_at_its_newest_program_after_its_transcript_was_read_here(
    visit: Visit, recorded: Plan
) -> None:
    supervised = next(item.id for item in reversed(list(recorded.experiments())) if item.problem == "HumanEval/1")
    app = visit("live", benchmark=recorded.id, experiment=supervised)
    app.switch_page("pages/experiment.py")
    app.query_params["experiment"] = supervised
    app.run()
    assert not app.exception
    assert "step" not in app.query_params
