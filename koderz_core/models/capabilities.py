"""What one model takes here and now, and the part of a request's sampling that it is really sent."""

from __future__ import annotations

from dataclasses import replace

from koderz_core.config import Settings
from koderz_core.models.capability_table import CONTEXT_SET, Capabilities, known
from koderz_core.models.connection import is_at
from koderz_core.models.models_file import stated
from koderz_core.records import Request, Sampling

OPENAI_HOME = "api.openai.com"

__all__ = ["OPENAI_HOME", "Capabilities", "capabilities_of", "honoured"]


def capabilities_of(model: str, settings: Settings) -> Capabilities:
    """What a model (by id) takes: the table, the settings of its server, and above all `models.toml`.

    Raises ConfigError if that file is wrong.
    """
    provider, _, name = model.partition("/")
    found = _here(known(provider, name), provider, settings)
    said = stated(model, settings)
    told = said.capabilities.model_dump(exclude_none=True)
    if not told and said.context_tokens is None:
        return found
    return replace(
        found,
        **told,
        context_tokens=said.context_tokens or found.context_tokens,
        source=f"{found.source}; models.toml",
    )


def honoured(request: Request, takes: Capabilities) -> Sampling:
    """The part of a request's sampling that a model takes; the rest would make its provider refuse the request.

    The limit of an answer is raised by what the model may think, as far as half of its context allows: the limit is
    ours, and a model that thinks must not seem cut off by it.
    """
    asked = request.sampling
    temperature = asked.temperature if takes.temperature else None
    top_p = asked.top_p if takes.top_p and (takes.both or temperature is None) else None
    seed = request.seed if takes.seed else None
    return Sampling(temperature, top_p, _limit(asked.max_tokens, takes), seed)


def _limit(asked: int | None, takes: Capabilities) -> int | None:
    if asked is None:
        return takes.default_tokens
    room = takes.thinking_tokens
    if takes.context_tokens is not None:
        room = min(room, max(0, takes.context_tokens // 2 - asked))
    return asked + room


def _here(found: Capabilities, provider: str, settings: Settings) -> Capabilities:
    """Settings make the context of a model that koderz loads; only OpenAI itself knows its newer parameter."""
    if provider in CONTEXT_SET:
        return replace(found, context_tokens=settings.num_ctx)
    if provider == "openai" and not is_at(settings.openai_base_url, OPENAI_HOME):
        return replace(found, max_tokens_parameter="max_tokens")
    return found
