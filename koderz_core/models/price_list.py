"""The ``genai-prices`` package behind one function, which tells a price that is not known from one that is 0."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import Any

from koderz_core.records import Usage

FREE = ":free"
"""How routers mark the models that they give away; any other entry without a price is one that is not known."""


@dataclass(frozen=True, slots=True)
class Listed:
    """A price from the list, or None and ``why``, which has places for {model} and {version}.

    ``name``: ``provider/model`` there; ``tiers``: ways of processing that have a price of their own.
    """

    usd: float | None
    name: str = ""
    free: bool = False
    tiers: frozenset[str] = frozenset()
    why: str = ""


PUBLISHERS = frozenset({"openai", "anthropic", "google", "x-ai"})
"""Their models are served by themselves and by those who pay them."""
OPEN_WEIGHTS = ("gpt-oss", "gemma", "grok-1", "grok-2")
"""But for those whose names begin so: anybody may serve them."""


@lru_cache(maxsize=1024)
def publisher_of(name: str) -> str | None:
    """Which of ``PUBLISHERS`` sells a model of this name at a list price, whoever passes it on; None: none of them."""
    bare = bare_name(name)
    if bare.lower().startswith(OPEN_WEIGHTS):
        return None
    found = listed(bare, Usage(1, 1), None, {})
    provider = found.name.partition("/")[0]
    return provider if found.usd is not None and provider in PUBLISHERS else None


def bare_name(name: str) -> str:
    """A name without the publisher that routers put before it."""
    return name.rpartition("/")[2]


def listed(name: str, usage: Usage, at: datetime | None, by: Mapping[str, str | None]) -> Listed:
    """What these tokens of a model cost; ``by``: the provider's id or address; empty: any provider's."""
    from genai_prices import calc_price  # noqa: PLC0415 (heavy)

    try:
        found = calc_price(
            _tokens(usage), name, **_narrow(by), genai_request_timestamp=at, price_context=_context(usage)
        )
    except LookupError:
        return Listed(None, why="{version} has no price of {model} at this address")
    except ValueError:
        return Listed(None, why="{model} reported tokens that contradict each other")
    free = found.model.id.endswith(FREE)
    if not free and not any(price is not None for price in vars(found.model_price).values()):
        return Listed(None, why="{version} knows {model} without a price")
    tiers = {word for variant in found.model.price_variants or () for word in variant.when.values()}
    return Listed(float(found.total_price), f"{found.provider.id}/{found.model.id}", free, frozenset(tiers))


def _tokens(usage: Usage) -> Any:  # Any: the package's record, which must not be imported before it is needed
    from genai_prices import Usage as Tokens  # noqa: PLC0415 (heavy)

    return Tokens(
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
        cache_read_tokens=usage.cache_read_tokens,
        cache_write_tokens=usage.cache_write_tokens,
    )


def _context(usage: Usage) -> dict[str, str]:
    """A provider's word for how it processed a request, under each name that the list may have it by."""
    word = usage.service_tier
    return {} if word is None else {"service_tier": word, "processing": word, "speed": word}


def _narrow(by: Mapping[str, str | None]) -> Any:  # Any: one of two keywords, of which the overloads take one each
    return dict(by)
