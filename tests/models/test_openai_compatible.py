"""What the OpenAI-compatible client sends and what it makes of the answers, against a real server on loopback."""

from collections.abc import Iterator
from dataclasses import replace

import pytest
from chat_server import PROMPT, REQUEST, SECRET, USAGE, Server, ask, says, sends, serving_chat, streams, whole

from koderz_core.config import Settings
from koderz_core.errors import ModelError
from koderz_core.models import openai_compatible
from koderz_core.models.answer import Call
from koderz_core.models.catalogue import resolve
from koderz_core.models.openai_compatible import OpenAICompatibleModel
from koderz_core.models.providers import PROVIDERS
from koderz_core.records import Request, Sampling, Usage
from koderz_core.settings_fields import SecretStr

THOUGHT = {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}  # as Mistral's server sends it


@pytest.fixture
def server() -> Iterator[Server]:
    with serving_chat() as known:
        yield known


def test_a_request_goes_out_whole(server: Server) -> None:
    ask(server, says("hello"))
    assert server.bodies == [
        {
            "model": "qwen2.5-coder-32b",
            "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": PROMPT}],
            "seed": 7,
            "temperature": 0.8,
            "top_p": 0.95,
            "max_tokens": 64,
        }
    ]
    assert server.headers[0]["path"] == "/v1/chat/completions"


def test_sampling_that_was_not_given_is_not_sent(server: Server) -> None:
    completion = ask(server, says("hello"), request=Request(REQUEST.messages, Sampling(), 1))
    assert server.bodies[0].keys() == {"model", "messages", "seed"}
    assert completion.honoured == Sampling(seed=1)


@pytest.mark.parametrize("name", ["openai/gpt-5-mini", "openai/gpt-6.1-sol", "openai/o3", "openai/ft:o4-mini:me::1"])
def test_reasoning_models_are_sent_no_temperature_and_honoured_says_so(server: Server, name: str) -> None:
    completion = ask(server, says("hello"), name=name)
    assert not {"temperature", "top_p"} & server.bodies[0].keys()
    assert completion.honoured == Sampling(max_tokens=64 + 25_000, seed=7)  # thoughts count into the limit
    assert server.bodies[0]["max_tokens"] == 64 + 25_000


def test_other_models_honour_the_whole_sampling(server: Server) -> None:
    assert ask(server, says("hello"), name="openai/gpt-4o").honoured == replace(REQUEST.sampling, seed=7)


def test_openais_own_address_has_its_own_name_for_the_limit_of_tokens(settings: Settings) -> None:
    card, openai = resolve("gpt-4o", settings), PROVIDERS["openai"]
    model = OpenAICompatibleModel(card, openai, settings.openai_base_url, SecretStr(SECRET), settings)
    limit = openai.capabilities(card.id, settings).max_tokens_parameter
    arguments = model._arguments(Call(REQUEST.messages, REQUEST.sampling, limit))
    assert arguments["max_completion_tokens"] == 64
    assert "max_tokens" not in arguments
    assert arguments["service_tier"] == "default"
    model.close()


def test_only_openai_itself_is_asked_for_a_service_tier_and_what_it_says_is_kept(server: Server) -> None:
    choice = {"message": {"role": "assistant", "content": "hello"}, "finish_reason": "stop"}
    flex = sends(200, {"choices": [choice], "usage": USAGE, "service_tier": "flex"})
    completion = ask(server, flex, name="openai/gpt-4o", openai_service_tier="flex")
    assert "service_tier" not in server.bodies[0]
    assert completion.usage.service_tier == "flex"


def test_a_local_server_never_sees_a_real_key(server: Server) -> None:
    ask(server, says("hello"), openai_api_key=SECRET)
    assert SECRET not in server.headers[0]["authorization"]


def test_a_key_is_sent_to_the_openai_provider_without_white_space_around_it(server: Server) -> None:
    ask(server, says("hello"), name="openai/gpt-4o")
    assert server.headers[0]["authorization"] == f"Bearer {SECRET}"


def test_a_failed_call_is_not_sent_again(server: Server) -> None:
    with pytest.raises(ModelError):
        ask(server, sends(503, {}))
    assert len(server.bodies) == 1


def test_a_whole_answer_has_text_usage_and_no_time_to_first_token(server: Server) -> None:
    completion = ask(server, says("hello world"))
    assert (completion.text, completion.finish) == ("hello world", "stop")
    assert completion.usage == Usage(11, 5, 4, 2)
    assert completion.first_token_seconds is None
    assert "stream" not in server.bodies[0]


def test_a_streamed_answer_comes_in_pieces_with_usage(server: Server) -> None:
    pieces: list[str] = []
    completion = ask(server, streams({"role": "assistant"}, {"content": "hel"}, {"content": "lo"}), pieces.append)
    assert pieces == ["hel", "lo"]
    assert (completion.text, completion.finish, completion.usage) == ("hello", "stop", Usage(11, 5, 4, 2))
    assert server.bodies[0]["stream_options"] == {"include_usage": True}
    assert completion.first_token_seconds is not None
    assert completion.first_token_seconds <= completion.seconds


