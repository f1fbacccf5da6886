"""What the Anthropic client sends and what it makes of the answers, against a real server on loopback."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from chat_server import PROMPT, SECRET, Server, sends, serving_chat
from scripted_server import CLAUDE_USAGE, as_events, ask_through, claude_says, claude_streams

from koderz_core.errors import ModelError
from koderz_core.records import Message, Request, Sampling, Usage

USAGE = Usage(input_tokens=11 + 4 + 2, output_tokens=5, cache_read_tokens=4, cache_write_tokens=2)


@pytest.fixture
def server() -> Iterator[Server]:
    with serving_chat() as known:
        yield known


def text(words: str) -> dict[str, str]:
    return {"type": "text", "text": words}


def delta(words: str) -> dict[str, str]:
    return {"type": "text_delta", "text": words}


def test_a_request_goes_out_whole_with_the_system_message_apart(server: Server) -> None:
    ask_through(server, claude_says(text("hello")))
    assert server.bodies == [
        {
            "model": "claude-opus-5-5",
            "messages": [{"role": "user", "content": PROMPT}],
            "system": "Be brief.",
            "max_tokens": 64 + 16_384,
        }
    ]
    assert server.headers[0]["path"] == "/v1/messages"
    assert server.headers[0]["authorization"] == f"Bearer {SECRET}"
    assert "traceparent" not in server.headers[0]


def test_without_a_system_message_none_is_sent_and_a_limit_always_is(server: Server) -> None:
    talk = (Message("user", "a"), Message("assistant", "b"), Message("user", "c"))
    completion = ask_through(server, claude_says(text("hello")), request=Request(talk, Sampling(), 1))
    assert server.bodies[0].keys() == {"model", "messages", "max_tokens"}
    assert [message["role"] for message in server.bodies[0]["messages"]] == ["user", "assistant", "user"]
    assert completion.honoured == Sampling(max_tokens=16_384)


@pytest.mark.parametrize(
    ("name", "honoured"),
    [
        ("claude-opus-5-5", Sampling(max_tokens=64 + 16_384)),  # it always thinks
        ("claude-opus-4-7", Sampling(max_tokens=64)),
        ("claude-haiku-5-5", Sampling(max_tokens=64)),
        ("claude-of-tomorrow-9", Sampling(max_tokens=64 + 16_384)),
        ("claude-haiku-4-5", Sampling(0.8, None, 64)),
        ("claude-opus-4-5-20251101", Sampling(0.8, None, 64)),
        ("claude-sonnet-4-6", Sampling(0.8, None, 64)),
        ("anthropic/smollm2", Sampling(0.8, 0.95, 64)),
    ],
)
def test_a_model_is_sent_only_the_sampling_that_it_takes(server: Server, name: str, honoured: Sampling) -> None:
    completion = ask_through(server, claude_says(text("hello")), name=name)
    assert completion.honoured == honoured
    sent = server.bodies[0]
    assert Sampling(sent.get("temperature"), sent.get("top_p"), sent["max_tokens"]) == honoured


def test_a_whole_answer_has_text_usage_and_no_time_to_first_token(server: Server) -> None:
    thought = {"type": "thinking", "thinking": "hm", "signature": "s"}
    completion = ask_through(server, claude_says(thought, text("hello "), text("world")))
    assert (completion.text, completion.finish, completion.usage) == ("hello world", "stop", USAGE)
    assert completion.first_token_seconds is None
    assert "stream" not in server.bodies[0]


def test_a_high_limit_of_tokens_is_sent_under_any_timeout(server: Server) -> None:
    request = Request((Message("user", PROMPT),), Sampling(max_tokens=100_000), 1)
    ask_through(server, claude_says(text("hi")), request=request, timeout=600.0, connect_timeout=5.0)  # the SDK's
    assert server.bodies[0]["max_tokens"] == 100_000 + 16_384


def test_a_streamed_answer_comes_in_pieces_with_the_same_usage(server: Server) -> None:
    pieces: list[str] = []
    completion = ask_through(server, claude_streams(delta("hel"), delta("lo")), pieces.append)
    assert pieces == ["hel", "lo"]
    assert (completion.text, completion.finish, completion.usage) == ("hello", "stop", USAGE)
    assert completion.first_token_seconds is not None
    assert completion.first_token_seconds <= completion.seconds


def test_thinking_starts_the_clock_of_the_first_token_and_is_not_shown(server: Server) -> None:
    pieces: list[str] = []
    thought = {"type": "thinking_delta", "thinking": "hm"}
    completion = ask_through(server, claude_streams(thought, reason="max_tokens"), pieces.append)
    assert (pieces, completion.text, completion.finish) == ([], "", "length")
    assert completion.first_token_seconds is not None


@pytest.mark.parametrize(
    ("reason", "words", "finish"),
    [
        ("end_turn", "yes", "stop"),
        ("stop_sequence", "yes", "stop"),
        ("some_new_reason", "yes", "stop"),
        ("max_tokens", "half an ans", "length"),
        ("model_context_window_exceeded", "half an ans", "length"),
        ("refusal", "", "refused"),
        ("refusal", "I will", "refused"),
        ("end_turn", "", "empty"),
        ("end_turn", " \n", "empty"),
    ],
)
@pytest.mark.parametrize("streamed", [False, True])
def test_how_an_answer_ended_is_told(server: Server, reason: str, words: str, finish: str, streamed: bool) -> None:
    answer = claude_streams(delta(words), reason=reason) if streamed else claude_says(text(words), reason=reason)
    completion = ask_through(server, answer, (lambda _: None) if streamed else None)
    assert (completion.text, completion.finish) == (words, finish)


@pytest.mark.parametrize("usage", [None, {}, {"input_tokens": -1, "output_tokens": "five"}])
def test_usage_that_was_not_reported_is_unknown(server: Server, usage: object) -> None:
    assert ask_through(server, claude_says(text("hi"), usage=usage)).usage == Usage()


def test_zero_tokens_of_input_are_unknown_tokens(server: Server) -> None:
    nothing = {"input_tokens": 0, "output_tokens": 0}
    assert ask_through(server, claude_says(text("hi"), usage=nothing)).usage.input_tokens is None


def test_the_first_event_of_a_stream_does_not_count_the_output(server: Server) -> None:
    begun = {"type": "message_start", "message": {"type": "message", "content": [], "usage": CLAUDE_USAGE}}
    words = {"type": "content_block_delta", "index": 0, "delta": delta("hello")}
    end = {"type": "message_delta", "delta": {"stop_reason": "end_turn"}}
    stream = sends(200, as_events(begun, words, end), "text/event-stream")
    assert ask_through(server, stream, lambda _: None).usage == replace(USAGE, output_tokens=None)


def test_usage_without_a_cache_is_the_input_alone(server: Server) -> None:
    without = {name: count for name, count in CLAUDE_USAGE.items() if "cache" not in name}
    assert ask_through(server, claude_says(text("hi"), usage=without)).usage == Usage(11, 5)


def test_a_failed_call_is_not_sent_again(server: Server) -> None:
    with pytest.raises(ModelError):
        ask_through(server, sends(529, {}))
    assert len(server.bodies) == 1


def test_a_server_of_ones_own_needs_no_key(server: Server) -> None:
    ask_through(server, claude_says(text("hi")), anthropic_api_key="")
    assert server.headers[0]["authorization"] == "Bearer local-servers-ask-for-none"


def test_what_the_sdk_finds_in_the_environment_goes_to_nobody(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    ask_through(server, claude_says(text("hi")))
    monkeypatch.setenv("ANTHROPIC_CUSTOM_HEADERS", "authorization: Bearer stolen\nx-api-key: stolen\nX-Foo: bar")
    monkeypatch.setenv("ANTHROPIC_AUTH_TOKEN", "stolen")
    ask_through(server, claude_says(text("hi")))
    assert server.headers[0] == server.headers[1]
    assert "x-stainless-os" not in server.headers[0]


@pytest.mark.parametrize("reason", ["error", None])
@pytest.mark.parametrize("streamed", [False, True])
def test_a_server_that_gave_up_is_not_the_models_failure(server: Server, reason: str | None, streamed: bool) -> None:
    answer = claude_streams(delta("hel"), reason=reason) if streamed else claude_says(text("hel"), reason=reason)
    with pytest.raises(ModelError, match="ended the connection") as caught:
        ask_through(server, answer, (lambda _: None) if streamed else None)
    assert caught.value.retryable


def test_a_listener_may_end_the_call(server: Server) -> None:
    def enough(_: str) -> None:
        raise InterruptedError

    with pytest.raises(InterruptedError):
        ask_through(server, claude_streams(delta("hel"), delta("lo")), enough)
