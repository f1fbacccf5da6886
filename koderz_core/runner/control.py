"""Control requests of other processes: JSON lines in a file next to the journal, read by the runner of the benchmark.

Any process may write to this file, so its content is untrusted: invalid lines are ignored.
"""

from __future__ import annotations

import logging
import os
import stat
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import msgspec

from koderz_core.errors import JournalError
from koderz_core.records import Control

POLL_SECONDS = 0.2
MOST_BYTES = 1 << 16  # of one read
MOST_AT_ONCE = 256  # experiments
MOST_CHARACTERS = 100  # of a target: an id is shorter

_LOG = logging.getLogger("koderz")


@dataclass(frozen=True, slots=True)
class ControlRequest:
    """A request to pause, resume, stop or change a benchmark, or only its configuration or experiment ``target``.

    ``at``: seconds since 1970 (UTC); ``by``: the id of the requesting process. ``change`` sets the total budget
    ``usd`` and the ``concurrency``; None leaves a limit as it is.
    """

    at: float
    by: int
    what: Control | Literal["change"]
    target: Annotated[str, msgspec.Meta(max_length=MOST_CHARACTERS)] | None = None
    usd: Annotated[float, msgspec.Meta(ge=0, le=sys.float_info.max)] | None = None
    concurrency: Annotated[int, msgspec.Meta(ge=1, le=MOST_AT_ONCE)] | None = None


_DECODER = msgspec.json.Decoder(ControlRequest)


def send(journal: Path, request: ControlRequest) -> None:
    """Write a request to the process that runs the benchmark of that journal. Raises JournalError."""
    line = msgspec.json.encode(request) + b"\n"
    try:
        file = os.open(_control_file(journal), os.O_WRONLY | os.O_APPEND | os.O_CREAT | _SAFE_FLAGS, 0o644)
        try:
            os.write(file, line)
        finally:
            os.close(file)
    except OSError as error:
        raise JournalError(
            f"The control file {_control_file(journal).name} cannot be written: {error.strerror}. Check that you may "
            f"write to the folder {journal.parent}."
        ) from error


def discard(journal: Path) -> None:
    """Remove the requests to a benchmark: they were meant for a process that has ended."""
    with suppress(OSError):  # a file that cannot be removed cannot be obeyed either
        _control_file(journal).unlink(missing_ok=True)


@contextmanager
def receiving(journal: Path, obey: Callable[[ControlRequest], None]) -> Iterator[None]:
    """Pass every request written inside to ``obey``, from a thread of its own; the file is removed afterwards."""
    over = threading.Event()
    control = _ControlFile(_control_file(journal))

    def receive() -> None:
        while not over.wait(POLL_SECONDS):
            for request in control.read():
                obey(request)

    thread = threading.Thread(target=receive, name=f"control {journal.stem}", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
        discard(journal)


_SAFE_FLAGS = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC  # no link to elsewhere, no pipe to wait for


class _ControlFile:
    """Reads whole lines only, at most ``MOST_BYTES`` at a time."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._offset = 0
        self._warnings = set[str]()

    def read(self) -> list[ControlRequest]:
        content = self._content()
        whole = content[: content.rfind(b"\n") + 1]
        if not whole and len(content) == MOST_BYTES:
            whole = content  # one endless line: nothing to wait for
        self._offset += len(whole)
        return [request for line in whole.splitlines() if (request := self._request(line)) is not None]

    def _content(self) -> bytes:
        try:
            file = os.open(self._path, os.O_RDONLY | _SAFE_FLAGS)
        except FileNotFoundError:
            self._offset = 0
            return b""
        except OSError as error:
            self._warn(f"cannot be read ({error.strerror})")
            return b""
        try:
            status = os.fstat(file)
            if not stat.S_ISREG(status.st_mode):
                self._warn(
                    "is not a regular file, so koderz cannot read requests to pause, resume, change or stop this "
                    "benchmark"
                )
                return b""
            if status.st_size < self._offset:
                self._offset = 0
            return os.pread(file, MOST_BYTES, self._offset)
        finally:
            os.close(file)

    def _request(self, line: bytes) -> ControlRequest | None:
        try:
            return _DECODER.decode(line)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            self._warn("contains an invalid line, which is ignored")
            return None

    def _warn(self, text: str) -> None:
        """Log each warning once, however often the same fault is written."""
        if text not in self._warnings:
            self._warnings.add(text)
            _LOG.warning("The control file %s %s.", self._path.name, text)


def _control_file(journal: Path) -> Path:
    return journal.with_suffix(".control")
