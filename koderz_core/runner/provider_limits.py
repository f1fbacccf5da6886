"""Limits of each provider: concurrent calls, calls and tokens per minute, and a circuit breaker.

The limits hold within one process; several processes do not share them.
"""

from __future__ import annotations

import random
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from koderz_core.errors import ModelError
from koderz_core.records import Completion, Request
from koderz_core.runner.limiters import Breaker, BreakerState, Bucket, Speed, Window
from koderz_core.runner.scheduler import Slot
from koderz_core.settings_fields import Limits

DEFAULT_ANSWER_TOKENS = 2048  # reserved for an answer without a limit
BYTES_PER_TOKEN = 3.0  # of prose and code: overestimates the tokens


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


def generated_tokens(answer: Completion) -> float:
    """The tokens of an answer, estimated from its text if the provider does not report them."""
    reported = answer.usage.output_tokens
    return len(answer.text) / BYTES_PER_TOKEN if reported is None else reported


POLL_SECONDS = 0.25  # how often a waiting call checks whether it has been paused or stopped
PATIENCE_SECONDS = 300.0
IDLE_SECONDS = 30.0
"""After this time without a call to an address, its measured speed is out of date, so it gets the next call."""
TOO_MANY = 429
REFUSALS = frozenset({301, 302, 303, 307, 308, 401, 403, 404, 405})
"""Statuses of a refusal that concerns the address and not the request: another address may answer the call."""


@dataclass(frozen=True, slots=True)
class AddressState:
    """The calls of this process to one address. ``breaker``: in the terms of circuit breakers.

    ``tokens_per_second``: of a call, over the newest answers; None: not known yet. ``wait_seconds``: how long the
    address takes no calls because of its failures or its own request.
    """

    provider: str
    address: str
    under_way: int
    answered: int
    failed: int
    tokens_per_second: float | None
    breaker: BreakerState
    wait_seconds: float


class Place:
    """One address of a provider: its limits, and the calls that it has answered. Its endpoint holds a lock."""

    def __init__(self, address: str, limits: Limits) -> None:
        self.address = address
        self.window, self.breaker, self.speed = Window(limits.concurrency), Breaker(), Speed()
        self._rest_until = float("-inf")  # the time that the provider's Retry-After names
        per_minute = (limits.requests_per_minute, limits.tokens_per_minute)
        self._requests, self._tokens = (Bucket(limit) if limit else None for limit in per_minute)
        self.admitted = self.answered = self.failed = 0
        self._admitted_at = float("-inf")
        self._measure_again = False  # whether the next answer replaces the measured speed

    def down_seconds(self, now: float) -> float:
        """How long it takes no calls because of its failures or its own request."""
        return max(0.0, self.breaker.seconds_left(now), self._rest_until - now)

    def seconds_left(self, tokens: float, now: float) -> float:
        """0 if a call may be made now; else the seconds after which to try again."""
        waits = [self.down_seconds(now)]
        waits += [POLL_SECONDS] if not self.window.has_room else []
        waits += [self._requests.seconds_left(1.0, now)] if self._requests else []
        waits += [self._tokens.seconds_left(tokens, now)] if self._tokens else []
        return max(waits)

    def load(self, usual: float, now: float) -> tuple[float, int]:
        """The calls under way per token/s, with a further one. ``usual``: the speed of an address that has none yet.

        An address without calls for some time comes first, because it may have become faster.
        """
        speed = self.speed.tokens_per_second or usual
        return (0.0 if self._out_of_date(now) else (self.window.under_way + 1) / speed), self.admitted

    def begin(self, admission: Admission, now: float) -> None:
        """Count a call as under way."""
        self._measure_again = self._measure_again or self._out_of_date(now)
        admission.place, admission.probe = self, self.breaker.begin(now)
        self.window.under_way += 1
        self.admitted += 1
        self._admitted_at = now
        self._draw(1.0, admission.tokens, now)

    def end(self, admission: Admission, now: float) -> None:
        """Count a call as no longer under way, and its end if it has not been counted."""
        if not admission.counted:
            self.count(admission, now)
        self.window.under_way -= 1
        if admission.answer:
            self._draw(0.0, used_tokens(admission.answer, admission.tokens) - admission.tokens, now)

    def count(self, admission: Admission, now: float) -> None:
        """Learn from how a call ended."""
        error, answer = admission.error, admission.answer
        admission.counted = True
        self.failed += error is not None
        if error is None and answer is None:
            self.breaker.forget(probe=admission.probe)
        elif error is None and answer is not None:
            self.answered += 1
            self.speed = Speed() if self._measure_again else self.speed
            self._measure_again = False
            self.speed.add(generated_tokens(answer), answer.seconds)
            self.window.succeed(now)
            self.breaker.succeed(now)
        elif error is not None:
            self._learn(error, now, probe=admission.probe)

    def _out_of_date(self, now: float) -> bool:
        return bool(self.answered) and not self.window.under_way and now - self._admitted_at >= IDLE_SECONDS

    def _learn(self, error: ModelError, now: float, *, probe: bool) -> None:
        if error.status == TOO_MANY and error.retryable:
            self.window.shrink(now)
            self.breaker.forget(probe=probe)
        elif error.retryable:
            self.window.hold(now)
            self.breaker.fail(now, probe=probe)
        elif error.status is not None:
            self.breaker.succeed(now)  # it refuses this request, so it works
        else:
            self.breaker.forget(probe=probe)
        if error.retryable and error.retry_after_seconds:
            self._rest_until = max(self._rest_until, now + error.retry_after_seconds)

    def _draw(self, requests: float, tokens: float, now: float) -> None:
        if self._requests and requests:
            self._requests.draw(requests, now)
        if self._tokens:
            self._tokens.draw(tokens, now)


