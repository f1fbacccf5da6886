"""The host's end of the pipes to a process that runs the tests of a repository.

The process may write anything. Lines that are not records of this run are ignored, and missing records count as tests
that did not pass.
"""

from __future__ import annotations

import json
import os
import select
import subprocess
from contextlib import suppress

MOST_BYTES = 64 << 20
"""Bytes of one run that are read: more than a thousand times those of a usual one."""
MOST_RECORDS = 500_000
MOST_PARTS = 8_000_000
"""Values in all records, estimated: empty lists take thirty times the memory of their text."""
_READ_BYTES = 1 << 18
_MOST_ERROR = 300


class FloodError(Exception):
    """The process writes more than any test set does."""


class Channel:
    """Sends the order and reads records. ``records``: what follows the nonce, in each line that begins with it."""

    def __init__(self, process: subprocess.Popen[bytes], nonce: str) -> None:
        assert process.stdin
        assert process.stdout
        assert process.stderr
        self._in, self._out, self._error = process.stdin, process.stdout.fileno(), process.stderr.fileno()
        for fd in (self._in.fileno(), self._out, self._error):
            os.set_blocking(fd, False)
        self._begin = f'["{nonce}",'.encode()
        self._received, self._parts, self._searched, self._tail = 0, 0, 0, bytearray()
        self.records: list[list[object]] = []
        self.ended = False

    def exchange(self, rest: memoryview, seconds: float) -> memoryview:
        """Wait for at most ``seconds`` until something can be sent or read; return what remains to be sent."""
        poll = select.poll()
        poll.register(self._out, select.POLLIN)
        if rest:
            poll.register(self._in.fileno(), select.POLLOUT)
        for fd, _ in poll.poll(seconds * 1000):
            if fd == self._out:
                self._read()
            else:
                rest = self._write(rest)
        return rest

    def _read(self) -> None:
        with suppress(BlockingIOError):
            some = os.read(self._out, _READ_BYTES)
            self.ended = not some
            self._received += len(some)
            self._tail += some

    def _write(self, rest: memoryview) -> memoryview:
        try:
            rest = rest[os.write(self._in.fileno(), rest) :]
        except BlockingIOError:
            return rest
        except BrokenPipeError:  # it has ended
            rest = rest[:0]
        if not rest:
            with suppress(OSError):
                self._in.close()
        return rest

    def parse(self) -> None:
        """Turn the lines that have arrived into records. Raises FloodError."""
        if self._received > MOST_BYTES or len(self.records) > MOST_RECORDS:
            raise FloodError
        end = self._tail.rfind(b"\n", self._searched) + 1
        self._searched = len(self._tail) - end
        if not end:
            return
        whole = bytes(self._tail[:end])
        del self._tail[:end]
        self._parts += sum(map(whole.count, (b",", b"[", b"{")))
        if self._parts > MOST_PARTS:
            raise FloodError
        lines = whole.split(b"\n")
        for line in lines:
            if line:
                self._keep(line)

    def _keep(self, line: bytes) -> None:
        if not line.startswith(self._begin):
            return
        try:
            found = json.loads(line)
        except (ValueError, RecursionError):
            return
        self.records.append(found[1:])
        self.ended = self.ended or found[1] == "finish"

    def errors(self) -> str:
        """The last line that the process printed before it could start."""
        with suppress(BlockingIOError, OSError):
            lines = os.read(self._error, _READ_BYTES).decode(errors="replace").strip().splitlines()
            return " ".join(lines[-1:])[:_MOST_ERROR]
        return ""
