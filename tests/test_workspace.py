"""The workspace: benchmarks in the background, what models say meanwhile, and one workspace for the whole process."""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest
from chat_server import serving_chat, streams

import koderz_core.lazy
import koderz_core.workspace
from koderz_core import Order, Wanted, Workspace, open_workspace, the_workspace
from koderz_core.errors import DataError, PlanError, UsageError
from koderz_core.events import AllowanceSet, BenchmarkClosed, BenchmarkOpened, Entry, ExperimentFinished
from koderz_core.journal import Journal, read_all
from koderz_core.records import Allowance, Budget, Plan
from koderz_core.runner.live_text import LiveAnswer
from koderz_core.settings_fields import Limits
from koderz_core.workspace import leave

HOLDER = """
import pathlib, sys
from koderz_core.journal import Journal
journal = Journal(pathlib.Path(sys.argv[1]))
print("held", flush=True)
sys.stdin.readline()
"""


@pytest.fixture
def workspace() -> Iterator[Workspace]:
    with open_workspace() as opened:
        yield opened


def planned(workspace: Workspace, problems: str = "0:2", model: str = "slow", **order: Any) -> Plan:
    return workspace.plans.plan(Order([Wanted("direct", {"coder": f"scripted/{model}"})], problems, **order))


def eventually(claim: Callable[[], object], seconds: float = 20.0) -> bool:
    deadline = time.monotonic() + seconds
    while not claim() and time.monotonic() < deadline:
        time.sleep(0.005)
    return bool(claim())


def told(workspace: Workspace, benchmark: str, kind: type) -> list[Any]:
    entries = read_all(workspace.settings.journals_dir / f"{benchmark}.jsonl")
    return [entry.event for entry in entries if isinstance(entry.event, kind)]


def listen(workspace: Workspace, plan: Plan) -> tuple[str, LiveAnswer]:
    """The first experiment in which something is said, and what."""
    heard = dict[str, LiveAnswer]()

    def hear() -> bool:
        spoken = ((experiment.id, workspace.runs.live.of(experiment.id)) for experiment in plan.experiments())
        heard.update((experiment, said) for experiment, said in spoken if said and said.text)
        return bool(heard)

    assert eventually(hear)
    return next(iter(heard.items()))


def ended(workspace: Workspace, benchmark: str) -> bool:
    return eventually(lambda: not workspace.runs.is_here(benchmark))


def test_a_benchmark_runs_in_the_background_until_it_ends(workspace: Workspace) -> None:
    benchmark = workspace.runs.start(planned(workspace, "0:2"), concurrency=1)
    assert workspace.runs.is_here(benchmark)
    assert ended(workspace, benchmark)
    assert [close.reason for close in told(workspace, benchmark, BenchmarkClosed)] == ["finished"]
    assert workspace.runs.trouble(benchmark) is None


def test_what_a_model_says_is_heard_while_it_speaks_and_forgotten_afterwards(workspace: Workspace) -> None:
    plan = planned(workspace, "0:2")
    workspace.runs.start(plan, concurrency=1)
    experiment, spoken = listen(workspace, plan)
    assert (spoken.role, spoken.model, spoken.text[:8]) == ("coder", "scripted/slow", "SCRIPTED")
    assert ended(workspace, plan.id)
    assert workspace.runs.live.of(experiment) is None


def test_a_stopped_benchmark_ends_soon_and_goes_on_when_started_again(workspace: Workspace) -> None:
    plan = planned(workspace, "0:4")
    workspace.runs.start(plan, concurrency=1)
    listen(workspace, plan)
    workspace.runs.stop(plan.id)
    workspace.runs.start(plan)
    assert ended(workspace, plan.id)
    assert [close.reason for close in told(workspace, plan.id, BenchmarkClosed)] == ["stopped", "finished"]
    outcomes = [end.outcome for end in told(workspace, plan.id, ExperimentFinished)]
    assert (len(outcomes), outcomes.count("cancelled")) == (5, 1)


def test_a_budget_that_was_changed_during_the_run_is_kept_when_the_plan_runs_again(workspace: Workspace) -> None:
    plan = planned(workspace, "0:1", "strong", budget=Budget(5.0))
    workspace.runs.run(plan)
    journal = Journal(workspace.settings.journals_dir / f"{plan.id}.jsonl")
    journal.append(Entry(time.time(), AllowanceSet(Allowance(1.0, 1), 1, Allowance(5.0, 1))))
    journal.close()
    again = workspace.runs.run(plan)
    assert (again.plan.budget.usd, workspace.runs.recorded(plan.id).budget.usd) == (1.0, 1.0)
    workspace.runs.run(replace(plan, budget=Budget(2.0)))  # a new amount
    assert workspace.runs.recorded(plan.id).budget.usd == 2.0


def test_however_many_start_a_plan_at_once_it_runs_once(workspace: Workspace) -> None:
    plan, together = planned(workspace, "0:4"), threading.Barrier(8)

    def start(_: int) -> str:
        together.wait()
        return workspace.runs.start(plan, concurrency=1)

    with ThreadPoolExecutor(8) as threads:
        assert set(threads.map(start, range(8))) == {plan.id}
    assert ended(workspace, plan.id)
    assert len(told(workspace, plan.id, BenchmarkClosed)) == len(told(workspace, plan.id, BenchmarkOpened)) == 1


