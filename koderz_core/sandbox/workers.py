"""The workers of a judge: processes that judge one program after another, replaced when they die or stall.

A worker serves one family of problems: whatever a test set leaves behind in its judge can reach that family only.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager

from koderz_core.errors import SandboxError
from koderz_core.sandbox.worker import Worker

CLOSING_SECONDS = 1.0  # how long the threads that wait for killed workers may take to clear up behind them


class Workers:
    """At most ``limit`` workers at a time, made by ``make``. May be used from any thread."""

    def __init__(self, make: Callable[[], Worker], limit: int, *, used_once: bool) -> None:
        """``used_once``: a worker is worn out by one program, where programs can leave something behind."""
        self._make, self._limit, self._used_once = make, limit, used_once
        self._changed = threading.Condition()  # guards all below
        self._idle: list[tuple[str, Worker]] = []
        self._busy: set[Worker] = set()
        self._starting = 0
        self._closed = False
        self._starter = ThreadPoolExecutor(1)  # bubblewrap ends a worker with the thread that started it

    @contextmanager
    def worker(self, family: str) -> Iterator[Worker]:
        """A worker for one program, waiting for one if all are busy. Raises SandboxError if closed or not startable."""
        worker = self._taken(family) or self._started()
        try:
            yield worker
        finally:
            self._give_back(family, worker)

    def close(self) -> None:
        """End all, and wait for a moment until nothing of them is left; no other is started. Idempotent."""
        with self._changed:
            self._closed = True
            for worker in self._busy:
                worker.kill()
            for _, worker in self._idle:
                worker.discard()
            self._idle.clear()
            self._changed.notify_all()
            self._changed.wait_for(lambda: not self._busy and not self._starting, CLOSING_SECONDS)
            still_starting = bool(self._starting)
        self._starter.shutdown(wait=not still_starting)

    def _taken(self, family: str) -> Worker | None:
        """An idle one of the family; None when one may be started, whose place is taken then."""
        with self._changed:
            self._changed.wait_for(lambda: self._closed or self._idle or self._count() < self._limit)
            self._refuse_if_closed()
            self._discard_dead()
            found = next((pair for pair in reversed(self._idle) if pair[0] == family), None)
            if found:
                self._idle.remove(found)
                self._busy.add(found[1])
                return found[1]
            if self._count() >= self._limit:
                self._idle.pop(0)[1].discard()
            self._starting += 1
            return None

    def _started(self) -> Worker:
        """Whoever is interrupted while it starts leaves it to be discarded as soon as it has started."""
        adopted, start = False, self._starter.submit(self._make)
        try:
            worker = start.result()
            with self._changed:
                self._refuse_if_closed()
                self._busy.add(worker)
                adopted = True
            return worker
        finally:
            if not adopted:
                start.add_done_callback(_discard)
            with self._changed:
                self._starting -= 1
                self._changed.notify_all()

    def _give_back(self, family: str, worker: Worker) -> None:
        with self._changed:
            self._busy.discard(worker)
            if self._closed or self._used_once or not worker.alive:
                worker.discard()
            else:
                self._idle.append((family, worker))
            self._changed.notify_all()

    def _discard_dead(self) -> None:
        for pair in [pair for pair in self._idle if not pair[1].alive]:
            self._idle.remove(pair)
            pair[1].discard()

    def _count(self) -> int:
        return len(self._idle) + len(self._busy) + self._starting

    def _refuse_if_closed(self) -> None:
        if self._closed:
            raise SandboxError("This judge has been closed, so it judges nothing more. Make another one.")


def _discard(start: Future[Worker]) -> None:
    if not start.cancelled() and start.exception() is None:
        start.result().discard()
