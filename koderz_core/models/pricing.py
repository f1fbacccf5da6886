"""What one call costs in US dollars: by tokens for paid models, by energy and wear for local ones."""

from __future__ import annotations

import sys
from datetime import datetime
from functools import cache
from importlib.metadata import version

from koderz_core.addresses import is_loopback
from koderz_core.config import Settings
from koderz_core.models.catalogue import ModelCard, address_of
from koderz_core.models.price_list import bare_name, listed, publisher_of
from koderz_core.models.providers import PROVIDERS
from koderz_core.models.rental import rental_usd
from koderz_core.models.stated import StatedPrice, stated
from koderz_core.records import Cost, Usage
from koderz_core.records.energy import MachineRates

TOKENS_PER_PRICE = 1e6


def price(card: ModelCard, usage: Usage, seconds: float, settings: Settings, at: datetime | None = None) -> Cost:
    """The cost of one call that took ``seconds`` and ended ``at`` (None: now). Unknown is None, never zero.

    What `models.toml` states stands above all. Else prices of paid models are those of the ``genai-prices`` package for
    the address that was asked, or, where it has none for that address, those of the model's publisher; some depend on
    the size of a single prompt, the time of day or the service tier, so calls must be priced one by one, never as a
    sum. Input whose cache counts were not reported is priced as uncached, what was written to a cache as kept for five
    minutes. Raises ConfigError.
    """
    if card.provider == "scripted":
        return Cost(0.0, "scripted")
    if known := stated(card.id, settings).price:
        return _by_statement(card, usage, known)
    if runs_here(card, settings):
        return _local(card, usage, seconds, settings, at)
    if why := _unknown(card, usage):
        return Cost(None, f"unpriced: {card.id} {why}")
    return _by_list(card, usage, settings, at)


def runs_here(card: ModelCard, settings: Settings) -> bool:
    """Whether a model's calls are this machine's work: what it costs is energy and wear."""
    url = address_of(card.provider, settings)
    away = PROVIDERS[card.provider].away(card.name)
    return card.tier == "local" and card.provider != "scripted" and not away and (url is None or is_loopback(url))


def _unknown(card: ModelCard, usage: Usage) -> str:
    """Why no list can tell a price; "" if one may."""
    if away := PROVIDERS[card.provider].away(card.name):
        return f"runs at {away}, whose price for it is not known"
    if card.tier == "local":
        return "runs on another machine, whose power is not known"
    return "" if usage.input_tokens is not None and usage.output_tokens is not None else "did not report its tokens"


def dearest_tier(card: ModelCard, settings: Settings) -> str | None:
    """How the provider may process a call at the highest price, under these settings; None: there is one way."""
    if card.provider != "openai":
        return None
    return "priority" if settings.openai_service_tier == "auto" else settings.openai_service_tier


def price_version() -> str:
    """The price list that calls are priced by: it is part of the package, so the package's version names it.

    A list that this process fetched since is named by the time of that.
    """
    fetched = getattr(sys.modules.get("genai_prices.data_snapshot"), "_custom_snapshot", None)
    return f"{_package()} of {fetched.timestamp:%Y-%m-%d %H:%M}" if fetched else _package()


@cache
def _package() -> str:
    return f"genai-prices {version('genai-prices')}"


def _local(card: ModelCard, usage: Usage, seconds: float, settings: Settings, at: datetime | None) -> Cost:
    """The machine's time is this call's share, where that is known: no second is paid for twice."""
    spent = seconds if usage.machine_seconds is None else usage.machine_seconds
    rates = MachineRates(settings.local_watts, settings.usd_per_kwh, settings.local_usd_per_hour)
    return rates.cost(spent, usage.gpu_joules, rental_usd(card.name, usage, at))


def _by_statement(card: ModelCard, usage: Usage, known: StatedPrice) -> Cost:
    if usage.input_tokens is None or usage.output_tokens is None:
        return Cost(None, f"unpriced: {card.id} did not report its tokens")
    read, written = usage.cache_read_tokens or 0, usage.cache_write_tokens or 0
    fresh = usage.input_tokens - read - written
    if fresh < 0:
        return Cost(None, f"unpriced: {card.id} reported tokens that contradict each other")
    base = known.input_usd_per_mtok
    usd = (
        fresh * base
        + read * (base if known.cache_read_usd_per_mtok is None else known.cache_read_usd_per_mtok)
        + written * (base if known.cache_write_usd_per_mtok is None else known.cache_write_usd_per_mtok)
        + usage.output_tokens * known.output_usd_per_mtok
    ) / TOKENS_PER_PRICE
    return Cost(usd, f"models.toml: {known.source}, {known.date}")


def _by_list(card: ModelCard, usage: Usage, settings: Settings, at: datetime | None) -> Cost:
    # Another address may be of a seller with prices of its own, or of a proxy, which passes on the publisher's models.
    at_home = PROVIDERS[card.provider].at_home(settings)
    by = {"provider_id": card.provider} if at_home else {"provider_api_url": address_of(card.provider, settings)}
    found = listed(card.name, usage, at, by)
    if found.usd is None and not at_home and (publisher := publisher_of(card.name)):
        found = listed(bare_name(card.name), usage, at, {"provider_id": publisher})
    if found.usd is None:
        return Cost(None, f"unpriced: {found.why.format(model=card.id, version=price_version())}")
    tier = f", {usage.service_tier}" if usage.service_tier in found.tiers else ""
    free = "free in " if found.free else ""
    return Cost(found.usd, f"{free}{price_version()}: {found.name}{tier}")
