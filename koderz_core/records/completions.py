"""Requests to models, their answers, and their cost, including energy and wear of this machine."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from msgspec import UNSET, UnsetType

Tier = Literal["local", "small_frontier", "frontier"]
Finish = Literal["stop", "length", "refused", "empty", "timeout"]
"""``timeout``: the time limit that a configuration sets for a call ended it, so there is no text."""
EFFORTS = ("none", "minimal", "low", "medium", "high", "xhigh", "max")
"""The words for the reasoning effort of a request, from no reasoning to the most, as the official clients name them."""
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
    """The sampling options of a request; None leaves the provider's default.

    ``seed`` is set only in the options that were honoured, None if the model has no seed: each request has its own.
    ``effort``: a word of ``EFFORTS``, or the most tokens of reasoning as digits. Unset, it is not written, so the
    journals of benchmarks without it stay as they were.
    """

    temperature: float | None = None
    top_p: float | None = None
    max_tokens: int | None = None
    seed: int | None = None
    effort: str | UnsetType = UNSET


@dataclass(frozen=True, slots=True)
class Request:
    """A complete request to a model. The same request with the same seed may be answered from a journal.

    ``turn_seconds``: the time that the configuration gives the answer; None: only the settings limit it. ``address``:
    the address that is asked if the provider has several; it belongs to one attempt and not to the content.
    """

    messages: tuple[Message, ...]
    sampling: Sampling
    seed: int
    turn_seconds: float | None = None
    address: str = ""


@dataclass(frozen=True, slots=True)
class Usage:
    """The usage of one call. ``input_tokens`` includes those read from and written to a cache. None: not reported.

    ``service_tier``: how the provider processed the call, in its own word (``flex``, ``batch``, ...). For a model on
    this machine, ``machine_seconds`` is the call's share of the machine's time, ``gpu_joules`` of its GPUs' energy and
    ``cpu_joules`` of its processors' energy, both as measured. ``reasoning_tokens``: the part of ``output_tokens`` that
    was reasoning, which is billed as output; unset if not reported.
    """

    input_tokens: int | None = None
    output_tokens: int | None = None
    cache_read_tokens: int | None = None
    cache_write_tokens: int | None = None
    service_tier: str | None = None
    machine_seconds: float | None = None
    gpu_joules: float | None = None
    cpu_joules: float | None = None
    reasoning_tokens: int | UnsetType = UNSET


@dataclass(frozen=True, slots=True)
class Completion:
    """The answer of a model, how it ended, and its usage.

    ``honoured``: the sampling that was sent; its ``max_tokens`` includes the allowance for a model that thinks.
    """

    text: str
    finish: Finish
    usage: Usage
    seconds: float
    honoured: Sampling
    first_token_seconds: float | None = None


@dataclass(frozen=True, slots=True)
class Cost:
    """The price of one call in US dollars and the ``source`` of that price; ``usd`` None: unknown, never zero.

    For a model on this machine, ``kwh`` is the energy of the call, ``energy_usd`` the part of ``usd`` that pays for it,
    and ``rental_usd`` the price of the same tokens from a provider that rents out the same weights. None: does not
    apply, or unknown.
    """

    usd: float | None
    source: str
    kwh: float | None = None
    energy_usd: float | None = None
    rental_usd: float | None = None


CPUS_MEASURED = "processors as measured"
"""How the source of a cost names energy that is measured and not computed from a stated power."""


@dataclass(frozen=True, slots=True)
class Reused:
    """The call whose answer was used again: its experiment, its end in seconds since 1970, its cost and duration."""

    experiment: str
    at: float
    cost: Cost
    seconds: float


FREE_AGAIN = "response cache"
"""The source of the price of an answer that was used again."""


def cost_again(original: Cost) -> Cost:
    """The cost of using an answer again: zero, in each part that the original call has."""
    energy = None if original.kwh is None else 0.0
    rental = None if original.rental_usd is None else 0.0
    return Cost(0.0, FREE_AGAIN, kwh=energy, energy_usd=energy, rental_usd=rental)


@dataclass(frozen=True, slots=True)
class MachineRates:
    """The price of an hour and of a kilowatt-hour, and the power of the machine, under the names of the settings."""

    local_watts: float
    usd_per_kwh: float
    local_usd_per_hour: float

    def cost(
        self,
        seconds: float,
        gpu_joules: float | None = None,
        rental_usd: float | None = None,
        cpu_joules: float | None = None,
    ) -> Cost:
        """The cost of ``seconds`` of this machine. ``gpu_joules``: the energy of its GPUs, None if not measured.

        ``cpu_joules``: that of its processors, which replaces the stated power; None if not measured.
        """
        rest = self.local_watts * seconds if cpu_joules is None else cpu_joules
        kwh = (rest + (gpu_joules or 0.0)) / JOULES_PER_KWH
        energy_usd = kwh * self.usd_per_kwh
        wear_usd = seconds / SECONDS_PER_HOUR * self.local_usd_per_hour
        gpus = "" if gpu_joules is None else " + GPUs as measured"
        rates = f"at {self.usd_per_kwh:g} USD/kWh + {self.local_usd_per_hour:g} USD/h"
        power = f"{self.local_watts:g} W" if cpu_joules is None else CPUS_MEASURED
        source = f"{power}{gpus} {rates}"
        return Cost(energy_usd + wear_usd, source, kwh=kwh, energy_usd=energy_usd, rental_usd=rental_usd)
