"""What the OpenAI-compatible client says when a server fails: a real one on loopback that does."""

import json
import socket
import struct
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler
from typing import Any

import pytest
from chat_server import PROMPT, REQUEST, SECRET, Answer, Server, ask, says, sends, serving_chat, streams, whole

from koderz_core.config import Settings, load_settings
from koderz_core.errors import ModelError, OfflineError
from koderz_core.models.catalogue import resolve
from koderz_core.models.providers import create
from koderz_core.protocols import Model
from koderz_core.settings_fields import SecretStr


@pytest.fixture
def server() -> Iterator[Server]:
    with serving_chat() as known:
        yield known


def made(name: str, **given: Any) -> Model:
    settings = load_settings(**given)
    return create(resolve(name, settings), settings, dict)


def failure(server: Server, answer: Answer, on_text: Callable[[str], None] | None = None, **more: Any) -> ModelError:
    with pytest.raises(ModelError) as caught:
        ask(server, answer, on_text, **more)
    message = str(caught.value)
    assert SECRET not in message
    assert PROMPT not in message
    assert server.url in message
    return caught.value


@pytest.mark.parametrize(
    ("status", "retryable"),
    [*((status, False) for status in (400, 401, 403, 404, 422)), *((s, True) for s in (408, 409, 429, 500, 503, 529))],
)
@pytest.mark.parametrize("streamed", [False, True])
def test_a_status_tells_whether_another_attempt_may_help(
    server: Server, status: int, retryable: bool, streamed: bool
) -> None:
    body = {"error": {"message": f"{PROMPT} {SECRET}", "code": f"{PROMPT}"}}
    error = failure(server, sends(status, body), print if streamed else None)
    assert error.retryable is retryable
    assert str(status) in str(error)
    assert "lmstudio/qwen2.5-coder-32b" in str(error)


def test_a_refused_request_may_contain_a_parameter_that_the_server_does_not_know(server: Server) -> None:
    message = str(failure(server, sends(422, {"detail": "extra_forbidden"}), name="openai/mistral-small-latest"))
    assert "(`koderz models show openai/mistral-small-latest`; models.toml changes them)" in message


def test_the_protocols_own_word_for_an_error_is_shown(server: Server) -> None:
    error = failure(server, sends(400, {"error": {"message": PROMPT, "code": "context_length_exceeded"}}))
    assert "(context_length_exceeded)" in str(error)


def test_waiting_helps_nobody_whose_credit_is_used_up(server: Server) -> None:
    error = failure(server, sends(429, {"error": {"message": PROMPT, "code": "insufficient_quota"}}))
    assert (error.status, error.retryable) == (429, False)


def test_an_unknown_model_is_answered_with_the_command_that_lists_them(server: Server) -> None:
    assert "`lms get qwen/qwen3-8b`" in str(failure(server, sends(404, {}), name="lmstudio/qwen/qwen3-8b"))
    assert "Did you mean gpt-4o-mini" in str(failure(server, sends(404, {}), name="openai/gpt-4o-mimi"))


def test_a_refused_key_names_the_variable_to_set(server: Server) -> None:
    assert "Set OPENAI_API_KEY" in str(failure(server, sends(401, {}), name="openai/gpt-4o"))
    assert "use openai/qwen3" in str(failure(server, sends(403, {}), name="vllm/qwen3"))


def test_a_page_that_is_no_chat_completion_points_at_the_base_url(server: Server) -> None:
    for answer in (sends(200, "<html>", "text/html"), sends(200, {"error": "no"}), sends(200, {"choices": []})):
        error = failure(server, answer, name="vllm/qwen3")
        assert "VLLM_BASE_URL (ends in /v1)" in str(error)
        assert (error.retryable, error.retries) == (True, 2)