@dataclass(slots=True)
class Admission:
    """A call that an endpoint has admitted; ``answer`` or ``error``: its end, neither if koderz cancelled it.

    ``address``: the address to ask if there are several, else "".
    """

    tokens: float
    place: Place
    probe: bool = False
    answer: Completion | None = None
    error: ModelError | None = None
    counted: bool = False  # whether its failure has been counted
    address: str = ""


class Endpoint:
    """One provider at one address or several, with the limits of each. May be used from any thread.

    A call goes to the address with the fewest calls under way, relative to the measured speed of each. An address that
    keeps failing takes no calls, and calls that failed at one address are made at another.
    """

    def __init__(
        self,
        name: str,
        limits: Limits = Limits(),  # noqa: B008 (frozen)
        patience_seconds: float = PATIENCE_SECONDS,
        clock: Callable[[], float] = time.monotonic,
        addresses: Sequence[str] = (),
    ) -> None:
        """``name``: as shown. ``patience_seconds``: how long calls wait for a provider that keeps failing.

        ``addresses``: if there are several; otherwise the name is the address.
        """
        self._name = name
        self._patience_seconds = patience_seconds
        self._clock = clock
        self._changed = threading.Condition()  # guards all below; a call that waits here waits for it
        self._places = [Place(address, limits) for address in (addresses if len(addresses) > 1 else (name,))]

    @contextmanager
    def admitted(self, request: Request, slot: Slot, failures: Sequence[ModelError] = ()) -> Iterator[Admission]:
        """Make the call inside. Waits until the limits allow it, with the slot released, and obeys ``slot``.

        ``failures``: of this call so far. Raises ModelError if the provider has kept failing for longer than the
        patience, and Cancelled.
        """
        admission = Admission(reserved_tokens(request), self._places[0])
        while (seconds := self._enter(admission, failures)) > 0:
            with slot.released():
                self._wait(seconds, slot)
        try:
            yield admission
        finally:
            with self._changed:
                admission.place.end(admission, self._clock())
                self._changed.notify_all() if admission.probe else self._changed.notify()

    def fail(self, admission: Admission, error: ModelError, before: Sequence[ModelError] = ()) -> float | None:
        """Count the failure of an admitted call; the seconds until a breaker allows a call, None: now.

        ``before``: the earlier failures of this call. An error that only concerns its address becomes retryable if the
        call can be made at another.
        """
        with self._changed:
            admission.error, error.address = error, admission.address
            concerns_address = error.status in REFUSALS or not error.arrived
            error.retryable = error.retryable or (concerns_address and self.has_another([*before, error]))
            admission.place.count(admission, self._clock())
            return min(place.breaker.seconds_left(self._clock()) for place in self._places) or None

    def has_another(self, failures: Sequence[ModelError]) -> bool:
        """Whether a call with these failures can be made at once at an address at which it has not failed."""
        asked = {failure.address for failure in failures}
        with self._changed:
            now = self._clock()
            return len(self._places) > 1 and any(
                place.address not in asked and not place.down_seconds(now) for place in self._places
            )

    @property
    def shut(self) -> bool:
        """Whether a call would have to wait now."""
        with self._changed:
            now = self._clock()
            return all(place.seconds_left(1.0, now) > 0 for place in self._places) and not self._given_up(now)

    def states(self, provider: str) -> tuple[AddressState, ...]:
        """The state of each address."""
        with self._changed:
            now = self._clock()
            return tuple(
                AddressState(
                    provider,
                    place.address,
                    place.window.under_way,
                    place.answered,
                    place.failed,
                    place.speed.tokens_per_second,
                    place.breaker.state(now),
                    place.down_seconds(now),
                )
                for place in self._places
            )

    def _enter(self, admission: Admission, failures: Sequence[ModelError]) -> float:
        """0 if the call may be made now, and then count it; else the seconds after which to try again."""
        with self._changed:
            now = self._clock()
            able = self._able(failures, now)
            waits = [place.seconds_left(admission.tokens, now) for place in able]
            if (seconds := min(waits)) > 0:
                if self._given_up(now):
                    raise self._patience_over()
                return seconds
            ready = [place for place, wait in zip(able, waits, strict=True) if not wait]
            place = ready[0] if len(ready) == 1 else self._least_loaded(ready, now)
            place.begin(admission, now)
            admission.address = place.address if len(self._places) > 1 else ""
            return 0.0

    def _able(self, failures: Sequence[ModelError], now: float) -> Sequence[Place]:
        """The addresses to choose from: of those that take calls, those at which this call has failed least."""
        able = [place for place in self._places if not place.down_seconds(now)]
        if not able or len(self._places) == 1:
            return self._places
        failed = Counter(failure.address for failure in failures)
        fewest = min(failed[place.address] for place in able)
        return [place for place in able if failed[place.address] == fewest]

    def _least_loaded(self, places: Sequence[Place], now: float) -> Place:
        speeds = [speed for place in self._places if (speed := place.speed.tokens_per_second)]
        usual = sum(speeds) / len(speeds) if speeds else 1.0
        return min(places, key=lambda place: place.load(usual, now))

    def _given_up(self, now: float) -> bool:
        """Whether every address has kept failing for longer than the patience."""
        opened = [place.breaker.opened_at for place in self._places]
        return all(at is not None and now - at > self._patience_seconds for at in opened)

    def _patience_over(self) -> ModelError:
        several = len(self._places) > 1
        return ModelError(
            f"{self._name} {'have' if several else 'has'} kept failing for more than {self._patience_seconds:g} s "
            f"(KODERZ_PATIENCE), so koderz currently sends no calls to {'them' if several else 'it'}. Check the server "
            "or the status page of the provider."
        )

    def _wait(self, seconds: float, slot: Slot) -> None:
        deadline = time.monotonic() + seconds
        with self._changed:
            while (left := deadline - time.monotonic()) > 0 and not slot.stopped:
                if self._changed.wait(min(left, POLL_SECONDS)):
                    return


