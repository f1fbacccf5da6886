"""Runs of ``koderz benchmark --engine dask=...`` in processes of their own, and what their journals say."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections import Counter
from http.server import BaseHTTPRequestHandler
from itertools import count
from pathlib import Path
from typing import Any

from chat_server import Server, streams
from taking_over import taking_over

CLOCK = ("seconds", "at", "kwh", "joules", "isolation")


class Slow:
    """A chat server whose answers take a moment. After ``most`` answers, all others wait for ``answering``."""

    def __init__(self, seconds: float, tokens: int = 5, most: int | None = None) -> None:
        self.seconds, self.tokens, self.answering = seconds, tokens, threading.Event()
        self._left = iter(range(most)) if most is not None else count()

    def __call__(self, handler: BaseHTTPRequestHandler) -> None:
        time.sleep(self.seconds)
        assert next(self._left, None) is not None or self.answering.wait(120)
        usage = {"prompt_tokens": 11, "completion_tokens": self.tokens, "total_tokens": 11 + self.tokens}
        streams({"content": "```python\ndef f():\n    return None\n```"}, usage=usage)(handler)


def started(*arguments: str, home: Path) -> subprocess.Popen[str]:
    """A command in a process of its own, as Dask's workers expect it."""
    environment = os.environ | {"KODERZ_HOME": str(home)}
    return subprocess.Popen(
        [sys.executable, "-c", taking_over(), *arguments],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
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


def journal_lines(home: Path) -> list[dict[str, Any]]:
    found = [path for path in (home / "journals").glob("*.jsonl") if path.stat().st_size]
    text = found[0].read_text() if found else ""
    return [json.loads(line) for line in text.splitlines() if line.endswith("}")]


def wait_for(kind: str, number: int, home: Path) -> None:
    deadline = time.monotonic() + 120
    while sum(line["kind"] == kind for line in journal_lines(home)) < number:
        assert time.monotonic() < deadline, f"fewer than {number} of {kind}"
        time.sleep(0.05)


def wait_for_open_calls(number: int, home: Path) -> None:
    deadline = time.monotonic() + 120
    while sum({"call_started": 1, "call_finished": -1}.get(line["kind"], 0) for line in journal_lines(home)) < number:
        assert time.monotonic() < deadline, f"fewer than {number} calls at the same time"
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


def gone(pid: int) -> bool:
    """Whether a process ends within some seconds."""
    deadline = time.monotonic() + 20
    while Path(f"/proc/{pid}").exists() and time.monotonic() < deadline:
        time.sleep(0.1)
    return not Path(f"/proc/{pid}").exists()
