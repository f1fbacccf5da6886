"""A benchmark with ``--engine dask=local:N``: its journal holds the same events as that of ``--engine local``."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from chat_server import Server, serving_chat
from dask_runs import (
    Slow,
    asked_again,
    events,
    gone,
    journal_lines,
    outcomes,
    requests,
    run,
    started,
    wait_for,
    wait_for_open_calls,
    workers_of,
)
from sample import only_whole

from koderz_core.events import decode
from koderz_core.runner.budget import PICO, Spending

pytest.importorskip("distributed")

SEVERAL = (
    *("--problems", "0:3", "--repeats", "2", "--seed", "3", "--no-baselines"),
    *("--configuration", "direct coder=scripted/weak"),
    *("--configuration", "supervised max_iterations=3 checkpoint_interval=1 coder=scripted/weak"),
    *("--configuration", "best_of samples=3 coder=scripted/weak"),
)


def test_workers_record_the_same_events_as_threads(koderz: Any, tmp_path: Path) -> None:
    process = started("benchmark", *SEVERAL, "--engine", "dask=local:2", home=tmp_path / "dask")
    local = koderz("benchmark", *SEVERAL, "--engine", "local", "--data-dir", tmp_path / "local")
    _, said = process.communicate(timeout=300)
    assert (process.returncode, local.code) == (0, 0), said + local.err
    assert events(tmp_path / "dask") == events(tmp_path / "local")
    assert len(events(tmp_path / "dask")) == 3 * 2 * 3


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    with serving_chat() as known:
        known.answer, known.models = Slow(0.5), ("m",)
        monkeypatch.setenv("VLLM_BASE_URL", known.url)
        yield known


MANY = ("benchmark", "--problems", "0:6", "--no-baselines", "--name", "many", "--concurrency", "6", "--configuration")
LONG = (*MANY, "supervised max_iterations=3 checkpoint_interval=1 coder=vllm/m reviewer=vllm/m")


def test_a_killed_worker_loses_no_experiment_and_no_answer_is_asked_for_again(server: Server, tmp_path: Path) -> None:
    slow = server.answer = Slow(0.5, most=8)
    process = started(*LONG, "--engine", "dask=local:2", home=tmp_path)
    wait_for("call_finished", 8, tmp_path)
    wait_for_open_calls(6, tmp_path)  # one of each experiment: those of both workers
    os.kill(workers_of(process.pid)[0], signal.SIGKILL)
    slow.seconds = 0.1  # of the answers that are left
    slow.answering.set()
    _, said = process.communicate(timeout=300)
    assert process.returncode == 0, said
    assert outcomes(tmp_path) == {"unsolved": 6}
    assert asked_again(tmp_path) == 0
    calls = [line for line in journal_lines(tmp_path) if line["kind"] == "call_started"]
    assert sum(requests(server).values()) <= len(calls)
    assert sum(line["kind"] == "call_finished" for line in journal_lines(tmp_path)) >= 6 * 3
    assert any(line["event"]["attempt"] > 1 for line in calls), "no call was interrupted"


@only_whole("clusters of Dask")
def test_a_killed_owner_leaves_no_process_and_resume_asks_for_no_answer_again(server: Server, tmp_path: Path) -> None:
    process = started(*LONG, "--engine", "dask=local:2", home=tmp_path)
    wait_for("call_finished", 8, tmp_path)
    workers = workers_of(process.pid)
    process.kill()
    process.communicate(timeout=60)
    assert all(gone(pid) for pid in workers)
    code, said = run("resume", "many", "--engine", "dask=local:2", home=tmp_path)
    assert code == 0, said
    assert outcomes(tmp_path) == {"unsolved": 6}
    assert asked_again(tmp_path) == 0


@only_whole("clusters of Dask")
def test_ctrl_c_while_the_workers_start_stops_the_benchmark_without_their_tracebacks(tmp_path: Path) -> None:
    process = started(*MANY[:-3], "--coder", "scripted/strong", "--engine", "dask=local:2", home=tmp_path)
    wait_for("benchmark_opened", 1, tmp_path)
    deadline = time.monotonic() + 60
    while not workers_of(process.pid) and time.monotonic() < deadline:
        time.sleep(0.01)
    for pid in (process.pid, *workers_of(process.pid)):  # as a terminal does
        os.kill(pid, signal.SIGINT)
    _, said = process.communicate(timeout=120)
    assert process.returncode == 130, said
    assert "Traceback" not in said


PRICED = """
["vllm/m".price]
input_usd_per_mtok = 0
output_usd_per_mtok = 1000
source = "a test"
date = 2026-01-01
"""


def test_no_budget_is_exceeded_by_the_calls_of_several_workers(server: Server, tmp_path: Path) -> None:
    (tmp_path / "models.toml").write_text(PRICED)  # an answer costs at most $1.024, and in fact $1
    server.answer = Slow(0.5, tokens=1000)
    order = (*MANY[:2], "0:20", *MANY[3:-3], "--concurrency", "8", "--configuration", "direct coder=vllm/m")
    code, said = run(*order, "--max-cost", "4.14", "--engine", "dask=local:2", home=tmp_path)
    assert code == 5, said
    spending, most = Spending(), 0
    for line in (next((tmp_path / "journals").glob("*.jsonl"))).read_bytes().splitlines():
        if entry := decode(line):
            spending.add(entry)
            most = max(most, sum(spending.total().values()))
    assert 3 * PICO < most <= 4.14 * PICO  # three calls and more were reserved at the same time


@only_whole("clusters of Dask")
def test_pause_and_stop_reach_the_workers_within_two_seconds(server: Server, tmp_path: Path) -> None:
    longer = LONG[-1].replace("max_iterations=3", "max_iterations=25")
    process = started(*LONG[:-1], longer, "--engine", "dask=local:2", home=tmp_path)
    wait_for("call_finished", 4, tmp_path)
    workers = workers_of(process.pid)
    assert run("pause", "many", home=tmp_path)[0] == 0
    wait_for("control_obeyed", 1, tmp_path)
    begin = next(line["at"] for line in journal_lines(tmp_path) if line["kind"] == "control_obeyed")
    time.sleep(3)
    late = [line["kind"] for line in journal_lines(tmp_path) if line["at"] > begin + 2]
    assert not {"call_started", "code_tested"} & set(late)
    assert run("stop", "many", home=tmp_path)[0] == 0
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130, said
    assert outcomes(tmp_path) == {"cancelled": 6}
    assert all(gone(pid) for pid in workers)
