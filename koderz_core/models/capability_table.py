"""What models take and how much fits into them, by provider and name: the table that `models.toml` may correct."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

Thinking = Literal["never", "optional", "always"]


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What a model takes. ``context_tokens``: prompt and answer together, None if unknown.

    ``both``: temperature and top_p in one request. ``thinking_tokens``: what a limit of the answer is raised by, since
    a thinking model's thoughts count into it. ``default_tokens``: the limit where none is asked for but the protocol
    demands one. ``cache``: whether the provider may answer from, and bill, a cache of prompts.
    """

    context_tokens: int | None = None
    temperature: bool = True
    top_p: bool = True
    both: bool = True
    seed: bool = True
    effort: bool = False
    max_tokens_parameter: str = "max_tokens"
    default_tokens: int | None = None
    thinking: Thinking = "never"
    thinking_tokens: int = 0
    streaming: bool = True
    cache: bool = False
    source: str = ""


Rows = tuple[tuple[str, Capabilities], ...]
"""A pattern of whole names to what such models take; the first that fits is meant."""

MILLION = 1_000_000

# Context windows: genai-prices 0.2.3, November 2026. What is taken: the publishers' migration guides and API
# references, read in November 2026. Newer models than these are taken to be like the newest known.
_CLAUDE = "Anthropic's migration guides, November 2026"
_GPT = "OpenAI's API reference, November 2026"
_OLLAMA = "Ollama's API reference, November 2026"
_LLAMA = "llama.cpp as koderz runs it"
_SERVER = "OpenAI's protocol; what the model itself takes is not known"

# OpenAI's guide to reasoning advises to leave at least so many tokens for thoughts and answer.
_GPT_THOUGHTS = 25_000
_CLAUDE_THOUGHTS = 16_384
_LOCAL_THOUGHTS = 8_192
_SERVED_THOUGHTS = 4_096  # such a server refuses a request that could outgrow its context, which may be small


def _claude(context: int, *, free: bool = False, thinking: Thinking = "optional") -> Capabilities:
    """``free``: takes temperature or top_p, one of them; it thinks only if asked to, unless it always does."""
    thoughts = _CLAUDE_THOUGHTS if thinking == "always" else 0
    return Capabilities(
        context_tokens=context,
        temperature=free,
        top_p=free,
        both=False,
        seed=False,
        effort=not free,
        default_tokens=16_384,
        thinking=thinking,
        thinking_tokens=thoughts,
        cache=True,
        source=_CLAUDE,
    )


def _gpt(context: int | None, *, thinks: bool = False, always: bool = False) -> Capabilities:
    """``thinks``: unless told not to, and refuses temperature and top_p as long as it does."""
    return Capabilities(
        context_tokens=context,
        temperature=not thinks,
        top_p=not thinks,
        effort=thinks,
        max_tokens_parameter="max_completion_tokens",
        thinking=("always" if always else "optional") if thinks else "never",
        thinking_tokens=_GPT_THOUGHTS if thinks else 0,
        cache=True,
        source=_GPT,
    )


# Open weights that think unless told not to; (?!...) are those of the same name that do not.
_THINKERS = (
    r"(?:.*/)?(gpt-oss|qwen3(?!-coder|-?next-80b-a3b-instruct|.*instruct)|qwq|deepseek-(r1|v3\.[1-9]|v4)|magistral"
    r"|phi-?4-(mini-)?reasoning|glm-(4\.[5-9]|5)|nemotron-3|kimi-k[23]|minimax-m\d).*"
)


def _thinker(thoughts: int, source: str, parameter: str = "max_tokens") -> Capabilities:
    return Capabilities(
        max_tokens_parameter=parameter, thinking="optional", thinking_tokens=thoughts, effort=True, source=source
    )


_SERVED: Rows = (
    (_THINKERS, _thinker(_SERVED_THOUGHTS, _SERVER)),
    (".*", Capabilities(source=_SERVER)),
)

CONTEXT_SET = frozenset({"embedded", "ollama"})
"""The providers that are told how long a context may be, by the setting num_ctx."""

TABLE: Mapping[str, Rows] = {
    "embedded": ((".*", Capabilities(source=_LLAMA)),),
    "ollama": (
        (_THINKERS, _thinker(_LOCAL_THOUGHTS, _OLLAMA, "num_predict")),
        (".*", Capabilities(max_tokens_parameter="num_predict", source=_OLLAMA)),
    ),
    "lmstudio": _SERVED,
    "vllm": _SERVED,
    "openai": (
        (r"(ft:)?gpt-5(\.4)?-(mini|nano).*", _gpt(400_000, thinks=True)),
        (r"(ft:)?gpt-5\.5.*", _gpt(MILLION, thinks=True)),
        (r"(ft:)?gpt-(5\.[4-9]|6).*", _gpt(1_050_000, thinks=True)),
        (r"(ft:)?gpt-5.*", _gpt(400_000, thinks=True)),
        (r"(ft:)?gpt-([7-9]|\d\d).*", _gpt(None, thinks=True)),
        (r"(ft:)?o1-(mini|preview).*", _gpt(128_000, thinks=True, always=True)),
        (r"(ft:)?o\d.*", _gpt(200_000, thinks=True, always=True)),
        (r"(ft:)?gpt-4\.1.*", _gpt(MILLION)),
        (r"(ft:)?gpt-4(o|-turbo).*", _gpt(128_000)),
        (r"(ft:)?gpt-3\.5.*", _gpt(16_385)),
        (r"(ft:)?(gpt-4|chatgpt-).*", _gpt(None)),
        *_SERVED,
    ),
    "anthropic": (
        (
            r"claude-3\b.*|claude-(opus|sonnet)-4(-[015])?(-\d{8})?|claude-haiku-4-5(-\d{8})?",
            _claude(200_000, free=True),
        ),
        (r"claude-(opus|sonnet)-4-6(-\d{8})?", _claude(MILLION, free=True)),
        (r"claude-opus-(4-[78]|5)(-\d{8})?|claude-(sonnet-5|sonnet-5-5|haiku-5-5)(-\d{8})?", _claude(MILLION)),
        (r"claude.*", _claude(MILLION, thinking="always")),
        (".*", Capabilities(seed=False, default_tokens=16_384, source="Anthropic's protocol, spoken by another")),
    ),
    "scripted": ((".*", Capabilities(source="a script")),),
}


@lru_cache(maxsize=256)
def known(provider: str, name: str) -> Capabilities:
    """What the table says of a model; every provider has a last row for all its other models."""
    return next(found for pattern, found in TABLE[provider] if re.fullmatch(pattern, name, re.IGNORECASE))
