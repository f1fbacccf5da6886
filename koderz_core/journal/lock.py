"""The lock file next to a journal: the writer of the journal holds it, and it contains the writer's process id."""

from __future__ import annotations

import os
from pathlib import Path

from koderz_core.errors import JournalError
from koderz_core.files import Lock, owner_of

PATIENCE_SECONDS = 0.5
"""How long to wait for a lock before it counts as held: ``holder`` takes it for a moment."""


def acquire(path: Path) -> Lock:
    """Take the lock of the journal at ``path``. Raises JournalError if another holder has it, OSError."""
    lock = Lock(beside(path), names_owner=True)
    if not lock.acquire(PATIENCE_SECONDS):
        lock.close()
        raise JournalError(f"{path.stem} is being run by {_writer(holder(path))}. Wait until it ends, or stop it.")
    return lock


def holder(path: Path) -> int | None:
    """The id of the process that is writing the journal at ``path``, None if there is none, 0 if its id is unknown.

    Raises JournalError.
    """
    try:
        return owner_of(beside(path))
    except OSError as error:
        raise JournalError(f"The writer of the journal {path.name} cannot be determined: {reason(error)}") from error


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


def reason(error: OSError) -> str:
    """The reason for a failed access to a journal, and what to check."""
    return f"{error.strerror or error}. Check that the folder exists, is writable and has space left."


def _writer(pid: int | None) -> str:
    return "this process already" if pid == os.getpid() else f"another process (PID {pid or 'unknown'})"
