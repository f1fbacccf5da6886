"""What each model takes, and the part of a request that it is therefore sent."""

from __future__ import annotations

from dataclasses import replace

import pytest
from chat_server import Answer, says, serving_chat
from scripted_server import QWEN, ask_through, claude_says, ollama_says

from koderz_core.config import Settings, load_settings
from koderz_core.models.availability import about
from koderz_core.models.capabilities import Capabilities, honoured
from koderz_core.models.providers import PROVIDERS, capabilities_of
from koderz_core.records import Request, Sampling

REQUEST = Request((), Sampling(0.8, 0.95, 1000), seed=7)


def test_every_provider_has_its_rows_and_every_model_offered_one_of_them(settings: Settings) -> None:
    for name, provider in PROVIDERS.items():
        for model in (*provider.names, "some-other-model"):
            assert capabilities_of(f"{name}/{model}", settings).source


@pytest.mark.parametrize(
    ("model", "sent"),
    [
        ("openai/gpt-4o", Sampling(0.8, 0.95, 1000, 7)),
        ("openai/gpt-6-luna", Sampling(None, None, 1000 + 25_000, 7)),
        ("openai/o3", Sampling(None, None, 1000 + 25_000, 7)),
        ("anthropic/claude-opus-5-5", Sampling(None, None, 1000 + 16_384)),
        ("anthropic/claude-haiku-5-5", Sampling(None, None, 1000)),
        ("anthropic/claude-haiku-4-5", Sampling(0.8, None, 1000)),
        ("ollama/qwen2.5-coder:7b", Sampling(0.8, 0.95, 1000, 7)),
        ("ollama/qwen3-coder:30b", Sampling(0.8, 0.95, 1000, 7)),
        ("ollama/gpt-oss:20b", Sampling(0.8, 0.95, 4096, 7)),  # its thoughts leave half of the context to the prompt
        ("vllm/Qwen/Qwen3-8B", Sampling(0.8, 0.95, 1000 + 4096, 7)),
        ("vllm/thinkingmachines/a-model", Sampling(0.8, 0.95, 1000, 7)),
        ("embedded/qwen2.5-coder-0.5b", Sampling(0.8, 0.95, 1000, 7)),
    ],
)
def test_a_model_is_sent_what_it_takes_and_room_for_its_thoughts(
    model: str, sent: Sampling, settings: Settings
) -> None:
    assert honoured(REQUEST, capabilities_of(model, settings)) == sent


def test_where_one_of_two_may_be_set_temperature_is_and_else_top_p() -> None:
    takes = Capabilities(both=False)
    assert honoured(REQUEST, takes).top_p is None
    assert honoured(Request((), Sampling(top_p=0.9), 1), takes).top_p == 0.9


def test_no_limit_is_raised_that_was_not_asked_for() -> None:
    takes = Capabilities(thinking="always", thinking_tokens=500)
    assert honoured(Request((), Sampling(), 1), takes).max_tokens is None
    assert honoured(Request((), Sampling(effort="low"), 1), takes).max_tokens is None


@pytest.mark.parametrize(
    ("model", "sampling", "limit"),
    [
        ("anthropic/claude-haiku-4-5", Sampling(effort="32000"), 16_384 + 32_000),
        ("anthropic/claude-opus-5-5", Sampling(effort="max"), 16_384 + 2 * 16_384),
        ("anthropic/claude-opus-4-8", Sampling(effort="none"), 16_384),
        ("anthropic/claude-opus-5-5", Sampling(), 16_384),
    ],
)
def test_the_limit_that_a_protocol_requires_has_room_for_the_thoughts_of_an_effort(
    model: str, sampling: Sampling, limit: int, settings: Settings
) -> None:
    assert honoured(Request((), sampling, 1), capabilities_of(model, settings)).max_tokens == limit


def test_the_context_of_a_model_that_koderz_loads_is_that_of_the_settings() -> None:
    settings = load_settings(num_ctx=1234)
    assert capabilities_of("ollama/a:1b", settings).context_tokens == 1234
    assert capabilities_of("embedded/smollm2-135m", settings).context_tokens == 1234
    assert capabilities_of("vllm/a", settings).context_tokens is None
    assert capabilities_of("ollama/a:1b-cloud", settings).context_tokens is None


def test_behind_another_address_the_limit_has_the_name_that_everybody_knows() -> None:
    proxy = load_settings(openai_base_url="https://proxy.example/v1")
    assert capabilities_of("openai/gpt-6-luna", load_settings()).max_tokens_parameter == "max_completion_tokens"
    assert capabilities_of("openai/gpt-6-luna", proxy).max_tokens_parameter == "max_tokens"


def test_azure_knows_the_limit_only_by_its_publishers_own_name() -> None:
    azure = load_settings(openai_base_url="https://mine.openai.azure.com/openai/v1")
    assert capabilities_of("openai/gpt-6-luna", azure).max_tokens_parameter == "max_completion_tokens"
    assert capabilities_of("openai/llama-3.3-70b", azure).max_tokens_parameter == "max_tokens"


