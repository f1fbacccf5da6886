"""The price of a call in US dollars: by tokens for paid models, by energy and wear for local ones.

List prices come from the ``genai-prices`` package. A local model also has the price of renting the same weights. An
unknown price is None, never 0.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cache, lru_cache
from importlib.metadata import version
from typing import Any

from koderz_core.addresses import is_loopback
from koderz_core.config import Settings
from koderz_core.models.models_file import StatedPrice, stated
from koderz_core.models.provider import ModelCard
from koderz_core.models.providers import PROVIDERS
from koderz_core.records import Cost, Usage
from koderz_core.records.completions import MachineRates

TOKENS_PER_PRICE = 1e6
RENTAL_HOST = "openrouter"
# Words for how weights are packed, which do not change which weights they are.
_PACKING = (
    r"(-(instruct|it|chat|latest|gguf|awq|gptq|mlx|hf|mxfp4|b?fp?(4|8|16)|int[48]|[2-8]bit|i?q\d|k|[sml]|xs|0|1))*"
)
FREE_SUFFIX = ":free"
"""How routers mark free models. The price of any other entry without a price is unknown."""


def price(card: ModelCard, usage: Usage, seconds: float, settings: Settings, at: datetime | None = None) -> Cost:
    """The cost of one call that took ``seconds`` and ended ``at`` (None: now). Unknown is None, never zero.

    A price in `models.toml` overrides all others. Otherwise the price of a paid model is that of the ``genai-prices``
    package for the address that was asked or, if the package has none, that of the model's publisher. Some prices
    depend on the size of a single prompt, the time of day or the service tier, so each call is priced on its own, never
    a sum of calls. If a provider has several addresses with different prices, the price is unknown. Input without
    reported cache counts is priced as uncached; input written to a cache is priced as kept for five minutes. Raises
    ConfigError.
    """
    if card.provider == "scripted":
        return Cost(0.0, "scripted")
    if stated_price := stated(card.id, settings).price:
        return by_statement(card.id, usage, stated_price, "models.toml")
    places = PROVIDERS[card.provider].places(settings) or {"": settings}
    costs = {_price_at(card, usage, seconds, place, at) for place in places.values()}
    return costs.pop() if len(costs) == 1 else Cost(None, f"unpriced: {card.id} has different prices at its addresses")


def _price_at(card: ModelCard, usage: Usage, seconds: float, settings: Settings, at: datetime | None) -> Cost:
    """The cost at one address."""
    if runs_here(card, settings):
        return _local(card, usage, seconds, settings, at)
    if why := _unknown(card, usage):
        return Cost(None, f"unpriced: {card.id} {why}")
    return _by_list(card, usage, settings, at)


def runs_here(card: ModelCard, settings: Settings) -> bool:
    """Whether this machine does the work of a model's calls, which then cost energy and wear."""
    provider = PROVIDERS[card.provider]
    here = all(map(is_loopback, provider.urls(settings)))
    return card.tier == "local" and card.provider != "scripted" and not provider.away(card.name) and here


def _unknown(card: ModelCard, usage: Usage) -> str:
    """Why no price list applies; "" if one may."""
    if away := PROVIDERS[card.provider].away(card.name):
        return f"runs at {away}, whose price for this model is not known"
    if card.tier == "local":
        return "runs on another machine, whose power consumption is not known"
    return "" if usage.input_tokens is not None and usage.output_tokens is not None else "did not report its tokens"


def price_version() -> str:
    """The version of the price list: that of the package, or the time at which this process fetched a newer list."""
    fetched = getattr(sys.modules.get("genai_prices.data_snapshot"), "_custom_snapshot", None)
    return f"{_package()} of {fetched.timestamp:%Y-%m-%d %H:%M}" if fetched else _package()


@cache
def _package() -> str:
    return f"genai-prices {version('genai-prices')}"


def _local(card: ModelCard, usage: Usage, seconds: float, settings: Settings, at: datetime | None) -> Cost:
    """If the call's share of the machine's time is known, it is used, so that no second is paid for twice."""
    spent = seconds if usage.machine_seconds is None else usage.machine_seconds
    rates = MachineRates(settings.local_watts, settings.usd_per_kwh, settings.local_usd_per_hour)
    return rates.cost(spent, usage.gpu_joules, rental_usd(card.name, usage, at), usage.cpu_joules)


