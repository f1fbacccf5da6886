"""The memory watchdog: it pauses before the machine swaps, says so in the journal, and lets experiments continue."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from koderz_core.events import Entry, ExperimentFinished, MemoryLevelChanged
from koderz_core.events.outages import Troubles
from koderz_core.models.free_memory import Memory
from koderz_core.models.residency import Residency
from koderz_core.records.progress import MemoryLevel
from koderz_core.report.status import trouble_notices
from koderz_core.runner import memory_watch
from koderz_core.runner.memory_watch import SEVERITY, MemoryState, MemoryWatch, level_after
from koderz_core.runner.scheduler import Scheduler, Slot

LEVELS: tuple[MemoryLevel, ...] = ("enough", "low", "critical")
Make = Callable[..., Any]  # Any: Bench of conftest.py, which a test module cannot import


@dataclass
class Machine:
    """A machine of 1000 bytes of which 100 are to stay free."""

    free: int = 500
    residency: Residency = field(default_factory=Residency)

    def watch(self) -> MemoryWatch:
        return MemoryWatch(lambda: Memory(1000, self.free), lambda _: 100, self.residency, clock=lambda: 1.0)


class Idle:
    def needed_bytes(self) -> int:
        return 1

    def is_loaded(self) -> bool:
        return False

    def unload(self) -> None:
        """Nothing to free."""


@given(st.integers(0, 1000), st.integers(0, 1000), st.integers(0, 1000), st.sampled_from(LEVELS))
def test_less_memory_never_gives_a_milder_level(less: int, more: int, reserve: int, before: MemoryLevel) -> None:
    less, more = sorted((less, more))
    assert SEVERITY[level_after(before, less, reserve)] >= SEVERITY[level_after(before, more, reserve)]


def effects(free: int, before: MemoryLevel) -> set[str]:
    """What the watchdog does to a process with two slots, an experiment at work, a waiting one and an idle model."""
    machine = Machine(free)
    machine.residency.add("it", Idle())
    with machine.residency.used("it"):
        pass
    watch, scheduler = machine.watch(), Scheduler()
    watch._state = MemoryState(before, 0, 0)
    scheduler.resize(2)
    working, waiting = (Slot(scheduler, "conf_1", f"exp_{number}") for number in range(2))
    scheduler.admit([working])
    watch._followers.append(lambda state: scheduler.hold_back(state.level))
    scheduler.hold_back(before)
    machine.residency.hold(held=before != "enough")
    watch.sample()
    scheduler.obey("stop", "exp_0") if scheduler._halts(working.names) else working.step()
    done = {"paused"} if working.stopped else set()
    done |= {"not started"} if scheduler._next([waiting], frozenset()) is None else set()
    done |= set() if machine.residency.loaded() else {"unloaded"}
    return done | ({"held"} if machine.residency._held else set())


@given(st.integers(0, 300), st.integers(0, 300), st.sampled_from(LEVELS))
def test_a_milder_level_never_does_more_than_a_harder_one(less: int, more: int, before: MemoryLevel) -> None:
    less, more = sorted((less, more))
    assert effects(more, before) <= effects(less, before)


def test_each_level_does_more_than_the_one_before() -> None:
    assert effects(500, "enough") == set()
    assert effects(99, "enough") == {"not started", "held"}
    assert effects(49, "enough") == {"not started", "held", "paused", "unloaded"}


def test_a_level_ends_only_with_some_more_memory_than_it_began_with() -> None:
    machine, seen = Machine(), list[str]()
    watch = machine.watch()
    watch._followers.append(lambda state: seen.append(state.level))
    for free in (500, 99, 101, 99, 126, 49, 60, 63, 130):
        machine.free = free
        watch.sample()
    assert seen == ["low", "enough", "critical", "low", "enough"]


def test_without_a_reserve_it_never_pauses() -> None:
    assert level_after("critical", 0, 0) == "enough"


def test_a_benchmark_pauses_while_memory_is_critical_says_so_and_finishes_later(
    bench: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memory_watch, "SAMPLE_SECONDS", 0.01)
    machine, entries = Machine(free=10), list[Entry]()
    watch = machine.watch()
    watch.sample()
    made = bench(lambda _: "```python\ndef add(a, b):\n    return a + b\n```")
    made.memory = watch
    runner = made.runner([entries.append])
    with runner:
        runner.start()
        time.sleep(0.1)
        assert not runner.ended()
        assert runner.memory == "critical"
        assert not any(isinstance(entry.event, ExperimentFinished) for entry in entries)
        machine.free = 500
        assert runner.ended(5)
    watch.close()
    assert [entry.event for entry in entries if isinstance(entry.event, MemoryLevelChanged)] == [
        MemoryLevelChanged("critical", 10, 62),
        MemoryLevelChanged("enough", 500, 0),
    ]


def test_the_shortage_is_told_with_how_much_is_wanted_and_its_end_for_a_while() -> None:
    troubles = Troubles()
    troubles.add(Entry(100.0, MemoryLevelChanged("critical", 300_000_000, 625_000_000)))
    (notice,) = trouble_notices(troubles.known(), 130.0)
    assert notice.stage == "critical"
    assert "only 0.30 GB were free. No new experiment starts, running experiments are paused" in notice.text
    assert "koderz continues when 0.62 GB are free" in notice.text
    troubles.add(Entry(160.0, MemoryLevelChanged("enough", 900_000_000, 0)))
    (notice,) = trouble_notices(troubles.known(), 165.0)
    assert notice.text == "After 60 s, 0.90 GB of memory are free again. Experiments continue."
    assert not trouble_notices(troubles.known(), 1000.0)
