"""Which model a typed name means."""

import pytest

from koderz_core.config import Settings, load_settings
from koderz_core.errors import UnknownNameError
from koderz_core.models.anthropic import AnthropicModel
from koderz_core.models.catalogue import resolve
from koderz_core.models.connection import identity, redact
from koderz_core.models.ollama import OllamaModel
from koderz_core.models.openai_compatible import OpenAICompatibleModel
from koderz_core.models.providers import create
from koderz_core.models.scripted import ScriptedModel


@pytest.mark.parametrize(
    ("typed", "id_", "tier"),
    [
        ("qwen2.5-coder-0.5b", "embedded/qwen2.5-coder-0.5b", "local"),
        ("embedded/smollm2-135m", "embedded/smollm2-135m", "local"),
        ("gpt-oss:20b", "ollama/gpt-oss:20b", "local"),
        ("gpt-oss", "ollama/gpt-oss", "local"),
        ("gpt-oss:120b-cloud", "ollama/gpt-oss:120b-cloud", "small_frontier"),
        ("ollama/glm-4.6:Cloud", "ollama/glm-4.6:Cloud", "small_frontier"),
        ("ollama/cloud:8b", "ollama/cloud:8b", "local"),
        ("hf.co/bartowski/Qwen:Q4_K_M", "ollama/hf.co/bartowski/Qwen:Q4_K_M", "local"),
        ("ollama/qwen2.5-coder:32b", "ollama/qwen2.5-coder:32b", "local"),
        ("lmstudio/qwen/qwen3-8b", "lmstudio/qwen/qwen3-8b", "local"),
        ("vllm/Qwen/Qwen3-8B", "vllm/Qwen/Qwen3-8B", "local"),
        ("gpt-4o-mini", "openai/gpt-4o-mini", "small_frontier"),
        ("gpt-6-luna", "openai/gpt-6-luna", "small_frontier"),
        ("gpt-4o", "openai/gpt-4o", "frontier"),
        ("o4-mini", "openai/o4-mini", "small_frontier"),
        ("o3", "openai/o3", "frontier"),
        ("ft:gpt-4o-mini:me::1", "openai/ft:gpt-4o-mini:me::1", "frontier"),
        ("claude-opus-4-5", "anthropic/claude-opus-4-5", "frontier"),
        ("claude-haiku-4-5", "anthropic/claude-haiku-4-5", "small_frontier"),
        (" scripted/strong ", "scripted/strong", "local"),
    ],
)
def test_a_name_as_people_type_it_finds_its_model(typed: str, id_: str, tier: str, settings: Settings) -> None:
    card = resolve(typed, settings)
    assert (card.id, card.tier) == (id_, tier)
    assert card.id == f"{card.provider}/{card.name}"


def test_an_id_resolves_to_itself(settings: Settings) -> None:
    card = resolve("lmstudio/qwen/qwen3-8b", settings)
    assert resolve(card.id, settings) == card


@pytest.mark.parametrize(
    ("typed", "suggestion"),
    [
        ("qwen2.5-coder-0.6b", "qwen2.5-coder-0.5b"),
        ("gtp-4o-mini", "gpt-4o-mini"),
        ("gpt-oss-20b", "gpt-oss:20b"),
        ("openai:gpt-4o", "Did you mean: openai/gpt-4o. Write a slash"),
        ("lmstudio:qwen/qwen3-8b", "Did you mean: lmstudio/qwen/qwen3-8b"),
        ("embedded:qwen2.5-coder-0.5b", "Did you mean: embedded/qwen2.5-coder-0.5b"),
        ("embedded/smollm-135m", "embedded/smollm2-135m"),
        ("scripted/stron", "scripted/strong"),
        ("openai/", "openai/gpt-"),
        ("mistral/large", "Providers: embedded, ollama, lmstudio"),
        ("", "Known"),
    ],
)
def test_an_unknown_name_is_answered_with_what_there_is(typed: str, suggestion: str, settings: Settings) -> None:
    with pytest.raises(UnknownNameError) as caught:
        resolve(typed, settings)
    assert suggestion in str(caught.value)


