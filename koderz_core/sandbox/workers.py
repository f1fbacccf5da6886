"""Worker processes of a judge: a pool of workers, and one worker as the host sees it.

A worker judges one program after another and is replaced when it dies or stalls. It serves one family of problems, so
that anything that a test set leaves behind in the judge's process can affect that family only.
"""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import astuple
from itertools import count

from koderz_core.errors import SandboxError
from koderz_core.records import Isolation
from koderz_core.sandbox import box
from koderz_core.sandbox.folders import Folder

CLOSING_SECONDS = 1.0  # time for the threads that wait for killed workers to clean up
MAX_ANSWER_BYTES = 16 << 20
START_SECONDS = 30.0
ENDING_SECONDS = 0.5  # time for an idle worker to end
DYING_SECONDS = 0.1  # time for killed processes to disappear
_READ_BYTES = 1 << 16
_HEAD = 4  # bytes with the length of an answer
_ENTRY = box.INSIDE / "worker.py"
_TURNS = count()  # workers start on different cores


class Workers:
    """At most ``limit`` workers at a time, made by ``make``. May be used from any thread."""

    def __init__(self, make: Callable[[], Worker], limit: int, *, used_once: bool) -> None:
        """``used_once``: each worker judges one program only, for tiers where programs can leave something behind."""
        self._make, self._limit, self._used_once = make, limit, used_once
        self._changed = threading.Condition()  # guards all below
        self._idle: list[tuple[str, Worker]] = []
        self._busy: set[Worker] = set()
        self._starting = 0
        self._closed = False
        self._starter = ThreadPoolExecutor(1)  # bubblewrap ends a worker with the thread that started it

    @contextmanager
    def worker(self, family: str) -> Iterator[Worker]:
        """A worker for one program; waits if all are busy. Raises SandboxError if closed or if no worker can start."""
        worker = self._take_idle(family) or self._start()
        try:
            yield worker
        finally:
            self._give_back(family, worker)

    def close(self) -> None:
        """End all workers, start no others, and wait briefly until all processes are gone. Idempotent."""
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

    def _take_idle(self, family: str) -> Worker | None:
        """An idle worker of the family; None if the caller may start one, for which a place is then reserved."""
        with self._changed:
            self._changed.wait_for(lambda: self._closed or self._idle or self._count() < self._limit)
            self._refuse_if_closed()
            for pair in [pair for pair in self._idle if not pair[1].alive]:
                self._idle.remove(pair)
                pair[1].discard()
            idle = next((pair for pair in reversed(self._idle) if pair[0] == family), None)
            if idle:
                self._idle.remove(idle)
                self._busy.add(idle[1])
                return idle[1]
            if self._count() >= self._limit:
                self._idle.pop(0)[1].discard()
            self._starting += 1
            return None

    def _start(self) -> Worker:
        """Start a worker. If the caller is interrupted meanwhile, the worker is discarded once it has started."""
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

    def _count(self) -> int:
        return len(self._idle) + len(self._busy) + self._starting

    def _refuse_if_closed(self) -> None:
        if self._closed:
            raise SandboxError("This judge is closed, so it cannot grade programs. Open another judge.")


def _discard(start: Future[Worker]) -> None:
    if not start.cancelled() and start.exception() is None:
        start.result().discard()


class LostError(Exception):
    """A worker died or stalled."""


class StalledError(LostError):
    """A worker did not answer in time because it could not process a program's output."""


