"""What is said to a model, what it answers, and what that costs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Tier = Literal["local", "small_frontier", "frontier"]
Finish = Literal["stop", "length", "refused", "empty"]


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a conversation with a model."""

    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True, slots=True)
class MessageRef:
    """A message sent to a model, its content by the SHA-256 (hex) of a stored text."""

    role: Literal["system", "user", "assistant"]
    text: str


@dataclass(frozen=True, slots=True)
class Sampling:
    """How a model is asked to sample; None leaves the provider's default."""

    temperature: float | None = None
    top_p: float | None = None
    max_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class Request:
    """One question to a model, complete: the same request with the same seed may be answered from a journal."""

    messages: tuple[Message, ...]
    sampling: Sampling
    seed: int


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one call; ``input_tokens`` includes those read from and written to a cache. None: not reported."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    cache_read_tokens: int | None = None
    cache_write_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class Completion:
    """What a model answered, how it ended, and what it took. ``honoured``: the sampling really sent."""

    text: str
    finish: Finish
    usage: Usage
    seconds: float
    honoured: Sampling
    first_token_seconds: float | None = None


@dataclass(frozen=True, slots=True)
class Cost:
    """The price of one call in US dollars, and where it comes from; ``usd`` None: unknown, never zero."""

    usd: float | None
    source: str
