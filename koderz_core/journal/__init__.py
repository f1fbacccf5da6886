"""Journals: append-only files of events, one per benchmark. They are the truth.

Only the process that runs a benchmark writes its journal. Each event is one line. A thread syncs the file to the disk
at least once a second, and at once when an experiment ends. A crash can tear only the last line, which the next writer
cuts off. Any process may read at any time. ``koderz_core.files`` does not write this file, because it grows by appended
lines and is never replaced while it is written.
"""

from __future__ import annotations

import errno
import os
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from koderz_core.errors import JournalError
from koderz_core.events import Entry, ExperimentFinished, decode, encode
from koderz_core.files import Lock, owner_of
from koderz_core.journal.checking import end_of_lines, put_back, reason, require_unharmed
from koderz_core.records.shards import shard_in

SYNC_SECONDS = 1.0
REST_SECONDS = 0.05  # between two syncs: many experiments may end at the same moment
CHUNK_BYTES = 8 << 20
PATIENCE_SECONDS = 0.5
"""How long to wait for a lock before it counts as held: ``holder`` takes it for a moment."""


class Journal:
    """Writes a journal. Exclusive: a second process that opens the same journal gets a JournalError."""

    def __init__(self, path: Path) -> None:
        """Open or create ``path``; a torn last line is cut off. Raises JournalError."""
        self.path = path
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._lock = acquire(path)
            self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
        except OSError as error:
            raise JournalError(
                f"The journal {path.name} cannot be written in {path.parent}: {reason(error)}"
            ) from error
        self._size = _cut_torn_line(self._file)
        self._guard = threading.Lock()  # guards _size, _dirty and _closed, and keeps lines of several threads whole
        self._syncing = threading.Lock()  # held until the data is on the disk, so no thread returns too early
        self._dirty = False
        self._closed = False
        self._fault: JournalError | None = None
        self._closing = threading.Event()
        self._due = threading.Event()  # set to sync at once
        self._syncer = threading.Thread(target=self._sync_regularly, name=f"sync {path.name}", daemon=True)
        self._syncer.start()

    @property
    def empty(self) -> bool:
        """Whether nothing has been written yet, so that the header must come first."""
        return self._size == 0

    def append(self, *entries: Entry) -> None:
        """Write events, all or none of them.

        Raises JournalError if the disk is full or gone, or if the file was deleted or changed by another program.
        """
        lines = b"".join(map(encode, entries))
        with self._guard:
            if self._fault is not None:
                raise self._fault
            if self._closed:
                raise JournalError(f"The journal {self.path.name} is closed, so nothing can be written to it.")
            require_unharmed(self._file, self.path, self._size)
            try:
                written = os.write(self._file, lines)
            except OSError as error:
                raise JournalError(f"The journal {self.path.name} cannot be written: {reason(error)}") from error
            if written < len(lines):
                os.ftruncate(self._file, self._size)
                raise JournalError(
                    f"The disk that holds the journal {self.path.name} is full. Free some space, then resume the "
                    "benchmark."
                )
            self._size += written
            self._dirty = True
        if any(isinstance(entry.event, ExperimentFinished) for entry in entries):
            self._due.set()

    def sync(self) -> None:
        """Return when everything appended so far is on the disk. Raises JournalError, also after an earlier failure.

        The disk may report a failure only once, although the lines are lost.
        """
        with self._syncing:
            with self._guard:
                due, self._dirty = self._dirty, False
            try:
                if due:
                    os.fsync(self._file)
            except OSError as error:
                if error.errno != errno.EINVAL:  # no regular file; the next write reports it
                    self._fault = JournalError(f"The journal {self.path.name} cannot be written: {reason(error)}")
            if self._fault is not None:
                raise self._fault

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
                self.path.unlink(missing_ok=True)  # nothing was started
            with self._guard:
                self._closed = True
                self._release()

    def _release(self) -> None:
        try:
            if not self.empty:
                put_back(self._file, self.path)
        except OSError as error:
            raise JournalError(
                f"The journal {self.path.name} was deleted and could not be restored: {reason(error)}"
            ) from error
        finally:
            os.close(self._file)
            self._lock.close()

    def _sync_regularly(self) -> None:
        while not self._closing.is_set():
            self._due.wait(SYNC_SECONDS)
            self._due.clear()
            try:
                self.sync()
            except JournalError:
                return  # the next append and the closing raise it
            self._closing.wait(REST_SECONDS)


