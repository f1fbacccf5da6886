"""Background benchmarks: what a bug, a watcher and a broken journal each do to them."""

from __future__ import annotations

import os
import resource
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from koderz_core.errors import JournalError, UsageError
from koderz_core.events import BenchmarkClosed, Entry, ExperimentFinished
from koderz_core.records import Configuration, DatasetOrigin, Plan, Request
from koderz_core.runner.running import Running, default_concurrency

RIGHT = "```python\ndef add(a, b):\n    return a + b\n```"
Make = Callable[..., Any]  # Any: Bench of conftest.py, which a test module cannot import


def buggy(_: Request) -> str:
    raise ZeroDivisionError


def of(entries: list[Entry], kind: type) -> list[Any]:
    return [entry.event for entry in entries if isinstance(entry.event, kind)]


def test_a_bug_is_told_even_after_the_end(bench: Make, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    made, running = bench(buggy), Running(tmp_path)
    running.start(made.plan, made.runner)
    while running.runs(made.plan.id):
        pass
    assert running.trouble(made.plan.id) == "a bug of koderz: ZeroDivisionError"
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
    assert "A watcher failed" in caplog.text


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
    monkeypatch.setattr("koderz_core.runner.running.STOPPING_SECONDS", 0.05)
    asked, go_on = threading.Event(), threading.Event()

    def answer(_: Request) -> str:
        asked.set()
        go_on.wait(10)
        return RIGHT

    made, running = bench(answer), Running(tmp_path)
    running.start(made.plan, made.runner)
    asked.wait(10)
    assert running.control(made.plan.id, "stop") == os.getpid()
    with pytest.raises(UsageError, match="still being stopped"):
        running.start(made.plan, made.runner)
    go_on.set()
    running.close()


@pytest.mark.parametrize(("model", "threads"), [("embedded/qwen2.5-coder-0.5b", 1), ("ollama/it", 4)])
def test_embedded_models_are_asked_one_at_a_time(model: str, threads: int) -> None:
    configuration = Configuration("direct", {"coder": (model,)})
    assert default_concurrency(Plan(DatasetOrigin("tiny", "0" * 64, "MIT"), (), (configuration,))) == threads