def test_a_server_that_refuses_to_be_asked_for_usage_is_not_asked(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(openai_compatible, "MISTRAL", "127.0.0.1")
    assert ask(server, streams({"content": "hello"}), print).usage == Usage(11, 5, 4, 2)
    assert server.bodies[0]["stream"] is True
    assert "stream_options" not in server.bodies[0]


def test_usage_that_was_not_reported_is_unknown(server: Server) -> None:
    assert ask(server, whole({"content": "hello"}, usage=None)).usage == Usage()
    assert ask(server, streams({"content": "hello"}, usage=None), print).usage == Usage()


def test_zero_prompt_tokens_are_unknown_tokens(server: Server) -> None:
    assert ask(server, whole({"content": "hi"}, usage={**USAGE, "prompt_tokens": 0})).usage.input_tokens is None


@pytest.mark.parametrize("senseless", [10**15, True, -1, "5", None])
def test_a_senseless_count_of_tokens_is_none(server: Server, senseless: object) -> None:
    usage = {**USAGE, "completion_tokens": senseless}
    assert ask(server, whole({"content": "hi"}, usage=usage)).usage.output_tokens is None


@pytest.mark.parametrize(
    ("message", "reason", "text", "finish"),
    [
        ({"content": "half an ans"}, "length", "half an ans", "length"),
        ({"content": None}, "length", "", "length"),
        ({"content": "half an ans"}, "model_length", "half an ans", "length"),
        ({"content": "no"}, "content_filter", "no", "refused"),
        ({}, "content_filter: RECITATION", "", "refused"),
        ({"content": "no"}, "sensitive", "no", "refused"),
        ({"content": None, "refusal": "I will not."}, "stop", "I will not.", "refused"),
        ({"content": None}, "stop", "", "empty"),
        ({"content": " \n"}, "stop", " \n", "empty"),
        ({"content": None, "reasoning_content": "hm"}, "stop", "", "empty"),
        ({"content": "yes", "reasoning_content": "hm"}, "stop", "yes", "stop"),
        ({"content": "yes"}, "some_new_reason", "yes", "stop"),
        ({}, "stop", "", "empty"),
        ({"content": "a lone \ud800"}, "stop", "a lone ?", "stop"),
        ({"content": [THOUGHT, {"type": "text", "text": "y"}, {"type": "text", "text": "es"}]}, "stop", "yes", "stop"),
        ({"content": [THOUGHT]}, "stop", "", "empty"),
        ({"content": [None, {"type": "text", "text": 7}]}, "stop", "", "empty"),
    ],
)
@pytest.mark.parametrize("streamed", [False, True])
def test_how_an_answer_ended_is_told(
    server: Server, message: dict[str, object], reason: str, text: str, finish: str, streamed: bool
) -> None:
    answer = streams(message, reason=reason) if streamed else whole(message, reason)
    completion = ask(server, answer, (lambda _: None) if streamed else None)
    assert (completion.text, completion.finish) == (text, finish)


@pytest.mark.parametrize("delta", [{"reasoning": "hm"}, {"content": [THOUGHT]}])
def test_reasoning_starts_the_clock_of_the_first_token_and_is_not_shown(
    server: Server, delta: dict[str, object]
) -> None:
    pieces: list[str] = []
    completion = ask(server, streams(delta, reason="length"), pieces.append)
    assert pieces == []
    assert completion.first_token_seconds is not None


def test_a_listener_may_end_the_call(server: Server) -> None:
    def enough(_: str) -> None:
        raise InterruptedError

    with pytest.raises(InterruptedError):
        ask(server, streams({"content": "hel"}, {"content": "lo"}), enough)


def test_the_organisation_and_project_of_the_environment_are_sent(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_ORG_ID", "org-1")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "proj-1")
    ask(server, says("hello"), name="openai/gpt-4o")
    assert server.headers[0]["openai-organization"] == "org-1"
    assert server.headers[0]["openai-project"] == "proj-1"


@pytest.mark.parametrize("name", ["openai/gpt-4o", "lmstudio/it"])
def test_what_else_the_sdk_finds_in_the_environment_goes_to_nobody(
    server: Server, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    ask(server, says("hello"), name=name)
    stolen = "authorization: Bearer stolen\nAuthorization: Bearer stolen\nX-Foo: bar\nUser-Agent: stolen"
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", stolen)
    monkeypatch.setenv("OPENAI_ADMIN_KEY", "stolen")
    ask(server, says("hello"), name=name)
    before, after = ({**headers, "host": ""} for headers in server.headers)
    assert after == before
    assert "x-stainless-os" not in after


def test_openais_organisation_and_project_are_no_other_servers_business(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_ORG_ID", "org-1")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "proj-1")
    ask(server, says("hello"))
    assert not {"openai-organization", "openai-project"} & server.headers[0].keys()
