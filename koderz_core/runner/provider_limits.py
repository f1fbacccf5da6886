"""Limits of each provider: concurrent calls, calls and tokens per minute, and a circuit breaker.

The limits hold within one process; several processes do not share them.
"""

from __future__ import annotations

import random
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from koderz_core.errors import ModelError
from koderz_core.records import Completion, Request
from koderz_core.runner.scheduler import Slot
from koderz_core.settings_fields import Limits

DEBOUNCE_SECONDS = 15.0
"""Answers that arrive within this time after a refusal belong to calls sent before it, so they change no limit."""


@dataclass(slots=True)
class Window:
    """The number of concurrent calls that one provider accepts: it shrinks on refusals and grows back slowly.

    All times are of the same monotonic clock. Not safe for threads: its user holds a lock.
    """

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
DEFAULT_ANSWER_TOKENS = 2048  # reserved for an answer without a limit
BYTES_PER_TOKEN = 3.0  # of prose and code: overestimates the tokens


@dataclass(slots=True)
class Bucket:
    """A token bucket: the calls or tokens per minute that one provider accepts.

    All times are of the same monotonic clock. Not safe for threads: its user holds a lock.
    """

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


def reserved_tokens(request: Request) -> float:
    """An estimate of the tokens of a call, rather too high."""
    prompt = sum(len(message.content) for message in request.messages) / BYTES_PER_TOKEN
    return prompt + (request.sampling.max_tokens or DEFAULT_ANSWER_TOKENS)


def used_tokens(completion: Completion, reserved: float) -> float:
    """The tokens that a call used; the reserved tokens if the provider does not report them."""
    usage = completion.usage
    if usage.input_tokens is None or usage.output_tokens is None:
        return reserved
    return usage.input_tokens + usage.output_tokens


SAMPLES = 20  # the newest outcomes that count
LEAST_SAMPLES = 10  # with fewer, the breaker stays closed
FAILING_SHARE = 0.8  # of the samples: more than retries can overcome
SAMPLE_SECONDS = 120.0  # older outcomes do not count
FIRST_REST_SECONDS = 15.0
LONGEST_REST_SECONDS = 120.0


@dataclass(slots=True)
class Breaker:
    """A circuit breaker: it opens when one provider keeps failing, and closes when a probe succeeds.

    All times are of the same monotonic clock. Not safe for threads: its user holds a lock.
    """

    outcomes: deque[tuple[float, bool]] = field(default_factory=lambda: deque(maxlen=SAMPLES))
    opened_at: float | None = None  # None: closed
    _rest_seconds: float = FIRST_REST_SECONDS
    _probe_at: float = 0.0  # when one call may probe whether the provider works again
    _probing: bool = False

    def seconds_left(self, now: float) -> float:
        """0 if a call may be made now; else the seconds until a retry makes sense."""
        if self.opened_at is None:
            return 0.0
        return self._rest_seconds if self._probing else max(0.0, self._probe_at - now)

    def begin(self) -> bool:
        """Start a call; return whether it is the probe that closes or keeps open the breaker."""
        self._probing = self.opened_at is not None
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


POLL_SECONDS = 0.25  # how often a waiting call checks whether it has been paused or stopped
PATIENCE_SECONDS = 300.0
TOO_MANY = 429


@dataclass(slots=True)
class Admission:
    """A call that an endpoint has admitted; ``answer`` or ``error``: its end, neither if koderz cancelled it."""

    tokens: float
    probe: bool = False
    answer: Completion | None = None
    error: ModelError | None = None
    counted: bool = False  # whether its failure has been counted


