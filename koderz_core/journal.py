"""Journals: append-only files of events, one per benchmark. They are the truth.

Only the process that runs a benchmark writes its journal. Each event is one line; the file reaches the disk at least
once a second and, without making anybody wait, as soon as an experiment has ended. A crash can tear only the last line,
which the next writer cuts off. Anyone may read at any time.
"""

from __future__ import annotations

import errno
import fcntl
import os
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from koderz_core.errors import JournalError
from koderz_core.events import Entry, ExperimentFinished, decode, encode

SYNC_SECONDS = 1.0
REST_SECONDS = 0.05  # between two times that the disk is asked: many experiments may end at the same moment
CHUNK_BYTES = 8 << 20
PATIENCE_SECONDS = 0.5  # how long a lock may be taken before it counts as held
_KNOCK_SECONDS = 0.01


class Journal:
    """The writing end. Exclusive: a second process that opens the same journal gets a JournalError."""

    def __init__(self, path: Path) -> None:
        """Open or create ``path``; a torn last line is cut off. Raises JournalError."""
        self.path = path
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._lock_file = _acquire(path)
            self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
        except OSError as error:
            raise JournalError(
                f"The journal {path.name} cannot be written in {path.parent}: {_reason(error)}"
            ) from error
        self._size = _cut_torn_line(self._file)
        self._guard = threading.Lock()  # guards _size, _dirty and _closed, and keeps lines of several threads whole
        self._syncing = threading.Lock()  # held until the disk has it, so that nobody returns from sync too early
        self._dirty = False
        self._closed = False
        self._fault: JournalError | None = None
        self._closing = threading.Event()
        self._due = threading.Event()  # set when the disk should have it at once
        self._syncer = threading.Thread(target=self._sync_regularly, name=f"sync {path.name}", daemon=True)
        self._syncer.start()

    @property
    def empty(self) -> bool:
        """Whether nothing has been written yet, so that the header is due."""
        return self._size == 0

    def append(self, *entries: Entry) -> None:
        """Write events in one go. Raises JournalError if the disk is full or gone; then none of them is in the file."""
        lines = b"".join(map(encode, entries))
        with self._guard:
            if self._fault is not None:
                raise self._fault
            if self._closed:
                raise JournalError(f"The journal {self.path.name} has been closed, so nothing more is written to it.")
            try:
                written = os.write(self._file, lines)
            except OSError as error:
                raise JournalError(f"The journal {self.path.name} cannot be written: {_reason(error)}") from error
            if written < len(lines):
                os.ftruncate(self._file, self._size)
                raise JournalError(
                    f"The disk that holds the journal {self.path.name} is full. Free some space, then resume."
                )
            self._size += written
            self._dirty = True
        if any(isinstance(entry.event, ExperimentFinished) for entry in entries):
            self._due.set()

    def sync(self) -> None:
        """Return when all that was appended before is on the disk. Raises JournalError."""
        with self._syncing:
            with self._guard:
                due, self._dirty = self._dirty, False
            try:
                if due:
                    os.fsync(self._file)
            except OSError as error:
                if error.errno != errno.EINVAL:  # no file, so nothing to sync; the next write says what is wrong
                    raise JournalError(f"The journal {self.path.name} cannot be written: {_reason(error)}") from error

    def close(self) -> None:
        """Sync, release the lock, stop the syncing thread. Idempotent."""
        if self._closing.is_set():
            return
        self._closing.set()
        self._due.set()
        self._syncer.join()
        try:
            self.sync()
        finally:
            if self.empty:
                self.path.unlink(missing_ok=True)  # nothing was begun
            with self._guard:
                self._closed = True
                os.close(self._file)
            with suppress(OSError):  # the next writer must not be taken for this one before it has said which it is
                self._lock_file.truncate(0)
            fcntl.flock(self._lock_file, fcntl.LOCK_UN)  # a child forked meanwhile would keep it locked
            self._lock_file.close()

    def _sync_regularly(self) -> None:
        while not self._closing.is_set():
            self._due.wait(SYNC_SECONDS)
            self._due.clear()
            try:
                self.sync()
            except JournalError as error:
                self._fault = error  # the next append reports it, where somebody listens
                return
            self._closing.wait(REST_SECONDS)


