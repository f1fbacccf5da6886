"""What is said when a server of Anthropic's, Ollama's or OpenAI's kind fails: real ones on loopback that do."""

from __future__ import annotations

import json
import shutil
import socket
import ssl
import subprocess
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from chat_server import PROMPT, REQUEST, SECRET, Answer, Server, sends, serving_chat
from scripted_server import CLAUDE, QWEN, as_events, ask_through, claude_streams, ollama_part, ollama_streams

from koderz_core.config import load_settings
from koderz_core.errors import ContextError, ModelError, OfflineError
from koderz_core.models.catalogue import resolve
from koderz_core.models.providers import PROVIDERS, create
from koderz_core.models.server import Server as Asked

BOTH = pytest.mark.parametrize("name", [CLAUDE, QWEN])
ALL = pytest.mark.parametrize("name", [CLAUDE, QWEN, "openai/gpt-4o"])


@pytest.fixture
def server() -> Iterator[Server]:
    with serving_chat() as known:
        yield known


@pytest.fixture
def no_one() -> int:
    """A port on which nothing listens."""
    with socket.create_server(("127.0.0.1", 0)) as unused:
        return int(unused.getsockname()[1])


def silent(error: ModelError) -> str:
    """Its message, which holds neither a key nor what was sent or answered."""
    message = str(error)
    assert SECRET not in message
    assert PROMPT not in message
    return message


def failure(server: Server, answer: Answer, name: str, on_text: Callable[[str], None] | None = None) -> ModelError:
    with pytest.raises(ModelError) as caught:
        ask_through(server, answer, on_text, name=name, timeout=5)
    assert name in silent(caught.value)
    return caught.value


def failure_at(url: str, name: str, **given: Any) -> ModelError:
    provider = name.partition("/")[0]
    settings = load_settings(**{f"{provider}_base_url": url, f"{provider}_api_key": SECRET, "timeout": 5, **given})
    model = create(resolve(name, settings), settings, dict)
    with pytest.raises(ModelError) as caught:
        model.complete(REQUEST)
    model.close()
    silent(caught.value)
    return caught.value


@pytest.mark.parametrize(
    ("status", "retryable", "streamed"),
    [
        *((status, False, False) for status in (307, 400, 401, 402, 403, 404, 413)),
        *((status, True, False) for status in (408, 409, 429, 500, 503, 529)),
        *((307, False, True), (400, False, True), (429, True, True), (503, True, True)),
    ],
)
@BOTH
def test_a_status_tells_whether_another_attempt_may_help(
    server: Server, name: str, status: int, retryable: bool, streamed: bool
) -> None:
    body = {"type": "error", "error": {"type": f"{PROMPT}", "message": f"{PROMPT} {SECRET}"}}
    error = failure(server, sends(status, body), name, print if streamed else None)
    assert error.retryable is retryable
    assert f"answered {status}. " in str(error)


def test_the_protocols_own_word_for_an_error_is_shown(server: Server) -> None:
    body = {"type": "error", "error": {"type": "invalid_request_error", "message": PROMPT}}
    assert "answered 400 (invalid_request_error)" in str(failure(server, sends(400, body), CLAUDE))


@pytest.mark.parametrize("status", [401, 403])
def test_a_refused_key_names_the_variable_to_set(server: Server, status: int) -> None:
    assert "Set ANTHROPIC_API_KEY to a key that may use claude-opus-5-5" in str(
        failure(server, sends(status, {}), CLAUDE)
    )
    assert "Set OLLAMA_API_KEY" in str(failure(server, sends(status, {}), QWEN))


def test_a_model_that_is_not_pulled_is_answered_with_the_command_that_does_it(server: Server) -> None:
    error = failure(server, sends(404, {"error": "model 'qwen2.5-coder:7b' not found"}), QWEN)
    cure = "`ollama list` shows the installed models, and `ollama pull qwen2.5-coder:7b` downloads the model"
    assert f"has no such model. {cure}" in str(error)


