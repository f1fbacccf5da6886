"""Which models are in memory: never more than fit, never another program's, and as few loads as possible."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field

import pytest

from koderz_core.errors import Cancelled
from koderz_core.models.residency import TURN_SECONDS, Residency

A, B, C = frozenset({"a"}), frozenset({"b"}), frozenset({"c"})


@dataclass
class Fake:
    """A model that needs some bytes; ``foreign``: another program loaded it."""

    needed: int = 60
    foreign: bool = False
    loaded: bool = False
    unloads: list[str] = field(default_factory=list)

    def needed_bytes(self) -> int:
        return self.needed

    def is_loaded(self) -> bool:
        return self.foreign or self.loaded

    def unload(self) -> None:
        self.unloads.append("unloaded")
        self.loaded = False


def residency(limit: int | None = 100, clock: Callable[[], float] = lambda: 0.0, **models: Fake) -> Residency:
    made = Residency(limit, clock=clock)
    for name, model in models.items():
        made.add(name, model)
    return made


def call(room: Residency, name: str) -> None:
    with room.used(name):
        pass


def test_a_model_that_does_not_fit_beside_an_idle_one_replaces_it() -> None:
    a, b = Fake(), Fake()
    room = residency(a=a, b=b)
    for name in "aabb":
        call(room, name)
    assert room.load_counts() == {"a": 1, "b": 1}
    assert (a.unloads, b.unloads) == (["unloaded"], [])
    assert [loaded.model for loaded in room.loaded()] == ["b"]


def test_models_that_fit_together_stay_and_the_one_unused_for_longest_leaves_first() -> None:
    a, b, c = Fake(40), Fake(40), Fake(40)
    times = iter(range(100))
    room = residency(clock=lambda: float(next(times)), a=a, b=b, c=c)
    for name in "abac":
        call(room, name)
    assert (a.unloads, b.unloads, c.unloads) == ([], ["unloaded"], [])


def test_a_model_of_another_program_is_used_but_never_unloaded() -> None:
    a, b = Fake(foreign=True), Fake()
    room = residency(a=a, b=b)
    for name in "abab":
        call(room, name)
    assert room.unload_idle() == ("b",)
    assert (a.unloads, room.load_counts()) == ([], {"b": 1})


def test_a_call_waits_while_the_model_that_it_would_replace_is_used_and_can_be_stopped_then() -> None:
    room = residency(a=Fake(), b=Fake())

    def stop() -> None:
        raise Cancelled("stopped")

    with room.used("a"), pytest.raises(Cancelled), room.used("b", stop):
        pass
    call(room, "b")
    assert room.load_counts() == {"a": 1, "b": 1}


def test_a_call_that_was_stopped_while_it_waited_holds_no_other_call_back() -> None:
    now = [0.0]
    room = residency(clock=lambda: now[0], a=Fake(), b=Fake())

    def stop() -> None:
        raise Cancelled("stopped")

    with room.used("a"), pytest.raises(Cancelled), room.used("b", stop):
        pass
    now[0] = TURN_SECONDS + 1
    with room.used("a", stop):
        assert [loaded.model for loaded in room.loaded()] == ["a"]


def test_a_call_that_waits_begins_as_soon_as_the_other_ends() -> None:
    room, ended = residency(a=Fake(), b=Fake()), threading.Event()

    def later() -> None:
        call(room, "b")
        ended.set()

    with room.used("a"):
        threading.Thread(target=later, daemon=True).start()
        assert not ended.wait(0.1)
    assert ended.wait(5)


def test_an_experiment_starts_only_if_its_models_fit_beside_those_that_work() -> None:
    room = residency(a=Fake(), b=Fake(), c=Fake(40))
    room.enter(A)
    assert (room.loads(A), room.loads(B), room.loads(C)) == (0, None, 0)
    room.leave(A)
    assert room.loads(B) == 0  # nothing is loaded yet


def test_an_experiment_that_needs_more_than_there_is_starts_alone() -> None:
    room = residency(a=Fake(), b=Fake())
    assert room.loads(A | B) is not None
    room.enter(A | B)
    assert room.loads(A) == 0
    assert room.loads(A | B) is not None


def test_who_waits_for_long_gets_its_turn() -> None:
    now = [0.0]
    room = residency(clock=lambda: now[0], a=Fake(), b=Fake())
    call(room, "a")
    room.enter(A)
    assert room.loads(B) is None
    now[0] = TURN_SECONDS + 1
    assert room.loads(A) is None
    room.leave(A)
    assert room.loads(B) == 1
    room.enter(B)
    room.leave(B)
    assert room.loads(A) == 0


def test_who_waits_no_more_holds_nobody_back() -> None:
    now = [0.0]
    room = residency(clock=lambda: now[0], a=Fake(), b=Fake())
    room.enter(A)
    assert room.loads(B) is None
    room.withdraw(B)
    now[0] = TURN_SECONDS + 1
    assert room.loads(A) == 0


def test_without_a_limit_the_free_memory_is_it_and_what_is_still_loading_counts() -> None:
    room = Residency(None, free_bytes=lambda: 100)
    for name in "ab":
        room.add(name, Fake())
    with room.used("a"):
        assert room.loads(A | B) is not None
        room.enter(A)
        assert room.loads(B) is None  # the memory of a is not in use yet
    assert room.loads(B) == 0  # 100 are free beside a


def test_while_it_is_held_no_model_is_loaded_but_a_loaded_one_answers() -> None:
    room = residency(a=Fake(), b=Fake())
    call(room, "a")
    room.hold(held=True)
    call(room, "a")
    assert (room.loads(A), room.loads(B)) == (0, None)


def test_a_model_that_its_server_has_unloaded_is_loaded_again_and_counted() -> None:
    now, model = [0.0], Fake()
    room = residency(clock=lambda: now[0], a=model)
    call(room, "a")
    now[0] = 3600.0
    call(room, "a")
    assert room.load_counts() == {"a": 2}
