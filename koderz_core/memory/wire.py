"""The process of a memory server and the lines exchanged with it: bounded in time and size, whatever it does."""

from __future__ import annotations

import os
import re
import signal
import time
from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import suppress
from select import POLLERR, POLLHUP, POLLIN, POLLOUT, poll
from subprocess import PIPE, Popen, TimeoutExpired

from koderz_core.errors import CortexError

MAX_ANSWER_BYTES = 8 << 20  # all that may arrive while one answer is awaited
NICENESS = 10  # what is remembered can wait, what is measured beside it cannot
_SLICE_SECONDS = 0.1  # how soon a changed deadline is noticed
_CHUNK_BYTES = 1 << 16
_ERROR = re.compile(r"[\w.]*(Error|Exception)\b")  # how the line begins that says what went wrong


class Wire:
    """A child process that reads and writes lines. For one thread; only ``latest`` and ``kill`` are for others too."""

    def __init__(self, command: Sequence[str], environment: Mapping[str, str]) -> None:
        """Raises CortexError if it cannot be started."""
        try:
            # A session of its own: Ctrl-C must not end it while what ran last is still to be remembered.
            self._process = Popen(
                list(command), stdin=PIPE, stdout=PIPE, stderr=PIPE, env=dict(environment), start_new_session=True
            )
        except (OSError, ValueError) as error:
            raise CortexError(
                f"The memory server cannot be started with {command[0]!r}: {error}. Correct CORTEX_PATH or "
                "KODERZ_CORTEX_COMMAND, or unset them for the server that comes with koderz."
            ) from error
        with suppress(OSError, AttributeError):
            os.setpriority(os.PRIO_PROCESS, self._process.pid, NICENESS)
        pipes = (self._process.stdin, self._process.stdout, self._process.stderr)
        self._in, self._out, self._err = (pipe.fileno() if pipe else -1 for pipe in pipes)
        for pipe in (self._in, self._out, self._err):
            os.set_blocking(pipe, False)
        self._heard = [self._out, self._err]
        self._unsent, self._unread = b"", bytearray()
        self._words: deque[bytes] = deque(maxlen=4)  # what it last said on standard error
        self._received = 0
        self.latest: float | None = None  # monotonic; every exchange ends then, whatever it was given

    def send(self, line: bytes) -> None:
        """Have a line written while the next answer is awaited; from now on a whole answer's bytes may arrive."""
        self._unsent += line + b"\n"
        self._received = 0

    def receive(self, deadline: float) -> bytes:
        """The next line. Raises CortexError if the process ends, is late or says too much."""
        while (end := self._unread.find(b"\n")) < 0:
            self._wait(deadline)
        line = bytes(self._unread[:end])
        del self._unread[: end + 1]
        return line

    def kill(self) -> None:
        """End it and what it started, at once."""
        with suppress(OSError):
            os.killpg(self._process.pid, signal.SIGKILL)

    def close(self, seconds: float) -> None:
        """Let it end by itself for a moment, since its input has ended; then end it."""
        if self._process.stdin:
            with suppress(OSError):
                self._process.stdin.close()
        with suppress(TimeoutExpired):
            self._process.wait(seconds)
        self.kill()
        self._process.wait()
        for pipe in (self._process.stdout, self._process.stderr):
            if pipe:
                pipe.close()

    def _wait(self, deadline: float) -> None:
        left = (deadline if self.latest is None else min(deadline, self.latest)) - time.monotonic()
        if left <= 0:
            raise CortexError(
                f"The memory server did not answer in time{self._said()}. It is started anew when needed."
            )
        waiting = poll()
        for pipe in self._heard:
            waiting.register(pipe, POLLIN)
        if self._unsent:
            waiting.register(self._in, POLLOUT)
        for pipe, ready in waiting.poll(min(left, _SLICE_SECONDS) * 1000):
            if pipe == self._in:
                self._write()
            elif ready & (POLLIN | POLLHUP | POLLERR):
                self._read(pipe)

    def _write(self) -> None:
        try:
            self._unsent = self._unsent[os.write(self._in, self._unsent[:_CHUNK_BYTES]) :]
        except BlockingIOError:
            return
        except OSError:
            self._unsent = b""  # it is gone, which reading will tell

    def _read(self, pipe: int) -> None:
        try:
            piece = os.read(pipe, _CHUNK_BYTES)
        except BlockingIOError:
            return
        if pipe == self._err:
            self._hear(piece)
            return
        if not piece:
            raise CortexError(f"The memory server ended{self._how()}{self._said()}. It is started anew when needed.")
        self._received += len(piece)
        if self._received > MAX_ANSWER_BYTES:
            raise CortexError(
                f"The memory server said more than {MAX_ANSWER_BYTES >> 20} MiB instead of an answer. It is "
                "started anew when needed."
            )
        self._unread += piece

    def _hear(self, piece: bytes) -> None:
        """Standard error, whose end may come long before that of the process."""
        if piece:
            self._words.append(piece)
        else:
            self._heard.remove(self._err)

    def _how(self) -> str:
        with suppress(TimeoutExpired):
            self._process.wait(_SLICE_SECONDS)
        if self._err in self._heard:
            self._read(self._err)  # what it said last says why
        code = self._process.poll()
        if code is None:
            return " its output"
        return f" (signal {-code})" if code < 0 else f" (exit code {code})"

    def _said(self) -> str:
        """Its last word: of a traceback the line that names the error, which Python has last and Node.js has not."""
        lines = [line.strip() for line in b"".join(self._words).decode(errors="replace").splitlines() if line.strip()]
        errors = [line for line in lines if _ERROR.match(line)]
        last = "".join(char if char.isprintable() else " " for char in (errors or lines or [""])[-1][:300])
        return f": {last}" if last else ""
