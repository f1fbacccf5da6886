"""The order of experiments whose models do not fit into memory together: a model stays loaded while it is needed."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from koderz_core.models.residency import Residency
from koderz_core.runner.scheduler import Scheduler, Slot


@dataclass
class Half:
    """A model that needs more than half of the memory."""

    def needed_bytes(self) -> int:
        return 60

    def is_loaded(self) -> bool:
        return False

    def unload(self) -> None:
        """Nothing to free."""


def room() -> Residency:
    made = Residency(100)
    for name in "ab":
        made.add(name, Half())
    return made


def slots(scheduler: Scheduler, problems: int) -> list[Slot]:
    """Each problem with both models, problem by problem, as plans order them."""
    return [
        Slot(scheduler, model, f"{problem}{model}", models=frozenset({model}), problem=str(problem))
        for problem in range(problems)
        for model in "ab"
    ]


def performed(scheduler: Scheduler, memory: Residency, waiting: list[Slot]) -> list[str]:
    """The experiments in the order in which one slot performs them."""
    order: list[str] = []
    scheduler.resize(1)
    slot = scheduler.admit(waiting)
    while slot:
        (model,) = slot.models
        with memory.used(model):
            order.append(f"{slot.problem}{model}")
        slot = scheduler.hand_over(slot, waiting)
    return order


def test_all_experiments_of_a_loaded_model_come_first_and_each_model_is_loaded_once() -> None:
    memory = room()
    scheduler = Scheduler(memory)
    assert performed(scheduler, memory, slots(scheduler, 3)) == ["0a", "1a", "2a", "0b", "1b", "2b"]
    assert memory.load_counts() == {"a": 1, "b": 1}


def test_in_a_benchmark_that_may_end_early_each_problem_is_completed_before_the_next() -> None:
    memory = room()
    scheduler = Scheduler(memory, in_order=True)
    assert performed(scheduler, memory, slots(scheduler, 4)) == ["0a", "0b", "1b", "1a", "2a", "2b", "3b", "3a"]
    assert sum(memory.load_counts().values()) == 5  # 8 in the order of the plan


@pytest.mark.parametrize("in_order", [False, True])
def test_models_that_fit_together_keep_the_order_of_the_plan(in_order: bool) -> None:
    memory = Residency(120)
    for name in "ab":
        memory.add(name, Half())
    scheduler = Scheduler(memory, in_order=in_order)
    assert performed(scheduler, memory, slots(scheduler, 2)) == ["0a", "0b", "1a", "1b"]


def test_a_second_slot_takes_no_experiment_whose_model_would_displace_one_at_work() -> None:
    memory = room()
    scheduler = Scheduler(memory)
    waiting = slots(scheduler, 2)
    scheduler.resize(2)
    first, second = scheduler.admit(waiting), scheduler.admit(waiting)
    assert first
    assert second
    assert [first.models, second.models] == [frozenset({"a"})] * 2
    assert scheduler.hand_over(first, waiting) is None
    assert scheduler.hand_over(second, waiting)


def test_in_order_a_second_slot_waits_for_the_problem_to_be_complete() -> None:
    memory = room()
    scheduler = Scheduler(memory, in_order=True)
    waiting = slots(scheduler, 2)
    scheduler.resize(2)
    first = scheduler.admit(waiting)
    assert first
    assert scheduler.hand_over(Slot(scheduler, "other", "other"), waiting) is None  # not the next problem with a
    second = scheduler.hand_over(first, waiting)
    assert second
    assert (first.problem, second.problem, second.models) == ("0", "0", frozenset({"b"}))


def test_a_paused_experiment_keeps_no_memory_from_others() -> None:
    memory = room()
    scheduler = Scheduler(memory)
    scheduler.resize(1)
    one, other = slots(scheduler, 1)
    assert scheduler.admit([one]) is one
    with one.released():
        assert scheduler.admit([other]) is other
        scheduler.hand_over(other, [])
