"""Ctrl-C and SIGTERM: real signals to a real process, whatever it is doing, and nothing of it left behind."""

from __future__ import annotations

import json
import os
import pty
import resource
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from taking_over import taking_over

from koderz_core.config import load_settings
from koderz_core.events import BenchmarkClosed, ControlObeyed, Event, ExperimentFinished
from koderz_core.journal import holder, read_all
from koderz_core.runner.control import ControlRequest, send

ALONE = "from koderz_core.cli import main; main()"  # with a sandbox that it has tried itself
ENDLESS = "```python\nwhile True:\n    pass\n```"
WITHIN = 2.0  # seconds that a stop may take
PATIENCE = 30.0


@dataclass
class Provider:
    """A server whose answers hang until they are let go, or say ``text`` at once."""

    text: str | None = None
    url: str = ""
    asked: threading.Event = field(default_factory=threading.Event)
    let_go: threading.Event = field(default_factory=threading.Event)


@pytest.fixture
def provider() -> Iterator[Provider]:
    known = Provider()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            known.asked.set()
            if known.text is None:
                known.let_go.wait(PATIENCE)
            message = {"role": "assistant", "content": known.text or "```python\npass\n```"}
            choice = {"index": 0, "message": message, "finish_reason": "stop"}
            body = json.dumps({"id": "c", "object": "chat.completion", "choices": [choice]}).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Keep quiet."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, args=(0.01,)).start()
    known.url = f"http://127.0.0.1:{server.server_port}/v1"
    yield known
    known.let_go.set()
    server.shutdown()
    server.server_close()


@dataclass
class Terminal:
    """A benchmark of two experiments in a process of its own, one at a time."""

    process: subprocess.Popen[str]
    scratch: Path
    started: set[int] = field(default_factory=set)

    def signal_and_wait(self, number: signal.Signals) -> tuple[int, float, str]:
        """How the process ended, after how many seconds, and what it said."""
        begin = time.monotonic()
        self.process.send_signal(number)
        said = self.process.communicate(timeout=PATIENCE)[1]
        return self.process.returncode, time.monotonic() - begin, said

    def descendants(self) -> set[int]:
        """What it has started, and what that has started."""
        parents = {int(path.parent.name): _parent(path) for path in Path("/proc").glob("[0-9]*/stat")}
        found = {self.process.pid}
        while more := {pid for pid, parent in parents.items() if parent in found} - found:
            found |= more
        self.started |= found - {self.process.pid}
        return found - {self.process.pid}

    def left_behind(self) -> list[object]:
        """Processes that it was seen to have started, and what lies in its folder for temporary files."""
        alive = [pid for pid in self.started if _parent(Path(f"/proc/{pid}/stat"))]
        return [*alive, *self.scratch.iterdir()]


def _parent(stat: Path) -> int:
    """Of a process, 0 if it is gone."""
    with suppress(OSError):
        state, parent = stat.read_text().rpartition(")")[2].split()[:2]
        return 0 if state == "Z" else int(parent)
    return 0


@pytest.fixture
def terminal(provider: Provider, tmp_path: Path) -> Iterator[Callable[..., Terminal]]:
    started: list[subprocess.Popen[str]] = []
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    given = {"OPENAI_BASE_URL": provider.url, "OPENAI_API_KEY": "k", "TMPDIR": str(scratch), "TERM": "xterm"}
    given["KODERZ_TIERS"] = json.dumps({"openai": "frontier"})  # whose answers are not streamed

    def start(first: str = "pass", screen: int = subprocess.PIPE, then: str | None = None) -> Terminal:
        """``first``: what the process executes before ``then``; ``screen``: where its messages go."""
        words = ["benchmark", "--problems", "0:2", "--strategy", "direct", "--coder", "openai/it", "--concurrency", "1"]
        script = f"import signal; {first}; {then or taking_over()}"
        command = [sys.executable, "-c", script, *words, "--test-timeout", "60"]
        process = subprocess.Popen(
            command, env={**os.environ, **given}, stdout=subprocess.DEVNULL, stderr=screen, text=True
        )
        started.append(process)
        return Terminal(process, scratch)

    yield start
    for process in started:
        process.kill()
        process.wait()


def journalled(kind: type[Event]) -> list[Any]:
    (path,) = load_settings().journals_dir.glob("*.jsonl")
    assert holder(path) is None
    return [entry.event for entry in read_all(path) if isinstance(entry.event, kind)]


def eventually(claim: Callable[[], object]) -> bool:
    deadline = time.monotonic() + PATIENCE
    while not claim() and time.monotonic() < deadline:
        time.sleep(0.01)
    return bool(claim())


