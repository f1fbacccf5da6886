"""How a model comes to life: one function per provider, in an explicit dict."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from koderz_core.config import Settings
from koderz_core.errors import ModelError
from koderz_core.models.catalogue import ModelCard, address_of
from koderz_core.models.embedded import EmbeddedModel
from koderz_core.models.openai_compatible import OpenAICompatibleModel
from koderz_core.models.scripted import ACTORS, ScriptedModel, actor
from koderz_core.protocols import Model

Programs = Callable[[], Mapping[str, str]]
"""Gives a right program for each problem's text as prompts show it; only scripted models ask."""


def create(card: ModelCard, settings: Settings, programs: Programs) -> Model:
    """The model of a card, ready to be asked; close it after use. Raises ModelError if it cannot work here."""
    return CREATE[card.provider](card, settings, programs)


def _embedded(card: ModelCard, settings: Settings, _: Programs) -> Model:
    return EmbeddedModel(card.name, settings)


def _openai_compatible(card: ModelCard, settings: Settings, _: Programs) -> Model:
    key = settings.openai_api_key if card.provider == "openai" else None
    return OpenAICompatibleModel(card, address_of(card.provider, settings) or "", key, settings)


def _anthropic(card: ModelCard, settings: Settings, _: Programs) -> Model:  # noqa: ARG001 (all have one shape)
    raise ModelError(
        f"This version has no Anthropic client yet, so {card.id} cannot be asked. Use an openai/, ollama/, lmstudio/, "
        "vllm/ or embedded/ model: `koderz models list` shows what is ready."
    )


def _scripted(card: ModelCard, settings: Settings, programs: Programs) -> Model:  # noqa: ARG001 (all have one shape)
    return ScriptedModel(card.id, actor(card.name, programs()), ACTORS[card.name].seconds_per_piece)


CREATE: Mapping[str, Callable[[ModelCard, Settings, Programs], Model]] = {
    "embedded": _embedded,
    "openai": _openai_compatible,
    "ollama": _openai_compatible,
    "lmstudio": _openai_compatible,
    "vllm": _openai_compatible,
    "anthropic": _anthropic,
    "scripted": _scripted,
}
