"""The core that a worker's processes share. They take turns, so they never compete for it.

If the kernel moved them between cores, each turn would find cold caches: a quarter more processor time.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress

_CROWDED = 0.7  # share of processor time in wall time, at or below which others use the core as well
_LOOK_SECONDS = 0.1  # of work between two checks
_MOST_LOOK_SECONDS = 10.0  # if moving did not help, because all cores are busy


class Core:
    """The core of this process and its later forks. The process moves to another core if others use it as well."""

    def __init__(self, turn: int) -> None:
        """``turn`` selects the first core, so that successive workers start on different cores."""
        self._cores = sorted(os.sched_getaffinity(0))
        self._at = turn % len(self._cores)
        self._worked = self._got = 0.0
        self._look = self._until = _LOOK_SECONDS
        settle(self.number)

    @property
    def number(self) -> int:
        return self._cores[self._at]

    def left(self, worked: float, got: Callable[[], float]) -> bool:
        """Add ``worked`` seconds of wall time; return whether the process has moved to the next core.

        ``got`` returns the processor time of the worker's processes so far, in seconds.
        """
        self._worked += worked
        if self._worked < self._until:
            return False
        spent = got()
        crowded = spent - self._got < _CROWDED * self._worked
        self._worked, self._got = 0.0, spent
        self._look = min(2 * self._look, _MOST_LOOK_SECONDS) if crowded else _LOOK_SECONDS
        self._until = self._look * (1 + os.urandom(1)[0] / 256)  # otherwise two workers on one core would move together
        if crowded:
            self._at = (self._at + 1) % len(self._cores)
            settle(self.number)
        return crowded


def settle(core: int) -> None:
    """Bind this process to a core, if that is allowed; the set of allowed cores can change at any time."""
    with suppress(OSError):
        os.sched_setaffinity(0, (core,))
