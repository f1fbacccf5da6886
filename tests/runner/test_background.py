"""Background benchmarks: what a bug, a watcher and a broken journal each do to them."""

from __future__ import annotations

import os
import resource
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from koderz_core.errors import JournalError, PlanError, UsageError
from koderz_core.events import BenchmarkClosed, ControlObeyed, Entry, ExperimentFinished, ExperimentStarted
from koderz_core.records import Configuration, Control, DatasetOrigin, Plan, Request
from koderz_core.records.plans import default_concurrency
from koderz_core.runner.background import Running

RIGHT = "```python\ndef add(a, b):\n    return a + b\n```"
SECONDS = 60.0  # generous: only a failing test waits as long
Make = Callable[..., Any]  # Any: Bench of conftest.py, which a test module cannot import


def buggy(_: Request) -> str:
    raise ZeroDivisionError


def of(entries: list[Entry], kind: type) -> list[Any]:
    return [entry.event for entry in entries if isinstance(entry.event, kind)]


def ends_by_itself(running: Running, benchmark: str) -> None:
    """A close would stop it: what a test expects of its end has to be there before."""
    deadline = time.monotonic() + SECONDS
    while running.runs(benchmark):
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_a_bug_is_told_even_after_the_end(bench: Make, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    made, running = bench(buggy), Running(tmp_path)
    running.start(made.plan, made.runner)
    ends_by_itself(running, made.plan.id)
    assert running.trouble(made.plan.id) == "a bug in koderz: ZeroDivisionError"
    assert running.trouble("bench_another") is None


def test_a_watcher_that_fails_breaks_nothing(bench: Make, caplog: pytest.LogCaptureFixture) -> None:
    made, seen = bench(lambda _: RIGHT), list[Entry]()

    def fail(entry: Entry) -> None:
        raise JournalError("Not the journal's own.")

    with made.runner([fail, seen.append]) as runner:
        runner.start()
        runner.wait()
    assert [end.outcome for end in of(made.entries(), ExperimentFinished)] == ["solved"]
    assert seen == made.entries()
    assert "The progress display or the debug files may be incomplete" in caplog.text


def test_what_cannot_be_written_ends_the_benchmark_even_if_smaller_lines_could(bench: Make) -> None:
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)

    def too_long(_: Request) -> str:
        resource.setrlimit(resource.RLIMIT_FSIZE, (made.path.stat().st_size + 4000, limits[1]))
        return RIGHT + "x" * 8000

    made = bench(too_long, problems=("tiny/0", "tiny/1"))
    try:
        with made.runner() as runner:
            runner.start()
            runner.ended(None)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert "The disk that holds the journal b.jsonl is full" in runner.trouble
    assert not of(made.entries(), ExperimentFinished)
    assert of(made.entries(), BenchmarkClosed) == [BenchmarkClosed("stopped")]


def test_a_start_does_not_wait_for_ever_for_a_stop(
    bench: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("koderz_core.runner.background.STOPPING_SECONDS", 0.05)
    asked, go_on = threading.Event(), threading.Event()

    def answer(_: Request) -> str:
        asked.set()
        go_on.wait(10)
        return RIGHT

    made, running = bench(answer), Running(tmp_path)
    running.start(made.plan, made.runner)
    asked.wait(10)
    assert running.control(made.plan.id, "stop") == os.getpid()
    with pytest.raises(UsageError, match="still stopping"):
        running.start(made.plan, made.runner)
    go_on.set()
    running.close()


def test_the_same_command_leaves_what_runs_running_though_the_recorded_plan_holds_more(
    bench: Make, tmp_path: Path
) -> None:
    made, running, model = bench(lambda _: RIGHT), Running(tmp_path), Waiting()
    made.plan = replace(made.plan, name="mine")
    made.go()
    made.plan, made.answer = replace(made.plan, problems=("tiny/1",)), model
    running.start(made.plan, made.runner)
    assert model.asked.wait(SECONDS)
    running.start(made.plan, made.runner)
    with pytest.raises(PlanError, match="Another plan named"):
        running.start(replace(made.plan, repeats=2), made.runner)
    model.let.set()
    running.close()


class Waiting:
    """Answers, or makes a runner, once it is let to."""

    def __init__(self) -> None:
        self.asked, self.let = threading.Event(), threading.Event()

    def __call__(self, _: object = None) -> str:
        self.asked.set()
        assert self.let.wait(SECONDS)
        return RIGHT


def test_a_start_that_waits_holds_up_no_other_start(bench: Make, tmp_path: Path) -> None:
    stopping, quick, running = bench(model := Waiting()), bench(lambda _: RIGHT), Running(tmp_path)
    quick.path, quick.plan = tmp_path / "quick.jsonl", replace(quick.plan, name="quick")
    running.start(stopping.plan, stopping.runner)
    assert model.asked.wait(SECONDS)
    running.control(stopping.plan.id, "stop")
    again = in_background(running.start, stopping.plan, stopping.runner)
    running.start(quick.plan, quick.runner)
    assert again.is_alive(), "it waits still, however long the other start took on a busy machine"
    model.let.set()
    again.join(SECONDS)
    ends_by_itself(running, quick.plan.id)
    running.close()
    assert [end.outcome for end in of(quick.entries(), ExperimentFinished)] == ["solved"]


def test_a_close_refuses_a_start_that_waits(bench: Make, tmp_path: Path) -> None:
    made, running = bench(model := Waiting()), Running(tmp_path)
    running.start(made.plan, made.runner)
    assert model.asked.wait(SECONDS)
    running.control(made.plan.id, "stop")
    again = in_background(running.start, made.plan, made.runner)
    threading.Timer(0.2, model.let.set).start()
    running.close()
    again.join(SECONDS)
    assert not again.is_alive()
    assert len(of(made.entries(), ExperimentStarted)) == 1
    with pytest.raises(UsageError, match="has been closed"):
        running.start(made.plan, made.runner)


@pytest.mark.parametrize("what", ["stop", "pause"])
def test_what_is_wished_of_a_benchmark_that_is_being_started_is_obeyed(
    bench: Make, tmp_path: Path, what: Control
) -> None:
    made, running, opening, model = bench(None, "supervised"), Running(tmp_path), Waiting(), Waiting()
    made.answer = model

    def make() -> Any:
        opening()
        return made.runner()

    starting = in_background(running.start, made.plan, make)
    assert opening.asked.wait(SECONDS)
    assert running.control(made.plan.id, what) == os.getpid()
    opening.let.set()
    starting.join(SECONDS)
    assert [(entry.what, entry.by) for entry in of(made.entries(), ControlObeyed)] == [(what, os.getpid())]
    model.let.set()
    running.close()
    assert "solved" not in [end.outcome for end in of(made.entries(), ExperimentFinished)]


def in_background(act: Callable[..., object], *given: object) -> threading.Thread:
    def attempt() -> None:
        with suppress(UsageError):
            act(*given)

    thread = threading.Thread(target=attempt, daemon=True)
    thread.start()
    return thread


@pytest.mark.parametrize(("model", "threads"), [("embedded/qwen2.5-coder-0.5b", 1), ("ollama/it", 4)])
def test_embedded_models_are_asked_one_at_a_time(model: str, threads: int) -> None:
    configuration = Configuration("direct", {"coder": (model,)})
    assert default_concurrency(Plan(DatasetOrigin("tiny", "0" * 64, "MIT"), (), (configuration,))) == threads
