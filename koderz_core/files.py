"""Atomic writing of files, the lock between processes, and the SHA-256 of a file."""

from __future__ import annotations

import errno
import fcntl
import hashlib
import os
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from io import BufferedWriter
from pathlib import Path
from typing import BinaryIO, Self

from koderz_core.errors import DataError

TEMPORARY = ".koderz-"
"""The start of the names of temporary folders in the data folder, which `koderz doctor --repair` removes."""
_PAUSE_SECONDS = 0.01  # between two attempts to acquire a lock


@contextmanager
def replacement(
    path: Path, *, part: Path | None = None, private: bool = True, durable: bool = True
) -> Iterator[BufferedWriter]:
    """A new file, which replaces ``path`` when the block ends and is removed if the block raises. Raises OSError.

    It is on the disk before it gets its name, because a power cut could otherwise leave an empty file in its place.
    ``durable=False`` does not wait for the disk: for content that can be computed again, and for many small files.

    A replaced file keeps its permissions. Only the owner may read a new file, because it may contain a key; with
    ``private=False`` the umask decides, as for files that the user asked for. A link is replaced, not followed.
    A device or a pipe stays.

    ``part`` is the path until then. By default it is unique, so that two writers cannot mix. A caller that names it
    keeps other writers away or accepts a mixed file, and overwrites what a killed process left there.
    """
    if path.exists() and not (path.is_file() or path.is_dir()):  # replacing a folder fails anyway
        raise OSError(errno.EINVAL, "it is not a regular file", str(path))
    if part is None:
        part = path.with_name(f".{path.name[:40]}.{os.urandom(4).hex()}.part")  # [:40]: names have 255 bytes at most
    else:
        part.unlink(missing_ok=True)
    mode = 0o600 if private else 0o666
    try:
        with open(part, "xb", opener=lambda name, flags: os.open(name, flags, mode)) as file:
            if path.exists():
                shutil.copymode(path, part)
            yield file
            if durable:
                sync(file)
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)  # does nothing after replace()


def replace_file(path: Path, content: bytes, *, private: bool = True, durable: bool = True) -> None:
    """Write ``content`` to ``path`` as ``replacement`` does, and create its folder if needed. Raises OSError."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacement(path, private=private, durable=durable) as file:
        file.write(content)


def sync(file: BinaryIO | BufferedWriter) -> None:
    """Return when the content of ``file`` is on the disk. Raises OSError."""
    file.flush()
    os.fsync(file.fileno())


def keep_file(path: Path, content: bytes) -> None:
    """Write ``content`` unless the file already has it, which also repairs a damaged file. Raises DataError."""
    try:
        if path.exists() and path.read_bytes() == content:
            return
        replace_file(path, content)
    except OSError as error:
        raise DataError(
            f"{path} cannot be written ({error.strerror}). Choose another data folder with --data-dir."
        ) from error


def kept_names(folder: Path, pattern: str) -> dict[str, Path]:
    """The files of ``folder`` by their names without suffix, the latest first. ``pattern``: as of ``glob``."""
    written = {path: at for path in folder.glob(pattern) if (at := _written_at(path)) is not None}
    return {path.stem: path for path in sorted(written, key=lambda path: (-written[path], path.stem))}


def _written_at(path: Path) -> int | None:
    """In ns since 1970; None if the file no longer exists or is a broken link."""
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return None


def sha256_of(path: Path) -> str:
    """SHA-256 (hex) of a file, read in pieces. Raises OSError."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


class Lock:
    """A file that one process at a time can lock (flock); a process that ends releases its locks.

    It is separate from the data that it guards, so that the data can be read, replaced and deleted without it. Two
    threads exclude each other too if each has its own Lock.
    """

    def __init__(self, path: Path, *, names_owner: bool = False) -> None:
        """Open or create the file. ``names_owner``: it contains the id of this process while locked. Raises OSError."""
        self._path, self._names_owner = path, names_owner
        self._file = self._opened()
        self._held = False

    def acquire(self, patience_seconds: float | None = 0.0) -> bool:
        """Lock it and return True; False if others hold it for longer than ``patience_seconds``. None waits forever.

        Raises OSError.
        """
        wait = patience_seconds is None
        deadline = time.monotonic() + (patience_seconds or 0.0)
        while not (_locked(self._file, fcntl.LOCK_EX, wait=wait) and self._is_in_place()):
            if not wait and time.monotonic() > deadline:
                return False
            time.sleep(_PAUSE_SECONDS)
            if not self._is_in_place():  # it was deleted with the data it guards, and others lock a new file
                self._file.close()
                self._file = self._opened()
        self._held = True
        if self._names_owner:
            with suppress(OSError):  # a full disk: the lock is held, but its owner is unknown
                self._file.truncate(0)
                self._file.write(str(os.getpid()).encode())
        return True

    def release(self) -> None:
        """Unlock it. Does nothing if it is not locked."""
        if not self._held:
            return
        self._held = False
        if self._names_owner:
            with suppress(OSError):  # so that the next owner is not mistaken for this process before it writes its id
                self._file.truncate(0)
        fcntl.flock(self._file, fcntl.LOCK_UN)  # closing is not enough if a child was forked meanwhile

    def close(self) -> None:
        """Release it and close the file. Idempotent."""
        if not self._file.closed:
            self.release()
            self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _opened(self) -> BinaryIO:
        return self._path.open("a+b", buffering=0)

    def _is_in_place(self) -> bool:
        try:
            return os.path.samestat(os.fstat(self._file.fileno()), self._path.stat())
        except OSError:
            return False


def owner_of(lock: Path) -> int | None:
    """The id of the process that holds the lock, None if no process does, 0 if it is unknown. Raises OSError.

    This briefly locks the file itself, so a process that needs the lock should wait a moment for it.
    """
    try:
        with lock.open("rb") as file:
            if _locked(file, fcntl.LOCK_SH):
                fcntl.flock(file, fcntl.LOCK_UN)
                return None
            text = file.read().strip()
    except FileNotFoundError:
        return None
    return int(text) if text.isdigit() else 0


def _locked(file: BinaryIO, how: int, *, wait: bool = False) -> bool:
    try:
        fcntl.flock(file, how if wait else how | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
