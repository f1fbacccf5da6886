"""The deadline of a program in wall time, extended while other processes use the processor."""

from __future__ import annotations

import signal
import time
from types import FrameType, TracebackType

from .faults import Fault
from .program import Program

_READING_SECONDS = 0.2  # for answers that arrived in time: reading them takes a few milliseconds
_LEAST_SECONDS = 0.02  # of an extension, so that the alarm does not fire endlessly
_RUNNING = 0.9  # share of processor time in wall time, from which on the program was not delayed
_ASLEEP = 0.02  # share of processor time in wall time, up to which the program was sleeping


class Deadline:
    """Kills the program and interrupts the tests after ``seconds``.

    If other processes used the processor meanwhile, program and tests continue until they have used it for ``seconds``,
    up to ``most_seconds`` of wall time. A sleeping program gets no extension. ``patient``: the tests are interrupted a
    moment later, because the answers that the program has already sent still count.
    """

    def __init__(self, seconds: float, most_seconds: float, program: Program, *, patient: bool = False) -> None:
        self._seconds, self._most_seconds = seconds, most_seconds
        self._program = program
        self._armed = True
        self._patient = patient

    def __enter__(self) -> None:
        self._began = self._looked = time.monotonic()
        self._before = self._seen = self._spent()
        signal.signal(signal.SIGALRM, self._stop)
        self._wait(self._seconds)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._armed = False  # a pending signal is too late
        signal.setitimer(signal.ITIMER_REAL, 0)

    def _wait(self, seconds: float) -> None:
        signal.setitimer(signal.ITIMER_REAL, seconds, _READING_SECONDS if self._patient else 0)

    def _stop(self, _signal: int, _frame: FrameType | None) -> None:
        if not self._armed:
            return
        if delay := self._delay():
            self._wait(max(_LEAST_SECONDS, delay))
            return
        ended = self._program.end(Fault("timeout", f"stopped after {self._seconds:g} s"))
        if not self._patient:
            raise ended
        self._patient = False

    def _delay(self) -> float:
        """The extension in seconds, 0 for none."""
        now, spent = time.monotonic(), self._spent()
        passed, had = now - self._looked, spent - self._seen
        self._looked, self._seen = now, spent
        owed = min(self._seconds - (spent - self._before), self._began + self._most_seconds - now)
        return max(0.0, owed) if _ASLEEP * passed < had < _RUNNING * passed else 0.0

    def _spent(self) -> float:
        """Processor time of the judge and the program in seconds. They take turns."""
        return time.process_time() + self._program.spent()