OPENAI = "vllm/a"
REFUSALS = [
    (OPENAI, 400, {"error": {"code": "context_length_exceeded", "message": "Too long."}}),
    (OPENAI, 400, {"error": {"message": "Your input exceeds the context window of this model."}}),
    (OPENAI, 400, {"message": "This model's maximum context length is 16384 tokens. However, you requested 122946."}),
    (OPENAI, 400, {"message": "The decoder prompt (length 5000) is longer than the maximum model length of 4096."}),
    (OPENAI, 400, {"error": {"type": "exceed_context_size_error", "message": "Too long."}}),
    (OPENAI, 500, {"error": {"message": "the request exceeds the available context size. try increasing it"}}),
    (OPENAI, 400, {"error": "The model is loaded with context length of only 4096 tokens, which is not enough."}),
    (OPENAI, 400, {"error": {"message": "However, the model's context length is only 8192 tokens, resulting in ..."}}),
    (OPENAI, 400, {"error": "The number of tokens to keep ... is greater than the context length."}),
    (OPENAI, 400, {"message": "The input (9000 tokens) is longer than the model's context length (8192 tokens)."}),
    (OPENAI, 400, [{"error": {"message": "The input token count (9) exceeds the maximum number of tokens allowed"}}]),
    (OPENAI, 400, {"error": "This model's maximum prompt length is 131072 but the request contains 537812 tokens."}),
    (OPENAI, 400, {"error": {"message": "Your request exceeded model token limit: 8192"}}),
    (OPENAI, 400, {"error": {"message": "invalid params, context window exceeds limit (2013)"}}),
    (QWEN, 400, {"error": "prompt too long; exceeded max context length by 12 tokens"}),
    (CLAUDE, 400, {"error": {"type": "invalid_request_error", "message": "prompt is too long: 9 tokens > 8 maximum"}}),
    (CLAUDE, 400, {"error": {"message": "input length and `max_tokens` exceed context limit: 9 + 6 > 8"}}),
    (QWEN, 400, {"error": "the input length exceeds the context length"}),
    (
        QWEN,
        500,
        {"error": '{"error":{"code":400,"message":"request (351 tokens) exceeds the available context size"}}'},
    ),
]


@pytest.mark.parametrize(("name", "status", "body"), REFUSALS)
@pytest.mark.parametrize("streamed", [False, True])
def test_a_prompt_that_the_context_cannot_hold_is_told_from_other_refusals(
    server: Server, name: str, status: int, body: object, streamed: bool
) -> None:
    error = failure(server, sends(status, body), name, print if streamed else None)
    assert (type(error), error.retryable, error.status) == (ContextError, False, status)
    assert "use a strategy with shorter prompts, or check" in str(error)


@pytest.mark.parametrize("name", [OPENAI, CLAUDE, QWEN])
def test_json_that_is_nested_too_deep_is_a_fault_of_the_server(server: Server, name: str) -> None:
    assert failure(server, sends(200, "[" * 100_000), name).retryable


@pytest.mark.parametrize("words", ["Request too large: context length of 9 tokens per minute", "You are too loud"])
def test_too_many_tokens_a_minute_are_no_matter_of_the_context(server: Server, words: str) -> None:
    error = failure(server, sends(429, {"error": {"message": words}}), OPENAI)
    assert (type(error), error.retryable) == (ModelError, True)


@pytest.mark.parametrize(
    ("name", "prefix", "error"),
    [
        (OPENAI, "data: ", {"message": "Model is loaded with context length of only 4096 tokens"}),
        (QWEN, "", "the input length exceeds the context length"),
        (CLAUDE, "event: error\ndata: ", {"message": "prompt is too long: 9 tokens > 8 maximum"}),
    ],
)
def test_a_refusal_in_the_middle_of_a_stream_is_told_apart_as_well(
    server: Server, name: str, prefix: str, error: object
) -> None:
    event = f"{prefix}{json.dumps({'error': error})}\n\n"
    assert type(failure(server, sends(200, event, "text/event-stream"), name, print)) is ContextError


def test_a_prompt_that_ollamas_context_cannot_hold_names_the_option_if_it_helps(server: Server) -> None:
    error = failure(server, sends(400, {"error": "the input length exceeds the context length"}), QWEN)
    assert "The prompt does not fit into the context" in str(error)
    assert "check --num-ctx (the size of the context)" in str(error)
    error = failure(server, sends(400, {"error": "prompt too long"}), "ollama/gpt-oss:120b-cloud")
    assert "check the context length of the model." in str(error)


def test_an_unknown_claude_is_answered_with_those_like_it() -> None:
    with serving_chat() as known:
        error = failure(known, sends(404, {}), "anthropic/claude-opus-9")
    assert "The server has no such model." in str(error)
    assert "check ANTHROPIC_BASE_URL (without /v1)" in str(error)


def test_a_missing_key_names_the_variable() -> None:
    settings = load_settings()
    with pytest.raises(ModelError, match=r"ANTHROPIC_API_KEY is not set.*koderz models list"):
        create(resolve("claude-opus-4-5", settings), settings, dict)


@pytest.mark.parametrize("page", [sends(200, "<html>", "text/html"), sends(200, {"error": "no"}), sends(200, {})])
@BOTH
def test_a_page_that_is_no_answer_points_at_the_base_url(server: Server, name: str, page: Answer) -> None:
    assert "_BASE_URL (without /v1)" in str(error := failure(server, page, name))
    assert (error.retryable, error.retries) == (True, 2)


OVERLOADED = {"type": "error", "error": {"type": "overloaded_error", "message": PROMPT}}
HALF = {"type": "text_delta", "text": "hel"}


