"""All providers: each is one record in the file of its kind, and one line here."""

from __future__ import annotations

from collections.abc import Mapping

from koderz_core.config import Settings
from koderz_core.models import anthropic, embedded, local_servers, ollama, openai, scripted
from koderz_core.models.provider import ModelCard, Programs, Provider
from koderz_core.protocols import Model

PROVIDERS: Mapping[str, Provider] = {
    "embedded": embedded.PROVIDER,
    "ollama": ollama.PROVIDER,
    "lmstudio": local_servers.LMSTUDIO,
    "vllm": local_servers.VLLM,
    "openai": openai.PROVIDER,
    "anthropic": anthropic.PROVIDER,
    "scripted": scripted.PROVIDER,
}
"""In the order in which they are shown, and in which a name typed without its provider is looked for."""


def create(card: ModelCard, settings: Settings, programs: Programs) -> Model:
    """The model of a card, ready to be asked; close it after use. Raises ModelError if it cannot work here."""
    return PROVIDERS[card.provider].create(card, settings, programs)