ROUTER = "https://router.example/v1"
THINKS = Sampling(None, None, 1000 + 25_000, 7)


@pytest.mark.parametrize(
    ("model", "sent"),
    [
        ("openai/openai/gpt-5", THINKS),
        ("openai/openai/o3", THINKS),
        ("openai/google/gemini-2.5-pro", replace(THINKS, temperature=0.8, top_p=0.95)),
        ("openai/google/gemini-2.5-flash-lite", Sampling(0.8, 0.95, 1000, 7)),
        ("openai/x-ai/grok-4", replace(THINKS, temperature=0.8, top_p=0.95)),
        ("openai/x-ai/grok-4-fast-non-reasoning", Sampling(0.8, 0.95, 1000, 7)),
        ("openai/anthropic/claude-opus-5.5", Sampling(None, None, 1000 + 16_384, 7)),
        ("openai/anthropic/claude-opus-4.5", Sampling(0.8, 0.95, 1000, 7)),
        ("openai/anthropic/claude-sonnet-5.6", Sampling(None, None, 1000 + 16_384, 7)),
        ("openai/anthropic/claude-sonnet-5.5", Sampling(0.8, 0.95, 1000, 7)),
        ("openai/openai/gpt-4o", Sampling(0.8, 0.95, 1000, 7)),
        ("openai/Qwen/Qwen3-8B", Sampling(0.8, 0.95, 1000 + 4096, 7)),
        ("openai/deepseek-reasoner", Sampling(0.8, 0.95, 1000 + 4096, 7)),
        ("openai/allenai/olmo-3-32b-think", Sampling(0.8, 0.95, 1000 + 4096, 7)),
        ("openai/zai-glm-4.7", Sampling(0.8, 0.95, 1000 + 4096, 7)),
        ("openai/nvidia/nemotron-nano-reasoning", Sampling(0.8, 0.95, 1000 + 4096, 7)),
        ("openai/a-model-non-thinking", Sampling(0.8, 0.95, 1000, 7)),
        ("openai/a-model_no_think", Sampling(0.8, 0.95, 1000, 7)),
        ("openai/qwen-32b", Sampling(0.8, 0.95, 1000, 7)),
    ],
)
def test_behind_a_router_a_model_has_the_same_room_for_its_thoughts(model: str, sent: Sampling) -> None:
    assert honoured(REQUEST, capabilities_of(model, load_settings(openai_base_url=ROUTER))) == sent


def test_behind_a_router_a_model_accepts_the_efforts_of_its_own_address() -> None:
    router = load_settings(openai_base_url=ROUTER)
    for model in ("gpt-5", "o3", "gpt-6-luna"):
        efforts = capabilities_of(f"openai/openai/{model}", router).effort
        assert efforts == capabilities_of(f"openai/{model}", load_settings()).effort != ()


@pytest.mark.parametrize(
    ("url", "seed"),
    [
        ("https://api.mistral.ai/v1", None),
        ("https://generativelanguage.googleapis.com/v1beta/openai", None),
        (f"{ROUTER} https://api.mistral.ai/v1", None),
        (ROUTER, 7),
    ],
)
def test_a_server_that_refuses_seeds_is_sent_none_unless_the_user_states_one(
    url: str, seed: int | None, settings: Settings
) -> None:
    away = load_settings(openai_base_url=url)
    assert honoured(REQUEST, capabilities_of("openai/mistral-small-latest", away)).seed == seed
    settings.home.mkdir()
    (settings.home / "models.toml").write_text("[openai.capabilities]\nseed = true\n")
    assert honoured(REQUEST, capabilities_of("openai/mistral-small-latest", away)).seed == 7


@pytest.mark.parametrize(
    ("model", "answer"),
    [("vllm/a", says("hello")), ("anthropic/a", claude_says({"type": "text", "text": "hello"})), (QWEN, ollama_says())],
)
def test_a_model_that_cannot_stream_is_asked_for_its_answer_whole(
    model: str, answer: Answer, settings: Settings
) -> None:
    settings.home.mkdir()
    (settings.home / "models.toml").write_text(f'["{model}".capabilities]\nstreaming = false\n')
    pieces: list[str] = []
    with serving_chat() as server:
        completion = ask_through(server, answer, pieces.append, model, vllm_base_url=server.url)
    assert not server.bodies[0].get("stream")
    assert (completion.text, completion.first_token_seconds, pieces) == ("hello", None, [])


def test_what_is_known_of_a_model_is_shown_with_where_it_is_from(settings: Settings) -> None:
    told = about("gpt-6-luna", settings)
    assert (told.id, told.tier, told.capabilities.temperature) == ("openai/gpt-6-luna", "small_frontier", False)
    assert told.sample_cost.usd == pytest.approx(0.0006)
    assert "OpenAI" in told.capabilities.source
