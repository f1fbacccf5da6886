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
    """How a model is asked to sample; None leaves the provider's default.

    ``seed`` stands only in what was honoured, None if the model knows none: each request has its own.
    """

    temperature: float | None = None
    top_p: float | None = None
    max_tokens: int | None = None
    seed: int | None = None


@dataclass(frozen=True, slots=True)
class Request:
    """One question to a model, complete: the same request with the same seed may be answered from a journal."""

    messages: tuple[Message, ...]
    sampling: Sampling
    seed: int


@dataclass(frozen=True, slots=True)
class Usage:
    """What one call used. ``input_tokens`` includes those read from and written to a cache. None: not reported.

    ``service_tier``: in the provider's word how it was processed (``flex``, ``batch``, ...). Of a call to a model on
    this machine ``machine_seconds`` are its share of the machine's time and ``gpu_joules`` of the energy of its GPUs.
    """

    input_tokens: int | None = None
    output_tokens: int | None = None
    cache_read_tokens: int | None = None
    cache_write_tokens: int | None = None
    service_tier: str | None = None
    machine_seconds: float | None = None
    gpu_joules: float | None = None


@dataclass(frozen=True, slots=True)
class Completion:
    """What a model answered, how it ended, and what it took.

    ``honoured``: the sampling really sent, its ``max_tokens`` with the allowance for a model that thinks.
    """

    text: str
    finish: Finish
    usage: Usage
    seconds: float
    honoured: Sampling
    first_token_seconds: float | None = None


@dataclass(frozen=True, slots=True)
class Cost:
    """The price of one call in US dollars, and where it comes from; ``usd`` None: unknown, never zero.

    Of a call to a model on this machine, ``kwh`` is the energy in it, ``energy_usd`` the part of ``usd`` that pays for
    it, and ``rental_usd`` what the same tokens cost from the same weights where they are rented; None: does not apply,
    or is not known.
    """

    usd: float | None
    source: str
    kwh: float | None = None
    energy_usd: float | None = None
    rental_usd: float | None = None
