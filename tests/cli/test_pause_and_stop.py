"""``koderz pause`` and ``koderz stop`` from another process than the one that runs the benchmark, and its states."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from taking_over import taking_over

from koderz_core.config import load_settings
from koderz_core.events import AllowanceSet, CodeTested
from koderz_core.journal import read_all
from koderz_core.records.rows import BenchmarkRow, ExperimentRow
from koderz_core.runner.control import ControlRequest, send
from koderz_core.store.results import Results
from koderz_core.store.store import Store

SECONDS = 5.0  # generous: two are promised
WORDS = ("--strategy", "supervised", "--coder", "scripted/stubborn", "--max-iterations", "25")
ONE = ("--problems", "0:1", "--fail-under", "100", "--no-baselines")


@pytest.fixture
def results() -> Results:
    settings = load_settings()
    return Results(Store(settings.store_path, settings.journals_dir), lambda *_: None)


@pytest.fixture
def running(results: Results) -> Iterator[str]:
    """The id of a benchmark that a process of its own is busy with."""
    with begun("benchmark", "--problems", "0:2", "--no-baselines"):
        assert eventually(lambda: [row for row in results.benchmarks() if row.running == 2], 30.0)
        yield results.benchmarks()[0].id


@contextmanager
def begun(*words: str) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-c", taking_over(), *words, *WORDS]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
    yield process
    process.kill()
    process.communicate()


def eventually(claim: Callable[[], object], seconds: float = SECONDS) -> bool:
    deadline = time.monotonic() + seconds
    while not claim() and time.monotonic() < deadline:
        time.sleep(0.02)
    return bool(claim())


def becomes(results: Results, benchmark: str, state: str) -> bool:
    return eventually(lambda: results.benchmark(benchmark).state == state)


def experiments(results: Results, benchmark: str) -> dict[str, ExperimentRow]:
    return {row.id: row for row in results.experiments(benchmark)}


def iterations(benchmark: str) -> int:
    entries = read_all(load_settings().journals_dir / f"{benchmark}.jsonl")
    return sum(isinstance(entry.event, CodeTested) for entry in entries)


def allowed_usd(benchmark: str) -> float | None:
    entries = read_all(load_settings().journals_dir / f"{benchmark}.jsonl")
    return [entry.event.after.usd for entry in entries if isinstance(entry.event, AllowanceSet)][-1]


def test_what_another_process_runs_is_paused_and_goes_on_and_is_stopped(
    koderz: Any, running: str, results: Results
) -> None:
    said = koderz("pause", running[:10])
    row: BenchmarkRow = results.benchmark(running)
    assert (said.code, said.err) == (0, "")
    assert f"Process {row.holder} will pause {running} within two seconds; calls in progress are completed." in said.out
    assert becomes(results, running, "paused")
    assert {experiment.state for experiment in experiments(results, running).values()} == {"paused"}
    time.sleep(1.0)  # calls that were under way have ended
    before = iterations(running)
    time.sleep(1.0)
    assert iterations(running) == before
    assert koderz("resume", running, "--max-cost", "7").code == 0
    assert becomes(results, running, "running")
    assert eventually(lambda: iterations(running) > before)
    assert eventually(lambda: allowed_usd(running) == 7)
    (lock,) = load_settings().journals_dir.glob("*.lock")
    lock.write_bytes(b"")  # who runs it may be unknown
    said = koderz("stop", running)
    assert said.code == 0
    assert f"The process that runs the benchmark will stop {running} within two seconds; " in said.out
    assert becomes(results, running, "stopped")
    assert {experiment.outcome for experiment in experiments(results, running).values()} == {"cancelled"}
    assert koderz("results", running, "--json").json[0]["cancelled"] == 2


def test_one_experiment_is_paused_and_its_configuration_stopped(koderz: Any, running: str, results: Results) -> None:
    paused, other = sorted(experiments(results, running))
    assert koderz("pause", running, "--only", paused[:12]).code == 0
    assert eventually(lambda: experiments(results, running)[paused].state == "paused")
    assert experiments(results, running)[other].state == "running"
    assert results.benchmark(running).state == "running"
    (summary,) = results.summaries(running)
    assert koderz("stop", running, "--only", summary.label).code == 0
    assert becomes(results, running, "stopped")


def stop_what_runs(results: Results) -> None:
    """Stop the only experiment as soon as it runs, in the way of another process."""
    assert eventually(lambda: [row for row in results.experiments() if row.state == "running"], 30.0)
    (row,) = results.experiments()
    journal = load_settings().journals_dir / f"{row.benchmark}.jsonl"
    send(journal, ControlRequest(time.time(), os.getpid(), "stop", row.id))


@pytest.mark.parametrize("words", [("run", "--problem-id", "0"), ("benchmark", *ONE)], ids=["run", "benchmark"])
def test_what_was_stopped_in_part_never_looks_as_if_it_had_gone_well(
    koderz: Any, results: Results, words: tuple[str, ...]
) -> None:
    stopping = threading.Thread(target=stop_what_runs, args=(results,))
    stopping.start()
    said = koderz(*words, *WORDS)
    stopping.join()
    (row,) = results.experiments()
    assert (said.code, row.outcome) == (130, "cancelled")
    assert f"Experiments without a result: 1 of 1. To continue: koderz resume {row.benchmark}" in said.err


def test_what_nobody_runs_or_has_ever_run_cannot_be_paused(koderz: Any, results: Results) -> None:
    koderz("benchmark", "--problems", "0:1", "--coder", "scripted/strong")
    (row,) = results.benchmarks()
    (experiment,) = results.experiments(row.id)
    for words, message in (
        ((row.id,), "is not running, so there is nothing to pause."),
        ((row.id, "--only", "nothing"), "Unknown configuration or experiment: 'nothing'"),
        (
            (experiment.id,),
            f"is an experiment of {row.id}. To pause only this experiment: koderz pause {row.id} --only "
            f"{experiment.id}",
        ),
        (("bench_nothing",), "Unknown benchmark or experiment: 'bench_nothing'"),
    ):
        said = koderz("pause", *words)
        assert said.code == 2
        assert message in said.err


def test_a_killed_process_leaves_an_interrupted_benchmark_whatever_was_paused(
    koderz: Any, running: str, results: Results
) -> None:
    koderz("pause", running)
    assert becomes(results, running, "paused")
    holder = results.benchmark(running).holder
    assert holder
    subprocess.run(["kill", "-9", str(holder)], check=True)
    assert becomes(results, running, "interrupted")
    assert {experiment.state for experiment in experiments(results, running).values()} == {"interrupted"}
