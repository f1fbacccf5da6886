"""All providers of models: each is one record in a file of its own, and one line here."""

from __future__ import annotations

from collections.abc import Mapping

from koderz_core.config import Settings
from koderz_core.models import anthropic, embedded, ollama, openai, openai_compatible, scripted
from koderz_core.models.capabilities import Capabilities
from koderz_core.models.models_file import check_providers
from koderz_core.models.provider import ModelCard, Programs, Provider
from koderz_core.protocols import Model

PROVIDERS: Mapping[str, Provider] = {
    "embedded": embedded.PROVIDER,
    "ollama": ollama.PROVIDER,
    "lmstudio": openai_compatible.LMSTUDIO,
    "vllm": openai_compatible.VLLM,
    "openai": openai.PROVIDER,
    "anthropic": anthropic.PROVIDER,
    "scripted": scripted.PROVIDER,
}
"""In the order of the list of models, in which a name typed without its provider is looked up too."""


def create(card: ModelCard, settings: Settings, programs: Programs) -> Model:
    """The model of a card, ready to answer; close it after use. Raises ModelError if it cannot work."""
    return PROVIDERS[card.provider].create(card, settings, programs)


def capabilities_of(model: str, settings: Settings) -> Capabilities:
    """What a model (by id) accepts. Raises ConfigError if `models.toml` is wrong."""
    check_providers(settings, PROVIDERS)
    return PROVIDERS[model.partition("/")[0]].capabilities(model, settings)


def sets_context(model: str) -> bool:
    """Whether the setting num_ctx sets the context of a model (by id); False for a provider that koderz lacks."""
    provider = PROVIDERS.get(model.partition("/")[0])
    return provider is not None and provider.context_set
