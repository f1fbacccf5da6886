"""Several addresses of one model: which one a call goes to, and what a failing address does to the others."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

import pytest
from chat_server import Answer, Server, sends, serving_chat, streams

from koderz_core import Order, Wanted, Workspace, open_workspace
from koderz_core.errors import ModelError
from koderz_core.events import CallFailed, ExperimentFinished
from koderz_core.journal import read_all
from koderz_core.records import Completion, Message, Request, Sampling, Usage
from koderz_core.runner.limiters import FIRST_REST_SECONDS, LEAST_SAMPLES
from koderz_core.runner.provider_limits import IDLE_SECONDS, AddressState, Endpoint, Endpoints
from koderz_core.runner.scheduler import Scheduler, Slot
from koderz_core.settings_fields import Limits

REQUEST = Request((Message("user", "hello"),), Sampling(max_tokens=10), seed=0)
SLOW, FAST = (Completion("hello", "stop", Usage(2, 100), seconds, Sampling()) for seconds in (3.0, 1.0))
DOWN = ModelError("down", retryable=True)
WRONG = streams({"content": "```python\ndef nothing():\n    return None\n```"})
CONCURRENCY = 4
Ends = dict[str, Completion | ModelError]


@dataclass
class Clock:
    now: float = 0.0

    def __call__(self) -> float:
        return self.now


def slot(scheduler: Scheduler | None = None) -> Slot:
    return Slot(scheduler or Scheduler(), "conf_1", "exp_1")


def endpoint_of(addresses: str, limits: Limits = Limits(), **options: Any) -> Endpoint:  # noqa: B008 (frozen)
    return Endpoint("the name", limits, addresses=addresses.split(), **options)


def call(endpoint: Endpoint, ends: Ends, failures: Sequence[ModelError] = ()) -> str:
    """Make a call that ends as its address says; return the address."""
    with endpoint.admitted(REQUEST, slot(), failures) as admission:
        end = ends[admission.address]
        if isinstance(end, ModelError):
            endpoint.fail(admission, end)
        else:
            admission.answer = end
        return admission.address


def under_way(endpoint: Endpoint, calls: int) -> Counter[str]:
    """The addresses of this number of calls at the same time."""
    with ExitStack() as open_calls:
        admissions = [open_calls.enter_context(endpoint.admitted(REQUEST, slot())) for _ in range(calls)]
        return Counter(admission.address for admission in admissions)


def measured(clock: Clock) -> Endpoint:
    """Two addresses, one of which has shown three times the speed of the other."""
    endpoint = endpoint_of("slow fast", clock=clock)
    with endpoint.admitted(REQUEST, slot()) as first, endpoint.admitted(REQUEST, slot()) as second:
        first.answer, second.answer = SLOW, FAST
    return endpoint


def broken(clock: Clock) -> Endpoint:
    """Two addresses, one of which keeps failing."""
    endpoint = endpoint_of("bad good", clock=clock)
    while endpoint.states("it")[0].breaker == "closed":
        call(endpoint, {"bad": DOWN, "good": FAST})
    return endpoint


def test_the_first_calls_are_spread_evenly() -> None:
    assert under_way(endpoint_of("a b c"), 9) == {"a": 3, "b": 3, "c": 3}


def test_calls_under_way_follow_the_measured_speeds() -> None:
    assert under_way(measured(Clock()), 16) == {"slow": 4, "fast": 12}


def test_an_address_that_was_slow_is_measured_again_after_some_time() -> None:
    clock = Clock()
    endpoint = measured(clock)
    assert call(endpoint, {"fast": FAST}) == "fast"
    clock.now = IDLE_SECONDS - 1
    assert call(endpoint, {"fast": FAST}) == "fast"
    clock.now = IDLE_SECONDS
    assert under_way(endpoint, 2) == {"slow": 1, "fast": 1}
    clock.now = 2 * IDLE_SECONDS
    assert call(endpoint, {"slow": FAST}) == "slow"
    assert under_way(endpoint, 8) == {"slow": 4, "fast": 4}


def test_a_failing_address_takes_no_calls_and_the_others_all() -> None:
    clock = Clock()
    endpoint = broken(clock)
    assert not endpoint.shut
    assert under_way(endpoint, 8) == {"good": 8}
    bad, good = endpoint.states("it")
    assert (bad.breaker, bad.failed, bad.wait_seconds) == ("open", LEAST_SAMPLES, FIRST_REST_SECONDS)
    assert (good.breaker, good.failed, good.wait_seconds) == ("closed", 0, 0.0)


def test_an_address_that_has_come_back_takes_one_call_and_then_its_share() -> None:
    clock = Clock()
    endpoint = broken(clock)
    clock.now = FIRST_REST_SECONDS
    assert under_way(endpoint, 8) == {"bad": 1, "good": 7}
    assert call(endpoint, {"bad": FAST, "good": FAST}) == "bad"
    assert under_way(endpoint, 8) == {"bad": 4, "good": 4}


def test_a_call_is_not_made_again_where_it_failed_while_another_address_takes_calls() -> None:
    endpoint, failure = endpoint_of("a b", Limits(concurrency=1)), ModelError("down", retryable=True)
    first = call(endpoint, {"a": failure, "b": failure})
    assert endpoint.has_another([failure])
    (other,) = {"a", "b"} - {first}
    assert call(endpoint, {other: FAST}, [failure]) == other
    again = ModelError("down", retryable=True)
    call(endpoint, {other: again}, [failure])
    assert not endpoint.has_another([failure, again])


def test_a_call_that_failed_at_the_only_working_address_does_not_wait_for_a_broken_one() -> None:
    endpoint, scheduler, failure = broken(Clock()), Scheduler(), ModelError("down", retryable=True)
    failure.address = "good"
    scheduler.obey("stop")  # so that a call that waits raises Cancelled
    with endpoint.admitted(REQUEST, slot(scheduler), [failure]) as admission:
        assert admission.address == "good"


def test_a_refusal_of_one_address_is_not_the_end_and_that_of_all_is() -> None:
    endpoint, failures = endpoint_of("a b", clock=Clock()), list[ModelError]()
    for retryable in (True, False):
        with endpoint.admitted(REQUEST, slot(), failures) as admission:
            error = ModelError("no such model", status=404)
            endpoint.fail(admission, error, failures)
            failures.append(error)
        assert error.retryable is retryable
    assert len({failure.address for failure in failures}) == 2
    wrong = ModelError("the prompt is too long", status=400)
    with endpoint.admitted(REQUEST, slot()) as admission:
        endpoint.fail(admission, wrong)
    assert not wrong.retryable


def test_retry_after_keeps_calls_from_one_address_only() -> None:
    endpoint = endpoint_of("a b", clock=Clock())
    busy = ModelError("too many", retryable=True, status=429, retry_after_seconds=30.0)
    (other,) = {"a", "b"} - {call(endpoint, {"a": busy, "b": busy})}
    assert under_way(endpoint, 4) == {other: 4}


def test_patience_ends_when_all_addresses_keep_failing() -> None:
    clock = Clock()
    endpoint = endpoint_of("a b", patience_seconds=20.0, clock=clock)
    while not endpoint.shut:
        call(endpoint, {"a": DOWN, "b": DOWN})
    clock.now = FIRST_REST_SECONDS
    for _ in "ab":
        call(endpoint, {"a": DOWN, "b": DOWN})
    clock.now = 21.0
    with pytest.raises(ModelError, match="the name have kept failing for more than 20 s"):
        call(endpoint, {})


def test_the_limits_of_a_provider_hold_at_each_address() -> None:
    endpoints = Endpoints(lambda _: "both", {"vllm": Limits(concurrency=1)}, addresses=lambda _: ("a", "b"))
    with endpoints.of("vllm/it").admitted(REQUEST, slot()), endpoints.of("vllm/it").admitted(REQUEST, slot()):
        assert endpoints.shut() == frozenset({"both"})
    assert not endpoints.shut()


# The same with real servers and the real runner


@contextmanager
def servers(number: int) -> Iterator[list[Server]]:
    with ExitStack() as running:
        yield [running.enter_context(serving_chat()) for _ in range(number)]


@contextmanager
def workspace(*running: Server, clock: Clock | None = None) -> Iterator[Workspace]:
    for server in running:
        server.models = ("it",)
    with open_workspace(vllm_base_url=" ".join(server.url for server in running), patience=20) as opened:
        if clock:
            opened.models.endpoints.clock = clock
        yield opened


def run(opened: Workspace, problems: str) -> list[object]:
    """The events of a benchmark with a call per problem; no experiment may end with an error."""
    plan = opened.plans.plan(Order([Wanted("direct", {"coder": "vllm/it"})], problems))
    opened.runs.run(plan, CONCURRENCY)
    events = [entry.event for entry in read_all(opened.settings.journals_dir / f"{plan.id}.jsonl")]
    ends = [event for event in events if isinstance(event, ExperimentFinished)]
    assert {end.outcome for end in ends} == {"unsolved"}
    return events


def states(opened: Workspace) -> list[AddressState]:
    return sorted(opened.models.addresses(), key=lambda state: state.address)


def after(seconds: float) -> Answer:
    def answer(handler: object) -> None:
        time.sleep(seconds)
        WRONG(handler)  # type: ignore[arg-type]

    return answer


def test_a_fast_server_answers_more_calls_than_a_slow_one() -> None:
    with servers(2) as (slow, fast), workspace(slow, fast) as opened:
        slow.answer, fast.answer = after(1.0), after(0.1)
        run(opened, "0:40")
        assert len(slow.bodies) + len(fast.bodies) == 40
        assert len(fast.bodies) > 2 * len(slow.bodies) > 0
        assert sum(state.answered for state in states(opened)) == 40


def test_a_broken_server_costs_an_attempt_per_call_until_its_breaker_opens_and_it_may_come_back() -> None:
    clock = Clock()
    with servers(2) as (bad, good), workspace(bad, good, clock=clock) as opened:
        bad.answer, good.answer = sends(503, {}), WRONG
        failed = [event for event in run(opened, "0:40") if isinstance(event, CallFailed)]
        assert LEAST_SAMPLES <= len(bad.bodies) == len(failed) < LEAST_SAMPLES + CONCURRENCY
        assert {event.wait_seconds for event in failed} == {0.0}
        assert {event.closed_seconds for event in failed} == {None}
        assert len(good.bodies) == 40
        assert sorted(state.breaker for state in states(opened)) == ["closed", "open"]
        bad.answer, clock.now = WRONG, FIRST_REST_SECONDS
        assert not [event for event in run(opened, "40:80") if isinstance(event, CallFailed)]
        assert len(bad.bodies) > len(failed)
        assert {state.breaker for state in states(opened)} == {"closed"}


def test_a_server_that_has_lost_the_model_ends_no_experiment() -> None:
    with servers(2) as (bad, good), workspace(bad, good) as opened:
        bad.answer, good.answer = sends(404, {}), WRONG
        failed = [event for event in run(opened, "0:30") if isinstance(event, CallFailed)]
        assert {event.retryable for event in failed} == {True}
        assert len(failed) == len(bad.bodies) < LEAST_SAMPLES + CONCURRENCY


def test_a_server_that_is_not_there_is_left_out() -> None:
    with servers(1) as (good,), servers(1) as (gone,):
        good.answer, address = WRONG, gone
    with servers(1) as (good,):
        good.answer = WRONG
        with workspace(address, good) as opened:
            run(opened, "0:8")
        assert len(good.bodies) == 8
