"""How model servers are connected to: in time whatever they drip, and straight where they are on this machine."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from http.server import BaseHTTPRequestHandler
from typing import Any

import httpx
import pytest
from chat_server import REQUEST, SECRET, Answer, Server, says, sends, serving_chat
from faulty_server import serving_faults
from scripted_server import CLAUDE, QWEN, as_events, claude_says, ollama_part, ollama_says

from koderz_core.config import load_settings
from koderz_core.errors import ModelError
from koderz_core.models.availability import listing
from koderz_core.models.catalogue import resolve
from koderz_core.models.connection import connection
from koderz_core.models.provider import ModelList
from koderz_core.models.providers import create
from koderz_core.records import Completion, Usage

GPT = "openai/gpt-4o"
EVENTS, JSON, LINES = "text/event-stream", "application/json", "application/x-ndjson"


@pytest.fixture
def server() -> Iterator[Server]:
    with serving_chat() as known:
        yield known


def ask(url: str, name: str, *, streamed: bool = False, **given: Any) -> Completion:
    provider = name.partition("/")[0]
    settings = load_settings(**{f"{provider}_base_url": url, f"{provider}_api_key": SECRET, **given})
    model = create(resolve(name, settings), settings, dict)
    try:
        return model.complete(REQUEST, (lambda _: None) if streamed else None)
    finally:
        model.close()


def drips(kind: str, drop: bytes) -> Answer:
    """An answer that would be long in coming, and breaks off then."""

    def answer(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.send_header("Content-Type", kind)
        handler.end_headers()
        with suppress(OSError):  # the client has hung up, as it should
            for _ in range(100):
                handler.wfile.write(drop)
                time.sleep(0.02)

    return answer


@pytest.mark.parametrize(
    ("name", "kind", "drop"),
    [
        (CLAUDE, EVENTS, b'event: ping\ndata: {"type": "ping"}\n\n'),
        (CLAUDE, JSON, b" "),
        (GPT, EVENTS, b": keepalive\n\n"),
        (GPT, EVENTS, b'data: {"choices": [{"delta": {"content": "x"}}]}\n\n'),
        (GPT, JSON, b" "),
        (QWEN, LINES, json.dumps(ollama_part("", done=False)).encode() + b"\n"),
        (QWEN, JSON, b" "),
    ],
)
def test_whatever_a_server_drips_a_call_ends_in_time(server: Server, name: str, kind: str, drop: bytes) -> None:
    server.answer = drips(kind, drop)
    with pytest.raises(ModelError, match=r"longer than 0\.3 s to answer. Raise KODERZ_TIMEOUT") as caught:
        ask(server.url, name, streamed=kind != JSON, timeout=0.3)
    assert (caught.value.retryable, caught.value.retries) == (True, 1)


HM = {
    CLAUDE: as_events({"type": "content_block_delta", "delta": {"type": "thinking_delta", "thinking": "hm"}}),
    GPT: 'data: {"choices": [{"delta": {"reasoning_content": "hm"}}]}\n\n',
    QWEN: json.dumps(ollama_part("", done=False) | {"message": {"role": "assistant", "thinking": "hm"}}) + "\n",
}


@pytest.mark.parametrize("name", HM)
def test_a_model_that_thinks_until_its_time_is_over_has_answered_and_is_cut_off(server: Server, name: str) -> None:
    server.answer = drips(LINES if name == QWEN else EVENTS, HM[name].encode())
    completion = ask(server.url, name, streamed=True, timeout=0.3)
    assert (completion.text, completion.finish, completion.usage) == ("", "length", Usage())


def test_a_list_of_models_that_drips_in_is_none(server: Server) -> None:
    server.listing = drips(JSON, b" ")
    found = listing(ModelList(f"{server.url}/models"), load_settings(), 0.3)
    assert "did not answer in time" in found.fault


@pytest.mark.parametrize("name", [CLAUDE, GPT, QWEN])
def test_where_no_connection_comes_about_nobody_is_called_slow(name: str) -> None:
    with ExitStack() as open_sockets:
        full = open_sockets.enter_context(socket.create_server(("127.0.0.1", 0), backlog=0))
        for _ in range(4):  # more than the one or two that wait to be accepted: whoever comes now is not heard
            waiting = open_sockets.enter_context(socket.socket())
            waiting.setblocking(False)
            waiting.connect_ex(full.getsockname())
        with pytest.raises(ModelError, match="Nothing answers at") as caught:
            ask(f"http://127.0.0.1:{full.getsockname()[1]}", name, timeout=0.5)
    assert caught.value.retryable


def test_to_connect_takes_its_own_time_and_never_more_than_the_whole() -> None:
    patient, hasty = (connection(httpx, "http://a", seconds, 10.0, 180.0)["timeout"] for seconds in (300.0, 0.5))
    assert (patient.connect, patient.read) == (10.0, 300.0)
    assert (hasty.connect, hasty.read) == (0.5, 0.5)


@pytest.mark.parametrize(("streams", "silence"), [(True, 2.0), (False, 9.0)])
def test_only_a_streamed_answer_may_not_be_silent_whatever_the_prompt_says(streams: bool, silence: float) -> None:
    asked = {"messages": [{"content": '{"stream": true, "stream":true}'}], "stream": streams}
    with httpx.Client() as client:
        request = client.build_request("POST", "http://a", json=asked)
    for begin in connection(httpx, "http://a", 9.0, 1.0, 2.0)["event_hooks"]["request"]:
        request.extensions["timeout"]["read"] = 9.0
        begin(request)
    assert request.extensions["timeout"]["read"] == silence


@pytest.fixture
def proxy(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    """A proxy that the environment names for every address."""
    with serving_chat() as known:
        known.answer, known.models = sends(200, {}), ("the proxy was asked",)
        for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
            monkeypatch.setenv(name, known.url)
            monkeypatch.setenv(name.lower(), known.url)
        for name in ("NO_PROXY", "no_proxy"):
            monkeypatch.delenv(name, raising=False)
        yield known


@pytest.mark.parametrize(
    ("name", "answer"),
    [(CLAUDE, claude_says({"type": "text", "text": "hi"})), (GPT, says("hi")), (QWEN, ollama_says("hi"))],
)
def test_what_stays_on_this_machine_passes_no_proxy(server: Server, proxy: Server, name: str, answer: Answer) -> None:
    server.answer = answer
    ask(server.url, name)
    assert len(server.bodies) == 1
    assert not proxy.bodies


@pytest.mark.parametrize("name", [CLAUDE, GPT, QWEN])
def test_what_leaves_this_machine_passes_the_proxy(proxy: Server, name: str) -> None:
    with pytest.raises(ModelError):
        ask("http://away.example", name)
    assert len(proxy.bodies) == 1


def test_a_list_of_models_on_this_machine_passes_no_proxy(server: Server, proxy: Server) -> None:
    server.models = ("mine",)
    here = listing(ModelList(f"{server.url}/models", {"Authorization": SECRET}), load_settings(), 5.0)
    away = listing(ModelList("http://away.example/models"), load_settings(), 5.0)
    assert (here.names, away.names) == (("mine",), proxy.models)


@pytest.mark.parametrize("name", [CLAUDE, GPT, QWEN])
@pytest.mark.parametrize("fault", ["stall before the first token", "stall in mid-stream"])
def test_a_streamed_answer_that_falls_silent_is_not_waited_for(name: str, fault: str) -> None:
    with serving_faults() as faulty:
        faulty.fault = lambda: fault
        url = f"{faulty.url}/v1" if name == GPT else faulty.url
        with pytest.raises(ModelError, match=r"sent nothing for 0\.2 s.*KODERZ_FIRST_TOKEN_TIMEOUT") as caught:
            ask(url, name, streamed=True, timeout=10, first_token_timeout=0.2)
    assert (caught.value.retryable, caught.value.retries) == (True, None)
