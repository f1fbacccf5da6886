"""Temporary folders of the sandbox. ``sweep`` removes those that killed processes left behind."""

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
    """A new temporary folder, locked as long as the process that made it lives."""

    def __init__(self) -> None:
        """Raises OSError."""
        while True:
            self._made = tempfile.TemporaryDirectory(prefix=_PREFIX, ignore_cleanup_errors=True)
            try:
                self._lock = os.open(self._made.name, _CAREFULLY)
            except FileNotFoundError:  # another process swept it before it was opened
                self._made.cleanup()
                continue
            fcntl.flock(self._lock, fcntl.LOCK_EX)  # not files.Lock: the folder is its own lock and is removed with it
            if os.fstat(self._lock).st_nlink:
                return
            self.remove()  # another process swept it before it was locked

    @property
    def path(self) -> Path:
        return Path(self._made.name)

    def remove(self) -> None:
        """Remove the folder and its content. Call it once only."""
        self._made.cleanup()
        os.close(self._lock)


@contextmanager
def folder() -> Iterator[Path]:
    """A folder that is removed afterwards. Raises OSError."""
    made = Folder()
    try:
        yield made.path
    finally:
        made.remove()


def sweep() -> None:
    """Remove the folders of killed processes, except those of other users and those that cannot be removed."""
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