def test_a_redirect_is_not_followed(server: Server) -> None:
    def elsewhere(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(307)
        handler.send_header("Location", f"{server.url}/elsewhere")
        handler.send_header("Content-Length", "0")
        handler.end_headers()

    assert "307" in str(failure(server, elsewhere))
    assert len(server.bodies) == 1


@pytest.mark.parametrize(
    "events",
    [
        'data: {"choices": [{"delta": {"content": "hel"}}]}\n\n',
        'data: {"choices": [{"del',
        'data: {"choices": [{"del\n\n',
        'data: {"error": {"message": "out of memory"}}\n\n',
        'data: "what"\n\ndata: [DONE]\n\n',
    ],
)
def test_a_stream_that_breaks_off_may_be_tried_again(server: Server, events: str) -> None:
    assert failure(server, sends(200, events, "text/event-stream"), print).retryable


def test_malformed_json_may_be_tried_again(server: Server) -> None:
    assert failure(server, sends(200, '{"choices": [', "application/json")).retryable


@pytest.mark.parametrize("streamed", [False, True])
def test_a_connection_reset_in_the_middle_may_be_tried_again(server: Server, streamed: bool) -> None:
    def reset(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.send_header("Content-Type", "text/event-stream" if streamed else "application/json")
        handler.send_header("Content-Length", "1000")
        handler.end_headers()
        handler.wfile.write(b'data: {"choices": []}\n\n')
        handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        handler.connection.close()

    assert "ended the connection" in str(error := failure(server, reset, print if streamed else None))
    assert error.retryable


def test_a_server_that_stalls_names_the_setting(server: Server) -> None:
    released = threading.Event()
    try:
        error = failure(server, lambda _: released.wait(10) and None, timeout=0.2)
    finally:
        released.set()
    assert "longer than 0.2 s to answer. Raise KODERZ_TIMEOUT" in str(error)
    assert error.retryable


@pytest.mark.parametrize(
    "reason", ["error", "abort", "Cancelled", "insufficient_system_resource", "network_error", None]
)
@pytest.mark.parametrize("streamed", [False, True])
def test_a_server_that_gave_up_is_not_the_models_failure(server: Server, reason: str | None, streamed: bool) -> None:
    half: dict[str, object] = {"content": "def f("}
    answer = streams(half, reason=reason) if streamed else whole(half, reason)
    error = failure(server, answer, (lambda _: None) if streamed else None)
    assert "ended the connection" in str(error)
    assert error.retryable


@pytest.mark.parametrize(
    ("account", "said", "retryable"),
    [
        ({"message": PROMPT, "code": 429}, "answered 429. Too many requests", True),
        ({"message": PROMPT, "code": 401}, "answered 401. ", False),
        ({"message": PROMPT, "code": "server_error"}, "ended the connection", True),
        ({"message": PROMPT, "code": 1113}, "ended the connection", True),
        (
            {"message": PROMPT, "code": 502},
            "ended the connection",
            True,
        ),  # in the middle: what came before may be billed
    ],
)
@pytest.mark.parametrize("streamed", [False, True])
def test_a_failure_that_a_gateway_tells_of_in_a_200_is_what_it_says(
    server: Server, account: dict[str, object], said: str, retryable: bool, streamed: bool
) -> None:
    event = f"data: {json.dumps({'error': account})}\n\n"
    answer = sends(200, event, "text/event-stream") if streamed else sends(200, {"error": account})
    error = failure(server, answer, print if streamed else None)
    assert said in str(error)
    assert error.retryable is retryable


@pytest.mark.parametrize(
    ("name", "cure"),
    [("lmstudio/a", "`lms server start`"), ("vllm/a", "`vllm serve MODEL`")],
)
def test_where_nothing_answers_the_message_says_how_to_start_it(name: str, cure: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as unused:
        port = unused.getsockname()[1]
    url = {f"{name.partition('/')[0]}_base_url": f"http://me:pw@127.0.0.1:{port}/v1"}
    model = made(name, **url)
    with pytest.raises(ModelError) as caught:
        model.complete(REQUEST)
    model.close()
    assert f"Nothing answers at http://127.0.0.1:{port}/v1 (model {name})" in str(caught.value)
    assert cure in str(caught.value)
    assert (caught.value.retryable, caught.value.arrived) == (True, False)


def test_openai_without_a_key_names_the_variable() -> None:
    with pytest.raises(ModelError, match="OPENAI_API_KEY is not set"):
        made("gpt-4o")


def test_a_key_with_characters_that_no_key_has_is_refused_without_showing_it(settings: Settings) -> None:
    with pytest.raises(ModelError, match="Copy the key again") as caught:
        create(resolve("gpt-4o", settings), settings.changed(openai_api_key=SecretStr("sk-é")), dict)
    assert "sk-é" not in str(caught.value)


def test_offline_forbids_every_address_beyond_this_machine() -> None:
    model = made("gpt-4o", offline=True, openai_api_key=SECRET)
    with pytest.raises(OfflineError, match=r"api\.openai\.com"):
        model.complete(REQUEST)
    model.close()


def test_offline_allows_this_machine(server: Server) -> None:
    assert ask(server, says("hello"), offline=True).text == "hello"
