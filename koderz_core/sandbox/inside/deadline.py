"""The deadlines of a program in wall time, extended while other processes use the processor."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType, TracebackType

from .faults import Fault, ProgramEndedError
from .program import Program

_READING_SECONDS = 0.2  # for answers that arrived in time: reading them takes a few milliseconds
_LEAST_SECONDS = 0.02  # of an extension, so that the alarm does not fire endlessly
_NOW_SECONDS = 1e-6  # until an alarm that is overdue: 0 would be none
_STEP_SECONDS = 1.0  # between two looks at whether all tests have passed so far
_RUNNING = 0.9  # share of processor time in wall time, from which on the program was not delayed
_ASLEEP = 0.02  # share of processor time in wall time, up to which the program was sleeping


class Clock:
    """A limit of ``seconds`` from now on, when the processes have used the processor for ``spent`` seconds.

    ``due``: when it must be checked, in ``time.monotonic``.
    """

    def __init__(self, seconds: float, most_seconds: float, spent: float) -> None:
        self.seconds = seconds
        self.began = self._looked = time.monotonic()
        self.due = self.began + seconds
        self._most_seconds = most_seconds
        self._before = self._seen = spent

    def delay(self, now: float, spent: float) -> float:
        """The extension in seconds because of other processes, 0 for none."""
        passed, had = now - self._looked, spent - self._seen
        self._looked, self._seen = now, spent
        owed = min(self.seconds - (spent - self._before), self.began + self._most_seconds - now)
        return max(_LEAST_SECONDS, owed) if owed > 0 and _ASLEEP * passed < had < _RUNNING * passed else 0.0


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
        self._ended: ProgramEndedError | None = None
        self._test: Clock | None = None
        self._grace = 0.0
        self._total_seconds = 0.0
        self._faultless: Callable[[], bool] = lambda: False

    def __enter__(self) -> Deadline:
        self._whole = Clock(self._seconds, self._most_seconds, self._spent())
        signal.signal(signal.SIGALRM, self._stop)
        self._wait()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._armed = False  # a pending signal is too late
        signal.setitimer(signal.ITIMER_REAL, 0)

    def extend(self, total_seconds: float, faultless: Callable[[], bool]) -> None:
        """Continue up to ``total_seconds`` of wall time while ``faultless``, for tests with limits of their own."""
        self._total_seconds, self._faultless = total_seconds, faultless

    @contextmanager
    def test(self, seconds: float) -> Iterator[None]:
        """Limit the block, in which the judge waits for the answer of one test, in the same way to ``seconds``."""
        self._test = Clock(seconds, seconds * self._most_seconds / self._seconds, self._spent())
        self._grace = _LEAST_SECONDS
        self._wait()
        try:
            yield
        finally:
            self._test = None

    def _clocks(self) -> list[Clock]:
        return [self._test, self._whole] if self._test else [self._whole]

    def _wait(self) -> None:
        if not self._ended:
            due = min(clock.due for clock in self._clocks())
            signal.setitimer(signal.ITIMER_REAL, max(_NOW_SECONDS, due - time.monotonic()))

    def _stop(self, _signal: int, _frame: FrameType | None) -> None:
        if not self._armed:
            return
        if self._ended:
            raise self._ended
        now, spent = time.monotonic(), self._spent()
        for clock in self._clocks():
            if clock.due <= now:
                extension = clock.delay(now, spent) or self._more(clock, now)
                if not extension:
                    self._end(clock)
                    return
                clock.due = now + extension
        self._wait()

    def _more(self, clock: Clock, now: float) -> float:
        """The extension in seconds of a limit that the program has reached, 0 for none."""
        if clock is self._test:  # once: an answer that has arrived is read before the next alarm
            more, self._grace = self._grace, 0.0
            return more
        passed = now - clock.began
        if passed >= self._total_seconds or not self._faultless():
            return 0.0
        more = min(_STEP_SECONDS, self._total_seconds - passed)
        clock.seconds = round(passed + more, 1)
        return more

    def _end(self, clock: Clock) -> None:
        where = " in one test" if clock is self._test else ""
        self._ended = self._program.end(Fault("timeout", f"stopped after {clock.seconds:g} s{where}"))
        if not self._patient:
            raise self._ended
        signal.setitimer(signal.ITIMER_REAL, _READING_SECONDS)

    def _spent(self) -> float:
        """Processor time of the judge and the program in seconds. They take turns."""
        return time.process_time() + self._program.spent()
