"""The core that a worker's processes share. They take turns, so none of them waits for another to leave it.

Where they move about instead, each turn finds cold caches and has a core interrupted: a quarter more processor time.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress

_CROWDED = 0.7  # of the time worked, or less, was spent on the core
_LOOK_SECONDS = 0.1  # of work between two looks at that
_MOST_LOOK_SECONDS = 10.0  # where moving has not helped, as on a machine that is busy all over


class Core:
    """The one that this process is bound to, with all that it forks from then on; left when others crowd it."""

    def __init__(self, turn: int) -> None:
        """``turn``: which of the cores to begin with; workers that start one after the other take different ones."""
        self._cores = sorted(os.sched_getaffinity(0))
        self._at = turn % len(self._cores)
        self._worked = self._got = 0.0
        self._look = self._until = _LOOK_SECONDS
        settle(self.number)

    @property
    def number(self) -> int:
        return self._cores[self._at]

    def left(self, worked: float, got: Callable[[], float]) -> bool:
        """Whether it has been left for the next one, after ``worked`` more seconds by the clock on the wall.

        ``got``: all processor time in seconds that the worker's processes have had so far.
        """
        self._worked += worked
        if self._worked < self._until:
            return False
        spent = got()
        crowded = spent - self._got < _CROWDED * self._worked
        self._worked, self._got = 0.0, spent
        self._look = min(2 * self._look, _MOST_LOOK_SECONDS) if crowded else _LOOK_SECONDS
        self._until = self._look * (1 + os.urandom(1)[0] / 256)  # else two that share one would leave it in step
        if crowded:
            self._at = (self._at + 1) % len(self._cores)
            settle(self.number)
        return crowded


def settle(core: int) -> None:
    """Bind this process to a core, if it may be used: which ones may can change at any time."""
    with suppress(OSError):
        os.sched_setaffinity(0, (core,))
