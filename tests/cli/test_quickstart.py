"""The first minute: with a model that is served here, with one in a terminal, and with none at all."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from importlib.util import find_spec
from typing import Any

import pytest
from loopback import listening
from taking_over import taking_over

from koderz_core.config import load_settings
from koderz_core.datasets import load
from koderz_core.events import AllowanceSet, Entry
from koderz_core.journal import Journal
from koderz_core.records import Allowance
from koderz_core.runner.header import recorded_plan


class Ollama(BaseHTTPRequestHandler):
    """Lists one model, which knows the solutions and says them in Ollama's own way."""

    def do_GET(self) -> None:
        self._send({"models": [{"name": "nomic-embed-text"}, {"name": "some-coder:1b"}]})

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        said = asked["messages"][-1]["content"]
        problems = load("humaneval", load_settings()).problems
        programs = (p.canonical_solution for p in problems if p.public.prompt.rstrip() in said)
        message = {"role": "assistant", "content": f"```python\n{next(programs)}\n```"}
        counts = {"prompt_eval_count": 7, "eval_count": 5}
        self._send({"message": message, "done": True, "done_reason": "stop", **counts})

    def _send(self, body: object) -> None:
        self._send_raw(json.dumps(body).encode(), "application/json")

    def _send_raw(self, raw: bytes, kind: str) -> None:
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(raw)))
        self.end_headers()
        self.wfile.write(raw)


@pytest.fixture
def ollama(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with listening(Ollama) as url:
        monkeypatch.setenv("OLLAMA_HOST", url.removeprefix("http://"))
        yield


@pytest.mark.usefixtures("ollama")
def test_a_model_that_is_served_here_is_used(koderz: Any) -> None:
    said = koderz("quickstart", "--no-ui")
    assert said.code == 0
    assert "Using ollama/some-coder:1b, which is running on this machine." in said.out
    assert "100 % [57, 100]" in said.out
    assert "Next steps:" in said.out
    assert f"All data is stored in {load_settings().home}" in said.out


@pytest.mark.usefixtures("ollama")
def test_a_second_quickstart_retries_what_ended_with_an_error(koderz: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(handler: BaseHTTPRequestHandler) -> None:
        handler.rfile.read(int(handler.headers["Content-Length"]))
        handler.send_error(404)

    answer = Ollama.do_POST
    monkeypatch.setattr(Ollama, "do_POST", refuse)
    assert koderz("quickstart", "--no-ui", "--quiet").code != 0
    monkeypatch.setattr(Ollama, "do_POST", answer)
    again = koderz("quickstart", "--no-ui", "--quiet")
    assert (again.code, "--retry-errors" in again.err) == (0, False)
    assert {row["outcome"] for row in koderz("results", "--experiments", "--json").json} <= {"solved", "unsolved"}


@pytest.mark.usefixtures("ollama")
def test_a_second_quickstart_keeps_the_budget_that_was_set_during_the_first(koderz: Any) -> None:
    assert koderz("quickstart", "--no-ui", "--quiet").code == 0
    (path,) = load_settings().journals_dir.glob("*.jsonl")
    journal = Journal(path)
    journal.append(Entry(time.time(), AllowanceSet(Allowance(5.0, 1), 1, Allowance(None, 1))))
    journal.close()
    again = koderz("quickstart", "--no-ui", "--quiet")
    assert (again.code, "The budget was changed to $5.00" in again.err) == (0, True)
    assert recorded_plan(path).budget.usd == 5.0


@pytest.mark.usefixtures("ollama")
def test_a_model_that_is_served_here_but_not_allowed_is_not_used(
    koderz: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    monkeypatch.setenv("KODERZ_ALLOWED_MODELS", "embedded/qwen2.5-coder-0.5b")
    monkeypatch.setenv("KODERZ_MODELS_DIR", str(tmp_path / "models"))
    monkeypatch.setenv("KODERZ_OFFLINE", "1")
    monkeypatch.setenv("HOME", str(tmp_path))
    said = koderz("quickstart", "--no-ui")
    assert said.code == 3
    assert "Neither Ollama nor LM Studio serves an allowed model on this machine." in said.out


def test_without_any_model_it_says_what_to_do_by_hand(
    koderz: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    for name in ("OLLAMA_HOST", "LMSTUDIO_BASE_URL"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    monkeypatch.setenv("KODERZ_MODELS_DIR", str(tmp_path / "models"))
    monkeypatch.setenv("KODERZ_OFFLINE", "1")
    monkeypatch.setenv("HOME", str(tmp_path))
    said = koderz("quickstart")
    assert said.code == 3
    if find_spec("xllamacpp"):
        assert "To fetch them by hand, download qwen2.5-coder-0.5b-instruct-q4_k_m.gguf" in said.err
        assert "KODERZ_OFFLINE" in said.err
    else:
        assert "KODERZ_LLAMA_SERVER" in said.err


def test_nothing_is_downloaded_for_a_machine_without_a_sandbox(
    koderz: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    monkeypatch.setenv("KODERZ_MODELS_DIR", str(tmp_path / "models"))
    monkeypatch.setenv("KODERZ_OFFLINE", "1")  # in case it tries
    monkeypatch.setenv("KODERZ_SANDBOX", "hardened")
    monkeypatch.setenv("PATH", "")
    said = koderz("quickstart", "--no-ui")
    assert (said.code, "The sandbox tier `hardened` does not work" in said.err) == (3, True)
    assert not (tmp_path / "models").exists()


def test_in_a_terminal_a_line_shows_how_far_it_is() -> None:
    ours, theirs = pty.openpty()
    command = [sys.executable, "-c", taking_over(), "benchmark", "--coder", "scripted/slow", "--problems", "0:2"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=theirs, env={**os.environ, "TERM": "xterm"}
    ) as process:
        os.close(theirs)
        drawn = b"".join(iter(lambda: _read(ours), b""))
    os.close(ours)
    assert process.returncode == 0
    assert b"/2 experiments" in drawn
    assert b"$0.00" in drawn


@pytest.mark.usefixtures("ollama")
def test_in_a_terminal_the_dashboard_opens_afterwards() -> None:
    ours, theirs = pty.openpty()
    command = [sys.executable, "-c", "from koderz_core.cli import main; main()", "quickstart"]
    with subprocess.Popen(command, stdout=theirs, stderr=theirs, env={**os.environ, "BROWSER": "true"}) as process:
        os.close(theirs)
        shown = b""
        while b"koderz is at" not in shown:
            piece = _read(ours)
            assert piece, shown
            shown += piece
        process.terminate()
        while _read(ours):
            pass
    os.close(ours)
    assert b"Opening the dashboard" in shown


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 4096)
    except OSError:  # how Linux says that the other end has closed
        return b""
