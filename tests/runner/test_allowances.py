"""What a benchmark may take is changed while it runs: obeyed soon, nothing lost, written down, and kept to later."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest

from koderz_core.errors import PlanError, UsageError
from koderz_core.events import AllowanceSet, CallFinished, Entry, ExperimentFinished
from koderz_core.records import Allowance, Budget, Request
from koderz_core.runner.background import Running
from koderz_core.runner.control import ControlRequest, send
from koderz_core.runner.header import recorded_plan, under_newest_budget

RIGHT = "```python\ndef add(a, b):\n    return a + b\n```"
WRONG = "```python\ndef add(a, b):\n    return a - b\n```"
SECONDS = 10.0
WORST = 0.5  # of a call, which costs 0.25
Make = Callable[..., Any]  # Any: Bench of conftest.py, which a test module cannot import


class Model:
    """Answers one request each time it is let to."""

    def __init__(self, answer: str) -> None:
        self.asked = threading.Semaphore(0)
        self.let = threading.Semaphore(0)
        self._answer = answer

    def __call__(self, _: Request) -> str:
        self.asked.release()
        assert self.let.acquire(timeout=SECONDS)
        return self._answer

    def is_asked(self, seconds: float = SECONDS) -> bool:
        return self.asked.acquire(timeout=seconds)


def of(entries: list[Entry], kind: type) -> list[Any]:
    return [entry.event for entry in entries if isinstance(entry.event, kind)]


def change(usd: float | None = None, concurrency: int | None = None) -> ControlRequest:
    return ControlRequest(time.time(), 7, "change", usd=usd, concurrency=concurrency)


@contextmanager
def begun(made: Any, concurrency: int = 1) -> Iterator[Any]:
    with made.runner() as runner:
        runner.start(concurrency)
        yield runner
        assert runner.ended(SECONDS)


def looping(bench: Make, budget: Budget, problems: tuple[str, ...] = ("tiny/0",)) -> tuple[Any, Model]:
    """Four iterations without success, each when it is let to."""
    model = Model(WRONG)
    made = bench(model, "supervised", problems, max_iterations=4, spec=False, checkpoints=False)
    made.plan, made.worst_usd = replace(made.plan, budget=budget), WORST
    return made, model


def budgeted_meanwhile(made: Any, model: Model, usd: float) -> Any:
    """The runner, come to its end: its budget was changed during the first call, then every call was let to."""
    with begun(made) as runner:
        assert model.is_asked()
        runner.controller.apply(change(usd=usd))
        model.let.release(9)
    return runner


def test_more_experiments_at_once_begin_as_soon_as_another_process_wishes_it(bench: Make) -> None:
    model = Model(RIGHT)
    made = bench(model, problems=("tiny/0", "tiny/1"))
    with begun(made, concurrency=1):
        assert model.is_asked()
        assert not model.is_asked(0.1)
        send(made.path, change(concurrency=2))
        assert model.is_asked()
        model.let.release(2)
    first, then = of(made.entries(), AllowanceSet)
    assert (first.after, first.before) == (Allowance(None, 1), None)
    assert (then.before, then.after, then.by) == (Allowance(None, 1), Allowance(None, 2), 7)


def test_of_fewer_at_once_one_waits_before_its_next_step_and_both_come_to_their_end(bench: Make) -> None:
    made, model = looping(bench, Budget(), ("tiny/0", "tiny/1"))
    with begun(made, concurrency=2) as runner:
        assert model.is_asked()
        assert model.is_asked()
        runner.controller.apply(change(concurrency=1))
        model.let.release(2)  # both calls under way end
        assert model.is_asked()
        assert not model.is_asked(0.3)
        model.let.release(6)
    assert [end.outcome for end in of(made.entries(), ExperimentFinished)] == ["unsolved", "unsolved"]
    assert len(made.requests) == 8


def test_a_lowered_budget_sends_no_call_that_it_does_not_hold_and_loses_nothing(bench: Make) -> None:
    made, model = looping(bench, Budget(5.0))
    runner = budgeted_meanwhile(made, model, 0.75)
    (end,) = of(made.entries(), ExperimentFinished)
    assert (end.outcome, end.reason) == ("cancelled", "budget")
    assert len(of(made.entries(), CallFinished)) == 2  # 0.25 + 0.5 fits into 0.75, 0.5 + 0.5 does not
    assert "$0.75 is used up" in runner.trouble


def test_a_raised_budget_lets_it_go_on_to_its_end(bench: Make) -> None:
    made, model = looping(bench, Budget(0.75))
    budgeted_meanwhile(made, model, 5.0)
    (end,) = of(made.entries(), ExperimentFinished)
    assert (end.outcome, end.reason, len(made.requests)) == ("unsolved", "iterations", 4)


def test_who_goes_on_keeps_to_the_budget_last_set_unless_it_is_given_another(bench: Make) -> None:
    made, model = looping(bench, Budget(5.0))
    budgeted_meanwhile(made, model, 0.75)
    recorded = recorded_plan(made.path)
    assert recorded.budget.usd == 0.75
    replace(made, plan=recorded).go()
    assert len(made.requests) == 2
    replace(made, plan=replace(recorded, budget=Budget(1.25))).go()
    assert recorded_plan(made.path).budget.usd == 1.25
    assert len(made.requests) == 4


def test_the_command_that_began_it_keeps_to_what_was_changed_and_another_amount_is_a_new_wish(bench: Make) -> None:
    made, model = looping(bench, Budget(5.0))
    budgeted_meanwhile(made, model, 0.75)
    assert under_newest_budget(made.plan, made.path).budget.usd == 0.75
    other = replace(made.plan, budget=Budget(6.0))
    assert under_newest_budget(other, made.path) == other


def test_what_is_given_anew_with_a_command_holds_for_that_command_again(bench: Make) -> None:
    made, model = looping(bench, Budget(0.75))
    model.let.release(9)
    made.go()
    replace(made, plan=replace(made.plan, budget=Budget(1.25))).go()
    assert under_newest_budget(made.plan, made.path) == made.plan  # nobody changed it while it ran


def test_what_is_no_budget_or_no_number_of_places_is_refused_before_it_is_wished(tmp_path) -> None:
    for usd, concurrency, message in ((-1.0, None, "amount of US dollars"), (None, 0, "from 1 to 256")):
        with pytest.raises(PlanError, match=message):
            Running(tmp_path).change("bench_1", usd, concurrency)
    with pytest.raises(UsageError, match="Give a new budget"):
        Running(tmp_path).change("bench_1")


def test_hostile_changes_in_the_control_file_are_passed_over(bench: Make) -> None:
    model = Model(RIGHT)
    made = bench(model)
    with begun(made):
        assert model.is_asked()
        with made.path.with_suffix(".control").open("ab") as file:
            for bad in (b'"usd":-1', b'"usd":1e999', b'"concurrency":0', b'"concurrency":99999999'):
                file.write(b'{"at":1,"by":7,"what":"change",%s}\n' % bad)
        send(made.path, change(concurrency=3))
        deadline = time.monotonic() + SECONDS
        while len(of(made.entries(), AllowanceSet)) < 2 and time.monotonic() < deadline:
            time.sleep(0.02)
        model.let.release()
    assert [entry.after for entry in of(made.entries(), AllowanceSet)] == [Allowance(None, 1), Allowance(None, 3)]
