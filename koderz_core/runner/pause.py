"""What every experiment asks before each step: go on, wait while it is paused, or end because it was stopped."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from koderz_core.errors import Cancelled
from koderz_core.records import Control

Target = str | None
"""None: the whole benchmark; else the id of a configuration or of an experiment."""

LOOK_SECONDS = 0.25  # how often it is looked whether a provider can be asked again


class Gate:
    """The gate of one benchmark, and the places behind it: so many experiments may be at work at the same moment.

    A stop is for good. Whoever is paused gives its place to another, and waits for one when it may go on. May be used
    from any thread.
    """

    def __init__(self) -> None:
        self._changed = threading.Condition()  # guards all below; everyone who waits here waits for it, without CPU
        self._paused: set[Target] = set()
        self._stopped: set[Target] = set()
        self._places = 0
        self._free = 0  # below 0 while more are at work than there are places
        self._back: list[frozenset[Target]] = []  # the names of those who wait to take their place again

    def resize(self, places: int) -> None:
        """Have that many places in all; before, there are none. Who has none any more waits before its next step."""
        with self._changed:
            more, self._places = places - self._places, places
            self.open(more)

    def open(self, places: int) -> None:
        """Let that many more experiments work at once."""
        with self._changed:
            self._free += places
            self._changed.notify_all()

    def obey(self, what: Control, target: Target = None) -> bool:
        """Do that to a target; whether it changes anything. To resume the whole lifts every pause."""
        with self._changed:
            lifted = self._paused if target is None else self._paused & {target}
            changes = bool(lifted) if what == "resume" else target not in self._holding(what)
            if what == "resume":
                self._paused = self._paused - lifted
            else:
                self._holding(what).add(target)
            self._changed.notify_all()
            return changes

    def _holding(self, what: Control) -> set[Target]:
        return self._paused if what == "pause" else self._stopped

    @property
    def stopped(self) -> bool:
        """Whether the whole benchmark is."""
        return None in self._stopped

    @property
    def paused(self) -> bool:
        """Whether the whole benchmark is."""
        return None in self._paused

    def admit(self, waiting: list[Passage], shut: Callable[[], frozenset[str]] = frozenset) -> Passage | None:
        """Take out of ``waiting`` who is next: one that may begin, with a place, or one that is stopped, without.

        Waits until there is one; None once nobody waits any more. ``shut``: the providers that cannot be asked now; who
        needs one lets others go first.
        """
        with self._changed:
            while waiting:
                held = shut() if self._free > 0 else frozenset[str]()
                if found := self._next(waiting, held):
                    return found
                self._changed.wait(LOOK_SECONDS if held else None)
            return None

    def hand_on(self, waiting: list[Passage], shut: Callable[[], frozenset[str]] = frozenset) -> Passage | None:
        """Give the place of an experiment that has ended to the next of ``waiting``, as ``admit`` does: that one.

        None if it could not begin now, or if somebody waits to come back: then the place is free.
        """
        with self._changed:
            self._free += 1
            found = None if self._stopped else self._next(waiting, shut())
            if found is None or not waiting:
                self._changed.notify_all()
            return found

    def leave(self) -> None:
        """Give back the place of an experiment that has ended."""
        self.open(1)

    def _next(self, waiting: list[Passage], held: frozenset[str]) -> Passage | None:
        free = self._free - sum(not names & self._paused for names in self._back)
        if free < 1 and not self._stopped:
            return None
        for place, passage in enumerate(waiting):
            may_begin = free > 0 and not (passage.names & self._paused or passage.needs & held)
            if passage.names & self._stopped or may_begin:
                self._free -= not passage.names & self._stopped
                return waiting.pop(place)
        return None

    def pass_through(self, names: frozenset[Target]) -> float:
        """Return when none of the names is paused, and there is a place: the seconds that took.

        Raises Cancelled once one of them is stopped.
        """
        with self._changed:
            self.check(names)
            if not names & self._paused and self._free >= 0:
                return 0.0
            begin = time.monotonic()
            self.open(1)
            self.take_back(names)
            return time.monotonic() - begin

    def take_back(self, names: frozenset[Target]) -> None:
        """Take a place again as soon as there is one and none of the names is paused. Raises Cancelled as above."""
        with self._changed:
            self._back.append(names)
            self._changed.wait_for(lambda: names & self._stopped or (self._free > 0 and not names & self._paused))
            self._back.remove(names)
            self._free -= 1
            self.check(names)

    def sleep(self, names: frozenset[Target], seconds: float) -> None:
        """Wait so long, at most until one of the names is stopped."""
        with self._changed:
            self._changed.wait_for(lambda: names & self._stopped, seconds)

    def has_stopped(self, names: frozenset[Target]) -> bool:
        """Whether one of the names is stopped."""
        return bool(names & self._stopped)

    def check(self, names: frozenset[Target]) -> None:
        """Raise Cancelled if one of the names is stopped."""
        if self.has_stopped(names):
            raise Cancelled("Stopped. It can be taken up again.")


class Passage:
    """The way of one experiment through the gate of its benchmark; ``paused_seconds``: how long it has waited there.

    ``needs``: the providers that it cannot do without.
    """

    def __init__(self, gate: Gate, configuration: str, experiment: str, needs: frozenset[str] = frozenset()) -> None:
        self._gate = gate
        self.names: frozenset[Target] = frozenset({None, configuration, experiment})
        self.needs = needs
        self.paused_seconds = 0.0
        self._asides = 0  # how many of its calls wait beside the way
        self._turn = threading.Lock()  # guards all that changes, and the one place of all calls made at the same time

    def step(self) -> None:
        """Return when the next step may be taken. Raises Cancelled."""
        with self._turn:
            if not self._asides:
                self.paused_seconds += self._gate.pass_through(self.names)
        self.check()

    @contextmanager
    def aside(self) -> Iterator[None]:
        """Others may use its place inside, and that time does not count. Raises Cancelled afterwards."""
        begin = time.monotonic()
        with self._turn:
            self._asides += 1
            if self._asides == 1:
                self._gate.open(1)
        try:
            yield
        finally:
            with self._turn:
                self._asides -= 1
                if not self._asides:
                    self._gate.take_back(self.names)
                    self.paused_seconds += time.monotonic() - begin

    def wait(self, seconds: float) -> None:
        """Return when the next step may be taken, so much later. Raises Cancelled as soon as it is stopped."""
        if seconds > 0:
            with self.aside():
                self._gate.sleep(self.names, seconds)
        self.step()

    @property
    def stopped(self) -> bool:
        """Whether it may not go on."""
        return self._gate.has_stopped(self.names)

    def check(self) -> None:
        """Raise Cancelled if it has been stopped; it may be in the middle of a step."""
        self._gate.check(self.names)
