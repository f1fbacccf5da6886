"""The time limit that a configuration gives each call, against real servers."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from http.server import BaseHTTPRequestHandler

import pytest
from chat_server import REQUEST, Answer, Server, ask, says, serving_chat

from koderz_core.config import load_settings
from koderz_core.errors import LateError, ModelError
from koderz_core.models.catalogue import resolve
from koderz_core.models.machine import Machine, MeteredModel
from koderz_core.models.ollama import OllamaModel
from koderz_core.models.scripted import ScriptedModel
from koderz_core.records import Completion, Usage

SHORT = replace(REQUEST, turn_seconds=0.15)


@pytest.fixture
def server() -> Iterator[Server]:
    with serving_chat() as running:
        yield running


def silent(seconds: float) -> Answer:
    """Sends nothing for a while, and then an answer that may come too late to be read."""

    def answer(handler: BaseHTTPRequestHandler) -> None:
        time.sleep(seconds)
        with suppress(OSError):
            says("late")(handler)

    return answer


def dripping(handler: BaseHTTPRequestHandler) -> None:
    """Streams pieces of text without end."""
    handler.send_response(200)
    handler.send_header("Content-Type", "text/event-stream")
    handler.end_headers()
    with suppress(OSError):
        for _ in range(100):
            handler.wfile.write(b'data: {"choices": [{"index": 0, "delta": {"content": "word "}}]}\n\n')
            time.sleep(0.02)


def assert_out_of_time(completion: Completion) -> None:
    assert (completion.text, completion.finish, completion.usage) == ("", "timeout", Usage())
    assert 0.1 < completion.seconds < 1.5


def test_a_silent_server_ends_the_turn_and_not_the_experiment(server: Server) -> None:
    assert_out_of_time(ask(server, silent(0.6), request=SHORT))


def test_an_answer_that_never_ends_gives_no_text_even_if_it_was_streamed(server: Server) -> None:
    heard: list[str] = []
    assert_out_of_time(ask(server, dripping, heard.append, request=SHORT))
    assert heard  # what a person has watched is not part of the answer


def test_ollama_has_the_same_limit(server: Server) -> None:
    server.answer = silent(0.6)
    settings = load_settings(ollama_base_url=server.url.removesuffix("/v1"))
    model = OllamaModel(resolve("ollama/a:1b", settings), settings)
    try:
        assert_out_of_time(model.complete(SHORT))
    finally:
        model.close()


def test_an_answer_in_time_is_an_answer(server: Server) -> None:
    assert ask(server, says("in time"), request=replace(REQUEST, turn_seconds=20.0)).finish == "stop"


def test_the_timeout_of_the_settings_stays_a_fault_if_it_is_shorter(server: Server) -> None:
    with pytest.raises(LateError):
        ask(server, silent(0.6), request=replace(REQUEST, turn_seconds=20.0), timeout=0.15)


def test_an_unreachable_server_stays_a_fault_of_the_provider() -> None:
    with pytest.raises(ModelError, match="Nothing answers"):
        ask(Server("http://127.0.0.1:9/v1"), says(""), request=SHORT)


def test_the_limit_is_over_for_the_next_call(server: Server) -> None:
    ask(server, silent(0.6), request=SHORT)
    assert ask(server, silent(0.3)).text == "late"


def test_a_turn_that_ran_out_on_this_machine_has_its_share_of_the_machine() -> None:
    model = MeteredModel(ScriptedModel("scripted/it", lambda _: "word " * 400, seconds_per_piece=0.05), Machine())
    completion = model.complete(SHORT)
    assert (completion.text, completion.finish) == ("", "timeout")
    assert completion.usage.machine_seconds == pytest.approx(completion.seconds, abs=0.1)
