"""The way to each provider: how many calls may be under way, how many a minute, and whether it is worth asking now.

One process keeps to the limits; several at the same time each have their own.
"""

from __future__ import annotations

import random
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from koderz_core.config import Limits
from koderz_core.errors import ModelError
from koderz_core.records import Completion, Request
from koderz_core.runner.pause import Passage

DEBOUNCE_SECONDS = 15.0
"""What comes in after a refusal for so long was sent before it, and says nothing new."""


@dataclass(slots=True)
class Window:
    """Of one provider. All times are of the same monotonic clock; whoever uses it guards it."""

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
        """A call was answered. When a whole window of them was, and it was full, it is one larger."""
        if now >= self._steady_until and not self.has_room:
            self.size = min(float(self.most), self.size + 1.0 / self.size)

    def shrink(self, now: float) -> None:
        """The provider said that it is too much: half of what was under way."""
        self._steady_until = now + DEBOUNCE_SECONDS
        if now - self._shrunk_at >= DEBOUNCE_SECONDS:
            self._shrunk_at = now
            self.size = max(1.0, min(self.size, self.under_way) / 2)

    def hold(self, now: float) -> None:
        """The provider has trouble of its own, which asking less would not mend; asking more would not either."""
        self._steady_until = now + DEBOUNCE_SECONDS


BURST = 0.1  # the part of a minute's allowance that may be used at once; the rest flows in, so no minute has more
DEFAULT_ANSWER_TOKENS = 2048  # reserved for an answer without a limit
BYTES_PER_TOKEN = 3.0  # of prose and code: rather too many tokens than too few


@dataclass(slots=True)
class Bucket:
    """Of one provider. All times are of the same monotonic clock; whoever uses it guards it."""

    per_minute: float
    level: float = 0.0
    _at: float | None = None

    def seconds_left(self, weight: float, now: float) -> float:
        """How long until so much may be drawn. What is more than a whole burst waits for a full bucket."""
        self._fill(now)
        return max(0.0, min(weight, self._burst) - self.level) / self._per_second

    def draw(self, weight: float, now: float) -> None:
        """Take so much; with less than nothing, what was too much is given back."""
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
    """About what a call takes, rather more."""
    prompt = sum(len(message.content) for message in request.messages) / BYTES_PER_TOKEN
    return prompt + (request.sampling.max_tokens or DEFAULT_ANSWER_TOKENS)


def used_tokens(completion: Completion, reserved: float) -> float:
    """What a call took; all that was reserved where the provider does not say."""
    usage = completion.usage
    if usage.input_tokens is None or usage.output_tokens is None:
        return reserved
    return usage.input_tokens + usage.output_tokens


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


@dataclass(frozen=True, slots=True)
class Policy:
    """Up to ``retries`` more attempts, each after a random part of a wait that doubles ("full jitter").

    (M. Brooker, Exponential Backoff and Jitter, AWS Architecture Blog, 2015.) ``random`` gives numbers from 0 to 1.
    """

    retries: int = 7
    first_wait_seconds: float = 1.0
    longest_wait_seconds: float = 60.0
    random: Callable[[], float] = random.random

    def retries_after(self, failures: Sequence[ModelError]) -> int:
        """How many times a call that failed so far like this may be tried again in all."""
        error = failures[-1]
        if not error.retryable or error.retries is None:
            return self.retries if error.retryable else 0
        others = sum(failure.retries is None for failure in failures)
        return min(self.retries, error.retries + others)

    def wait(self, failures: Sequence[ModelError]) -> float | None:
        """Seconds until the next attempt after these, None if there is no point in one.

        A provider that says when to come back is believed.
        """
        error, failed = failures[-1], len(failures)
        if failed > self.retries_after(failures):
            return None
        at_most = min(self.longest_wait_seconds, self.first_wait_seconds * 2.0 ** (failed - 1))
        if error.retry_after_seconds is None:
            return self.random() * at_most
        return error.retry_after_seconds + self.random() * min(at_most, self.first_wait_seconds)
