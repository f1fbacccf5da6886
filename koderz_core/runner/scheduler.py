"""The scheduler of one benchmark: how many experiments work at once, and which are paused or stopped."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Protocol

from koderz_core.errors import Cancelled
from koderz_core.records import Control
from koderz_core.records.progress import MemoryLevel

Target = str | None
"""None: the whole benchmark; else the id of a configuration or of an experiment."""

POLL_SECONDS = 0.25  # how often the scheduler checks whether a provider can be asked again


class Room(Protocol):
    """The memory for models, which experiments share."""

    def loads(self, models: frozenset[str]) -> int | None:
        """How many models must be exchanged before an experiment with these starts; None: it cannot start now."""

    def enter(self, models: frozenset[str]) -> None:
        """An experiment with these models works from now on."""

    def leave(self, models: frozenset[str]) -> None:
        """An experiment with these models has ended, or waits."""

    def withdraw(self, models: frozenset[str]) -> None:
        """No experiment with these models waits any more."""


class Boundless:
    """The room of a scheduler whose models all fit into memory."""

    def loads(self, models: frozenset[str]) -> int | None:  # noqa: ARG002 (as ``Room``)
        return 0

    def _nothing(self, models: frozenset[str]) -> None:
        """As ``Room``."""

    enter = leave = withdraw = _nothing


class Scheduler:
    """Gives slots to experiments; each works only while it holds one. May be used from any thread.

    A paused experiment gives its slot to another one and waits for a slot when it resumes. A stop is permanent.

    Experiments whose models are loaded start first; the others start in their order. ``in_order``: only among the
    experiments of one problem, as for a benchmark that may end early.
    """

    def __init__(self, room: Room | None = None, *, in_order: bool = False) -> None:
        self._room, self._in_order = room or Boundless(), in_order
        self._changed = threading.Condition()  # guards all below; every waiting thread waits for it, without CPU
        self._paused: set[Target] = set()
        self._stopped: set[Target] = set()
        self._total = 0
        self._free = 0  # negative while more experiments work than there are slots
        self._memory: MemoryLevel = "enough"
        self._refused = False  # whether the room refused an experiment when one was last chosen
        self._returning: list[frozenset[Target]] = []  # the names of experiments that wait to reacquire a slot

    def resize(self, total: int) -> None:
        """Set the number of slots, at first 0. An experiment that loses its slot waits before its next step."""
        with self._changed:
            added, self._total = total - self._total, total
            self.release(added)

    def release(self, slots: int = 1) -> None:
        """Give back the slot of an experiment that has ended or waits, or add several."""
        with self._changed:
            self._free += slots
            self._changed.notify_all()

    def obey(self, what: Control, target: Target = None) -> bool:
        """Pause, resume or stop a target; return whether that changes anything.

        Resuming the whole benchmark also resumes every configuration and experiment.
        """
        with self._changed:
            lifted = self._paused if target is None else self._paused & {target}
            changes = bool(lifted) if what == "resume" else target not in self._holding(what)
            if what == "resume":
                self._paused = self._paused - lifted
            else:
                self._holding(what).add(target)
            self._changed.notify_all()
            return changes

    def hold_back(self, memory: MemoryLevel) -> None:
        """Start no experiment while the memory is low; while it is critical, pause running ones too."""
        with self._changed:
            self._memory = memory
            self._changed.notify_all()

    def _holding(self, what: Control) -> set[Target]:
        return self._paused if what == "pause" else self._stopped

    @property
    def stopped(self) -> bool:
        """Whether the whole benchmark is stopped."""
        return None in self._stopped

    @property
    def paused(self) -> bool:
        """Whether the whole benchmark is paused."""
        return None in self._paused

    @property
    def halting(self) -> bool:
        """Whether an experiment that takes its next step now may have to wait or end."""
        with self._changed:
            return bool(self._paused or self._stopped) or self._memory == "critical" or self._free < 0

    @property
    def memory(self) -> MemoryLevel:
        """How much memory there is, as ``hold_back`` was last called."""
        return self._memory

    def admit(self, waiting: list[Slot], shut: Callable[[], frozenset[str]] = frozenset) -> Slot | None:
        """Remove the next experiment from ``waiting``: one that holds a slot now, or a stopped one, without.

        Waits until there is one; returns None once ``waiting`` is empty. ``shut`` returns the providers that cannot be
        asked now; experiments that need one of them let others start first.
        """
        with self._changed:
            while waiting:
                held = shut() if self._free > 0 else frozenset[str]()
                if admitted := self._next(waiting, held):
                    return admitted
                self._changed.wait(POLL_SECONDS if held or self._refused else None)
            return None

    def hand_over(
        self, ended: Slot, waiting: list[Slot], shut: Callable[[], frozenset[str]] = frozenset
    ) -> Slot | None:
        """Give the slot of an experiment that has ended to the next of ``waiting``, chosen as in ``admit``.

        None if no experiment can start now, or if a resumed one waits for a slot: then the slot is free.
        """
        with self._changed:
            self._free += 1
            self._room.leave(ended.models)
            admitted = None if self._stopped else self._next(waiting, shut())
            if admitted is None or not waiting:
                self._changed.notify_all()
            return admitted

    def _next(self, waiting: list[Slot], held: frozenset[str]) -> Slot | None:
        self._refused = False
        free = self._free - sum(not self._halts(names) for names in self._returning)
        able = free > 0 and self._memory == "enough"
        if not (able or self._stopped) or (place := self._first(waiting, held, able=able)) is None:
            return None
        slot = waiting.pop(place)
        if not slot.names & self._stopped:
            self._free -= 1
            self._room.enter(slot.models)
        return slot

    def _first(self, waiting: list[Slot], held: frozenset[str], *, able: bool) -> int | None:
        """The place of the first experiment of those that need the fewest models exchanged, or of a stopped one."""
        loads: dict[frozenset[str], int | None] = {}
        best: tuple[int, int] | None = None
        for place, slot in enumerate(waiting):
            if slot.names & self._stopped:
                return place
            if self._in_order and slot.problem != waiting[0].problem and (best or self._refused):
                break
            if not able or slot.names & self._paused or slot.needs & held:
                continue
            if slot.models not in loads:
                loads[slot.models] = self._room.loads(slot.models)
            number = loads[slot.models]
            self._refused = self._refused or number is None
            if number is not None and (best is None or number < best[0]):
                best = number, place
            if number == 0:
                break
        return best[1] if best else None

    def step(self, slot: Slot) -> None:
        """Return when none of its names is paused and there is a slot. Raises Cancelled once one of them is stopped."""
        with self._changed:
            self.check(slot.names)
            if self._halts(slot.names) or self._free < 0:
                self.release_of(slot)
                self.reacquire(slot)

    def _halts(self, names: frozenset[Target]) -> bool:
        return bool(names & self._paused) or self._memory == "critical"

    def release_of(self, slot: Slot) -> None:
        """Give back the slot of an experiment that has ended or waits."""
        self._room.leave(slot.models)
        self.release()

    def reacquire(self, slot: Slot) -> None:
        """Take a slot as soon as one is free and none of its names is paused. Raises Cancelled as ``step``."""
        names = slot.names
        with self._changed:
            self._returning.append(names)
            self._changed.wait_for(lambda: names & self._stopped or (self._free > 0 and not self._halts(names)))
            self._returning.remove(names)
            self._free -= 1
            self._room.enter(slot.models)
            self.check(names)

    def withdraw(self, slots: Iterable[Slot]) -> None:
        """These experiments do not wait any more."""
        for models in {slot.models for slot in slots}:
            self._room.withdraw(models)

    def sleep(self, names: frozenset[Target], seconds: float) -> None:
        """Wait, until one of the names is stopped at the latest."""
        with self._changed:
            self._changed.wait_for(lambda: names & self._stopped, seconds)

    def has_stopped(self, names: frozenset[Target]) -> bool:
        """Whether one of the names is stopped."""
        return bool(names & self._stopped)

    def check(self, names: frozenset[Target]) -> None:
        """Raise Cancelled if one of the names is stopped."""
        if self.has_stopped(names):
            raise Cancelled("The experiment was stopped. It can be resumed.")


class Slot:
    """The slot of one experiment, which it may release and reacquire; ``paused_seconds``: how long it has waited.

    ``needs``: the providers that the experiment cannot do without; ``models``: the ids of its models.
    """

    def __init__(
        self,
        scheduler: Scheduler,
        configuration: str,
        experiment: str,
        needs: frozenset[str] = frozenset(),
        models: frozenset[str] = frozenset(),
        problem: str = "",
    ) -> None:
        self._scheduler = scheduler
        self.names: frozenset[Target] = frozenset({None, configuration, experiment})
        self.needs, self.models, self.problem = needs, models, problem
        # Seconds of the pauses that ended, and when the present one began: one value, because other threads read it.
        self._pauses: tuple[float, float | None] = (0.0, None)
        self._waiting_calls = 0  # calls of this experiment that wait and need no slot
        self._turn = threading.Lock()  # guards all that changes, and the one slot of all concurrent calls

    @property
    def paused_seconds(self) -> float:
        """How long it has waited, including a pause that has not ended."""
        ended, since = self._pauses
        return ended if since is None else ended + time.monotonic() - since

    def _begin_pause(self) -> None:
        self._pauses = self._pauses[0], time.monotonic()

    def _end_pause(self) -> None:
        self._pauses = self.paused_seconds, None

    def step(self) -> None:
        """Return when the next step may be taken. Raises Cancelled."""
        with self._turn:
            if not self._waiting_calls:
                self._begin_pause()
                try:
                    self._scheduler.step(self)
                finally:  # a pause that a stop ends is a pause too
                    self._end_pause()
        self.check()

    @contextmanager
    def released(self) -> Iterator[None]:
        """Let other experiments use the slot inside; this time counts as paused. Raises Cancelled afterwards."""
        with self._turn:
            self._waiting_calls += 1
            if self._waiting_calls == 1:
                self._begin_pause()
                self._scheduler.release_of(self)
        try:
            yield
        finally:
            with self._turn:
                self._waiting_calls -= 1
                if not self._waiting_calls:
                    try:
                        self._scheduler.reacquire(self)
                    finally:
                        self._end_pause()

    def wait(self, seconds: float) -> None:
        """Return when the next step may be taken, after at least ``seconds``. Raises Cancelled when it is stopped."""
        if seconds > 0:
            with self.released():
                self._scheduler.sleep(self.names, seconds)
        self.step()

    @property
    def stopped(self) -> bool:
        """Whether the experiment has been stopped."""
        return self._scheduler.has_stopped(self.names)

    def check(self) -> None:
        """Raise Cancelled if the experiment has been stopped; it may be in the middle of a step."""
        self._scheduler.check(self.names)
