"""Wishes of other processes: JSON lines in a file beside the journal, which whoever runs the benchmark follows.

Anybody may write there, so what stands in it is hostile: whatever is no wish is passed over.
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
MOST_BYTES = 1 << 16  # read at one look
MOST_AT_ONCE = 256  # experiments
MOST_CHARACTERS = 100  # of a target: an id is shorter

_LOG = logging.getLogger("koderz")


@dataclass(frozen=True, slots=True)
class Wish:
    """What is to be done with a benchmark or, if it names one, with its configuration or experiment ``target``.

    ``at``: seconds since 1970 (UTC); ``by``: the process that wishes it. To ``change`` is to let it cost ``usd`` in
    all and have so many experiments at work at once; None leaves that as it is.
    """

    at: float
    by: int
    what: Control | Literal["change"]
    target: Annotated[str, msgspec.Meta(max_length=MOST_CHARACTERS)] | None = None
    usd: Annotated[float, msgspec.Meta(ge=0, le=sys.float_info.max)] | None = None
    concurrency: Annotated[int, msgspec.Meta(ge=1, le=MOST_AT_ONCE)] | None = None


_WISHES = msgspec.json.Decoder(Wish)


def ask(journal: Path, wish: Wish) -> None:
    """Write a wish for whoever runs the benchmark of that journal. Raises JournalError."""
    line = msgspec.json.encode(wish) + b"\n"
    try:
        file = os.open(_beside(journal), os.O_WRONLY | os.O_APPEND | os.O_CREAT | _CAREFULLY, 0o644)
        try:
            os.write(file, line)
        finally:
            os.close(file)
    except OSError as error:
        raise JournalError(
            f"The control file {_beside(journal).name} cannot be written: {error.strerror}. Check that the folder "
            f"{journal.parent} is yours to write."
        ) from error


def forget(journal: Path) -> None:
    """Remove what is wished of a benchmark: it was meant for a process that has ended."""
    with suppress(OSError):  # what cannot be removed cannot be obeyed either
        _beside(journal).unlink(missing_ok=True)


@contextmanager
def following(journal: Path, obey: Callable[[Wish], None]) -> Iterator[None]:
    """Give every wish written meanwhile to ``obey``, soon and from a thread; the file is gone afterwards."""
    over = threading.Event()
    control = _ControlFile(_beside(journal))

    def follow() -> None:
        while not over.wait(POLL_SECONDS):
            for wish in control.read():
                obey(wish)

    thread = threading.Thread(target=follow, name=f"control {journal.stem}", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
        forget(journal)


_CAREFULLY = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC  # no link to elsewhere, no pipe to wait for


class _ControlFile:
    """The reading end: whole lines only, a stretch at a time."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._offset = 0
        self._complained = ""

    def read(self) -> list[Wish]:
        stretch = self._stretch()
        whole = stretch[: stretch.rfind(b"\n") + 1]
        if not whole and len(stretch) == MOST_BYTES:
            whole = stretch  # one endless line: nothing to wait for
        self._offset += len(whole)
        return [wish for line in whole.splitlines() if (wish := self._wish(line)) is not None]

    def _stretch(self) -> bytes:
        try:
            file = os.open(self._path, os.O_RDONLY | _CAREFULLY)
        except FileNotFoundError:
            self._offset = 0
            return b""
        except OSError as error:
            self._complain(f"cannot be read ({error.strerror})")
            return b""
        try:
            status = os.fstat(file)
            if not stat.S_ISREG(status.st_mode):
                self._complain("is no file")
                return b""
            if status.st_size < self._offset:
                self._offset = 0
            return os.pread(file, MOST_BYTES, self._offset)
        finally:
            os.close(file)

    def _wish(self, line: bytes) -> Wish | None:
        try:
            return _WISHES.decode(line)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            self._complain("holds a line that is no wish, which is passed over")
            return None

    def _complain(self, text: str) -> None:
        """Each complaint once, whatever somebody goes on writing."""
        if text not in self._complained:
            self._complained += text
            _LOG.warning("The control file %s %s.", self._path.name, text)


def _beside(journal: Path) -> Path:
    return journal.with_suffix(".control")
