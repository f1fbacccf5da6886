"""Which model a typed name means."""

import pytest

from koderz_core.config import Settings, load_settings
from koderz_core.errors import ModelError, UnknownNameError
from koderz_core.models.catalogue import PROVIDERS, redact, resolve
from koderz_core.models.openai_compatible import OpenAICompatibleModel
from koderz_core.models.providers import CREATE, create
from koderz_core.models.scripted import ScriptedModel


@pytest.mark.parametrize(
    ("typed", "id_", "tier"),
    [
        ("qwen2.5-coder-0.5b", "embedded/qwen2.5-coder-0.5b", "local"),
        ("embedded/smollm2-135m", "embedded/smollm2-135m", "local"),
        ("gpt-oss:20b", "ollama/gpt-oss:20b", "local"),
        ("hf.co/bartowski/Qwen:Q4_K_M", "ollama/hf.co/bartowski/Qwen:Q4_K_M", "local"),
        ("ollama/qwen2.5-coder:32b", "ollama/qwen2.5-coder:32b", "local"),
        ("lmstudio/qwen/qwen3-8b", "lmstudio/qwen/qwen3-8b", "local"),
        ("vllm/Qwen/Qwen3-8B", "vllm/Qwen/Qwen3-8B", "local"),
        ("gpt-4o-mini", "openai/gpt-4o-mini", "small_frontier"),
        ("gpt-6-luna", "openai/gpt-6-luna", "small_frontier"),
        ("gpt-4o", "openai/gpt-4o", "frontier"),
        ("o4-mini", "openai/o4-mini", "small_frontier"),
        ("o3", "openai/o3", "frontier"),
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
        ("embedded/smollm-135m", "embedded/smollm2-135m"),
        ("scripted/stron", "scripted/strong"),
        ("openai/", "openai/gpt-"),
        ("mistral/large", "providers: embedded, openai, ollama"),
        ("", "Known"),
    ],
)
def test_an_unknown_name_is_answered_with_what_there_is(typed: str, suggestion: str, settings: Settings) -> None:
    with pytest.raises(UnknownNameError) as caught:
        resolve(typed, settings)
    assert suggestion in str(caught.value)


def test_a_paid_name_behind_a_loopback_address_is_local() -> None:
    settings = load_settings(openai_base_url="http://localhost:4000/v1")
    assert resolve("gpt-4o", settings).tier == "local"
    assert resolve("claude-opus-4-5", settings).tier == "frontier"


def test_a_broken_base_url_does_not_stop_a_name_from_being_understood() -> None:
    assert resolve("gpt-4o", load_settings(openai_base_url="http://[::1")).tier == "frontier"


def test_an_address_is_shown_without_its_secrets() -> None:
    assert redact("https://me:secret@host.example:8000/v1?token=x") == "https://host.example:8000/v1"
    with pytest.raises(ModelError, match="not an address"):
        redact("localhost:8000/v1")


def test_every_provider_can_be_created() -> None:
    assert PROVIDERS.keys() == CREATE.keys()


@pytest.mark.parametrize("name", ["ollama/a:1b", "lmstudio/a", "vllm/a", "gpt-4o"])
def test_servers_are_asked_through_the_openai_protocol(name: str) -> None:
    settings = load_settings(openai_api_key="sk-test")
    model = create(resolve(name, settings), settings, dict)
    assert isinstance(model, OpenAICompatibleModel)
    assert model.id == resolve(name, settings).id
    model.close()
    model.close()


def test_a_scripted_model_is_created_with_its_programs(settings: Settings) -> None:
    assert isinstance(
        create(resolve("scripted/slow", settings), settings, lambda: {"f": "def f(): ..."}), ScriptedModel
    )


def test_an_embedded_model_is_created_with_its_own_id(settings: Settings) -> None:
    model = create(resolve("smollm2-135m", settings), settings, dict)
    assert model.id == "embedded/smollm2-135m"
    model.close()


def test_a_claude_model_says_that_this_version_has_no_client_for_it(settings: Settings) -> None:
    with pytest.raises(ModelError, match=r"no Anthropic client yet.*Use an openai/"):
        create(resolve("claude-opus-4-5", settings), settings, dict)
