"""What one call costs in US dollars: by tokens for paid models, by energy and wear for local ones."""

from __future__ import annotations

from datetime import datetime
from importlib.metadata import version

from koderz_core.addresses import is_loopback
from koderz_core.config import Settings
from koderz_core.models.catalogue import ModelCard, address_of
from koderz_core.models.providers import PROVIDERS
from koderz_core.records import Cost, Usage

JOULES_PER_KWH = 3.6e6
SECONDS_PER_HOUR = 3600.0


def price(card: ModelCard, usage: Usage, seconds: float, settings: Settings, at: datetime | None = None) -> Cost:
    """The cost of one call that took ``seconds`` and ended ``at`` (None: now). Unknown is None, never zero.

    Prices of paid models are those of the ``genai-prices`` package for the address that was asked; some depend on
    the size of a single prompt or the time of day, so calls must be priced one by one, never as a sum. Input whose
    cache counts were not reported is priced as uncached.
    """
    if card.provider == "scripted":
        return Cost(0.0, "scripted")
    if away := PROVIDERS[card.provider].away(card.name):
        return Cost(None, f"unpriced: {card.id} runs at {away}, whose price for it is not known")
    if card.tier == "local":
        url = address_of(card.provider, settings)
        if url is None or is_loopback(url):
            return _local(seconds, settings)
        return Cost(None, f"unpriced: {card.id} runs on another machine, whose power is not known")
    if usage.input_tokens is None or usage.output_tokens is None:
        return Cost(None, f"unpriced: {card.id} did not report its tokens")
    return _by_tokens(card, usage, settings, at)


def price_version() -> str:
    """The price list that calls are priced by: it is part of the package, so the package's version names it."""
    return f"genai-prices {version('genai-prices')}"


def _local(seconds: float, settings: Settings) -> Cost:
    energy_usd = settings.local_watts * seconds / JOULES_PER_KWH * settings.usd_per_kwh
    wear_usd = seconds / SECONDS_PER_HOUR * settings.local_usd_per_hour
    source = f"{settings.local_watts:g} W at {settings.usd_per_kwh:g} USD/kWh + {settings.local_usd_per_hour:g} USD/h"
    return Cost(energy_usd + wear_usd, source)


def _by_tokens(card: ModelCard, usage: Usage, settings: Settings, at: datetime | None) -> Cost:
    from genai_prices import Usage as Tokens  # noqa: PLC0415 (heavy)
    from genai_prices import calc_price  # noqa: PLC0415 (heavy)

    tokens = Tokens(
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
        cache_read_tokens=usage.cache_read_tokens,
        cache_write_tokens=usage.cache_write_tokens,
    )
    # Behind another address the publisher's protocol is spoken by somebody else, with other prices.
    at_home = PROVIDERS[card.provider].at_home(settings)
    by = {"provider_id": card.provider} if at_home else {"provider_api_url": address_of(card.provider, settings)}
    try:
        found = calc_price(tokens, card.name, **by, genai_request_timestamp=at)
    except LookupError:
        return Cost(None, f"unpriced: {price_version()} has no price of {card.id} at this address")
    except ValueError:
        return Cost(None, f"unpriced: {card.id} reported tokens that contradict each other")
    return Cost(float(found.total_price), f"{price_version()}: {found.provider.id}/{found.model.id}")
