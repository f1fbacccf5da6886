"""Resolution of a typed model name: its provider, its id ``provider/name``, its tier, and whether it is allowed.

If the settings list allowed models, no others are. A model whose name contains a key is never allowed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from koderz_core.addresses import is_loopback, separated
from koderz_core.config import Settings
from koderz_core.errors import PlanError, UnknownNameError
from koderz_core.models.connection import identity
from koderz_core.models.models_file import check_providers, stated
from koderz_core.models.pricing import publisher_of
from koderz_core.models.provider import ModelCard
from koderz_core.models.providers import PROVIDERS
from koderz_core.records import Tier

__all__ = ["ModelCard", "address_of", "identity", "one_spelling", "resolve"]

# Publishers mark their small models by one of these words between dashes.
SMALL_WORDS = frozenset({"mini", "nano", "luna", "haiku", "lite", "small", "instant", "3.5", "oss"})

_HOW = "For any other model, write PROVIDER/NAME. Providers: " + ", ".join(PROVIDERS) + "."


def resolve(name: str, settings: Settings) -> ModelCard:
    """The model that ``name`` means. Raises UnknownNameError if it means none, ConfigError.

    Valid are ids (``ollama/qwen2.5-coder:32b``, ``lmstudio/qwen/qwen3-8b``), bare names of embedded models,
    ``gpt-...``, ``o3``, ``claude-...``, and names with a colon, which are Ollama's (``gpt-oss:20b``).
    """
    name = name.strip()
    provider, _, rest = name.partition("/")
    if provider in PROVIDERS and rest:
        return _card(provider, rest, settings)
    provider, _, rest = name.partition(":")
    if provider in PROVIDERS and rest:
        raise UnknownNameError("model", name, [f"{provider}/{rest}"], "Write a slash after the provider.")
    for provider, known in PROVIDERS.items():
        if re.fullmatch(known.typed, name):
            return _card(provider, name, settings)
    raise UnknownNameError("model", name, _suggestions(name), _HOW)


def address_of(provider: str, settings: Settings) -> str | None:
    """The ``one_spelling`` of a provider's addresses, None if its models run on this machine without a server."""
    urls = PROVIDERS[provider].urls(settings)
    return one_spelling(" ".join(urls)) if urls else None


def one_spelling(addresses: str) -> str:
    """The ``identity`` of an address; of several, all of them in a fixed order and separated by commas."""
    return ",".join(sorted({identity(url) for url in separated(addresses)}))


def _card(provider: str, name: str, settings: Settings) -> ModelCard:
    id_, known = f"{provider}/{name}", PROVIDERS[provider]
    if known.closed and name not in known.names:
        raise UnknownNameError("model", id_, [f"{provider}/{name}" for name in known.names])
    return ModelCard(id_, provider, name, _tier(provider, name, settings))


def _tier(provider: str, name: str, settings: Settings) -> Tier:
    """The tier that the user has stated, for the model or else its provider; otherwise the one its name suggests.

    A local address does not make a model local, because a proxy on this machine may pass paid models on. A model whose
    name no publisher sells runs on this machine.
    """
    check_providers(settings, PROVIDERS)
    id_ = f"{provider}/{name}"
    tier = settings.tiers.get(id_) or stated(id_, settings).tier or settings.tiers.get(provider)
    if tier:
        return tier
    if PROVIDERS[provider].away(name):
        return "small_frontier"
    here = all(map(is_loopback, PROVIDERS[provider].urls(settings)))
    if not PROVIDERS[provider].home or (here and publisher_of(name) is None):
        return "local"
    return _tier_of_paid(name)


def tier_of_name(name: str) -> Tier:
    """The tier that a name of unknown origin suggests: local, unless a publisher sells a model of this name."""
    return _tier_of_paid(name) if publisher_of(name) else "local"


def _tier_of_paid(name: str) -> Tier:
    return "small_frontier" if SMALL_WORDS & set(name.lower().split("-")) else "frontier"


def _suggestions(name: str) -> list[str]:
    """Bare names, or ids if the unknown name has a slash too, so that similar names can be found."""
    if "/" in name:
        return [f"{provider}/{name}" for provider, known in PROVIDERS.items() for name in known.names]
    return [name for provider, known in PROVIDERS.items() if provider != "scripted" for name in known.names]


def allowed(settings: Settings) -> tuple[str, ...]:
    """The ids of the allowed models; empty: all models are allowed. Raises UnknownNameError."""
    return tuple(dict.fromkeys(resolve(name, settings).id for name in settings.allowed_models.split()))


def check_allowed(models: Iterable[str], settings: Settings) -> None:
    """Raise PlanError if one of these models (ids) is not allowed, or if its name contains a key."""
    listed, redaction = allowed(settings), settings.redaction()
    for model in models:
        if (shown := redaction.text(model)) != model:
            raise PlanError(
                f"The model {shown} is not allowed: its name contains a secret key, and koderz stores the names of "
                "models. Use another name."
            )
        if listed and model not in listed:
            raise PlanError(
                f"The model {model} is not allowed: allowed_models lists only {', '.join(listed)}. Choose one of these "
                "models, or change the setting allowed_models (KODERZ_ALLOWED_MODELS)."
            )
