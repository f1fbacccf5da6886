"""When a call is tried again, and how much a provider is asked: all by clocks and dice that the tests hold."""

from __future__ import annotations

from itertools import pairwise

import pytest

from koderz_core.errors import ModelError
from koderz_core.records import Completion, Message, Request, Sampling, Usage
from koderz_core.runner.limiters import (
    DEBOUNCE_SECONDS,
    FIRST_REST_SECONDS,
    LEAST_SAMPLES,
    LONGEST_REST_SECONDS,
    Breaker,
    Bucket,
    Window,
)
from koderz_core.runner.provider_limits import Policy, reserved_tokens, used_tokens
from koderz_core.runner.retry import check_fits, least_tokens

BUSY = ModelError("busy", retryable=True)
ODD = ModelError("no answer of a model", retryable=True, retries=1)


def test_waits_double_up_to_a_limit_and_the_dice_choose_a_part_of_them() -> None:
    most = Policy(longest_wait_seconds=10.0, random=lambda: 1.0)
    assert [most.wait([BUSY] * failed) for failed in range(1, 7)] == [1.0, 2.0, 4.0, 8.0, 10.0, 10.0]
    assert Policy(random=lambda: 0.25).wait([BUSY] * 3) == 1.0


def test_after_the_last_retry_and_after_a_refusal_there_is_no_other_attempt() -> None:
    assert Policy(retries=2).wait([BUSY] * 2) is not None
    assert Policy(retries=2).wait([BUSY] * 3) is None
    assert Policy().wait([ModelError("the key is wrong")]) is None


def test_what_hardly_ever_passes_is_tried_less_often_whatever_else_fails() -> None:
    assert Policy().wait([BUSY, BUSY, ODD]) is not None
    assert Policy().wait([ODD, BUSY, ODD]) is None
    assert Policy().wait([ODD, BUSY, BUSY]) is not None


def test_a_provider_that_says_when_to_come_back_is_not_asked_before() -> None:
    later = ModelError("busy", retryable=True, retry_after_seconds=30.0)
    assert Policy(random=lambda: 0.0).wait([later]) == 30.0
    assert Policy(random=lambda: 1.0).wait([later] * 5) == 31.0


def failed(breaker: Breaker, times: int, now: float = 0.0) -> Breaker:
    for _ in range(times):
        breaker.fail(now, probe=breaker.begin(now))
    return breaker


def test_a_breaker_concludes_nothing_from_few_failures_or_old_ones() -> None:
    assert failed(Breaker(), LEAST_SAMPLES - 1).seconds_left(0.0) == 0.0
    old = failed(Breaker(), LEAST_SAMPLES - 1, now=0.0)
    assert failed(old, 1, now=1000.0).seconds_left(1000.0) == 0.0
    assert failed(Breaker(), LEAST_SAMPLES).seconds_left(0.0) == FIRST_REST_SECONDS


def test_a_provider_that_often_answers_is_asked_on() -> None:
    breaker = Breaker()
    for number in range(100):
        if number % 3:
            failed(breaker, 1)
        else:
            breaker.succeed(0.0)
    assert breaker.seconds_left(0.0) == 0.0


def test_a_breaker_that_has_rested_lets_one_call_find_out() -> None:
    breaker = failed(Breaker(), LEAST_SAMPLES)
    assert breaker.seconds_left(FIRST_REST_SECONDS) == 0.0
    assert breaker.begin(FIRST_REST_SECONDS)
    assert breaker.seconds_left(FIRST_REST_SECONDS) > 0.0
    breaker.succeed(FIRST_REST_SECONDS)
    assert breaker.seconds_left(FIRST_REST_SECONDS) == 0.0
    assert not breaker.begin(FIRST_REST_SECONDS)
    assert failed(breaker, 1, FIRST_REST_SECONDS).seconds_left(FIRST_REST_SECONDS) == 0.0


def test_a_probe_that_fails_makes_the_rest_longer_up_to_a_limit() -> None:
    breaker, now, rests = failed(Breaker(), LEAST_SAMPLES), 0.0, []
    for _ in range(5):
        rests.append(breaker.seconds_left(now))
        now += rests[-1]
        failed(breaker, 1, now)
    assert rests == [15.0, 30.0, 60.0, LONGEST_REST_SECONDS, LONGEST_REST_SECONDS]
    assert breaker.opened_at == 0.0