@dataclass(frozen=True, slots=True)
class Tail:
    """Entries read from a journal, and the offset just behind the last whole line that was read."""

    entries: tuple[Entry, ...]
    offset: int


def read(path: Path, offset: int = 0, max_bytes: int = CHUNK_BYTES) -> Tail:
    """The next whole lines from ``offset`` (bytes) on; a torn last line is not read yet.

    Kinds that a later koderz wrote are passed over. Raises JournalError for a missing file, or if the line at
    ``offset`` is corrupt; what stands before a corrupt line is read first.
    """
    try:
        with path.open("rb") as file:
            file.seek(offset)
            chunk = file.read(max_bytes)
            if b"\n" not in chunk:
                chunk += file.readline()
    except OSError as error:
        raise JournalError(f"The journal {path.name} cannot be read: {_reason(error)}") from error
    entries: list[Entry] = []
    position = offset
    for line in chunk.split(b"\n")[:-1]:
        try:
            entry = decode(line)
        except JournalError as error:
            if position > offset:
                break
            raise JournalError(_corrupt(path, position, str(error))) from error
        position += len(line) + 1
        if entry is not None:
            entries.append(entry)
    return Tail(tuple(entries), position)


def read_all(path: Path) -> Iterator[Entry]:
    """Every entry from the beginning, in order, a chunk at a time."""
    offset, more = 0, True
    while more:
        tail = read(path, offset)
        yield from tail.entries
        more, offset = tail.offset > offset, tail.offset


def holder(path: Path) -> int | None:
    """The id of the process that is writing the journal at ``path`` now, None if none is: the dead hold no lock.

    0 if it has not said which it is. Raises JournalError.
    """
    try:
        with path.with_suffix(".lock").open("rb") as lock:
            if _locked(lock, fcntl.LOCK_SH):
                fcntl.flock(lock, fcntl.LOCK_UN)  # closing is not enough if a child was forked meanwhile
                return None
            said = lock.read().strip()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise JournalError(f"Who writes the journal {path.name} cannot be told: {_reason(error)}") from error
    return int(said) if said.isdigit() else 0


def _corrupt(path: Path, offset: int, fault: str) -> str:
    with path.open("rb") as file:
        number = file.read(offset).count(b"\n") + 1
    return (
        f"Line {number} of the journal {path.name} cannot be read: {fault}. Nothing behind it was read. If it is of a "
        f"later koderz, upgrade. Else move the file away, and back once it is mended; no other benchmark is touched. "
        f"`koderz reindex` then rebuilds the index."
    )


def _cut_torn_line(file: int) -> int:
    """Truncate to the end of the last whole line; returns the size then. Reads backwards, a block at a time."""
    end = os.fstat(file).st_size
    block = 1 << 16
    while end > 0:
        start = max(0, end - block)
        newline = os.pread(file, end - start, start).rfind(b"\n")
        if newline >= 0:
            end = start + newline + 1
            break
        end = start
    if end < os.fstat(file).st_size:
        os.ftruncate(file, end)
    return end


def _acquire(path: Path) -> BinaryIO:
    """The lock stands beside the journal, so that reading it needs none; it holds the writer's process id.

    Patient for a moment, since those who only ask for the holder lock it in passing.
    """
    lock = path.with_suffix(".lock").open("a+b")
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not _locked(lock, fcntl.LOCK_EX):
        if time.monotonic() > deadline:
            lock.close()
            raise JournalError(f"{path.stem} is being run by {_whose(holder(path))}. Wait for it or stop it.")
        time.sleep(_KNOCK_SECONDS)
    lock.truncate(0)
    lock.write(str(os.getpid()).encode())
    lock.flush()
    return lock


def _locked(lock: BinaryIO, how: int) -> bool:
    try:
        fcntl.flock(lock, how | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _whose(pid: int | None) -> str:
    return "this process already" if pid == os.getpid() else f"another process (PID {pid or 'unknown'})"


def _reason(error: OSError) -> str:
    return f"{error.strerror or error}. Check that the folder exists, is yours to write, and has space left."
