"""When a program has had its time: by the clock, but that a machine was busy with others is not its fault."""

from __future__ import annotations

import signal
import time
from types import FrameType, TracebackType

from .faults import Fault
from .program import Program

_PATIENCE_SECONDS = 0.2  # for answers that were there in time: reading them takes a few milliseconds
_LEAST_SECONDS = 0.02  # of a delay, else a program that needs all of its time is looked at without end
_HAD = 0.9  # of its time, or more, on the processor: nobody crowded it out
_ASLEEP = 0.02  # of the time on the processor, or less: it does not want it, however many do


class Deadline:
    """After ``seconds`` the program is killed and the tests are left, wherever they are.

    Where others had the processor meanwhile, program and tests go on until they have had it for that long, at most
    ``most_seconds`` by the clock on the wall; who sleeps does not. ``patient``: tests are left a moment later, since
    what the program has answered by then still counts.
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
        self._armed = False  # a signal that is on its way has come too late
        signal.setitimer(signal.ITIMER_REAL, 0)

    def _wait(self, seconds: float) -> None:
        signal.setitimer(signal.ITIMER_REAL, seconds, _PATIENCE_SECONDS if self._patient else 0)

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
        """How many seconds it is still owed."""
        now, spent = time.monotonic(), self._spent()
        passed, had = now - self._looked, spent - self._seen
        self._looked, self._seen = now, spent
        owed = min(self._seconds - (spent - self._before), self._began + self._most_seconds - now)
        return max(0.0, owed) if _ASLEEP * passed < had < _HAD * passed else 0.0

    def _spent(self) -> float:
        """Seconds of processor time of the judge and the program, who take turns."""
        return time.process_time() + self._program.spent()