@dataclass(frozen=True, slots=True)
class Tail:
    """Entries read from a journal, and the offset behind the last complete line that was read."""

    entries: tuple[Entry, ...]
    offset: int


def read(path: Path, offset: int = 0, max_bytes: int = CHUNK_BYTES) -> Tail:
    """Read the next complete lines from ``offset`` (bytes); a torn last line is not read yet.

    Kinds from a later koderz are skipped. Raises JournalError for a missing file, or if the line at ``offset`` is
    corrupt; the lines before a corrupt one are read first.
    """
    try:
        with path.open("rb") as file:
            file.seek(offset)
            chunk = file.read(max_bytes)
            if b"\n" not in chunk:
                chunk += file.readline()
    except OSError as error:
        raise JournalError(f"The journal {path.name} cannot be read: {reason(error)}") from error
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
    """Every entry from the beginning, in order, read in chunks."""
    offset, more = 0, True
    while more:
        tail = read(path, offset)
        yield from tail.entries
        more, offset = tail.offset > offset, tail.offset


def journals_in(folder: Path) -> list[Path]:
    """The journals of a folder, without shards of benchmarks whose whole journal is there too: merged from them."""
    paths = sorted(folder.glob("*.jsonl"))
    names = {path.stem for path in paths}
    return [path for path in paths if (found := shard_in(path.stem)) is None or found[0] not in names]


def _corrupt(path: Path, offset: int, fault: str) -> str:
    with path.open("rb") as file:
        number = file.read(offset).count(b"\n") + 1
    return (
        f"Line {number} of the journal {path.name} cannot be read: {fault}. Later lines were not read. If a "
        f"later version of koderz wrote the line, upgrade koderz. Otherwise run `koderz doctor --repair`: it removes "
        "the line and keeps a copy of the file. Other benchmarks are not affected."
    )


def _cut_torn_line(file: int) -> int:
    """Truncate to the end of the last complete line; return the new size."""
    end = end_of_lines(file)
    if end < os.fstat(file).st_size:
        os.ftruncate(file, end)
    return end


def acquire(path: Path) -> Lock:
    """Take the lock of the journal at ``path``. Raises JournalError if another holder has it, OSError."""
    lock = Lock(beside(path), names_owner=True)
    if not lock.acquire(PATIENCE_SECONDS):
        lock.close()
        raise JournalError(
            f"{path.stem} is being run by {_writer(holder(path))}. Wait until the benchmark ends, or stop it."
        )
    return lock


def holder(path: Path) -> int | None:
    """The id of the process that is writing the journal at ``path``, None if there is none, 0 if its id is unknown.

    Raises JournalError.
    """
    try:
        return owner_of(beside(path))
    except OSError as error:
        raise JournalError(
            f"koderz cannot determine which process writes the journal {path.name}: {reason(error)}"
        ) from error


def dead_writer(path: Path) -> str:
    """The id of a process that ended without closing the journal, and so left its id in the lock; "" if there is none.

    Ask only for a journal that no process is writing. Raises OSError.
    """
    lock = beside(path)
    text = lock.read_text(errors="replace").strip() if lock.exists() else ""
    return text if text.isdigit() else ""


def beside(path: Path) -> Path:
    """The path of the lock of the journal at ``path``."""
    return path.with_suffix(".lock")


def _writer(pid: int | None) -> str:
    return "this process already" if pid == os.getpid() else f"another process (PID {pid or 'unknown'})"