def test_the_first_ctrl_c_lets_what_runs_end_at_its_next_step(
    terminal: Callable[[], Terminal], provider: Provider
) -> None:
    begun = terminal()
    assert provider.asked.wait(PATIENCE)
    begun.process.send_signal(signal.SIGINT)
    assert begun.process.stderr is not None
    assert any("Press Ctrl-C again to stop immediately" in line for line in begun.process.stderr)
    provider.let_go.set()
    assert "To continue: koderz resume bench_" in begun.process.communicate(timeout=PATIENCE)[1]
    assert begun.process.returncode == 130
    assert [(control.what, control.target, control.by) for control in journalled(ControlObeyed)] == [
        ("stop", None, begun.process.pid)
    ]
    assert len(journalled(ExperimentFinished)) == 1
    assert journalled(BenchmarkClosed) == [BenchmarkClosed("stopped")]


def test_the_second_ctrl_c_ends_it_now_though_a_call_hangs(
    terminal: Callable[..., Terminal], provider: Provider
) -> None:
    begun = terminal(then=ALONE)
    assert provider.asked.wait(PATIENCE)
    begun.process.send_signal(signal.SIGINT)
    time.sleep(0.1)  # two signals at the same moment are one
    code, seconds, said = begun.signal_and_wait(signal.SIGINT)
    assert code == 130
    assert seconds < WITHIN
    assert "To continue: koderz resume bench_" in said
    assert [end.outcome for end in journalled(ExperimentFinished)] == ["cancelled"]
    assert journalled(BenchmarkClosed) == [BenchmarkClosed("stopped")]
    assert not begun.left_behind()


def test_sigterm_ends_it_now_with_the_program_that_is_being_judged(
    terminal: Callable[..., Terminal], provider: Provider
) -> None:
    provider.text = ENDLESS
    begun = terminal(then=ALONE)
    assert provider.asked.wait(PATIENCE)
    idle = len(begun.descendants())
    assert eventually(lambda: len(begun.descendants()) > idle)  # the program that is being judged
    code, seconds, _ = begun.signal_and_wait(signal.SIGTERM)
    assert code == 130
    assert seconds < WITHIN
    assert [end.outcome for end in journalled(ExperimentFinished)] == ["cancelled"]
    assert eventually(lambda: not begun.left_behind())  # what is killed takes a moment to be gone


def test_a_terminal_that_is_closed_ends_it_now_though_nothing_can_be_said_there_any_more(
    terminal: Callable[..., Terminal], provider: Provider
) -> None:
    ours, theirs = pty.openpty()
    begun = terminal(screen=theirs)
    os.close(theirs)
    assert provider.asked.wait(PATIENCE)
    while b"experiments" not in os.read(ours, 1000):
        pass
    os.close(ours)
    code, seconds, _ = begun.signal_and_wait(signal.SIGHUP)
    assert code == 130
    assert seconds < WITHIN
    assert [end.outcome for end in journalled(ExperimentFinished)] == ["cancelled"]


def test_a_hangup_that_is_ignored_stays_ignored(terminal: Callable[..., Terminal], provider: Provider) -> None:
    begun = terminal("signal.signal(signal.SIGHUP, signal.SIG_IGN)")
    assert provider.asked.wait(PATIENCE)
    begun.process.send_signal(signal.SIGHUP)
    time.sleep(1.0)
    provider.let_go.set()
    begun.process.communicate(timeout=PATIENCE)
    assert journalled(BenchmarkClosed) == [BenchmarkClosed("finished")]


def test_a_journal_that_cannot_be_written_is_told_at_once_and_ctrl_c_still_ends_it(
    terminal: Callable[[], Terminal], provider: Provider
) -> None:
    begun = terminal()
    assert provider.asked.wait(PATIENCE)
    (path,) = load_settings().journals_dir.glob("*.jsonl")
    size = path.stat().st_size
    resource.prlimit(begun.process.pid, resource.RLIMIT_FSIZE, (size, size))
    send(path, ControlRequest(time.time(), os.getpid(), "pause"))
    assert begun.process.stderr is not None
    assert any("cannot be written" in line and "Press Ctrl-C twice" in line for line in begun.process.stderr)
    begun.process.send_signal(signal.SIGINT)
    assert any("Press Ctrl-C again" in line for line in begun.process.stderr)
    code, seconds, _ = begun.signal_and_wait(signal.SIGINT)
    assert (code, seconds < WITHIN) == (130, True)