@dataclass(slots=True)
class Endpoints:
    """The endpoints of one process, each created when it is first used. May be used from any thread.

    ``address``: maps a model id to the address that names its endpoint, or to another name if it has several
    ``addresses``; ``limits``: by provider, for each address.
    """

    address: Callable[[str], str] = field(default=lambda model: model.partition("/")[0])
    limits: Mapping[str, Limits] = field(default_factory=dict)
    patience_seconds: float = PATIENCE_SECONDS
    clock: Callable[[], float] = time.monotonic
    addresses: Callable[[str], Sequence[str]] = field(default=lambda _model: ())
    _endpoints: dict[str, Endpoint] = field(default_factory=dict)
    _providers: dict[str, str] = field(default_factory=dict)  # the first provider that used an endpoint
    _guard: threading.Lock = field(default_factory=threading.Lock)  # guards both: an address has one endpoint

    def of(self, model: str) -> Endpoint:
        """The endpoint of a model, by the model's id."""
        address, provider = self.address(model), model.partition("/")[0]
        with self._guard:
            if address not in self._endpoints:
                limits = self.limits.get(provider, Limits())
                self._endpoints[address] = Endpoint(
                    address, limits, self.patience_seconds, self.clock, self.addresses(model)
                )
                self._providers[address] = provider
            return self._endpoints[address]

    def shut(self) -> frozenset[str]:
        """The addresses at which a call would have to wait now."""
        return frozenset(address for address, endpoint in self._all() if endpoint.shut)

    def states(self) -> tuple[AddressState, ...]:
        """The state of each address that this process has asked."""
        return tuple(state for name, endpoint in self._all() for state in endpoint.states(self._providers[name]))

    def _all(self) -> list[tuple[str, Endpoint]]:
        with self._guard:
            return list(self._endpoints.items())


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
