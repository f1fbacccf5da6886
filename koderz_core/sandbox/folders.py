"""Folders that the sandbox makes for a while. Who is killed leaves one behind; ``sweep`` removes it."""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_PREFIX = "koderz-sandbox-"
_CAREFULLY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


class Folder:
    """A new folder among the temporary files, locked as long as its maker lives."""

    def __init__(self) -> None:
        """Raises OSError."""
        while True:
            self._made = tempfile.TemporaryDirectory(prefix=_PREFIX, ignore_cleanup_errors=True)
            try:
                self._lock = os.open(self._made.name, _CAREFULLY)
            except FileNotFoundError:  # somebody swept it before it was opened
                self._made.cleanup()
                continue
            fcntl.flock(self._lock, fcntl.LOCK_EX)  # no files.Lock: the folder is its own lock, and goes with it
            if os.fstat(self._lock).st_nlink:
                return
            self.remove()  # somebody swept it before it was locked

    @property
    def path(self) -> Path:
        return Path(self._made.name)

    def remove(self) -> None:
        """With all that is in it. Once only."""
        self._made.cleanup()
        os.close(self._lock)


@contextmanager
def folder() -> Iterator[Path]:
    """One that is gone afterwards. Raises OSError."""
    made = Folder()
    try:
        yield made.path
    finally:
        made.remove()


def sweep() -> None:
    """Remove the folders of those who were killed. What cannot be removed, or is not ours, is left."""
    for path in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        with suppress(OSError):
            _remove_if_abandoned(path)


def _remove_if_abandoned(path: Path) -> None:
    opened = os.open(path, _CAREFULLY)
    try:
        if os.fstat(opened).st_uid == os.getuid():
            fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(path)
    finally:
        os.close(opened)