@pytest.mark.parametrize(
    ("name", "answer"),
    [
        (CLAUDE, claude_streams(HALF, reason=None)),
        (CLAUDE, sends(200, as_events({"type": "message_start", "message": {}}, OVERLOADED), "text/event-stream")),
        (CLAUDE, sends(200, "event: message_start\ndata: {nonsense\n\n", "text/event-stream")),
        (CLAUDE, sends(200, "", "text/event-stream")),
        (QWEN, ollama_streams("hel", done=False)),
        (QWEN, ollama_streams("hel", done_reason="error")),
        (QWEN, sends(200, '{"error": "llama runner process has terminated"}\n', "application/x-ndjson")),
        (QWEN, sends(200, "", "application/x-ndjson")),
    ],
)
def test_a_stream_that_breaks_off_may_be_tried_again(server: Server, name: str, answer: Answer) -> None:
    error = failure(server, answer, name, lambda _: None)
    assert "ended the connection before its answer was complete" in str(error)
    assert error.retryable


@pytest.mark.parametrize("message", ["a text", {"role": "assistant", "content": 7}, None])
@pytest.mark.parametrize("streamed", [False, True])
def test_what_ollama_would_never_send_is_an_error_and_no_crash(server: Server, message: object, streamed: bool) -> None:
    answer = sends(200, {**ollama_part("", done=True), "message": message})
    assert failure(server, answer, QWEN, print if streamed else None)


@ALL
def test_a_server_that_stalls_names_the_setting(name: str) -> None:
    released = threading.Event()
    with serving_chat() as stalling:
        stalling.answer = lambda _: released.wait(10) and None
        try:
            error = failure_at(stalling.url, name, timeout=0.2)
        finally:
            released.set()
    assert "longer than 0.2 s to answer. Raise KODERZ_TIMEOUT" in str(error)
    assert error.retryable


@pytest.mark.parametrize(("name", "cure"), [(CLAUDE, "Check the network"), (QWEN, "Start Ollama with `ollama serve`")])
def test_where_nothing_answers_the_message_says_what_to_do(name: str, cure: str, no_one: int) -> None:
    error = failure_at(f"http://127.0.0.1:{no_one}", name)
    assert f"Nothing answers at http://127.0.0.1:{no_one} (model {name}). {cure}" in str(error)
    assert error.retryable


@ALL
def test_an_unknown_host_is_called_that(name: str) -> None:
    error = failure_at("https://nowhere.invalid", name)
    assert "cannot be reached: its host name cannot be resolved (DNS). Check the network, or correct" in str(error)
    assert error.retryable


@ALL
def test_a_proxy_that_refuses_is_called_that(name: str, server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTPS_PROXY", server.url.removesuffix("/v1"))
    error = failure_at("https://nowhere.invalid", name)
    assert "cannot be reached: the proxy refused the connection. Check HTTPS_PROXY" in str(error)


@ALL
def test_a_server_without_tls_is_called_that(name: str, server: Server) -> None:
    error = failure_at(server.url.replace("http:", "https:"), name)
    assert "cannot be reached: the server does not use TLS. Try http:// instead of https://" in str(error)
    assert not error.retryable


@pytest.fixture
def self_signed(tmp_path: Path) -> Iterator[str]:
    """The address of a server whose certificate nobody vouches for."""
    if shutil.which("openssl") is None:
        pytest.skip("openssl, which makes the certificate, is not installed")
    made = ["-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost"]
    files = ["-keyout", str(tmp_path / "key.pem"), "-out", str(tmp_path / "certificate.pem")]
    subprocess.run(["openssl", "req", *made, *files], check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tmp_path / "certificate.pem", tmp_path / "key.pem")
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def shake_hands() -> None:
            connection, _ = listening.accept()
            with connection, pytest.raises(ssl.SSLError):
                context.wrap_socket(connection, server_side=True)

        thread = threading.Thread(target=shake_hands)
        thread.start()
        yield f"https://127.0.0.1:{listening.getsockname()[1]}"
        thread.join()


@ALL
def test_a_certificate_that_is_not_trusted_is_called_that(name: str, self_signed: str) -> None:
    error = failure_at(self_signed, name)
    assert "cannot be reached: its certificate is not trusted (TLS)" in str(error)
    assert "SSL_CERT_FILE" in str(error)
    assert not error.retryable


@pytest.mark.parametrize(("cause", "retryable"), [(ssl.SSLCertVerificationError(), False), (socket.gaierror(), True)])
def test_beyond_this_machine_a_name_may_come_back_and_trust_does_not(cause: OSError, retryable: bool) -> None:
    error = httpx.ConnectError("no")
    error.__cause__ = cause
    asked = Asked(resolve(CLAUDE, load_settings()), PROVIDERS["anthropic"], "https://away.example", load_settings())
    assert asked.unreachable(error).retryable is retryable


@BOTH
def test_offline_forbids_every_address_beyond_this_machine(name: str) -> None:
    provider = name.partition("/")[0]
    settings = load_settings(offline=True, anthropic_api_key=SECRET, **{f"{provider}_base_url": "https://away.example"})
    model = create(resolve(name, settings), settings, dict)
    with pytest.raises(OfflineError, match=r"away\.example"):
        model.complete(REQUEST)
    model.close()