def test_another_plan_of_the_same_name_is_not_taken_for_the_running_one(workspace: Workspace) -> None:
    workspace.runs.start(planned(workspace, "0:9", name="mine"))
    with pytest.raises(PlanError, match="Another plan named"):
        workspace.runs.start(planned(workspace, "0:8", name="mine"))


def test_a_plan_that_cannot_be_started_leaves_no_journal_locked(workspace: Workspace) -> None:
    plan = planned(workspace)
    with pytest.raises(PlanError, match="at least 1"):
        workspace.runs.start(plan, concurrency=-1)
    assert workspace.runs.start(plan) == plan.id


def test_what_another_process_runs_is_told_to_it_and_what_nobody_runs_cannot_be_stopped(workspace: Workspace) -> None:
    plan = planned(workspace)
    with pytest.raises(UsageError, match="is not running, so there is nothing to stop"):
        workspace.runs.stop(plan.id)
    path = workspace.settings.journals_dir / f"{plan.id}.jsonl"
    with subprocess.Popen([sys.executable, "-c", HOLDER, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout is not None
        other.stdout.readline()
        assert not workspace.runs.is_here(plan.id)
        assert workspace.runs.stop(plan.id, "exp_1") == other.pid
        other.communicate(b"\n")
    (wish,) = path.with_suffix(".control").read_text().splitlines()
    assert {"by": os.getpid(), "what": "stop", "target": "exp_1"}.items() <= json.loads(wish).items()


def test_a_disk_that_fills_up_breaks_the_benchmark_and_is_told(workspace: Workspace) -> None:
    plan = planned(workspace, "0:9")
    workspace.runs.start(plan, concurrency=1)
    listen(workspace, plan)
    (file,) = (fd for fd in Path("/proc/self/fd").iterdir() if str(fd.resolve()).endswith(f"{plan.id}.jsonl"))
    full = os.open("/dev/full", os.O_WRONLY)
    os.dup2(full, int(file.name))
    os.close(full)
    assert ended(workspace, plan.id)
    assert "cannot be written: No space left" in str(workspace.runs.trouble(plan.id))
    workspace.runs.start(plan)
    assert workspace.runs.trouble(plan.id) is None


def test_closing_stops_what_runs_and_leaves_no_thread(workspace: Workspace) -> None:
    before = set(threading.enumerate())
    plans = [planned(workspace, "0:9", seed=seed) for seed in (1, 2)]
    for plan in plans:
        workspace.runs.start(plan)
    workspace.close()
    workspace.close()
    assert set(threading.enumerate()) <= before
    for plan in plans:
        assert [close.reason for close in told(workspace, plan.id, BenchmarkClosed)] == ["stopped"]
    with pytest.raises(UsageError, match="has been closed"):
        workspace.runs.start(plans[0])


@pytest.fixture
def left() -> Iterator[None]:
    leave()
    yield
    leave()


def test_a_process_has_one_workspace_for_all_its_threads(left: None) -> None:
    with ThreadPoolExecutor(8) as threads:
        assert len(set(threads.map(lambda _: the_workspace(), range(64)))) == 1


def test_the_workspace_outlives_its_modules(left: None, monkeypatch: pytest.MonkeyPatch) -> None:
    opened = the_workspace()
    assert importlib.reload(koderz_core.workspace).the_workspace() is opened
    for name in ("lazy", "workspace"):
        monkeypatch.delattr(koderz_core, name)
        monkeypatch.delitem(sys.modules, f"koderz_core.{name}")
    assert importlib.import_module("koderz_core.workspace").the_workspace() is opened


def test_a_workspace_that_was_left_is_closed_and_another_is_opened(left: None) -> None:
    first = the_workspace()
    plan = planned(first)
    first.runs.start(plan)
    leave()
    assert not first.runs.is_here(plan.id)
    assert the_workspace() is not first


def test_questions_outside_any_experiment_keep_to_the_limits_of_their_provider() -> None:
    inside, most = threading.Semaphore(0), []

    def answer(handler: BaseHTTPRequestHandler) -> None:
        inside.release()
        time.sleep(0.02)  # whoever else is let in comes meanwhile
        most.append(inside._value)
        inside.acquire()
        streams({"content": "ready"})(handler)

    with serving_chat() as server:
        server.answer = answer
        limits = {"vllm": Limits(concurrency=1)}
        with open_workspace(vllm_base_url=server.url, limits=limits) as opened, ThreadPoolExecutor(4) as threads:
            list(threads.map(lambda _: opened.models.ask("vllm/it", "hello"), range(4)))
    assert most == [1, 1, 1, 1]


def test_an_error_in_grading_leaves_the_judge_to_running_benchmarks(tmp_path: Path) -> None:
    with open_workspace(home=tmp_path) as opened:
        with pytest.raises(DataError), opened.grading.ending_programs():
            raise DataError("the tests of a file cannot be run")
        problem = opened.datasets.load("humaneval").problems[0]
        assert opened.grading.judge.check(problem, problem.canonical_solution, problem.tests).passed
