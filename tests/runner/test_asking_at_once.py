"""Several questions at the same time: in an order that is told again, let end when one fails, paused as one."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import pytest

from koderz_core.errors import ModelError
from koderz_core.events import CallFailed, CallFinished, CallStarted, ExperimentFinished
from koderz_core.prompts.extraction import candidate
from koderz_core.protocols import Context
from koderz_core.records import Ask, Configuration, Message, Request
from koderz_core.runner.history import Recorded, Tape
from koderz_core.runner.provider_limits import Policy
from koderz_core.runner.scheduler import Scheduler, Slot
from koderz_core.runner.session import MOST_AT_ONCE
from koderz_core.strategies import STRATEGIES

RIGHT = "```python\ndef add(a, b):\n    return a + b\n```"
Make = Callable[..., Any]  # Any: Bench of conftest.py, which a test module cannot import


@dataclass(frozen=True)
class Crowd:
    """Asks ``size`` times at once and hands in the last program."""

    size: int = 3

    def roles(self) -> tuple[str, ...]:
        return ("coder",)

    def solve(self, ctx: Context) -> str | None:
        replies = ctx.ask_many([Ask("coder", (Message("user", str(number)),)) for number in range(self.size)])
        assert [reply.text[0] for reply in replies] == [str(number)[0] for number in range(self.size)]
        return candidate(replies[-1], ctx.problem).code


@pytest.fixture
def crowd(bench: Make, monkeypatch: pytest.MonkeyPatch) -> Make:
    def make(answer: Callable[[int], None], size: int = 3) -> Any:
        def reply(request: Request) -> str:
            number = request.messages[0].content
            answer(int(number))
            return f"{number}:\n{RIGHT}"

        monkeypatch.setitem(STRATEGIES, "crowd", Crowd)  # type: ignore[arg-type]
        made = bench(reply)
        asking = Configuration("crowd", {"coder": ("scripted/it",)}, {"size": size})
        return replace(made, plan=replace(made.plan, configurations=(asking,)), policy=Policy(retries=0))

    return make


def of(made: Any, kind: type) -> list[Any]:
    return [entry.event for entry in made.entries() if isinstance(entry.event, kind)]


def ordinals(made: Any, kind: type) -> list[int]:
    return [entry.ordinal for entry in made.entries() if isinstance(entry.event, kind)]


def test_they_are_asked_at_the_same_time_and_numbered_in_the_order_of_the_program(crowd: Make) -> None:
    together, ended = threading.Barrier(3, timeout=10), [threading.Event() for _ in range(4)]

    def answer(number: int) -> None:
        together.wait()
        if number < 2:
            ended[number + 1].wait(10)  # the last one ends first
        ended[number].set()

    made = crowd(answer)
    made.go()
    assert [end.outcome for end in of(made, ExperimentFinished)] == ["solved"]
    seeds = {
        ordinal: event.seed for ordinal, event in zip(ordinals(made, CallStarted), of(made, CallStarted), strict=True)
    }
    asked = {int(request.messages[0].content): request.seed for request in made.requests}
    assert {number + 1: seed for number, seed in asked.items()} == seeds


def test_if_one_fails_the_others_end_and_the_first_error_is_told_and_only_what_failed_is_asked_again(
    crowd: Make,
) -> None:
    failing, failed = {1, 2}, threading.Event()

    def answer(number: int) -> None:
        if number in failing:
            if number == 1:
                failed.wait(10)  # in the order of the program the first error, in that of time the second
            failed.set()
            raise ModelError(f"Refused {number}.")
        failed.wait(10)

    made = crowd(answer)
    made.go()
    (end,) = of(made, ExperimentFinished)
    assert (end.outcome, end.error) == ("error", "Refused 1.")
    assert (ordinals(made, CallFinished), sorted(ordinals(made, CallFailed))) == ([1], [2, 3])
    made.requests.clear()
    failing.clear()
    replace(made, retry_errors=True).go()
    assert sorted(request.messages[0].content for request in made.requests) == ["1", "2"]
    assert of(made, ExperimentFinished)[-1].outcome == "solved"


def test_a_stop_leaves_those_unasked_that_wait_for_a_thread(crowd: Make) -> None:
    size = 3 * MOST_AT_ONCE
    made = crowd(lambda _: runner.stop(), size)
    with made.runner() as runner:
        runner.start()
        runner.wait()
    assert len(made.requests) <= MOST_AT_ONCE
    assert of(made, ExperimentFinished)[-1].outcome == "cancelled"
    answered = len(of(made, CallFinished))
    made.requests.clear()
    made.answer = lambda request: f"{request.messages[0].content}:\n{RIGHT}"
    made.go()
    assert len(made.requests) == size - answered
    assert of(made, ExperimentFinished)[-1].outcome == "solved"


def test_calls_that_wait_at_the_same_time_hold_one_place_between_them() -> None:
    scheduler = Scheduler()
    scheduler.release(1)
    ours, others = Slot(scheduler, "conf_1", "exp_1"), [Slot(scheduler, "conf_1", f"exp_{n}") for n in (2, 3)]
    scheduler.admit([ours])
    scheduler.obey("pause", "exp_1")
    waiting = [threading.Thread(target=ours.step, daemon=True) for _ in range(2)]
    for thread in waiting:
        thread.start()
    scheduler.admit(others)
    second = threading.Thread(target=scheduler.admit, args=(others,), daemon=True)
    second.start()
    second.join(0.2)
    assert second.is_alive()
    scheduler.release()
    second.join(10)
    scheduler.release()
    scheduler.obey("resume", "exp_1")
    for thread in waiting:
        thread.join(10)
    assert not any(thread.is_alive() for thread in (second, *waiting))


def test_what_was_done_at_the_same_time_took_its_time_once() -> None:
    def took(*spans: tuple[float, float]) -> float:
        return Tape({place: Recorded("", None, end, seconds) for place, (end, seconds) in enumerate(spans)}).seconds

    assert took((110, 10), (120, 5)) == 15
    assert took((110, 10), (112, 4), (109, 8)) == 12
    assert took((112, 4), (130, 20)) == 22
