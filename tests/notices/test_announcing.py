"""Whoever wants to know is told when a benchmark ends, however it ends, and never what it was about."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from chat_server import Server, sends, serving_chat

from koderz_core import Order, Wanted, Workspace, open_workspace
from koderz_core.errors import JournalError
from koderz_core.events import Entry, ExperimentFinished
from koderz_core.plan.registration import RegistrationOrder
from koderz_core.records import Plan

KEY = "sk-MARKED-0123456789"
PROMPT = 'def add(a, b):\n    """MARKED prompt."""\n'
PROGRAM = f"{PROMPT}    return a + b  # MARKED program\n"
TESTS = "assert add(1, 2) == 3, 'MARKED test'\nassert add(2, 2) == 4"


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with serving_chat() as known:
        yield known


@pytest.fixture(scope="module")
def workspace(server: Server, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    """One for all, since its sandbox takes a while."""
    home, url = tmp_path_factory.mktemp("home"), f"{server.url}/MARKED"
    with open_workspace(home=home, slack_webhook_url=url, openai_api_key=KEY) as opened:
        yield opened


@pytest.fixture
def place(server: Server) -> Server:
    server.answer = sends(200, "ok", "text/plain")
    server.bodies.clear()
    return server


def planned(workspace: Workspace, name: str, model: str = "strong", **order: Any) -> Plan:
    dataset = workspace.grading.keep_problem(PROMPT, TESTS, PROGRAM)
    return workspace.plans.plan(
        Order([Wanted("direct", {"coder": f"scripted/{model}"})], "all", name=name, **order), dataset
    )


def text(place: Server) -> str:
    """What the one notice says."""
    (body,) = place.bodies
    assert "MARKED" not in repr(body)
    return str(body["text"])


def eventually(claim: Callable[[], object]) -> bool:
    deadline = time.monotonic() + 10.0
    while not claim() and time.monotonic() < deadline:
        time.sleep(0.005)
    return bool(claim())


def test_the_end_is_told_with_results_and_without_prompts_programs_and_keys(
    workspace: Workspace, place: Server
) -> None:
    plan = planned(workspace, f"demo {KEY}", repeats=2)
    workspace.runs.run(plan)
    title, after, line = text(place).split("\n")
    assert title == f"koderz: demo [secret] ({plan.id}) finished"
    assert after.startswith("after ")
    assert line == "direct SCRIPTED strong: 2 of 2 experiments solved, $0.00"


def test_experiments_that_the_stopping_rule_left_out_are_not_called_missing(
    workspace: Workspace, place: Server
) -> None:
    pair = [Wanted(strategy, {"coder": "scripted/strong"}) for strategy in ("retry", "direct")]
    plan = workspace.plans.plan(Order(pair, "all", registration=RegistrationOrder(stopping="sequential")))
    workspace.runs.run(plan)
    decided = workspace.results.benchmark(plan.id).decided_by
    assert f"of {decided} experiments solved" in text(place)
    assert "without a result" not in text(place)


def test_where_nothing_was_left_to_do_nothing_is_told(workspace: Workspace, place: Server) -> None:
    workspace.runs.run(planned(workspace, "twice"))
    workspace.runs.run(planned(workspace, "twice"))
    assert len(place.bodies) == 1


def test_a_task_of_the_workbench_is_not_told_of(workspace: Workspace, place: Server) -> None:
    bench = workspace.workbench
    plan = bench.plan(bench.question("MARKED?"), Wanted("direct", {"coder": "scripted/strong"}))
    bench.inside.runs.run(plan)
    assert bench.inside.results.benchmark(plan.id).state == "finished"
    assert place.bodies == []


def test_what_is_stopped_in_the_background_is_told_of_too(workspace: Workspace, place: Server) -> None:
    workspace.runs.stop(workspace.runs.start(planned(workspace, "stopped", "stubborn")))
    assert eventually(lambda: place.bodies)
    assert " was stopped\n" in text(place)
    assert "0 of 1 experiment solved, 1 without a result" in text(place)


def test_of_what_broke_it_only_the_kind_is_told(workspace: Workspace, place: Server) -> None:
    def breaks(entry: Entry) -> None:
        if isinstance(entry.event, ExperimentFinished):
            runner._workers.break_off(JournalError("MARKED cannot be written"))

    with workspace.runs.runner(planned(workspace, "broken"), [breaks]) as runner:
        runner.start()
        runner.ended(10.0)
    assert " failed (JournalError)\n" in text(place)


def test_a_notice_that_does_not_arrive_is_a_warning_and_nothing_else(
    workspace: Workspace, place: Server, caplog: pytest.LogCaptureFixture
) -> None:
    place.answer = sends(404, "no_service", "text/plain")
    plan = planned(workspace, "unheard")
    workspace.runs.run(plan)
    assert workspace.results.benchmark(plan.id).state == "finished"
    warning = (
        f"The notification about the end of {plan.id} could not be delivered: the webhook answered 404: no_service."
    )
    assert warning in caplog.text


def test_that_the_budget_is_used_up_is_told(workspace: Workspace, place: Server) -> None:
    with workspace.runs.runner(planned(workspace, "dear")) as runner:
        runner._ledger.used_up = "MARKED"
        runner.start()
        runner.ended(10.0)
    assert " used up its budget\n" in text(place)
