"""The most that one call can cost: what a budget has to hold before the call is sent."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import UTC, date, datetime, timedelta

from koderz_core.config import Settings
from koderz_core.errors import UnknownNameError
from koderz_core.models.capabilities import capabilities_of, honoured
from koderz_core.models.catalogue import ModelCard, resolve
from koderz_core.models.embedded import WHOLE_TIMES
from koderz_core.models.pricing import dearest_tier, price
from koderz_core.records import Request, Sampling, Usage

TEMPLATE_TOKENS = 64  # that a provider's template puts around a conversation
MESSAGE_TOKENS = 16  # and around each message; measured templates put in 3 to 7
DAY = tuple(timedelta(minutes=30 * half) for half in range(49))  # prices that change within a day do so on these
MANY = 1_000_000  # tokens that show a price


def _now() -> datetime:
    return datetime.now(UTC)


class WorstCases:
    """Worst cases under the same settings; remembers them for a day, since the price list takes longer than all else.

    Safe to ask from several threads.
    """

    def __init__(self, settings: Settings, clock: Callable[[], datetime] = _now) -> None:
        self._settings = settings
        self._clock = clock
        self._known: dict[tuple[str, int, int | None, date], float | None] = {}
        self._moments: dict[tuple[str, date], tuple[datetime, ...]] = {}

    def of(self, model: str, request: Request) -> float | None:
        """US dollars that no answer to ``request`` exceeds; None if its model has no price or its length no limit.

        No tokenizer makes more tokens of a text than it has bytes, and no answer has more than the tokens it may have,
        what the model thinks included. All input is taken as new to the provider's cache if that is dearer, and the
        answer as given at the dearest hour of the next day: it is billed when it ends, and some are cheaper by night.
        A local model costs what its time costs: at most that which a request may take, and the energy of GPUs, which is
        known only afterwards, not at all. Raises UnknownNameError, ConfigError.
        """
        sent = TEMPLATE_TOKENS + sum(MESSAGE_TOKENS + len(message.content.encode()) for message in request.messages)
        longest = honoured(request, capabilities_of(model, self._settings)).max_tokens
        asked = model, _rounded_up(sent), longest, self._clock().date()
        if asked not in self._known:
            self._known[asked] = self._priced(*asked)
        return self._known[asked]

    def _priced(self, model: str, sent: int, longest: int | None, day: date) -> float | None:
        card = resolve(model, self._settings)
        if longest is None and card.tier != "local":
            return None
        tier = dearest_tier(card, self._settings)
        ways = [Usage(sent, longest or 0, cache_write_tokens=cached, service_tier=tier) for cached in (None, sent)]
        if (card.id, day) not in self._moments:
            self._moments[card.id, day] = self._moments_of(card)
        costs = [self._usd(card, usage, at) for usage in ways for at in self._moments[card.id, day]]
        return max((usd for usd in costs if usd is not None), default=None)

    def _moments_of(self, card: ModelCard) -> tuple[datetime, ...]:
        """One for each price that a model has within the next day."""
        now, found = self._clock(), dict[tuple[float | None, ...], datetime]()
        for at in (now + later for later in DAY):
            found.setdefault(tuple(self._usd(card, Usage(*each), at) for each in ((MANY, 0), (0, MANY))), at)
        return tuple(found.values())

    def _usd(self, card: ModelCard, usage: Usage, at: datetime) -> float | None:
        seconds = self._settings.timeout * (WHOLE_TIMES if card.id.startswith("embedded/") else 1)
        return price(card, usage, seconds, self._settings, at).usd


def unpriced(models: Iterable[str], settings: Settings) -> tuple[str, ...]:
    """Those of the models (by id) of which no price is known, be it that they are not known at all any more."""
    cases = WorstCases(settings)
    return tuple(model for model in models if not _is_priced(model, cases))


def _is_priced(model: str, cases: WorstCases) -> bool:
    try:
        return cases.of(model, Request((), Sampling(max_tokens=1), seed=0)) is not None
    except UnknownNameError:
        return False


def _rounded_up(tokens: int) -> int:
    """To few distinct numbers, none more than a sixteenth too high: so that most have been asked before."""
    grain = 1 << max(0, tokens.bit_length() - 5)
    return -(-tokens // grain) * grain
