"""The highest cost that one call can have, which a budget reserves before the call is sent."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import UTC, date, datetime, timedelta

from koderz_core.config import Settings
from koderz_core.errors import UnknownNameError
from koderz_core.models.capabilities import honoured
from koderz_core.models.catalogue import ModelCard, resolve
from koderz_core.models.models_file import StatedPrice, stated
from koderz_core.models.pricing import price
from koderz_core.models.providers import PROVIDERS, capabilities_of
from koderz_core.records import Request, Sampling, Usage

TEMPLATE_TOKENS = 64  # a provider's template adds at most these to a conversation
MESSAGE_TOKENS = 16  # and these to each message; measured templates add 3 to 7
DAY = tuple(timedelta(minutes=30 * half) for half in range(49))  # prices that change within a day change at these times
MANY = 1_000_000  # tokens, enough to compare prices


class WorstCases:
    """Worst cases under the same settings, cached for a day because the price list is slow. Thread-safe."""

    def __init__(self, settings: Settings, clock: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        self._settings = settings
        self._clock = clock
        self._known: dict[tuple[str, int, int | None, date, StatedPrice | None], float | None] = {}
        self._moments: dict[tuple[str, date, StatedPrice | None], tuple[datetime, ...]] = {}

    def of(self, model: str, request: Request) -> float | None:
        """The maximum cost in US dollars of an answer to ``request``; None if the model has no price or no token limit.

        A text never has more tokens than bytes, and an answer never more than its limit, thoughts included. If writing
        to the provider's cache is more expensive, all input counts as written to it. The answer counts at the most
        expensive hour of the next day, because it is billed when it ends and some prices are lower at night. A local
        model without a stated price costs at most the time that a request may take. The energy of GPUs, which is only
        known afterwards, does not count. Raises UnknownNameError, ConfigError.
        """
        sent = TEMPLATE_TOKENS + sum(MESSAGE_TOKENS + len(message.content.encode()) for message in request.messages)
        longest = honoured(request, capabilities_of(model, self._settings)).max_tokens
        own_price = stated(model, self._settings).price  # models.toml may change while a benchmark runs
        case = model, _rounded_up(sent), longest, self._clock().date(), own_price
        if case not in self._known:
            self._known[case] = self._priced(*case)
        return self._known[case]

    def _priced(
        self, model: str, sent: int, longest: int | None, day: date, own_price: StatedPrice | None
    ) -> float | None:
        card = resolve(model, self._settings)
        by_length = card.tier != "local" if own_price is None else own_price.output_usd_per_mtok > 0
        if longest is None and by_length:
            return None
        tier = PROVIDERS[card.provider].priciest_tier(self._settings)
        usages = [Usage(sent, longest or 0, cache_write_tokens=cached, service_tier=tier) for cached in (None, sent)]
        priced = card.id, day, own_price
        if priced not in self._moments:
            self._moments[priced] = self._moments_of(card)
        costs = [self._usd(card, usage, at) for usage in usages for at in self._moments[priced]]
        return max((usd for usd in costs if usd is not None), default=None)

    def _moments_of(self, card: ModelCard) -> tuple[datetime, ...]:
        """One time for each price that a model has within the next day."""
        now, times = self._clock(), dict[tuple[float | None, ...], datetime]()
        for at in (now + later for later in DAY):
            times.setdefault(tuple(self._usd(card, Usage(*tokens), at) for tokens in ((MANY, 0), (0, MANY))), at)
        return tuple(times.values())

    def _usd(self, card: ModelCard, usage: Usage, at: datetime) -> float | None:
        seconds = self._settings.timeout * PROVIDERS[card.provider].timeouts
        return price(card, usage, seconds, self._settings, at).usd


def unpriced(models: Iterable[str], settings: Settings) -> tuple[str, ...]:
    """The models (by id) without a known price, including models that koderz no longer knows."""
    cases = WorstCases(settings)
    return tuple(model for model in models if not _is_priced(model, cases))


def _is_priced(model: str, cases: WorstCases) -> bool:
    try:
        return cases.of(model, Request((), Sampling(max_tokens=1), seed=0)) is not None
    except UnknownNameError:
        return False


def _rounded_up(tokens: int) -> int:
    """Round up by at most a sixteenth, so that few distinct numbers remain and most are cached."""
    grain = 1 << max(0, tokens.bit_length() - 5)
    return -(-tokens // grain) * grain