def by_statement(model: str, usage: Usage, stated_price: StatedPrice, file: str) -> Cost:
    """The cost of a call at a price that ``file`` states."""
    if usage.input_tokens is None or usage.output_tokens is None:
        return Cost(None, f"unpriced: {model} did not report its tokens")
    read, written = usage.cache_read_tokens or 0, usage.cache_write_tokens or 0
    fresh = usage.input_tokens - read - written
    if fresh < 0:
        return Cost(None, f"unpriced: {model} reported token counts that contradict each other")
    base = stated_price.input_usd_per_mtok
    usd = (
        fresh * base
        + read * (base if stated_price.cache_read_usd_per_mtok is None else stated_price.cache_read_usd_per_mtok)
        + written * (base if stated_price.cache_write_usd_per_mtok is None else stated_price.cache_write_usd_per_mtok)
        + usage.output_tokens * stated_price.output_usd_per_mtok
    ) / TOKENS_PER_PRICE
    return Cost(usd, f"{file}: {stated_price.source}, {stated_price.date}")


def _by_list(card: ModelCard, usage: Usage, settings: Settings, at: datetime | None) -> Cost:
    # Another address may belong to a seller with its own prices, or to a proxy for the publisher's models.
    at_home = PROVIDERS[card.provider].at_home(settings)
    by = {"provider_id": card.provider} if at_home else {"provider_api_url": PROVIDERS[card.provider].address(settings)}
    entry = listed(card.name, usage, at, by)
    if entry.usd is None and not at_home and (publisher := publisher_of(card.name)):
        entry = listed(bare_name(card.name), usage, at, {"provider_id": publisher})
    if entry.usd is None:
        return Cost(None, f"unpriced: {entry.why.format(model=card.id, version=price_version())}")
    tier = f", {usage.service_tier}" if usage.service_tier in entry.tiers else ""
    free = "free in " if entry.free else ""
    return Cost(entry.usd, f"{free}{price_version()}: {entry.name}{tier}")


# The names under which OpenRouter rents out the same weights (its list of models, November 2026). Names without a size
# mean the weights that Ollama's library means by them (its tags, November 2026).
HOSTED: Mapping[str, str] = {
    "gpt-oss": "openai/gpt-oss-20b",
    "gpt-oss-20b": "openai/gpt-oss-20b",
    "gpt-oss-120b": "openai/gpt-oss-120b",
    "qwen2.5-coder": "qwen/qwen2.5-coder-7b-instruct",
    "qwen2.5-coder-7b": "qwen/qwen2.5-coder-7b-instruct",
    "qwen2.5-coder-32b": "qwen/qwen-2.5-coder-32b-instruct",
    "qwen2.5-7b": "qwen/qwen-2.5-7b-instruct",
    "qwen2.5-72b": "qwen/qwen-2.5-72b-instruct",
    "qwen3": "qwen/qwen3-8b",
    "qwen3-8b": "qwen/qwen3-8b",
    "qwen3-14b": "qwen/qwen3-14b",
    "qwen3-32b": "qwen/qwen3-32b",
    "qwen3-30b": "qwen/qwen3-30b-a3b",
    "qwen3-30b-a3b": "qwen/qwen3-30b-a3b",
    "qwen3-coder": "qwen/qwen3-coder-30b-a3b-instruct",
    "qwen3-coder-30b": "qwen/qwen3-coder-30b-a3b-instruct",
    "qwen3-coder-30b-a3b": "qwen/qwen3-coder-30b-a3b-instruct",
    "qwen3-coder-next": "qwen/qwen3-coder-next",
    "qwen3.5-9b": "qwen/qwen3.5-9b",
    "qwen3.6-27b": "qwen/qwen3.6-27b",
    "qwen3.6-35b-a3b": "qwen/qwen3.6-35b-a3b",
    "qwq": "qwen/qwq-32b",
    "qwq-32b": "qwen/qwq-32b",
    "llama3.1": "meta-llama/llama-3.1-8b-instruct",
    "llama3.1-8b": "meta-llama/llama-3.1-8b-instruct",
    "llama3.1-70b": "meta-llama/llama-3.1-70b-instruct",
    "llama3.2": "meta-llama/llama-3.2-3b-instruct",
    "llama3.2-3b": "meta-llama/llama-3.2-3b-instruct",
    "llama3.2-1b": "meta-llama/llama-3.2-1b-instruct",
    "llama3.3": "meta-llama/llama-3.3-70b-instruct",
    "llama3.3-70b": "meta-llama/llama-3.3-70b-instruct",
    "gemma3": "google/gemma-3-4b-it",
    "gemma3-4b": "google/gemma-3-4b-it",
    "gemma3-12b": "google/gemma-3-12b-it",
    "gemma3-27b": "google/gemma-3-27b-it",
    "gemma4-31b": "google/gemma-4-31b-it",
    "gemma4-26b": "google/gemma-4-26b-a4b-it",
    "gemma4-26b-a4b": "google/gemma-4-26b-a4b-it",
    "phi4": "microsoft/phi-4",
    "phi4-14b": "microsoft/phi-4",
    "granite4.2-8b": "ibm-granite/granite-4.2-8b",
    "nemotron3-nano-30b-a3b": "nvidia/nemotron-3-nano-30b-a3b",
}