@pytest.mark.parametrize(
    ("name", "tier"),
    [
        ("gpt-4o", "frontier"),
        ("gpt-4o-mini", "small_frontier"),
        ("openai/openai/gpt-4o", "frontier"),
        ("openai/claude-opus-4-5", "frontier"),
        ("claude-haiku-4-5", "small_frontier"),
        ("openai/gpt-oss-20b", "local"),
        ("openai/qwen2.5-coder-32b-instruct", "local"),
        ("openai/gemma-3-27b-it", "local"),
    ],
)
def test_a_proxy_on_this_machine_makes_no_paid_model_local(name: str, tier: str) -> None:
    proxy = load_settings(openai_base_url="http://localhost:4000/v1", anthropic_base_url="http://localhost:4000")
    assert resolve(name, proxy).tier == tier


def test_an_address_is_shown_without_its_secrets() -> None:
    assert redact("https://me:secret@host.example:8000/v1?token=x") == "https://host.example:8000/v1"


@pytest.mark.parametrize(
    "spelling",
    ["http://localhost:9/v1", "HTTP://LOCALHOST:9/v1/", "http://[::1]:9/v1", "http://me:secret@127.0.0.1:9/v1?token=x"],
)
def test_a_server_is_the_same_in_any_spelling(spelling: str) -> None:
    assert identity(spelling) == "http://127.0.0.1:9/v1"


def test_a_port_that_goes_without_saying_is_no_other_server() -> None:
    assert identity("https://ollama.example:443") == identity("https://ollama.example") == "https://ollama.example"
    assert identity("http://a:443/v1") != identity("http://a/v1")


@pytest.mark.parametrize("other", ["http://127.0.0.1:9/v2", "http://127.0.0.1:8/v1", "https://127.0.0.1:9/v1", "[::1"])
def test_another_port_path_or_scheme_is_another_server(other: str) -> None:
    assert identity(other) != identity("http://127.0.0.1:9/v1")


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("ollama/a:1b", OllamaModel),
        ("lmstudio/a", OpenAICompatibleModel),
        ("vllm/a", OpenAICompatibleModel),
        ("gpt-4o", OpenAICompatibleModel),
        ("claude-opus-4-5", AnthropicModel),
    ],
)
def test_every_server_is_asked_through_its_own_protocol(name: str, kind: type) -> None:
    settings = load_settings(openai_api_key="sk-test", anthropic_api_key="sk-test")
    model = create(resolve(name, settings), settings, dict)
    assert isinstance(model, kind)
    assert model.id == resolve(name, settings).id
    model.close()
    model.close()


def test_a_person_states_the_tier_of_a_provider_or_of_one_model() -> None:
    tiers = {"openai": "small_frontier", "openai/big": "frontier", "vllm": "frontier"}
    settings = load_settings(openai_base_url="http://127.0.0.1:4000/v1", tiers=tiers)
    names = ("openai/any", "openai/big", "vllm/x", "lmstudio/x")
    assert [resolve(name, settings).tier for name in names] == ["small_frontier", "frontier", "frontier", "local"]


def test_another_publishers_address_is_frontier_unless_stated() -> None:
    settings = load_settings(openai_base_url="https://proxy.example/v1")
    assert resolve("openai/deepseek-v4", settings).tier == "frontier"


def test_a_scripted_model_is_created_with_its_programs(settings: Settings) -> None:
    assert isinstance(
        create(resolve("scripted/slow", settings), settings, lambda: {"f": "def f(): ..."}), ScriptedModel
    )


def test_an_embedded_model_is_created_with_its_own_id(settings: Settings) -> None:
    model = create(resolve("smollm2-135m", settings), settings, dict)
    assert model.id == "embedded/smollm2-135m"
    model.close()
