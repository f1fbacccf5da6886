"""The endpoints to providers: what many threads do there at once, and that whoever waits can be stopped."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from typing import Any

import pytest

from koderz_core.errors import Cancelled, ModelError
from koderz_core.events import CallFailed, CallFinished, CallStarted, ExperimentFinished
from koderz_core.records import Completion, Message, Request, Sampling, Usage
from koderz_core.runner.limiters import FIRST_REST_SECONDS, LEAST_SAMPLES
from koderz_core.runner.provider_limits import Endpoint, Endpoints, Policy
from koderz_core.runner.scheduler import Scheduler, Slot
from koderz_core.settings_fields import Limits

RIGHT = "```python\ndef add(a, b):\n    return a + b\n```"
REQUEST = Request((Message("user", "hello"),), Sampling(max_tokens=10), seed=0)
ANSWER = Completion("hello", "stop", Usage(2, 1), 0.1, Sampling())
DOWN = ModelError("down", retryable=True)
TOO_MANY = ModelError("too many", retryable=True, status=429)
SECONDS = 10.0
REQUESTS, TOKENS = Limits(requests_per_minute=10), Limits(tokens_per_minute=150)  # a burst: 1 and 15
Make = Callable[..., Any]


@dataclass
class Clock:
    now: float = 0.0

    def __call__(self) -> float:
        return self.now


def slot(scheduler: Scheduler | None = None) -> Slot:
    return Slot(scheduler or Scheduler(), "conf_1", "exp_1")


def call(endpoint: Endpoint, error: ModelError | None = None) -> None:
    with endpoint.admitted(REQUEST, slot()) as entry:
        entry.error = error
        entry.answer = None if error else ANSWER


def broken(clock: Clock, patience_seconds: float = 300.0) -> Endpoint:
    endpoint = Endpoint("there", patience_seconds=patience_seconds, clock=clock)
    for _ in range(LEAST_SAMPLES):
        call(endpoint, DOWN)
    return endpoint


def test_no_more_calls_are_under_way_than_the_limit() -> None:
    endpoint, at_once, guard = Endpoint("there", Limits(concurrency=3)), [0, 0], threading.Lock()

    def ask(_: int) -> None:
        with endpoint.admitted(REQUEST, slot()) as entry:
            with guard:
                at_once[0] += 1
                at_once[1] = max(at_once)
            time.sleep(0.002)
            with guard:
                at_once[0] -= 1
            entry.answer = ANSWER

    with ThreadPoolExecutor(16) as threads:
        list(threads.map(ask, range(100)))
    assert at_once == [0, 3]
    assert not endpoint.shut


def test_too_many_requests_leave_room_for_fewer_until_answers_come_again() -> None:
    clock = Clock()
    endpoint = Endpoint("there", Limits(concurrency=2), clock=clock)
    with endpoint.admitted(REQUEST, slot()), endpoint.admitted(REQUEST, slot()) as second:
        second.error = TOO_MANY
    with endpoint.admitted(REQUEST, slot()):
        assert endpoint.shut
    clock.now = 60.0
    call(endpoint)
    with endpoint.admitted(REQUEST, slot()):
        assert not endpoint.shut


def test_a_provider_that_keeps_failing_is_shut_and_one_answer_opens_it() -> None:
    clock = Clock()
    endpoint = broken(clock)
    assert endpoint.shut
    clock.now = FIRST_REST_SECONDS
    assert not endpoint.shut
    call(endpoint)
    call(endpoint)
    assert not endpoint.shut


def test_a_refusal_shows_that_a_provider_is_there() -> None:
    clock = Clock()
    endpoint = broken(clock)
    clock.now = FIRST_REST_SECONDS
    call(endpoint, ModelError("no such model", status=404))
    with endpoint.admitted(REQUEST, slot()):
        assert not endpoint.shut


def test_requests_and_tokens_of_a_minute_are_counted_and_what_was_not_used_is_not() -> None:
    clock = Clock()
    asked, told = (Endpoint("there", limit, clock=clock) for limit in (REQUESTS, TOKENS))
    call(asked)
    call(told)
    assert (asked.shut, told.shut) == (True, False)
    call(told, DOWN)
    assert told.shut
    clock.now = 60.0
    assert (asked.shut, told.shut) == (False, False)


def test_too_many_requests_never_break_a_lane() -> None:
    endpoint = Endpoint("there", clock=Clock())
    for _ in range(5 * LEAST_SAMPLES):
        call(endpoint, TOO_MANY)
    assert not endpoint.shut


def test_a_provider_that_says_when_to_come_back_is_left_alone_by_all() -> None:
    clock = Clock()
    endpoint = Endpoint("there", clock=clock)
    call(endpoint, ModelError("too many", retryable=True, status=429, retry_after_seconds=30.0))
    assert endpoint.shut
    clock.now = 30.0
    assert not endpoint.shut


def test_patience_ends_with_an_error_that_names_the_setting() -> None:
    clock = Clock()
    endpoint = broken(clock, patience_seconds=20.0)
    clock.now = FIRST_REST_SECONDS
    call(endpoint, DOWN)
    clock.now = 21.0
    assert not endpoint.shut
    with pytest.raises(ModelError, match="there has kept failing for more than 20 s") as caught:
        call(endpoint)
    assert not caught.value.retryable


def test_patience_does_not_include_time_in_which_no_call_was_made() -> None:
    clock = Clock()
    endpoint = broken(clock, patience_seconds=20.0)
    clock.now = 3600.0
    with endpoint.admitted(REQUEST, slot()) as probe:
        stopped = Scheduler()
        stopped.obey("stop")
        with pytest.raises(Cancelled), endpoint.admitted(REQUEST, slot(stopped)):
            pytest.fail("a call was made")
        probe.answer = ANSWER
    assert not endpoint.shut


def test_who_waits_for_a_provider_is_stopped_at_once() -> None:
    endpoint, scheduler = broken(Clock()), Scheduler()
    threading.Timer(0.1, scheduler.obey, ["stop", "exp_1"]).start()
    begin = time.monotonic()
    with pytest.raises(Cancelled), endpoint.admitted(REQUEST, slot(scheduler)):
        pytest.fail("a call was made")
    assert time.monotonic() - begin < 1.0


def test_who_waits_for_a_provider_lends_its_place_and_takes_it_back() -> None:
    scheduler, endpoint = Scheduler(), Endpoint("there", Limits(concurrency=1))
    scheduler.release(1)
    ours, others = slot(scheduler), [Slot(scheduler, "conf_2", "exp_2")]
    scheduler.admit([ours])
    taken = threading.Event()

    def wait() -> None:
        with endpoint.admitted(REQUEST, ours):
            taken.set()

    thread = threading.Thread(target=wait)
    with endpoint.admitted(REQUEST, slot()):
        thread.start()
        assert scheduler.admit(others)
    assert not taken.wait(0.1)
    scheduler.release()
    assert taken.wait(SECONDS)
    thread.join()
    assert ours.paused_seconds > 0.05


def test_calls_at_the_same_time_lend_their_one_place_once() -> None:
    scheduler = Scheduler()
    scheduler.release(1)
    ours = slot(scheduler)
    scheduler.admit([ours])
    with ours.released(), ours.released():
        assert scheduler.admit([Slot(scheduler, "conf_2", "exp_2")])
        late = threading.Thread(target=scheduler.admit, args=([Slot(scheduler, "conf_2", "exp_3")],), daemon=True)
        late.start()
        late.join(0.1)
        assert late.is_alive()
        scheduler.release(2)
        late.join(SECONDS)
    assert not late.is_alive()


def test_overlapping_waits_of_an_experiment_count_as_one_pause() -> None:
    scheduler = Scheduler()
    scheduler.release(1)
    ours, first, second = slot(scheduler), ExitStack(), ExitStack()
    scheduler.admit([ours])
    first.enter_context(ours.released())
    time.sleep(0.05)
    second.enter_context(ours.released())
    first.close()
    second.close()
    assert ours.paused_seconds >= 0.05


def test_experiments_whose_provider_is_shut_let_others_go_first() -> None:
    scheduler, shut = Scheduler(), [frozenset({"there"})]
    scheduler.release(1)
    held, other = Slot(scheduler, "conf_1", "exp_1", frozenset({"there"})), Slot(scheduler, "conf_2", "exp_2")
    waiting = [held, other]
    assert scheduler.admit(waiting, lambda: shut[0]) is other
    assert scheduler.hand_over(other, waiting, lambda: shut[0]) is None
    threading.Timer(0.1, shut.__setitem__, [0, frozenset()]).start()
    assert scheduler.admit(waiting, lambda: shut[0]) is held


def test_each_address_has_a_lane_with_the_limits_of_its_provider() -> None:
    endpoints = Endpoints(limits={"openai": Limits(concurrency=1)})
    assert endpoints.of("openai/a") is endpoints.of("openai/b")
    with endpoints.of("openai/a").admitted(REQUEST, slot()), endpoints.of("vllm/a").admitted(REQUEST, slot()):
        assert endpoints.shut() == frozenset({"openai"})


def test_a_call_that_is_broken_off_gives_everything_back() -> None:
    endpoint = Endpoint("there", Limits(concurrency=1))
    with suppress(ZeroDivisionError), endpoint.admitted(REQUEST, slot()):
        raise ZeroDivisionError
    assert not endpoint.shut


def test_an_empty_answer_of_which_nothing_is_known_is_asked_for_once_more(bench: Make) -> None:
    class Silent:
        id = "scripted/it"
        usage = Usage()

        def complete(self, *_: object) -> Completion:
            return Completion("", "empty", self.usage, 0.1, Sampling())

        def close(self) -> None: ...

    def events(made: Any) -> list[type]:
        kinds = (CallStarted, CallFailed, CallFinished, ExperimentFinished)
        return [type(entry.event) for entry in made.entries() if isinstance(entry.event, kinds)]

    made = bench(lambda _: "")
    made.model, made.policy = Silent(), Policy(retries=5, first_wait_seconds=0.0)
    made.go()
    assert events(made) == [CallStarted, CallFailed, CallStarted, CallFinished, ExperimentFinished]
    assert made.entries()[-2].event.outcome == "unsolved"


def test_an_empty_answer_with_tokens_is_the_models_at_once(bench: Make) -> None:
    made = bench(lambda _: "")
    made.model = type(
        "Mute",
        (),
        {
            "id": "scripted/it",
            "complete": lambda *_: Completion("", "empty", Usage(5, 9), 0.1, Sampling()),
            "close": lambda _: None,
        },
    )()
    made.go()
    assert not [entry for entry in made.entries() if isinstance(entry.event, CallFailed)]


def test_a_prompt_that_cannot_fit_is_not_sent_and_leaves_its_experiment_unsolved(bench: Make) -> None:
    made = bench(lambda _: RIGHT)
    made.context_tokens = 5
    made.go()
    (end,) = [entry.event for entry in made.entries() if isinstance(entry.event, ExperimentFinished)]
    assert (end.outcome, end.reason, end.failure, made.requests) == ("unsolved", "context", "context", [])
    assert "so it was not sent" in end.error
