"""The workers of a judge that are alive, so that none of them outlives it."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from koderz_core.errors import SandboxError

CLOSING_SECONDS = 1.0  # how long the threads that wait for killed workers may take to clear up behind them


class Workers:
    """The process groups of workers, by the process id of their leaders. May be used from any thread."""

    def __init__(self) -> None:
        self._changed = threading.Condition()  # guards all below
        self._alive: set[int] = set()
        self._busy = 0
        self._closed = False

    @contextmanager
    def place(self) -> Iterator[None]:
        """Stay inside from before a worker is started until nothing of it is left. Raises SandboxError if closed."""
        with self._changed:
            self._refuse_if_closed()
            self._busy += 1
        try:
            yield
        finally:
            with self._changed:
                self._busy -= 1
                self._changed.notify_all()

    def add(self, leader_pid: int) -> None:
        """A worker has been started. Raises SandboxError if closed meanwhile: the worker is dead then."""
        with self._changed:
            if self._closed:
                kill_group(leader_pid)
            self._refuse_if_closed()
            self._alive.add(leader_pid)

    def kill(self, leader_pid: int) -> None:
        """End a worker and all it has started, before it is reaped: until then its number is nobody else's."""
        with self._changed:
            kill_group(leader_pid)
            self._alive.discard(leader_pid)

    def close(self) -> None:
        """End all, and wait for a moment until nothing of them is left; no other is started. Idempotent."""
        with self._changed:
            self._closed = True
            for leader_pid in self._alive:
                kill_group(leader_pid)
            self._changed.wait_for(lambda: not self._busy, CLOSING_SECONDS)

    def _refuse_if_closed(self) -> None:
        if self._closed:
            raise SandboxError("This judge has been closed, so it judges nothing more. Make another one.")


def kill_group(leader_pid: int) -> None:
    """End a process and all of its group that is left."""
    with suppress(ProcessLookupError, PermissionError):  # PermissionError: macOS, when only a zombie is left
        os.killpg(leader_pid, signal.SIGKILL)
