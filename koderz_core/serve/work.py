"""The bounded queue of programs: a limit for all, a limit per client, and turns between requests.

A request is accepted whole or refused at once. Each running request gets its next program into the line only when one
of its programs is done, so a request with one program does not wait for a request with hundreds.
"""

from __future__ import annotations

import asyncio
import math
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Generic, TypeVar

from koderz_core.errors import RequestError

Result = TypeVar("Result")
LONGEST_WAIT_SECONDS = 60
_RECENT = 0.05  # the weight of a new duration in the mean


class Queue:
    """Runs jobs in ``workers`` threads. ``run`` is called in one event loop; the figures may be read from any thread.

    ``accepted`` counts jobs, ``refused`` requests. ``pending``: accepted jobs that have not ended.
    """

    def __init__(self, workers: int, most: int, most_per_client: int) -> None:
        self.pending = self.accepted = self.refused = 0
        self._workers, self._most, self._most_per_client = workers, most, most_per_client
        self._clients: Counter[str] = Counter()
        self._mean_seconds = 0.0
        self._threads = ThreadPoolExecutor(workers, thread_name_prefix="serve")

    async def run(self, client: str, jobs: Sequence[Callable[[], Result]]) -> list[Result | Exception]:
        """Return the result of each job, or the exception that it raised. Raises RequestError if there is no place."""
        number = len(jobs)
        self._require_place(client, number)
        self._count(client, number)
        began = time.monotonic()
        try:
            results = await _Batch(jobs, self._threads, self._workers).run()
        finally:
            self._count(client, -number)
        each = (time.monotonic() - began) * min(self._workers, number) / number
        self._mean_seconds += _RECENT * (each - self._mean_seconds)
        return results

    def close(self) -> None:
        """Start no further job. Idempotent."""
        self._threads.shutdown(wait=False, cancel_futures=True)

    def _require_place(self, client: str, number: int) -> None:
        most = min(self._most, self._most_per_client)
        if number > most:
            raise RequestError(
                f"One request may contain at most {most} programs, not {number}. Send several requests.", 413
            )
        for pending, limit, whose in (
            (self._clients[client], self._most_per_client, f"The client {client}"),
            (self.pending, self._most, "The server"),
        ):
            if pending + number > limit:
                self.refused += 1
                wait = self._wait_seconds(pending)
                raise RequestError(
                    f"{whose} has {pending} programs that are not graded yet, this request adds {number}, and the "
                    f"limit is {limit}. Send the request again in {wait} s.",
                    429,
                    retry_after_seconds=wait,
                )

    def _wait_seconds(self, pending: int) -> int:
        seconds = pending * self._mean_seconds / self._workers
        return min(max(1, math.ceil(seconds)), LONGEST_WAIT_SECONDS)

    def _count(self, client: str, number: int) -> None:
        self.pending += number
        self.accepted += max(number, 0)
        self._clients[client] += number
        if not self._clients[client]:
            del self._clients[client]  # there may be many clients


class _Batch(Generic[Result]):
    """The jobs of one request. At most ``width`` of them are in the line of the threads at a time."""

    def __init__(self, jobs: Sequence[Callable[[], Result]], threads: ThreadPoolExecutor, width: int) -> None:
        self._jobs, self._threads, self._width = jobs, threads, width
        self._results: list[Result | Exception] = [RuntimeError("not run")] * len(jobs)
        self._guard = threading.Lock()  # guards the two numbers
        self._begun = self._done = 0
        self._loop = asyncio.get_running_loop()
        self._ended: asyncio.Future[None] = self._loop.create_future()

    async def run(self) -> list[Result | Exception]:
        for _ in range(min(self._width, len(self._jobs))):
            self._threads.submit(self._step)
        await self._ended
        return self._results

    def _step(self) -> None:
        """Run the next job, and put the one after it at the end of the line."""
        with self._guard:
            place = self._begun
            self._begun += 1
        if place >= len(self._jobs) or self._ended.cancelled():
            return
        try:
            self._results[place] = self._jobs[place]()
        except Exception as error:  # noqa: BLE001 (the edge of a worker thread: ``run`` returns it)
            self._results[place] = error
        with self._guard:
            self._done += 1
            is_last, more = self._done == len(self._jobs), self._begun < len(self._jobs)
        if is_last:
            self._loop.call_soon_threadsafe(self._finish)
        elif more:
            self._threads.submit(self._step)

    def _finish(self) -> None:
        if not self._ended.done():
            self._ended.set_result(None)