class Worker:
    """A worker in its own process group. One thread at a time creates and uses it; any thread may kill it."""

    def __init__(self, isolation: Isolation, bwrap: str | None, memory_bytes: int) -> None:
        """Start it and wait until it is ready for an order. Raises SandboxError if it cannot be started.

        ``bwrap``: the path of bubblewrap. ``memory_bytes``: address space of each of the worker's own processes.
        """
        self._folder = Folder() if isolation == "limited" else None  # other tiers write no files
        try:
            folder = str(self._folder.path) if self._folder else "/"
            self._process = _start_process(isolation, bwrap, memory_bytes, folder)
        except OSError as error:
            self._remove_folder()
            raise SandboxError(
                f"A worker could not be started: {error}. Free some memory, or end other processes."
            ) from error
        self._guard = threading.Lock()  # guards the end of the process: a process id may be reused after it
        pipes = (self._process.stdin, self._process.stdout, self._process.stderr)
        self._pipes = [pipe for pipe in pipes if pipe is not None]  # all three
        self._in, self._out, self._progress = (pipe.fileno() for pipe in self._pipes)
        for pipe in self._pipes:
            os.set_blocking(pipe.fileno(), False)
        try:
            self._read(time.monotonic() + START_SECONDS)
        except (LostError, TimeoutError) as error:
            self.discard()
            raise SandboxError(
                f"A worker could not be started: {error or 'it stalled'}. Run `koderz doctor --grader`."
            ) from error

    @property
    def alive(self) -> bool:
        with self._guard:
            return self._process.poll() is None

    def answer(self, order: bytes, seconds: float) -> bytes:
        """The answer to an order. Kills the worker and raises LostError if it takes longer than ``seconds``."""
        deadline = time.monotonic() + seconds
        self._program_answered()  # discards the signal of the last order
        try:
            self._write(len(order).to_bytes(4, "big") + order, deadline)
            return self._read(deadline)
        except TimeoutError:
            by_program = self._program_answered()
            self.kill()
            raise (
                StalledError("it did not process the program's output in time")
                if by_program
                else LostError("it stalled")
            ) from None
        except BaseException:  # an unread answer would be taken for the answer to the next order
            self.kill()
            raise

    def kill(self) -> None:
        """Kill it and its processes and wait for that. Threads that wait for its answer get LostError. Idempotent."""
        with self._guard:
            if self._process.returncode is not None:
                return
            with suppress(ProcessLookupError, PermissionError):  # PermissionError: macOS, if only a zombie is left
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
        wait_for_group(self._process.pid)

    def discard(self) -> None:
        """End it and free its resources. Only for the thread that uses it, or if no thread does."""
        stdin, *others = self._pipes
        stdin.close()  # an idle worker then ends by itself, after its own processes
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(ENDING_SECONDS)
        self.kill()
        for pipe in others:
            pipe.close()
        self._remove_folder()

    def _remove_folder(self) -> None:
        if self._folder:
            self._folder.remove()
            self._folder = None

    def _write(self, message: bytes, deadline: float) -> None:
        rest = memoryview(message)
        while rest:
            try:
                rest = rest[os.write(self._in, rest) :]
            except BlockingIOError:
                self._wait(self._in, select.POLLOUT, deadline)
            except BrokenPipeError:
                raise LostError("it died") from None

    def _read(self, deadline: float) -> bytes:
        """One answer. Usually the first read returns all of it, and nothing follows it."""
        start = b""
        while len(start) < _HEAD:
            start += self._some(deadline)
        missing = _HEAD + int.from_bytes(start[:_HEAD], "big") - len(start)
        if not 0 <= missing <= MAX_ANSWER_BYTES:
            raise LostError("its answer is too large")
        parts = [start[_HEAD:]]
        while missing > 0:
            parts.append(self._some(deadline))
            missing -= len(parts[-1])
        return b"".join(parts)

    def _some(self, deadline: float) -> bytes:
        self._wait(self._out, select.POLLIN, deadline)
        some = os.read(self._out, _READ_BYTES)
        if not some:
            raise LostError("it died")
        return some

    def _program_answered(self) -> bool:
        """Whether the program has answered since the last call of this method; inside/serving.py reports it."""
        try:
            return bool(os.read(self._progress, _READ_BYTES))
        except BlockingIOError:
            return False

    def _wait(self, fd: int, event: int, deadline: float) -> None:
        poll = select.poll()
        poll.register(fd, event)
        if not poll.poll(max(0.0, deadline - time.monotonic()) * 1000):
            raise TimeoutError


def wait_for_group(pid: int) -> None:
    """Wait until the processes that were killed with a process of its own group are gone."""
    deadline = time.monotonic() + DYING_SECONDS
    with suppress(ProcessLookupError, PermissionError):
        while time.monotonic() < deadline:
            os.killpg(pid, 0)
            time.sleep(0.001)


def _start_process(isolation: Isolation, bwrap: str | None, memory_bytes: int, folder: str) -> subprocess.Popen[bytes]:
    readable = None if isolation == "limited" else astuple(box.readable())
    parent = 0 if isolation == "hardened" else os.getpid()  # bubblewrap itself ends all processes with the parent
    setup = json.dumps({"readable": readable, "memory_bytes": memory_bytes, "parent": parent, "turn": next(_TURNS)})
    return subprocess.Popen(
        [*box.command(isolation, bwrap), str(_ENTRY), setup],
        cwd=folder,
        env={**box.ENVIRONMENT, "HOME": folder},  # not the user's own, since programs may write files
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
