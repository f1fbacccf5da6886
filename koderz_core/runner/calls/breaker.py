"""Stops asking a provider that keeps failing, and finds out when it is back: closed, open, half-open.

(M. Nygard, Release It!, 2007, "Circuit Breaker".)
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

SAMPLES = 20  # the newest outcomes that count
LEAST_SAMPLES = 10  # with fewer nothing is concluded
FAILING_SHARE = 0.8  # of the samples: above what retries get over
SAMPLE_SECONDS = 120.0  # older outcomes say nothing about now
FIRST_REST_SECONDS = 15.0
LONGEST_REST_SECONDS = 120.0


@dataclass(slots=True)
class Breaker:
    """Of one provider. All times are of the same monotonic clock; whoever uses it guards it."""

    outcomes: deque[tuple[float, bool]] = field(default_factory=lambda: deque(maxlen=SAMPLES))
    opened_at: float | None = None  # None: closed
    _rest_seconds: float = FIRST_REST_SECONDS
    _probe_at: float = 0.0  # when one call may find out whether the provider is back
    _probing: bool = False

    def seconds_left(self, now: float) -> float:
        """0 if a call may be made now; else for how long there is no point in asking again."""
        if self.opened_at is None:
            return 0.0
        return self._rest_seconds if self._probing else max(0.0, self._probe_at - now)

    def begin(self) -> bool:
        """A call is made; whether it is the probe that decides."""
        self._probing = self.opened_at is not None
        return self._probing

    def succeed(self, now: float) -> None:
        """A call was answered: whatever was, the provider is back."""
        self.outcomes.append((now, True))
        if self.opened_at is not None:
            self.outcomes.clear()
            self.opened_at, self._probing, self._rest_seconds = None, False, FIRST_REST_SECONDS

    def fail(self, now: float, *, probe: bool) -> None:
        """A call failed as it does when a provider is down."""
        self.outcomes.append((now, False))
        if probe:
            self._rest_seconds = min(LONGEST_REST_SECONDS, 2 * self._rest_seconds)
            self._rest(now)
        elif self.opened_at is None and self._keeps_failing(now):
            self.opened_at = now
            self._rest(now)

    def forget(self, *, probe: bool) -> None:
        """A call ended in a way that says nothing of the provider."""
        if probe:
            self._probing = False

    def _rest(self, now: float) -> None:
        self._probe_at, self._probing = now + self._rest_seconds, False

    def _keeps_failing(self, now: float) -> bool:
        counted = [good for at, good in self.outcomes if now - at <= SAMPLE_SECONDS]
        return len(counted) >= LEAST_SAMPLES and counted.count(False) >= FAILING_SHARE * len(counted)
