"""What limits the calls to one address: a window of concurrent calls, token buckets, and a circuit breaker.

All times are of one monotonic clock. Nothing here is safe for threads: its user holds a lock.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import Literal

DEBOUNCE_SECONDS = 15.0
"""Answers that arrive within this time after a refusal belong to calls sent before it, so they change no limit."""


@dataclass(slots=True)
class Window:
    """The number of concurrent calls that one provider accepts: it shrinks on refusals and grows back slowly."""

    most: int
    size: float = 0.0
    under_way: int = 0
    _shrunk_at: float = float("-inf")
    _steady_until: float = float("-inf")

    def __post_init__(self) -> None:
        self.size = float(self.most)

    @property
    def has_room(self) -> bool:
        return self.under_way < int(self.size)

    def succeed(self, now: float) -> None:
        """Count an answered call: a full window grows by one after one window of answers."""
        if now >= self._steady_until and not self.has_room:
            self.size = min(float(self.most), self.size + 1.0 / self.size)

    def shrink(self, now: float) -> None:
        """Halve the window because the provider refused a call as too many."""
        self._steady_until = now + DEBOUNCE_SECONDS
        if now - self._shrunk_at >= DEBOUNCE_SECONDS:
            self._shrunk_at = now
            self.size = max(1.0, min(self.size, self.under_way) / 2)

    def hold(self, now: float) -> None:
        """Keep the window from growing because the provider has a fault that does not depend on the load."""
        self._steady_until = now + DEBOUNCE_SECONDS


BURST = 0.1  # the share of a minute's allowance that may be used at once; the rest flows in during the minute


@dataclass(slots=True)
class Bucket:
    """A token bucket: the calls or tokens per minute that one provider accepts."""

    per_minute: float
    level: float = 0.0
    _at: float | None = None

    def seconds_left(self, weight: float, now: float) -> float:
        """How long until this weight may be drawn. A weight above a whole burst waits for a full bucket."""
        self._fill(now)
        return max(0.0, min(weight, self._burst) - self.level) / self._per_second

    def draw(self, weight: float, now: float) -> None:
        """Take this weight; a negative weight is given back."""
        self._fill(now)
        self.level = min(self._burst, self.level - weight)

    def _fill(self, now: float) -> None:
        passed = 60.0 if self._at is None else now - self._at
        self.level = min(self._burst, self.level + passed * self._per_second)
        self._at = now

    @property
    def _burst(self) -> float:
        return self.per_minute * BURST

    @property
    def _per_second(self) -> float:
        return self.per_minute * (1.0 - BURST) / 60.0


SAMPLES = 20  # the newest outcomes that count
LEAST_SAMPLES = 10  # with fewer, the breaker stays closed
FAILING_SHARE = 0.8  # of the samples: more than retries can overcome
SAMPLE_SECONDS = 120.0  # older outcomes do not count
FIRST_REST_SECONDS = 15.0
LONGEST_REST_SECONDS = 120.0
BreakerState = Literal["closed", "half-open", "open"]


@dataclass(slots=True)
class Breaker:
    """A circuit breaker: it opens when one provider keeps failing, and closes when a probe succeeds."""

    outcomes: deque[tuple[float, bool]] = field(default_factory=lambda: deque(maxlen=SAMPLES))
    opened_at: float | None = None  # since when calls wait for it; None: closed
    _rest_seconds: float = FIRST_REST_SECONDS
    _probe_at: float = 0.0  # when one call may probe whether the provider works again
    _probing: bool = False

    def state(self, now: float) -> BreakerState:
        """Closed: it lets calls through; half-open: one call at most, the probe."""
        if self.opened_at is None:
            return "closed"
        return "half-open" if self._probing or now >= self._probe_at else "open"

    def seconds_left(self, now: float) -> float:
        """0 if a call may be made now; else the seconds until a retry makes sense."""
        if self.opened_at is None:
            return 0.0
        return self._rest_seconds if self._probing else max(0.0, self._probe_at - now)

    def begin(self, now: float) -> bool:
        """Start a call; return whether it is the probe that closes or keeps open the breaker.

        An outage for which no call has waited for some time counts from now, for example after a benchmark has ended.
        """
        self._probing = self.opened_at is not None
        if self._probing and now - self._probe_at > LONGEST_REST_SECONDS:
            self.opened_at = now
        return self._probing

    def succeed(self, now: float) -> None:
        """Count an answered call, which closes the breaker."""
        self.outcomes.append((now, True))
        if self.opened_at is not None:
            self.outcomes.clear()
            self.opened_at, self._probing, self._rest_seconds = None, False, FIRST_REST_SECONDS

    def fail(self, now: float, *, probe: bool) -> None:
        """Count a call that failed as if the provider were down."""
        self.outcomes.append((now, False))
        if probe:
            self._rest_seconds = min(LONGEST_REST_SECONDS, 2 * self._rest_seconds)
            self._rest(now)
        elif self.opened_at is None and self._keeps_failing(now):
            self.opened_at = now
            self._rest(now)

    def forget(self, *, probe: bool) -> None:
        """Ignore a call whose end does not depend on the provider."""
        if probe:
            self._probing = False

    def _rest(self, now: float) -> None:
        self._probe_at, self._probing = now + self._rest_seconds, False

    def _keeps_failing(self, now: float) -> bool:
        recent = [succeeded for at, succeeded in self.outcomes if now - at <= SAMPLE_SECONDS]
        return len(recent) >= LEAST_SAMPLES and recent.count(False) >= FAILING_SHARE * len(recent)


SPEED_MEMORY = 0.95  # the weight of all earlier answers when one is added, so about the last 20 count


@dataclass(slots=True)
class Speed:
    """The output tokens per second of a call, over the newest answers."""

    _tokens: float = 0.0
    _seconds: float = 0.0

    def add(self, tokens: float, seconds: float) -> None:
        """Count an answer and the time that it took."""
        self._tokens = SPEED_MEMORY * self._tokens + tokens
        self._seconds = SPEED_MEMORY * self._seconds + seconds

    @property
    def tokens_per_second(self) -> float | None:
        """None: not known yet."""
        return self._tokens / self._seconds if self._tokens > 0 and self._seconds > 0 else None