def hosted(name: str) -> str | None:
    """The name under which the weights of a local model are rented out; None if they are not or it is unknown."""
    plain = re.sub(r"[:_\s]+", "-", name.lower().rpartition("/")[2])
    plain = re.sub(r"^(llama|gemma|phi|granite|nemotron|qwen|meta-llama)-(?=\d)", r"\1", plain)
    plain = re.sub(r"^meta-", "", plain)
    bare = re.sub(f"{_PACKING}$", "", plain)
    return HOSTED.get(bare)


def rental_usd(name: str, usage: Usage, at: datetime | None = None) -> float | None:
    """US dollars for the same tokens from the same weights at OpenRouter; None if that is unknown."""
    model = hosted(name)
    if model is None or usage.input_tokens is None or usage.output_tokens is None:
        return None
    return listed(model, usage, at, {"provider_id": RENTAL_HOST}).usd


@dataclass(frozen=True, slots=True)
class Listed:
    """A price from the list, or None and ``why``, a template with {model} and {version}.

    ``name``: ``provider/model`` in the list; ``tiers``: service tiers that have a price of their own.
    """

    usd: float | None
    name: str = ""
    free: bool = False
    tiers: frozenset[str] = frozenset()
    why: str = ""


PUBLISHERS = frozenset({"openai", "anthropic", "google", "x-ai"})
"""Only they, and sellers that pay them, serve their models."""
OPEN_WEIGHTS = ("gpt-oss", "gemma", "grok-1", "grok-2")
"""Models of these publishers with such names are open weights, which any server may serve."""


@lru_cache(maxsize=1024)
def publisher_of(name: str) -> str | None:
    """Which of ``PUBLISHERS`` sells a model of this name at a list price, directly or through a proxy; None: none."""
    bare = bare_name(name)
    if bare.lower().startswith(OPEN_WEIGHTS):
        return None
    entry = listed(bare, Usage(1, 1), None, {})
    provider = entry.name.partition("/")[0]
    return provider if entry.usd is not None and provider in PUBLISHERS else None


def bare_name(name: str) -> str:
    """A name without the publisher's name that routers prepend."""
    return name.rpartition("/")[2]


def listed(name: str, usage: Usage, at: datetime | None, by: Mapping[str, str | None]) -> Listed:
    """The list price of these tokens of a model. ``by``: the provider's id or address; empty: any provider."""
    from genai_prices import calc_price  # noqa: PLC0415 (heavy)

    seller: Any = dict(by)  # Any: one of two keywords, one per overload
    try:
        found = calc_price(_tokens(usage), name, **seller, genai_request_timestamp=at, price_context=_context(usage))
    except LookupError:
        return Listed(None, why="{version} has no price for {model} at the provider of this model")
    except ValueError:
        return Listed(None, why="{model} reported token counts that contradict each other")
    free = found.model.id.endswith(FREE_SUFFIX)
    if not free and not any(price is not None for price in vars(found.model_price).values()):
        return Listed(None, why="{version} lists {model} without a price")
    tiers = {word for variant in found.model.price_variants or () for word in variant.when.values()}
    return Listed(float(found.total_price), f"{found.provider.id}/{found.model.id}", free, frozenset(tiers))


def _tokens(usage: Usage) -> Any:  # Any: the package's record, which is imported only when needed
    from genai_prices import Usage as Tokens  # noqa: PLC0415 (heavy)

    return Tokens(
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
        cache_read_tokens=usage.cache_read_tokens,
        cache_write_tokens=usage.cache_write_tokens,
    )


def _context(usage: Usage) -> dict[str, str]:
    """A provider's word for how it processed a request, under each name that the list may use for it."""
    word = usage.service_tier
    return {} if word is None else {"service_tier": word, "processing": word, "speed": word}
