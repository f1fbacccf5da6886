"""All that koderz knows of a model before it is asked: what it takes, how much fits into it, and what it costs."""

from __future__ import annotations

from dataclasses import dataclass

from koderz_core.config import Settings
from koderz_core.models.capabilities import Capabilities, capabilities_of
from koderz_core.models.catalogue import resolve
from koderz_core.models.pricing import price
from koderz_core.records import Cost, Tier, Usage

SAMPLE = Usage(1_000, 1_000)
SAMPLE_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class AboutModel:
    """``sample_cost``: of a call with 1,000 tokens in and 1,000 out that takes a minute."""

    id: str
    tier: Tier
    capabilities: Capabilities
    sample_cost: Cost


def about(name: str, settings: Settings) -> AboutModel:
    """What is known of the model that a person means by ``name``. Raises UnknownNameError, ConfigError."""
    card = resolve(name, settings)
    cost = price(card, SAMPLE, SAMPLE_SECONDS, settings)
    return AboutModel(card.id, card.tier, capabilities_of(card.id, settings), cost)
