"""A benchmark with ``--engine dask=local:N``: its journal holds the same events as that of ``--engine local``."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest
from chat_server import Server, serving_chat, streams

pytest.importorskip("distributed")

KODERZ = (sys.executable, "-c", "from koderz_core.cli import main; main()")
SEVERAL = (
    *("--problems", "0:4", "--repeats", "2", "--seed", "3", "--no-baselines"),
    *("--configuration", "direct coder=scripted/weak"),
    *("--configuration", "supervised max_iterations=3 checkpoint_interval=1 coder=scripted/weak"),
    *("--configuration", "best_of samples=3 coder=scripted/weak"),
)
CLOCK = ("seconds", "at", "kwh", "joules", "isolation")


def started(*arguments: str, home: Path) -> subprocess.Popen[str]:
    """A command in a process of its own, as Dask's workers expect it."""
    environment = os.environ | {"KODERZ_HOME": str(home)}
    return subprocess.Popen(
        [*KODERZ, *arguments], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def run(*arguments: str, home: Path) -> tuple[int, str]:
    process = started(*arguments, home=home)
    _, said = process.communicate(timeout=300)
    return process.returncode, said


def without_clock(value: Any) -> Any:  # Any: JSON
    if isinstance(value, dict):
        return {name: without_clock(held) for name, held in value.items() if not name.endswith(CLOCK)}
    return [without_clock(item) for item in value] if isinstance(value, list) else value


def events(home: Path) -> dict[str, list[str]]:
    """The events of each experiment, without anything that a clock decides."""
    (journal,) = (home / "journals").glob("*.jsonl")
    found: dict[str, list[str]] = {}
    for line in map(json.loads, journal.read_text().splitlines()):
        if line["experiment"]:
            event = json.dumps([line["ordinal"], line["kind"], without_clock(line["event"])])
            found.setdefault(line["experiment"], []).append(event)
    return {name: sorted(recorded) for name, recorded in found.items()}  # calls at the same time end in any order


def test_workers_record_the_same_events_as_threads(tmp_path: Path) -> None:
    for engine in ("local", "dask=local:2"):
        code, said = run("benchmark", *SEVERAL, "--engine", engine, home=tmp_path / engine.partition("=")[0])
        assert code == 0, said
    assert events(tmp_path / "dask") == events(tmp_path / "local")
    assert len(events(tmp_path / "dask")) == 4 * 2 * 3


# ----- workers that die, budgets, control


class Slow:
    """A chat server whose answers take a moment."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds

    def __call__(self, handler: BaseHTTPRequestHandler) -> None:
        time.sleep(self.seconds)
        streams({"content": "```python\ndef f():\n    return None\n```"})(handler)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    with serving_chat() as known:
        known.answer, known.models = Slow(0.5), ("m",)
        monkeypatch.setenv("VLLM_BASE_URL", known.url)
        yield known


MANY = ("benchmark", "--problems", "0:6", "--no-baselines", "--name", "many", "--concurrency", "6", "--configuration")
LONG = (*MANY, "supervised max_iterations=3 checkpoint_interval=1 coder=vllm/m reviewer=vllm/m")


def journal_lines(home: Path) -> list[dict[str, Any]]:
    found = [path for path in (home / "journals").glob("*.jsonl") if path.stat().st_size]
    text = found[0].read_text() if found else ""
    return [json.loads(line) for line in text.splitlines() if line.endswith("}")]


def wait_for(kind: str, number: int, home: Path) -> None:
    deadline = time.monotonic() + 120
    while sum(line["kind"] == kind for line in journal_lines(home)) < number:
        assert time.monotonic() < deadline, f"fewer than {number} of {kind}"
        time.sleep(0.05)


def workers_of(pid: int) -> list[int]:
    """The worker processes that Dask started below a process."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            parent = int(stat.read_text().rpartition(")")[2].split()[1])
            if parent == pid and "spawn_main" in (stat.parent / "cmdline").read_text():
                found.append(int(stat.parent.name))
        except OSError:
            continue
    return found


def requests(server: Server) -> Counter[str]:
    return Counter(json.dumps([body["messages"], body["seed"]]) for body in server.bodies)


def asked_again(home: Path) -> int:
    """Calls that were started after their answer had been recorded."""
    answered, again = set(), 0
    for line in journal_lines(home):
        place = (line["experiment"], line["ordinal"])
        again += line["kind"] == "call_started" and place in answered
        answered |= {place} if line["kind"] == "call_finished" else set()
    return again


def outcomes(home: Path) -> Counter[str]:
    last = {line["experiment"]: line["event"]["outcome"] for line in journal_lines(home) if "outcome" in line["event"]}
    return Counter(last.values())


def test_a_killed_worker_loses_no_experiment_and_no_answer_is_asked_for_again(server: Server, tmp_path: Path) -> None:
    process = started(*LONG, "--engine", "dask=local:2", home=tmp_path)
    wait_for("call_finished", 8, tmp_path)
    os.kill(workers_of(process.pid)[0], signal.SIGKILL)
    _, said = process.communicate(timeout=300)
    assert process.returncode == 0, said
    assert outcomes(tmp_path) == {"unsolved": 6}
    assert asked_again(tmp_path) == 0
    calls = [line for line in journal_lines(tmp_path) if line["kind"] == "call_started"]
    assert sum(requests(server).values()) <= len(calls)
    assert sum(line["kind"] == "call_finished" for line in journal_lines(tmp_path)) >= 6 * 3
    assert any(line["event"]["attempt"] > 1 for line in calls), "no call was interrupted"
