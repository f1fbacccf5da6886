"""What every experiment asks before each step: go on, wait while it is paused, or end because it was stopped."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence

from koderz_core.errors import Cancelled
from koderz_core.records import Control

Target = str | None
"""None: the whole benchmark; else the id of a configuration or of an experiment."""


class Gate:
    """The gate of one benchmark, and the places behind it: so many experiments may be at work at the same moment.

    A stop is for good. Whoever is paused gives its place to another, and waits for one when it may go on. May be used
    from any thread.
    """

    def __init__(self) -> None:
        self._changed = threading.Condition()  # guards all below; everyone who waits here waits for it, without CPU
        self._paused: set[Target] = set()
        self._stopped: set[Target] = set()
        self._free = 0

    def open(self, places: int) -> None:
        """Let that many experiments work at once; before, none is admitted."""
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

    def admit(self, waiting: Sequence[Passage]) -> int:
        """Which of them is next: one that may begin, and takes a place, or one that has been stopped, and takes none.

        Waits until there is one.
        """
        with self._changed:
            while (found := self._next(waiting)) is None:
                self._changed.wait()
            self._free -= not waiting[found].names & self._stopped
            return found

    def leave(self) -> None:
        """Give back the place of an experiment that has ended."""
        self.open(1)

    def _next(self, waiting: Sequence[Passage]) -> int | None:
        if self._free < 1 and not self._stopped:
            return None
        for place, passage in enumerate(waiting):
            if passage.names & self._stopped or (self._free > 0 and not passage.names & self._paused):
                return place
        return None

    def pass_through(self, names: frozenset[Target]) -> float:
        """Return when none of the names is paused: the seconds that took. Raises Cancelled once one is stopped."""
        with self._changed:
            self.check(names)
            if not names & self._paused:
                return 0.0
            begin = time.monotonic()
            self.open(1)
            self._changed.wait_for(lambda: names & self._stopped or (self._free > 0 and not names & self._paused))
            self._free -= 1
            self.check(names)
            return time.monotonic() - begin

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
    """The way of one experiment through the gate of its benchmark; ``paused_seconds``: how long it has waited there."""

    def __init__(self, gate: Gate, configuration: str, experiment: str) -> None:
        self._gate = gate
        self.names: frozenset[Target] = frozenset({None, configuration, experiment})
        self.paused_seconds = 0.0
        self._turn = threading.Lock()  # guards paused_seconds and the one place of all calls it makes at the same time

    def step(self) -> None:
        """Return when the next step may be taken. Raises Cancelled."""
        with self._turn:
            self.paused_seconds += self._gate.pass_through(self.names)

    def wait(self, seconds: float) -> None:
        """Return when the next step may be taken, so much later. Raises Cancelled as soon as it is stopped."""
        self._gate.sleep(self.names, seconds)
        self.step()

    @property
    def stopped(self) -> bool:
        """Whether it may not go on."""
        return self._gate.has_stopped(self.names)

    def check(self) -> None:
        """Raise Cancelled if it has been stopped; it may be in the middle of a step."""
        self._gate.check(self.names)