class Endpoint:
    """One provider at one address, with its limits. May be used from any thread."""

    def __init__(
        self,
        name: str,
        limits: Limits = Limits(),  # noqa: B008 (frozen)
        patience_seconds: float = PATIENCE_SECONDS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """``name``: as shown. ``patience_seconds``: how long calls wait for a provider that keeps failing."""
        self._name = name
        self._patience_seconds = patience_seconds
        self._clock = clock
        self._changed = threading.Condition()  # guards all below; a call that waits here waits for it
        self._breaker = Breaker()
        self._window = Window(limits.concurrency)
        self._rest_until = float("-inf")  # the time that the provider's Retry-After names
        per_minute = (limits.requests_per_minute, limits.tokens_per_minute)
        self._requests, self._tokens = (Bucket(limit) if limit else None for limit in per_minute)

    @contextmanager
    def admitted(self, request: Request, slot: Slot) -> Iterator[Admission]:
        """Make the call inside. Waits until the limits allow it, with the slot released, and obeys ``slot``.

        Raises ModelError if the provider has kept failing for longer than the patience, and Cancelled.
        """
        admission = Admission(reserved_tokens(request))
        while (seconds := self._enter(admission)) > 0:
            with slot.released():
                self._wait(seconds, slot)
        try:
            yield admission
        finally:
            self._leave(admission)

    def fail(self, admission: Admission, error: ModelError) -> float | None:
        """Count the failure of an admitted call; the seconds until the breaker allows a call, None: now."""
        with self._changed:
            admission.error = error
            self._count(admission)
            admission.counted = True
            return self._breaker.seconds_left(self._clock()) or None

    @property
    def shut(self) -> bool:
        """Whether a call would have to wait now."""
        with self._changed:
            return self._seconds_left(1.0) > 0 and not self._given_up()

    def _enter(self, admission: Admission) -> float:
        """0 if the call may be made now, and then count it; else the seconds after which to try again."""
        with self._changed:
            seconds = self._seconds_left(admission.tokens)
            if seconds > 0 and self._given_up():
                raise ModelError(
                    f"{self._name} has kept failing for more than {self._patience_seconds:g} s (KODERZ_PATIENCE), so "
                    "koderz currently sends no calls to it. Check the server or the status page of the provider."
                )
            if seconds == 0:
                admission.probe = self._breaker.begin()
                self._window.under_way += 1
                self._draw(1.0, admission.tokens)
            return seconds

    def _seconds_left(self, tokens: float) -> float:
        now = self._clock()
        waits = [self._breaker.seconds_left(now), self._rest_until - now]
        waits += [POLL_SECONDS] if not self._window.has_room else []
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

    def _wait(self, seconds: float, slot: Slot) -> None:
        deadline = time.monotonic() + seconds
        with self._changed:
            while (left := deadline - time.monotonic()) > 0 and not slot.stopped:
                if self._changed.wait(min(left, POLL_SECONDS)):
                    return

    def _leave(self, admission: Admission) -> None:
        with self._changed:
            if not admission.counted:
                self._count(admission)
            self._window.under_way -= 1
            if admission.answer:
                self._draw(0.0, used_tokens(admission.answer, admission.tokens) - admission.tokens)
            self._changed.notify_all() if admission.probe else self._changed.notify()

    def _count(self, admission: Admission) -> None:
        now, error = self._clock(), admission.error
        if error is None and admission.answer is None:
            self._breaker.forget(probe=admission.probe)
        elif error is None:
            self._window.succeed(now)
            self._breaker.succeed(now)
        elif error.status == TOO_MANY and error.retryable:
            self._window.shrink(now)
            self._breaker.forget(probe=admission.probe)
        elif error.retryable:
            self._window.hold(now)
            self._breaker.fail(now, probe=admission.probe)
        elif error.status is not None:
            self._breaker.succeed(now)  # it refuses this request, so it works
        else:
            self._breaker.forget(probe=admission.probe)
        if error is not None and error.retryable and error.retry_after_seconds:
            self._rest_until = max(self._rest_until, now + error.retry_after_seconds)


@dataclass(slots=True)
class Endpoints:
    """The endpoints of one process, each created when it is first used. May be used from any thread.

    ``address``: maps a model id to the address that names its endpoint; ``limits``: by provider.
    """

    address: Callable[[str], str] = field(default=lambda model: model.partition("/")[0])
    limits: Mapping[str, Limits] = field(default_factory=dict)
    patience_seconds: float = PATIENCE_SECONDS
    clock: Callable[[], float] = time.monotonic
    _endpoints: dict[str, Endpoint] = field(default_factory=dict)
    _guard: threading.Lock = field(default_factory=threading.Lock)  # guards _endpoints: an address has one endpoint

    def of(self, model: str) -> Endpoint:
        """The endpoint of a model, by the model's id."""
        address, provider = self.address(model), model.partition("/")[0]
        with self._guard:
            if address not in self._endpoints:
                limits = self.limits.get(provider, Limits())
                self._endpoints[address] = Endpoint(address, limits, self.patience_seconds, self.clock)
            return self._endpoints[address]

    def shut(self) -> frozenset[str]:
        """The addresses at which a call would have to wait now."""
        with self._guard:
            endpoints = list(self._endpoints.items())
        return frozenset(address for address, endpoint in endpoints if endpoint.shut)


@dataclass(frozen=True, slots=True)
class Policy:
    """Up to ``retries`` retries, each after a random part of a wait that doubles ("full jitter").

    (M. Brooker, Exponential Backoff and Jitter, AWS Architecture Blog, 2015.) ``random`` returns numbers from 0 to 1.
    """

    retries: int = 7
    first_wait_seconds: float = 1.0
    longest_wait_seconds: float = 60.0
    random: Callable[[], float] = random.random

    def retries_after(self, failures: Sequence[ModelError]) -> int:
        """How many retries in total a call with these failures may have."""
        error = failures[-1]
        if not error.retryable or error.retries is None:
            return self.retries if error.retryable else 0
        others = sum(failure.retries is None for failure in failures)
        return min(self.retries, error.retries + others)

    def wait(self, failures: Sequence[ModelError]) -> float | None:
        """Seconds until the next attempt after these failures, None if there is no further attempt.

        A provider's Retry-After is respected.
        """
        error, failed = failures[-1], len(failures)
        if failed > self.retries_after(failures):
            return None
        at_most = min(self.longest_wait_seconds, self.first_wait_seconds * 2.0 ** (failed - 1))
        if error.retry_after_seconds is None:
            return self.random() * at_most
        return error.retry_after_seconds + self.random() * min(at_most, self.first_wait_seconds)
