"""Checks of a journal: whether each line can be read, and whether another program has changed an open file."""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from koderz_core.errors import JournalError
from koderz_core.events import Entry, decode
from koderz_core.events.lines import LaterLineError
from koderz_core.files import replacement


@dataclass(frozen=True, slots=True)
class Line:
    """One line of the file, newline included. ``entry``: None if it is corrupt or of an unknown kind."""

    content: bytes
    entry: Entry | None
    corrupt: bool = False


@dataclass(frozen=True, slots=True)
class Condition:
    """``corrupt``: the numbers of lines that cannot be read, from 1; ``torn``: bytes after the last complete line.

    ``later``: whether a later koderz wrote some of the lines, which this one cannot check.
    """

    corrupt: tuple[int, ...] = ()
    torn: int = 0
    later: bool = False


def check(path: Path) -> Condition:
    """The condition of the journal at ``path``. Raises JournalError if it cannot be read at all."""
    corrupt: list[int] = []
    torn = 0
    try:
        for number, line in enumerate(lines(path), 1):
            if not line.content.endswith(b"\n"):
                torn = len(line.content)
            elif line.corrupt:
                corrupt.append(number)
    except LaterLineError:
        return Condition(later=True)
    return Condition(tuple(corrupt), torn)


def torn(path: Path) -> int:
    """The number of bytes after the last complete line, read from the end of the file. Raises JournalError."""
    try:
        with path.open("rb") as file:
            return os.fstat(file.fileno()).st_size - end_of_lines(file.fileno())
    except OSError as error:
        raise _unreadable(path, error) from error


def lines(path: Path) -> Iterator[Line]:
    """Every line of a journal, including corrupt ones and a torn last one, which counts as corrupt.

    Raises LaterLineError at a line from a later koderz, JournalError.
    """
    try:
        with path.open("rb") as file:
            for content in file:
                yield _line(content)
    except OSError as error:
        raise _unreadable(path, error) from error


def _unreadable(path: Path, error: OSError) -> JournalError:
    return JournalError(f"The journal {path.name} cannot be read: {reason(error)}")


def _line(content: bytes) -> Line:
    try:
        return Line(content, decode(content), corrupt=not content.endswith(b"\n"))
    except LaterLineError:
        raise
    except JournalError:
        return Line(content, None, corrupt=True)


def require_unharmed(file: int, path: Path, size: int) -> None:
    """Raise JournalError if the open ``file`` of a journal was deleted or does not have the ``size`` that was written.

    This takes microseconds and runs before every write: a line after another program's incomplete line would be
    corrupt.
    """
    now = os.fstat(file)
    if not stat.S_ISREG(now.st_mode):
        return
    if now.st_nlink == 0:
        raise JournalError(
            f"The journal {path.name} was deleted while koderz was writing to it, so the benchmark stops. koderz has "
            f"restored the file. To continue, run `koderz resume {path.stem}`. To delete a benchmark, run "
            "`koderz stop` first, then `koderz delete`."
        )
    if now.st_size != size:
        done = "shortened" if now.st_size < size else "extended"
        raise JournalError(
            f"The journal {path.name} was {done} by another program while koderz was writing to it, so the benchmark "
            f"stops. Run `koderz doctor --repair`, then `koderz resume {path.stem}`, which repeats the calls and tests "
            "whose results were lost."
        )


def put_back(file: int, path: Path) -> None:
    """Restore a deleted file that is still open, with its content, unless another file has its name now."""
    if os.fstat(file).st_nlink or path.exists():
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    os.lseek(file, 0, os.SEEK_SET)
    part = path.with_suffix(".part")  # the same each time: the lock of the journal is held
    with replacement(path, part=part, private=False) as copy, os.fdopen(os.dup(file), "rb") as deleted:
        shutil.copyfileobj(deleted, copy)


def end_of_lines(file: int) -> int:
    """The offset behind the last complete line of an open file. Reads backwards, in blocks. Raises OSError."""
    end = os.fstat(file).st_size
    block = 1 << 16
    while end > 0:
        start = max(0, end - block)
        newline = os.pread(file, end - start, start).rfind(b"\n")
        if newline >= 0:
            return start + newline + 1
        end = start
    return end


def reason(error: OSError) -> str:
    """The reason for a failed access to a journal, and what to check."""
    return f"{error.strerror or error}. Check that the folder exists and is writable, and that its disk has free space."
