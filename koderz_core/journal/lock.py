"""The lock beside a journal: who writes it holds it, and the dead hold none.

It is a file of its own, so that reading the journal needs none; it holds the writer's process id.
"""

from __future__ import annotations

import fcntl
import os
import time
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

from koderz_core.errors import JournalError

PATIENCE_SECONDS = 0.5  # how long a lock may be taken before it counts as held
_KNOCK_SECONDS = 0.01


def acquire(path: Path) -> BinaryIO:
    """The lock of the journal at ``path``, held. Raises JournalError if somebody else holds it, OSError.

    Patient for a moment, since those who only ask for the holder lock it in passing.
    """
    deadline = time.monotonic() + PATIENCE_SECONDS
    lock = beside(path).open("a+b", buffering=0)
    while not (_locked(lock, fcntl.LOCK_EX) and _stands_at(lock, beside(path))):
        if time.monotonic() > deadline:
            lock.close()
            raise JournalError(f"{path.stem} is being run by {_whose(holder(path))}. Wait for it or stop it.")
        time.sleep(_KNOCK_SECONDS)
        if not _stands_at(lock, beside(path)):  # it was deleted with its journal: that lock keeps nobody away
            lock.close()
            lock = beside(path).open("a+b", buffering=0)
    with suppress(OSError):  # on a full disk: who holds it is not known then, and that somebody does is
        lock.truncate(0)
        lock.write(str(os.getpid()).encode())
    return lock


def release(lock: BinaryIO) -> None:
    """Let go of a lock that ``acquire`` gave."""
    with suppress(OSError):  # the next writer must not be taken for this one before it has said which it is
        lock.truncate(0)
    fcntl.flock(lock, fcntl.LOCK_UN)  # a child forked meanwhile would keep it locked
    lock.close()


def holder(path: Path) -> int | None:
    """The id of the process that is writing the journal at ``path`` now, None if none is: the dead hold no lock.

    0 if it has not said which it is. Raises JournalError.
    """
    try:
        with beside(path).open("rb") as lock:
            if _locked(lock, fcntl.LOCK_SH):
                fcntl.flock(lock, fcntl.LOCK_UN)  # closing is not enough if a child was forked meanwhile
                return None
            said = lock.read().strip()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise JournalError(f"Who writes the journal {path.name} cannot be told: {reason(error)}") from error
    return int(said) if said.isdigit() else 0


def beside(path: Path) -> Path:
    """Where the lock of the journal at ``path`` is."""
    return path.with_suffix(".lock")


def reason(error: OSError) -> str:
    """Why a file of a journal refuses, and what to look at."""
    return f"{error.strerror or error}. Check that the folder exists, is yours to write, and has space left."


def _locked(lock: BinaryIO, how: int) -> bool:
    try:
        fcntl.flock(lock, how | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _stands_at(lock: BinaryIO, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(lock.fileno()), path.stat())
    except OSError:
        return False


def _whose(pid: int | None) -> str:
    return "this process already" if pid == os.getpid() else f"another process (PID {pid or 'unknown'})"
