"""The reasoning effort of a request: what each provider is sent, what is refused, and the tokens that it reports."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from chat_server import REQUEST, USAGE, Answer, Server, ask, says, serving_chat, whole
from msgspec import UNSET
from scripted_server import CLAUDE_USAGE, ask_through, claude_says, claude_streams, ollama_says

from koderz_core.config import Settings, load_settings
from koderz_core.errors import ModelError
from koderz_core.models.answer_cache import Served
from koderz_core.models.catalogue import resolve
from koderz_core.models.pricing import price
from koderz_core.models.providers import capabilities_of, create
from koderz_core.models.worst_case import WorstCases
from koderz_core.records import Completion, Request

HELLO = {"type": "text", "text": "hello"}


@pytest.fixture
def server() -> Iterator[Server]:
    with serving_chat() as known:
        yield known


def under(effort: str) -> Request:
    return replace(REQUEST, sampling=replace(REQUEST.sampling, effort=effort))


def asked(server: Server, model: str, effort: str) -> Completion:
    provider = model.partition("/")[0]
    if provider == "openai":
        return ask(server, says("hello"), name=model, request=under(effort))
    answers: dict[str, Answer] = {"anthropic": claude_says(HELLO), "ollama": ollama_says(), "vllm": says("hello")}
    return ask_through(server, answers[provider], name=model, request=under(effort))


ADAPTIVE: dict[str, Any] = {"thinking": {"type": "adaptive"}, "output_config": {"effort": "high"}}


@pytest.mark.parametrize(
    ("model", "effort", "sent"),
    [
        ("openai/gpt-6-luna", "max", {"reasoning_effort": "max", "max_tokens": 64 + 50_000}),
        ("openai/gpt-5-mini", "minimal", {"reasoning_effort": "minimal", "max_tokens": 64 + 25_000}),
        ("openai/gpt-5.1", "none", {"reasoning_effort": "none", "max_tokens": 64, "temperature": 0.8, "top_p": 0.95}),
        ("vllm/openai/gpt-oss-20b", "low", {"reasoning_effort": "low", "max_tokens": 64 + 4096, "temperature": 0.8}),
        ("anthropic/claude-opus-5-5", "high", {**ADAPTIVE, "max_tokens": 64 + 16_384}),
        ("anthropic/claude-sonnet-4-6", "high", {**ADAPTIVE, "max_tokens": 64 + 16_384}),
        ("anthropic/claude-opus-4-8", "none", {"thinking": {"type": "disabled"}, "max_tokens": 64}),
        (
            "anthropic/claude-haiku-4-5",
            "2048",
            {"thinking": {"type": "enabled", "budget_tokens": 2048}, "max_tokens": 64 + 2048},
        ),
        ("ollama/gpt-oss:20b", "high", {"think": "high"}),
        ("ollama/qwen3:8b", "none", {"think": False}),
    ],
)
def test_an_effort_is_sent_in_the_words_of_each_provider(
    server: Server, model: str, effort: str, sent: dict[str, Any]
) -> None:
    completion = asked(server, model, effort)
    body = server.bodies[0]
    assert {name: body[name] for name in sent} == sent
    assert completion.honoured.effort == effort
    assert completion.honoured.temperature == (body.get("options") or body).get("temperature")


@pytest.mark.parametrize("model", ["anthropic/claude-haiku-4-5", "anthropic/claude-opus-5-5", "openai/gpt-6-luna"])
def test_a_model_that_thinks_is_sent_no_temperature(server: Server, model: str) -> None:
    effort = "2048" if "haiku" in model else "high"
    asked(server, model, effort)
    assert not {"temperature", "top_p"} & server.bodies[0].keys()


def test_without_an_effort_no_provider_is_sent_a_word_about_it(server: Server) -> None:
    for model in ("openai/gpt-6-luna", "anthropic/claude-opus-5-5", "ollama/gpt-oss:20b"):
        asked(server, model, UNSET)  # type: ignore[arg-type] # as in a request without an effort
    assert not {"reasoning_effort", "thinking", "output_config", "think"} & {*server.bodies[0], *server.bodies[1]}
    assert "think" not in server.bodies[2]


@pytest.mark.parametrize(
    ("model", "effort", "reason"),
    [
        ("openai/gpt-4o", "low", "does not accept a reasoning effort"),
        ("openai/o3", "none", "effort none .* Use low, medium, high"),
        ("openai/gpt-5", "2048", "effort 2048"),
        ("anthropic/claude-opus-5-5", "none", "Use low, medium, high, xhigh, max"),
        ("anthropic/claude-haiku-4-5", "low", "Use none or a number of tokens from 1024 to 32000"),
        ("anthropic/claude-haiku-4-5", "1000", "effort 1000"),
        ("ollama/qwen2.5-coder:7b", "none", "does not accept a reasoning effort"),
        ("ollama/qwen3:8b", "low", "Use none"),
        ("vllm/Qwen/Qwen3-8B", "low", r"list them in models\.toml"),
    ],
)
def test_an_effort_that_a_model_does_not_accept_is_refused_before_anything_is_sent(
    server: Server, model: str, effort: str, reason: str
) -> None:
    with pytest.raises(ModelError, match=reason):
        asked(server, model, effort)
    assert not server.bodies


def test_an_embedded_model_refuses_an_effort(settings: Settings) -> None:
    takes = capabilities_of("embedded/qwen2.5-coder-0.5b", settings)
    assert not any(takes.accepts(effort) for effort in ("none", "low", "2048"))


def test_models_toml_may_state_the_efforts_of_a_model(server: Server, settings: Settings) -> None:
    settings.home.mkdir()
    (settings.home / "models.toml").write_text('["vllm/a".capabilities]\neffort = ["none", "low"]\n')
    assert asked(server, "vllm/a", "low").honoured.effort == "low"
    with pytest.raises(ModelError, match="Use none, low"):
        asked(server, "vllm/a", "high")


def test_the_tokens_of_reasoning_are_read_and_are_unknown_if_not_reported(server: Server) -> None:
    details = {"completion_tokens_details": {"reasoning_tokens": 3}}
    assert ask(server, whole({"content": "hi"}, usage={**USAGE, **details})).usage.reasoning_tokens == 3
    assert ask(server, whole({"content": "hi"}, usage=USAGE)).usage.reasoning_tokens is UNSET
    usage = {**CLAUDE_USAGE, "output_tokens_details": {"thinking_tokens": 2}}
    assert ask_through(server, claude_says(HELLO, usage=usage)).usage.reasoning_tokens == 2
    assert ask_through(server, claude_streams({"text": "hi"}), print).usage.reasoning_tokens is UNSET


def test_reasoning_is_paid_once_whether_a_server_counts_it_into_the_output_or_apart(
    server: Server, settings: Settings
) -> None:
    details = {"prompt_tokens": 10, "completion_tokens_details": {"reasoning_tokens": 40}}
    inside = {**details, "completion_tokens": 50, "total_tokens": 60}
    apart = {**details, "completion_tokens": 10, "total_tokens": 60}
    used = [
        ask(server, whole({"content": "hi"}, usage=usage), name="openai/gpt-6-luna").usage for usage in (inside, apart)
    ]
    assert [(usage.output_tokens, usage.reasoning_tokens) for usage in used] == [(50, 40)] * 2
    card = resolve("gpt-6-luna", settings)
    costs = [price(card, usage, 1.0, settings).usd for usage in (*used, replace(used[0], reasoning_tokens=UNSET))]
    assert costs[0] == costs[1] == costs[2] != 0.0


def test_reasoning_that_only_the_total_contains_is_paid_as_output(server: Server) -> None:
    """As Google's server reports it (https://discuss.ai.google.dev/t/98760)."""
    usage = {"prompt_tokens": 758, "completion_tokens": 102}
    thought, calm, unknown = (
        ask(server, whole({"content": "hi"}, usage=usage | more), name="openai/gemini-2.5-pro").usage
        for more in ({"total_tokens": 1725}, {"total_tokens": 860}, {"prompt_tokens": 0, "total_tokens": 1725})
    )
    assert (thought.input_tokens, thought.output_tokens, thought.reasoning_tokens) == (758, 967, 865)
    assert (calm.output_tokens, calm.reasoning_tokens) == (102, UNSET)
    assert (unknown.output_tokens, unknown.reasoning_tokens) == (102, UNSET)


def test_an_effort_is_a_part_of_the_key_of_a_kept_answer_and_of_the_most_that_a_call_may_cost() -> None:
    served, cases = Served(load_settings()), WorstCases(load_settings())
    requests = [REQUEST, under("none"), under("low"), under("max")]
    assert len({served.key("openai/gpt-6-luna", request, ("a", 1)) for request in requests}) == len(requests)
    most = [cases.of("openai/gpt-6-luna", request) or 0.0 for request in requests]
    assert most[1] < most[0] == most[2] < most[3]


def test_a_scripted_model_thinks_more_under_a_higher_effort(settings: Settings) -> None:
    model = create(resolve("scripted/weak", settings), settings, dict)
    usages = [model.complete(under(effort)).usage for effort in ("none", "low", "300")]
    assert [usage.reasoning_tokens for usage in usages] == [0, 100, 300]
    assert len({(usage.output_tokens or 0) - usage.reasoning_tokens for usage in usages}) == 1  # type: ignore[operator]
