"""Which model a typed name means: its provider, its id ``provider/name``, its tier, and where it is asked."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from koderz_core.config import Settings, is_loopback
from koderz_core.errors import ModelError, UnknownNameError
from koderz_core.models.scripted import ACTORS
from koderz_core.models.weights import WEIGHTS
from koderz_core.records import Sampling, Tier


@dataclass(frozen=True, slots=True)
class ModelCard:
    """What koderz knows of a model without asking it. ``id`` is ``provider/name``."""

    id: str
    provider: str
    name: str
    tier: Tier


@dataclass(frozen=True, slots=True)
class Provider:
    """Where models of one origin are asked, and what a person does when nothing answers or a model is not there.

    ``address`` gives the base URL, None for models that work in this process or a child of it.
    """

    address: Callable[[Settings], str | None]
    start: str = ""
    fetch: str = ""


PROVIDERS: Mapping[str, Provider] = {
    "embedded": Provider(lambda _: None),
    "openai": Provider(
        lambda settings: settings.openai_base_url,
        start="Check the network and proxy settings",
        fetch="`koderz models list` names some",
    ),
    "ollama": Provider(
        lambda settings: f"{settings.ollama_base_url}/v1",
        start="Start Ollama with `ollama serve`",
        fetch="`ollama list` shows its models, `ollama pull MODEL` fetches one",
    ),
    "lmstudio": Provider(
        lambda settings: settings.lmstudio_base_url,
        start="Start LM Studio's server with `lms server start`",
        fetch="`lms ls` shows its models, `lms get MODEL` fetches one",
    ),
    "vllm": Provider(
        lambda settings: settings.vllm_base_url,
        start="Start vLLM with `vllm serve MODEL`",
        fetch="`koderz models list` shows the one it serves",
    ),
    "anthropic": Provider(lambda settings: settings.anthropic_base_url),
    "scripted": Provider(lambda _: None),
}

# Names worth offering, of November 2026 (publishers' price pages). Others of these providers work as well.
OFFERED: Mapping[str, tuple[str, ...]] = {
    "openai": (
        "gpt-6-astra",
        "gpt-6.1-sol",
        "gpt-6.1-terra",
        "gpt-6-luna",
        "gpt-5-mini",
        "gpt-5-nano",
        "gpt-4.1",
        "gpt-4.1-mini",
        "gpt-4.1-nano",
        "gpt-4o",
        "gpt-4o-mini",
    ),
    "anthropic": (
        "claude-opus-5-5",
        "claude-opus-4-5",
        "claude-sonnet-5-5",
        "claude-sonnet-4-5",
        "claude-haiku-5-5",
        "claude-haiku-4-5",
    ),
}

# Providers that have these models and no others.
CLOSED: Mapping[str, tuple[str, ...]] = {"embedded": tuple(WEIGHTS), "scripted": tuple(ACTORS)}

# Publishers mark their small models by one of these words between dashes.
SMALL_WORDS = frozenset({"mini", "nano", "luna", "haiku", "lite", "small", "instant", "3.5", "oss"})

# OpenAI's reasoning models refuse requests that set temperature or top_p (its API reference, November 2026).
FIXED_SAMPLING = re.compile(r"gpt-[56]|o\d")

_HOW = "Write PROVIDER/NAME for any other model; providers: " + ", ".join(PROVIDERS) + "."


def resolve(name: str, settings: Settings) -> ModelCard:
    """The model that a person means by ``name``; raises UnknownNameError if that cannot be told.

    Understood are ids (``ollama/qwen2.5-coder:32b``, ``lmstudio/qwen/qwen3-8b``), bare names of embedded models,
    ``gpt-...``, ``o3``, ``claude-...``, and names with a colon, which are Ollama's (``gpt-oss:20b``).
    """
    name = name.strip()
    provider, _, rest = name.partition("/")
    if provider in PROVIDERS and rest:
        return _card(provider, rest, settings)
    return _card(_provider_of(name), name, settings)


def address_of(provider: str, settings: Settings) -> str | None:
    """The base URL a provider's models are asked at, None if they run on this machine without a server."""
    return PROVIDERS[provider].address(settings)


def restrict(card: ModelCard, sampling: Sampling) -> Sampling:
    """The part of a sampling that a model takes; the rest would make its provider refuse the request."""
    if card.provider == "openai" and FIXED_SAMPLING.match(card.name):
        return Sampling(max_tokens=sampling.max_tokens)
    return sampling


def redact(url: str) -> str:
    """A base URL fit for a message: no user, password or query. Raises ModelError if it is no address at all."""
    parts = urlsplit(url) if _host(url) else None
    if parts is None or parts.scheme not in ("http", "https"):
        raise ModelError("The base URL of a model server is not an address. Write it as http://HOST:PORT/v1.")
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"


def is_openai(url: str | None) -> bool:
    """Whether a base URL is OpenAI's own, where its keys, prices and parameter names hold."""
    return f".{_host(url)}".endswith(".api.openai.com")


def _host(url: str | None) -> str:
    try:
        return urlsplit(url or "").hostname or ""
    except ValueError:
        return ""


def _provider_of(name: str) -> str:
    if name in CLOSED["embedded"]:
        return "embedded"
    if re.fullmatch(r"[^\s:]+:[^\s:]+", name):
        return "ollama"
    if re.fullmatch(r"(gpt-|chatgpt-|o\d)[^/\s]*", name):
        return "openai"
    if re.fullmatch(r"claude-[^/\s]+", name):
        return "anthropic"
    raise UnknownNameError("model", name, _suggestions(name), _HOW)


def _card(provider: str, name: str, settings: Settings) -> ModelCard:
    id_ = f"{provider}/{name}"
    if provider in CLOSED and name not in CLOSED[provider]:
        raise UnknownNameError("model", id_, [f"{provider}/{one}" for one in CLOSED[provider]])
    return ModelCard(id_, provider, name, _tier(provider, name, settings))


def _tier(provider: str, name: str, settings: Settings) -> Tier:
    url = address_of(provider, settings) or ""
    if provider not in OFFERED or (_host(url) and is_loopback(url)):
        return "local"
    return "small_frontier" if SMALL_WORDS & set(name.lower().split("-")) else "frontier"


def _suggestions(name: str) -> list[str]:
    """Bare names, or ids if the unknown name has a slash too: only alike things are near each other."""
    if "/" in name:
        return [f"{provider}/{one}" for provider, names in {**CLOSED, **OFFERED}.items() for one in names]
    return [one for provider, names in {**CLOSED, **OFFERED}.items() if provider != "scripted" for one in names]