def test_a_probe_that_was_broken_off_leaves_the_next_one_its_turn() -> None:
    breaker = failed(Breaker(), LEAST_SAMPLES)
    breaker.forget(probe=breaker.begin(FIRST_REST_SECONDS))
    assert breaker.seconds_left(FIRST_REST_SECONDS) == 0.0


def test_too_much_halves_what_is_under_way_once_for_all_that_was_sent_before() -> None:
    window = Window(64, under_way=20)
    window.shrink(0.0)
    window.shrink(DEBOUNCE_SECONDS - 1)
    assert window.size == 10.0
    window.under_way = 10
    window.shrink(DEBOUNCE_SECONDS)
    assert window.size == 5.0


def test_a_window_grows_by_one_for_each_full_round_and_not_beyond_its_limit() -> None:
    window = Window(8, under_way=4)
    window.shrink(0.0)
    window.under_way = 2
    for _ in range(2):
        window.succeed(DEBOUNCE_SECONDS)
    assert 2.8 < window.size <= 3.0
    for _ in range(1000):
        window.under_way = int(window.size)
        window.succeed(DEBOUNCE_SECONDS)
    assert window.size == 8.0


def test_a_window_does_not_grow_while_a_provider_is_in_trouble_or_asked_for_less() -> None:
    window = Window(8, under_way=8)
    window.shrink(0.0)
    window.under_way = 4
    window.hold(DEBOUNCE_SECONDS)
    window.succeed(DEBOUNCE_SECONDS + 1)
    window.under_way = 1
    window.succeed(10 * DEBOUNCE_SECONDS)
    assert window.size == 4.0


def drawn(bucket: Bucket, weight: float, seconds: float) -> list[float]:
    """When so much was drawn, each time as soon as possible."""
    times, now = list[float](), 0.0
    while now < seconds:
        if wait := bucket.seconds_left(weight, now):
            now += wait + 1e-6
        else:
            bucket.draw(weight, now)
            times.append(now)
    return times


@pytest.mark.parametrize(("per_minute", "weight"), [(60.0, 1.0), (100.0, 1.0), (1000.0, 70.0), (30.0, 7.0)])
def test_no_minute_has_more_than_its_limit_and_most_of_it_is_used(per_minute: float, weight: float) -> None:
    times = drawn(Bucket(per_minute), weight, 600.0)
    for start in times:
        allowed = max(per_minute, 0.9 * per_minute + weight)  # what is larger than a burst goes at once
        assert weight * sum(start <= time < start + 60.0 for time in times) <= allowed
    assert weight * len(times) > 0.85 * 10 * per_minute


def test_what_is_larger_than_a_minute_waits_and_gets_through() -> None:
    times = drawn(Bucket(10.0), 25.0, 1000.0)
    assert len(times) >= 4
    assert min(later - sooner for sooner, later in pairwise(times)) > 150.0


def test_tokens_that_were_not_used_are_given_back() -> None:
    bucket = Bucket(1000.0)
    bucket.draw(100.0, 0.0)
    assert bucket.seconds_left(50.0, 0.0) > 0.0
    bucket.draw(-60.0, 0.0)
    assert bucket.seconds_left(50.0, 0.0) == 0.0


def asks(text: str, max_tokens: int | None = None) -> Request:
    return Request((Message("user", text),), Sampling(max_tokens=max_tokens), seed=0)


def test_a_call_reserves_its_prompt_and_its_longest_answer_and_settles_what_it_took() -> None:
    reserved = reserved_tokens(asks("x" * 300, 50))
    assert reserved == 150.0
    assert used_tokens(Completion("", "stop", Usage(60, 7), 1.0, Sampling()), reserved) == 67
    assert used_tokens(Completion("", "stop", Usage(60, None), 1.0, Sampling()), reserved) == reserved


def test_only_a_prompt_that_is_surely_too_long_is_refused() -> None:
    check_fits("m", asks("word " * 8000), 8192)  # it has about 8000 tokens
    check_fits("m", asks("x" * 1_000_000), None)
    with pytest.raises(
        ModelError, match=r"at least 10000 tokens, more than the model's context of 8192 tokens, so it was not sent"
    ) as caught:
        check_fits("m", asks("x" * 80_000), 8192)
    assert not caught.value.retryable


def test_white_space_makes_no_prompt_too_long() -> None:
    assert least_tokens(asks(" " * 1_000_000 + "a")) == 0
