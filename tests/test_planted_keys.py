"""Keys in prompts, answers, streams, errors, headers, addresses and names: nothing that koderz leaves behind has one.

A server on loopback quotes all that it was sent, and keys that koderz cannot know, through the official clients.
"""

from __future__ import annotations

import io
import json
import re
import zipfile
from base64 import b64encode
from collections.abc import Callable, Iterator
from contextlib import suppress
from http.server import BaseHTTPRequestHandler
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from chat_server import Server, says, sends, serving_chat
from scripted_server import as_events, claude_says

from koderz_core import Order, Wanted, Workspace, open_workspace
from koderz_core.config import load_settings
from koderz_core.errors import KoderzError
from koderz_core.workspace import leave

PASSWORD, IN_QUERY, IN_PATH = "planted-pass-5ecret", "planted-query-5ecret", "Planted5ecret0123456789"
SET = {
    "OPENAI_API_KEY": "sk-proj-planted-openai-0123456789",
    "ANTHROPIC_API_KEY": "planted-anthropic-key",
    "SLACK_WEBHOOK_URL": "http://127.0.0.1:9/planted/slack/webhook",
    "KODERZ_NOTICES": "json://127.0.0.1:9/planted-notice",
}
UNKNOWN = (
    "sk-ant-api03-" + "Planted_" * 10,
    "AKIAPLANTED012345678",
    "ghp_" + "Planted0" * 5,
    "eyJhbGciOiJQTEFOVEVEIn0.eyJzdWIiOiJQTEFOVEVEIn0.UExBTlRFRA",
)
KEYS = (*SET.values(), PASSWORD, IN_QUERY, IN_PATH, *UNKNOWN)
ENCODED = tuple(b64encode(f"{before}{key}".encode()).decode()[8:-4] for key in KEYS for before in ("", "u:", "me:"))
PROBLEM = f'def f():\n    """Give 1, whatever {" ".join(KEYS)} means."""\n'
PROGRAM = f"```python\ndef f():\n    return {KEYS!r}\n```"
MODELS = ("openai/it", "vllm/it", "anthropic/it")
EXPORTS = [("experiments", "csv"), ("iterations", "json"), ("calls", "parquet"), ("comparison", "markdown")]
EXPORTS += [("comparison", "html"), ("pairs", "csv"), ("comparison", "bibtex")]


class Echo:
    """Answers that quote the head of the request and all keys, whole or streamed, or an error that does; in turns."""

    def __init__(self) -> None:
        self.turns = count()
        self.after_piece: Callable[[], None] = lambda: None

    def __call__(self, handler: BaseHTTPRequestHandler) -> None:
        turn = next(self.turns)
        said = f"You sent {dict(handler.headers)} to {handler.path}, and {' '.join(KEYS)}\n{PROGRAM}\n"
        if turn % 7 == 3:
            fault = {"message": said, "type": KEYS[0], "code": KEYS[turn % len(KEYS)]}
            return sends((400, 401, 429, 500)[turn // 7 % 4], {"error": fault})(handler)
        body = self.server.bodies[-1]
        if not body.get("stream"):
            claude = claude_says({"type": "text", "text": said})
            return (claude if "messages" in handler.path else says(said, service_tier=KEYS[0]))(handler)
        width = turn % 40 + 1  # test_redaction.py splits keys everywhere
        pieces = [said[at : at + width] for at in range(0, len(said), width)]
        return self._stream(handler, pieces, claude="messages" in handler.path)

    def _stream(self, handler: BaseHTTPRequestHandler, pieces: list[str], *, claude: bool) -> None:
        handler.send_response(200)
        handler.send_header("Content-Type", "text/event-stream")
        handler.send_header("Connection", "close")
        handler.end_headers()
        for event in (claude_events if claude else openai_events)(pieces):
            handler.wfile.write(event.encode())
            self.after_piece()
        handler.close_connection = True

    server: Server


def openai_events(pieces: list[str]) -> Iterator[str]:
    for piece in pieces:
        choice = {"index": 0, "delta": {"content": piece, "reasoning_content": piece}, "finish_reason": None}
        yield f"data: {json.dumps({'choices': [choice]})}\n\n"
    yield f"data: {json.dumps({'choices': [{'index': 0, 'delta': {}, 'finish_reason': 'stop'}]})}\n\n"
    yield f"data: {json.dumps({'choices': [], 'usage': {'completion_tokens': 5}, 'service_tier': KEYS[0]})}\n\n"
    yield "data: [DONE]\n\n"


def claude_events(pieces: list[str]) -> Iterator[str]:
    usage = {"input_tokens": 5, "output_tokens": 5, "service_tier": KEYS[1]}
    yield as_events({"type": "message_start", "message": {"type": "message", "content": [], "usage": usage}})
    yield as_events({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}})
    for piece in pieces:
        delta = {"type": "text_delta", "text": piece}
        yield as_events({"type": "content_block_delta", "index": 0, "delta": delta})
    end = {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 5}}
    yield as_events({"type": "content_block_stop", "index": 0}, end, {"type": "message_stop"})


