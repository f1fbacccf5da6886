"""What many ask for at the same time is read once, and nobody is told what was read before they may be told so."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from koderz_core.store.answers import Answers

AGE_SECONDS = 0.25


class Clock:
    """Says the same time until it is moved on."""

    def __init__(self) -> None:
        self.now = 1000.0
        self.asked = 0

    def __call__(self) -> float:
        self.asked += 1
        return self.now


def test_all_who_ask_while_it_is_being_asked_wait_for_that_answer() -> None:
    clock, answer, asked = Clock(), threading.Event(), []
    shared = Answers(clock)

    def ask() -> int:
        asked.append(1)
        answer.wait(10)
        return len(asked)

    with ThreadPoolExecutor(5) as pool:
        told = [pool.submit(shared.of, "how many", 0.0, ask, AGE_SECONDS) for _ in range(4)]
        clock.now += 2 * AGE_SECONDS  # longer than an answer is young: who waits for one does not ask anew for that
        told.append(pool.submit(shared.of, "how many", 0.0, ask, AGE_SECONDS))
        while clock.asked < 5:
            time.sleep(0.001)
        answer.set()
        assert [row.result() for row in told] == [1] * 5


def test_an_answer_serves_for_a_moment_and_never_whom_it_is_too_old_for() -> None:
    clock = Clock()
    shared, answers = Answers(clock), iter(range(9))
    assert shared.of("next", 0.0, answers.__next__, AGE_SECONDS) == 0
    clock.now += AGE_SECONDS - 0.01
    assert shared.of("next", 1000.0, answers.__next__, AGE_SECONDS) == 0
    assert shared.of("other", 1000.0, answers.__next__, AGE_SECONDS) == 1
    assert shared.of("next", 1000.1, answers.__next__, AGE_SECONDS) == 2
    clock.now += AGE_SECONDS + 0.01
    assert shared.of("next", 1000.1, answers.__next__, AGE_SECONDS) == 3
    clock.now += 0.01
    shared.tell("next", clock.now, 77)
    assert shared.of("next", clock.now, answers.__next__, AGE_SECONDS) == 77


def test_what_went_wrong_is_told_to_all_who_look_at_that_time_and_then_tried_again() -> None:
    clock = Clock()
    shared = Answers(clock)

    def broken() -> int:
        raise OSError("no disk")

    for ask in (broken, lambda: 5):
        with pytest.raises(OSError, match="no disk"):
            shared.of("a", 0.0, ask, AGE_SECONDS)
    clock.now += AGE_SECONDS + 0.01
    assert shared.of("a", 0.0, lambda: 5, AGE_SECONDS) == 5


def test_what_somebody_did_is_seen_by_whoever_asks_next_and_so_is_a_clock_that_was_set_back() -> None:
    clock = Clock()
    shared, answers = Answers(clock), iter(range(9))
    assert shared.of("next", 0.0, answers.__next__, AGE_SECONDS) == 0
    clock.now += 0.1
    shared.forget()
    assert shared.of("next", 0.0, answers.__next__, AGE_SECONDS) == 1
    clock.now -= 0.05
    assert shared.of("next", 0.0, answers.__next__, AGE_SECONDS) == 2


def test_what_is_told_besides_takes_the_place_of_nothing_newer() -> None:
    shared, clock = Answers(lambda: 1000.0), 999.9
    assert shared.of("a", 0.0, lambda: "new", AGE_SECONDS) == "new"
    shared.tell("a", clock, "old")
    assert shared.of("a", 0.0, lambda: "newer", AGE_SECONDS) == "new"
