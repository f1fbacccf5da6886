"""Worker processes of a judge: a pool of them, and one worker as the host sees it.

A worker judges one program after another and is replaced when it dies or stalls. It serves one family of problems:
what a test set leaves behind in its judge can reach that family only.
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

CLOSING_SECONDS = 1.0  # how long the threads that wait for killed workers may take to clear up behind them
MAX_ANSWER_BYTES = 16 << 20
START_SECONDS = 30.0
ENDING_SECONDS = 0.5  # how long one may take that has nothing to do
DYING_SECONDS = 0.1  # how long what was killed may take to be gone
_READ_BYTES = 1 << 16
_HEAD = 4  # bytes that tell the length of an answer
_ENTRY = box.INSIDE / "worker.py"
_TURNS = count()  # workers begin on different cores


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


class LostError(Exception):
    """A worker died or stalled."""


class StalledError(LostError):
    """It did not answer in time: it could not finish with what a program had given it."""


class Worker:
    """A worker in a process group of its own. Made and asked by one thread at a time; any thread may kill it."""

    def __init__(self, isolation: Isolation, bwrap: str | None, memory_bytes: int) -> None:
        """Start it and wait until it can take an order. Raises SandboxError if it cannot be started.

        ``bwrap``: where bubblewrap is. ``memory_bytes``: address space of each of its own processes.
        """
        self._folder = Folder() if isolation == "limited" else None  # in the others nothing is written
        try:
            self._process = _start(isolation, bwrap, memory_bytes, str(self._folder.path) if self._folder else "/")
        except OSError as error:
            self._remove_folder()
            raise SandboxError(f"A worker could not be started: {error}. Free memory or processes.") from error
        self._guard = threading.Lock()  # guards the process's end: its number is killed only while it is its own
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        assert self._process.stderr is not None
        ends = (self._process.stdin, self._process.stdout, self._process.stderr)
        self._in, self._out, self._progress = (end.fileno() for end in ends)
        for fd in (self._in, self._out, self._progress):
            os.set_blocking(fd, False)
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
        """Raises LostError, with the worker ended, if there is no whole answer within ``seconds``."""
        deadline = time.monotonic() + seconds
        self._program_answered()  # that of the last order is forgotten
        try:
            self._write(len(order).to_bytes(4, "big") + order, deadline)
            return self._read(deadline)
        except TimeoutError:
            own = self._program_answered()
            self.kill()
            raise (StalledError("it stalled on what the program gave it") if own else LostError("it stalled")) from None
        except BaseException:  # an answer that nobody has read would be taken for the next one
            self.kill()
            raise

    def kill(self) -> None:
        """End it and all it has started, and wait for that; whoever waits for its answer loses it. Idempotent."""
        with self._guard:
            if self._process.returncode is not None:
                return
            with suppress(ProcessLookupError, PermissionError):  # PermissionError: macOS, when only a zombie is left
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
        self._wait_for_group()

    def discard(self) -> None:
        """End it and give back what it held: for the thread that uses it, or when none does."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        assert self._process.stderr is not None
        self._process.stdin.close()  # a worker that waits for an order ends by itself, and waits for its own processes
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(ENDING_SECONDS)
        self.kill()
        self._process.stdout.close()
        self._process.stderr.close()
        self._remove_folder()

    def _wait_for_group(self) -> None:
        """What the worker has started is killed with it, but takes a moment to be gone."""
        deadline = time.monotonic() + DYING_SECONDS
        with suppress(ProcessLookupError, PermissionError):
            while time.monotonic() < deadline:
                os.killpg(self._process.pid, 0)
                time.sleep(0.001)

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
        """One answer: mostly there as a whole at the first look, and nothing comes after it."""
        said = b""
        while len(said) < _HEAD:
            said += self._some(deadline)
        missing = _HEAD + int.from_bytes(said[:_HEAD], "big") - len(said)
        if not 0 <= missing <= MAX_ANSWER_BYTES:
            raise LostError("it answered too much")
        parts = [said[_HEAD:]]
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
        """Whether something has come of the program (inside/serving.py says it) since this was asked last."""
        try:
            return bool(os.read(self._progress, _READ_BYTES))
        except BlockingIOError:
            return False

    def _wait(self, fd: int, event: int, deadline: float) -> None:
        poll = select.poll()
        poll.register(fd, event)
        if not poll.poll(max(0.0, deadline - time.monotonic()) * 1000):
            raise TimeoutError


def _start(isolation: Isolation, bwrap: str | None, memory_bytes: int, folder: str) -> subprocess.Popen[bytes]:
    if not hasattr(os, "fork"):
        raise SandboxError("Programs can be judged on Linux and macOS only. On Windows, install koderz inside WSL2.")
    readable = None if isolation == "limited" else astuple(box.readable())
    parent = 0 if isolation == "hardened" else os.getpid()  # bubblewrap sees to it that nothing outlives it
    setup = json.dumps({"readable": readable, "memory_bytes": memory_bytes, "parent": parent, "turn": next(_TURNS)})
    return subprocess.Popen(
        [*box.command(isolation, bwrap), str(_ENTRY), setup],
        cwd=folder,
        env={**box.ENVIRONMENT, "HOME": folder},  # else a program that may write would find the user's own
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