@pytest.fixture
def echo(monkeypatch: pytest.MonkeyPatch) -> Iterator[Echo]:
    """Keys everywhere, and one server behind all models."""
    usual = {"KODERZ_RETRIES": "0", "KODERZ_MEMORY": "on", "KODERZ_MODELS_DIR": "no weights"}
    for name, value in {**SET, **usual}.items():
        monkeypatch.setenv(name, value)
    with serving_chat() as chat:
        plain = chat.url.removesuffix("/v1")
        monkeypatch.setenv("OPENAI_BASE_URL", f"{plain}/{IN_PATH}/v1")
        monkeypatch.setenv("ANTHROPIC_BASE_URL", plain)
        monkeypatch.setenv("VLLM_BASE_URL", plain.replace("//", f"//user:{PASSWORD}@") + f"/v1?api_key={IN_QUERY}")
        chat.models = ("it", *KEYS)
        answer = Echo()
        answer.server, chat.answer = chat, answer
        yield answer
        sent = repr(chat.headers)
        assert SET["OPENAI_API_KEY"] in sent, "nothing was at stake"
        assert IN_PATH in sent
        assert not any(key in repr(body) for body in chat.bodies for key in KEYS), "a provider was sent a key"


def contents(folder: Path) -> Iterator[tuple[str, str]]:
    """Every file with what is in it, and in the members of a zip."""
    for path in folder.rglob("*"):
        if path.is_file():
            raw = path.read_bytes()
            yield str(path), raw.decode("latin-1")
            if zipfile.is_zipfile(io.BytesIO(raw)):
                with zipfile.ZipFile(path) as packed:
                    yield from ((f"{path}/{name}", packed.read(name).decode("latin-1")) for name in packed.namelist())


def holds_a_key(text: str) -> bool:
    """Whether the pattern below is found, which would take seconds to search the megabytes of a database."""
    return "planted" in text.lower() or any(key in text for key in (*KEYS, *ENCODED))


def keys_in(found: dict[str, str]) -> dict[str, set[str]]:
    """Where a key, or a part of one, still is. A problem that somebody typed is theirs as they typed it."""
    mark = re.compile("|".join(map(re.escape, (*KEYS, *ENCODED))) + "|(?i:.{0,20}planted.{0,20})")
    texts = {place: text for place, text in found.items() if "problems/typed-" not in place and holds_a_key(text)}
    return {place: set(mark.findall(text)) for place, text in texts.items()}


def watched(opened: Workspace, answer: Echo, order: Order, dataset: str) -> tuple[str, set[str]]:
    """Run an order; its benchmark, and all that could be seen live meanwhile."""
    plan, seen = opened.plans.plan(order, dataset), set[str]()

    def look() -> None:
        seen.update(spoken.text for experiment in plan.experiments() if (spoken := opened.runs.live.of(experiment.id)))

    answer.after_piece = look
    with suppress(KoderzError):
        opened.runs.run(plan, concurrency=2)
    answer.after_piece = lambda: None
    return plan.id, seen


def asked(opened: Workspace, name: str) -> str:
    try:
        return repr(opened.models.ask(name, f"Keep {' '.join(KEYS)}"))
    except KoderzError as error:
        return str(error)


def test_no_file_database_export_log_or_screen_holds_a_planted_key(
    echo: Echo, koderz: Callable[..., Any], caplog: pytest.LogCaptureFixture, tmp_path: Path
) -> None:
    with open_workspace() as opened:
        dataset = opened.grading.keep_problem(PROBLEM, f"assert f() == 1, {KEYS!r}")
        coders = [Wanted("supervised", {"coder": name}, {"max_iterations": 3}) for name in MODELS]
        coders += [Wanted("direct", {"coder": "openai/it"})]  # without a spec
        specs = [
            Wanted(
                "supervised",
                {"coder": "openai/it", "spec": "anthropic/it", "reviewer": "vllm/it"},
                {"max_iterations": 4, "checkpoint_interval": 2},
            )
        ]
        benchmark, live = watched(opened, echo, Order([*coders, *specs], "all", repeats=3), dataset)
        found = {f"asked {turn}": asked(opened, name) for turn in range(9) for name in MODELS}
        rows = opened.results.experiments(benchmark)
    leave()
    assert {"error", "unsolved"} <= {row.outcome for row in rows}
    out = tmp_path / "out"
    out.mkdir()
    commands = [("results",), ("analyze", benchmark), ("analyze", benchmark, "--dump", out / "dump")]
    commands += [("analyze", row.id, "--show-code") for row in rows[::3]]
    commands += [("doctor", "--real", "--json", out / "doctor.json"), ("models", "list"), ("compare", benchmark)]
    commands += [("models", "test", name) for name in MODELS] + [("speed-test", *MODELS), ("backup", out / "b.zip")]
    commands += [
        ("export", benchmark, "--table", table, "--format", kind, "--out", out / f"{table}.{kind}")
        for table, kind in EXPORTS
    ]
    commands += [
        ("bundle", benchmark, "--privacy", level, "--out", out / f"{level}.zip")
        for level in ("public_safe", "team_safe", "full_internal")
    ]
    commands += [("show-spec", row.id) for row in rows]
    commands += [("cortex", "status"), ("cortex", "backfill")]
    said = {f"{place} {command}": koderz(*command) for place, command in enumerate(commands)}
    assert {record.code for record in said.values()} <= {0, 3}, {
        command: record.err for command, record in said.items() if record.code
    }
    found |= {command: record.out + record.err for command, record in said.items()}
    leave()
    found |= {
        "live": "\n".join(live),
        "log": caplog.text,
        **dict(contents(load_settings().home)),
        **dict(contents(out)),
    }
    assert keys_in(found) == {}
    for place in ("journals/", "koderz.duckdb", "cortex", "dump/", "team_safe.zip/", "parquet", "live"):
        assert any(place in name for name in found), place
    assert sum("[secret]" in text for text in found.values()) > 20
    assert "[secret]" in found["live"]
