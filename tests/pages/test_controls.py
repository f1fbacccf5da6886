"""Pause, resume and stop on the Live page, of what this process runs and of what another one does."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Iterator

import pytest
from reading import said
from streamlit.testing.v1 import AppTest

from koderz_core import KoderzError, Order, Wanted, the_workspace
from koderz_core.records import Plan
from koderz_core.workspace.runs import Runs

Visit = Callable[..., AppTest]
SECONDS = 5.0
MODEL, PARAMETERS = "scripted/stubborn", {"max_iterations": 25}
COMMAND = (
    *("--problems", "0:2", "--strategy", "supervised", "--coder", MODEL),
    *("--max-iterations", "25", "--no-baselines"),
)


def planned() -> Plan:
    return the_workspace().plans.plan(Order([Wanted("supervised", {"coder": MODEL}, PARAMETERS)], "0:2"))


@pytest.fixture
def elsewhere() -> Iterator[Plan]:
    command = [sys.executable, "-c", "from koderz_core.cli import main; main()", "benchmark", *COMMAND]
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    plan = planned()
    assert eventually(lambda: [row.id for row in the_workspace().results.benchmarks() if row.running], 30.0)
    yield plan
    process.kill()
    process.wait()


def eventually(claim: Callable[[], object], seconds: float = SECONDS) -> bool:
    deadline = time.monotonic() + seconds
    while not claim() and time.monotonic() < deadline:
        time.sleep(0.02)
    return bool(claim())


def becomes(plan: Plan, state: str) -> bool:
    return eventually(lambda: the_workspace().results.benchmark(plan.id).state == state)


def press(app: AppTest, button: str, plan: Plan) -> None:
    app.button(key=f"{button} live {plan.id}").click().run()
    assert not app.exception
    assert not app.error


def test_what_another_process_runs_is_paused_resumed_and_stopped_from_its_page(visit: Visit, elsewhere: Plan) -> None:
    app = visit("live", benchmark=elsewhere.id)
    for button, state in (("pause", "paused"), ("resume", "running"), ("stop", "stopped")):
        press(app.run(), button, elsewhere)
        assert becomes(elsewhere, state)
    assert "state stopped" in said(app.run())


def test_one_experiment_is_paused_while_the_others_go_on(visit: Visit) -> None:
    plan = planned()
    the_workspace().runs.start(plan)
    assert eventually(lambda: the_workspace().results.benchmark(plan.id).running == 2)
    chosen = plan.experiments()[0].id
    app = visit("live", benchmark=plan.id)
    app.selectbox(key=f"part of {plan.id}").set_value(chosen).run()
    press(app, "pause", plan)
    states = {row.id: row.state for row in the_workspace().results.progress(plan.id).experiments}
    assert states == {chosen: "paused", plan.experiments()[1].id: "running"}
    press(app, "stop", plan)
    assert eventually(lambda: the_workspace().results.experiment(chosen).experiment.outcome == "cancelled")
    assert the_workspace().results.benchmark(plan.id).running == 1
    app.run()
    assert app.selectbox(key=f"part of {plan.id}").value == chosen  # otherwise the next click would stop the other one
    assert "The chosen part has ended." in said(app)
    assert app.button(key=f"stop live {plan.id}").disabled


def test_a_button_acts_on_the_part_that_arrives_with_its_click(visit: Visit) -> None:
    plan = planned()
    the_workspace().runs.start(plan)
    assert eventually(lambda: the_workspace().results.benchmark(plan.id).running == 2)
    chosen, other = (experiment.id for experiment in plan.experiments())
    app = visit("live", benchmark=plan.id)
    app.selectbox(key=f"part of {plan.id}").set_value(chosen)
    press(app, "pause", plan)
    states = {row.id: row.state for row in the_workspace().results.progress(plan.id).experiments}
    assert states == {chosen: "paused", other: "running"}


def test_an_error_of_a_button_is_not_shown_for_another_benchmark(visit: Visit, monkeypatch: pytest.MonkeyPatch) -> None:
    plans = [the_workspace().plans.plan(Order([Wanted("direct", {"coder": MODEL})], f"{at}:{at + 1}")) for at in (0, 1)]
    for plan in plans:
        the_workspace().runs.run(plan)
        cut = the_workspace().settings.journals_dir / f"{plan.id}.jsonl"
        cut.write_text(f"{cut.read_text().splitlines()[0]}\n")
    failing = KoderzError("The disk is full.")
    monkeypatch.setattr(Runs, "resume", lambda *_, **__: (_ for _ in ()).throw(failing))
    app = visit("live", benchmarks=plans[0].id)
    app.button(key=f"resume live {plans[0].id}").click().run()
    assert "The disk is full." in said(app)
    app.query_params["benchmarks"] = plans[1].id
    assert "The disk is full." not in said(app.run())


def test_home_counts_the_experiments_that_run_not_their_benchmarks(visit: Visit) -> None:
    plan = planned()
    the_workspace().runs.start(plan)
    assert eventually(lambda: the_workspace().results.benchmark(plan.id).running == 2)
    assert "experiments running now 2" in said(visit("overview"))


def test_what_was_stopped_goes_on_from_its_page(visit: Visit) -> None:
    plan = planned()
    the_workspace().runs.start(plan)
    the_workspace().runs.stop(plan.id)
    assert becomes(plan, "stopped")
    press(visit("live", benchmark=plan.id), "resume", plan)
    assert becomes(plan, "running")
    assert the_workspace().runs.is_here(plan.id)


def test_what_is_paused_is_not_offered_as_if_nobody_were_at_it(visit: Visit) -> None:
    plan = planned()
    the_workspace().runs.start(plan)
    the_workspace().runs.pause(plan.id)
    assert becomes(plan, "paused")
    assert not [link for link in visit("overview").get("page_link") if "left" in link.proto.label]


def test_a_process_that_does_not_tell_its_number_is_not_called_process_0(visit: Visit, elsewhere: Plan) -> None:
    (lock,) = the_workspace().settings.journals_dir.glob("*.lock")
    lock.write_bytes(b"")
    tip = visit("live", benchmark=elsewhere.id).button(key=f"pause live {elsewhere.id}").help
    assert "Another process is running the benchmark" in tip
