"""What is sent to a model, what it answers, and what that costs, also as energy and wear of this machine."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Tier = Literal["local", "small_frontier", "frontier"]
Finish = Literal["stop", "length", "refused", "empty"]
JOULES_PER_KWH = 3.6e6
SECONDS_PER_HOUR = 3600.0


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


@dataclass(frozen=True, slots=True)
class MachineRates:
    """What an hour and a kilowatt-hour cost and how much power is drawn, under the names of the settings."""

    local_watts: float
    usd_per_kwh: float
    local_usd_per_hour: float

    def cost(self, seconds: float, gpu_joules: float | None = None, rental_usd: float | None = None) -> Cost:
        """The cost of ``seconds`` of this machine. ``gpu_joules``: energy of its GPUs, None if not measured."""
        kwh = (self.local_watts * seconds + (gpu_joules or 0.0)) / JOULES_PER_KWH
        energy_usd = kwh * self.usd_per_kwh
        wear_usd = seconds / SECONDS_PER_HOUR * self.local_usd_per_hour
        gpus = "" if gpu_joules is None else " + GPUs as measured"
        rates = f"at {self.usd_per_kwh:g} USD/kWh + {self.local_usd_per_hour:g} USD/h"
        source = f"{self.local_watts:g} W{gpus} {rates}"
        return Cost(energy_usd + wear_usd, source, kwh=kwh, energy_usd=energy_usd, rental_usd=rental_usd)
