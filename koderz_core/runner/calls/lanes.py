"""The way to each provider: how many calls may be under way, how many a minute, and whether it is worth asking now.

One process keeps to the limits; several at the same time each have their own.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

from koderz_core.errors import ModelError
from koderz_core.limits import Limits
from koderz_core.records import Completion, Request
from koderz_core.runner.calls.breaker import Breaker
from koderz_core.runner.calls.rates import Bucket, reserved_tokens, used_tokens
from koderz_core.runner.calls.window import Window
from koderz_core.runner.gate import Passage

LOOK_SECONDS = 0.25  # how often one that waits looks whether it has been paused or stopped
PATIENCE_SECONDS = 300.0
TOO_MANY = 429


@dataclass(slots=True)
class Entry:
    """One call's place in a lane; ``answer`` or ``error``: how it ended, neither if it was broken off by us."""

    tokens: float
    probe: bool = False
    answer: Completion | None = None
    error: ModelError | None = None
    learned: bool = False  # whether its failure has been counted


class Lane:
    """The way to one provider, at one address. May be used from any thread."""

    def __init__(
        self,
        name: str,
        limits: Limits = Limits(),  # noqa: B008 (frozen)
        patience_seconds: float = PATIENCE_SECONDS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """``name``: how it is shown. ``patience_seconds``: how long calls wait for a provider that keeps failing."""
        self._name = name
        self._patience_seconds = patience_seconds
        self._clock = clock
        self._changed = threading.Condition()  # guards all below; who waits for a place here waits for it
        self._breaker = Breaker()
        self._window = Window(limits.concurrency)
        self._rest_until = float("-inf")  # when the provider said to come back
        per_minute = (limits.requests_per_minute, limits.tokens_per_minute)
        self._requests, self._tokens = (Bucket(limit) if limit else None for limit in per_minute)

    @contextmanager
    def entered(self, request: Request, passage: Passage) -> Iterator[Entry]:
        """The call may be made inside. Waits for that, obeying ``passage``, whose place others may use meanwhile.

        Raises ModelError where a provider has kept failing for longer than anybody waits, Cancelled.
        """
        entry = Entry(reserved_tokens(request))
        while (seconds := self._enter(entry)) > 0:
            with passage.aside():
                self._wait(seconds, passage)
        try:
            yield entry
        finally:
            self._leave(entry)

    def failed(self, entry: Entry, error: ModelError) -> float | None:
        """Count the failure of a call that is inside; the seconds until the breaker lets a call through, None: now."""
        with self._changed:
            entry.error = error
            self._learn(entry)
            entry.learned = True
            return self._breaker.seconds_left(self._clock()) or None

    @property
    def shut(self) -> bool:
        """Whether a call would have to wait now."""
        with self._changed:
            return self._seconds_left(1.0) > 0 and not self._given_up()

    def _enter(self, entry: Entry) -> float:
        """0 if the call may be made now, which is taken note of; else the seconds after which to ask again."""
        with self._changed:
            seconds = self._seconds_left(entry.tokens)
            if seconds > 0 and self._given_up():
                raise ModelError(
                    f"{self._name} has kept failing for more than {self._patience_seconds:g} s (KODERZ_PATIENCE), so "
                    "it is not asked for now. Look at its server or its status page."
                )
            if seconds == 0:
                entry.probe = self._breaker.begin()
                self._window.under_way += 1
                self._draw(1.0, entry.tokens)
            return seconds

    def _seconds_left(self, tokens: float) -> float:
        now = self._clock()
        waits = [self._breaker.seconds_left(now), self._rest_until - now]
        waits += [LOOK_SECONDS] if not self._window.has_room else []
        waits += [self._requests.seconds_left(1.0, now)] if self._requests else []
        waits += [self._tokens.seconds_left(tokens, now)] if self._tokens else []
        return max(0.0, *waits)

    def _given_up(self) -> bool:
        opened = self._breaker.opened_at
        return opened is not None and self._clock() - opened > self._patience_seconds

    def _draw(self, requests: float, tokens: float) -> None:
        if self._requests and requests:
            self._requests.draw(requests, self._clock())
        if self._tokens:
            self._tokens.draw(tokens, self._clock())

    def _wait(self, seconds: float, passage: Passage) -> None:
        deadline = time.monotonic() + seconds
        with self._changed:
            while (left := deadline - time.monotonic()) > 0 and not passage.stopped:
                if self._changed.wait(min(left, LOOK_SECONDS)):
                    return

    def _leave(self, entry: Entry) -> None:
        with self._changed:
            if not entry.learned:
                self._learn(entry)
            self._window.under_way -= 1
            if entry.answer:
                self._draw(0.0, used_tokens(entry.answer, entry.tokens) - entry.tokens)
            self._changed.notify_all() if entry.probe else self._changed.notify()

    def _learn(self, entry: Entry) -> None:
        now, error = self._clock(), entry.error
        if error is None and entry.answer is None:
            self._breaker.forget(probe=entry.probe)
        elif error is None:
            self._window.succeed(now)
            self._breaker.succeed(now)
        elif error.status == TOO_MANY and error.retryable:
            self._window.shrink(now)
            self._breaker.forget(probe=entry.probe)
        elif error.retryable:
            self._window.hold(now)
            self._breaker.fail(now, probe=entry.probe)
        elif error.status is not None:
            self._breaker.succeed(now)  # it refuses this request, so it is there
        else:
            self._breaker.forget(probe=entry.probe)
        if error is not None and error.retryable and error.retry_after_seconds:
            self._rest_until = max(self._rest_until, now + error.retry_after_seconds)


@dataclass(slots=True)
class Lanes:
    """The lanes of one process, each made when it is first used. May be used from any thread.

    ``address``: model id to what names its provider where it is asked; ``limits``: by provider.
    """

    address: Callable[[str], str] = field(default=lambda model: model.partition("/")[0])
    limits: Mapping[str, Limits] = field(default_factory=dict)
    patience_seconds: float = PATIENCE_SECONDS
    clock: Callable[[], float] = time.monotonic
    _lanes: dict[str, Lane] = field(default_factory=dict)
    _guard: threading.Lock = field(default_factory=threading.Lock)  # guards _lanes: one provider has one lane

    def of(self, model: str) -> Lane:
        """The lane that leads to a model, by its id."""
        address, provider = self.address(model), model.partition("/")[0]
        with self._guard:
            if address not in self._lanes:
                limits = self.limits.get(provider, Limits())
                self._lanes[address] = Lane(address, limits, self.patience_seconds, self.clock)
            return self._lanes[address]

    def shut(self) -> frozenset[str]:
        """The addresses that nobody can be sent to right now."""
        with self._guard:
            lanes = list(self._lanes.items())
        return frozenset(address for address, lane in lanes if lane.shut)
