"""The lock beside a journal: its writer holds it, and the process id of the writer stands in it."""

from __future__ import annotations

import os
from pathlib import Path

from koderz_core.errors import JournalError
from koderz_core.files import Lock, owner_of

PATIENCE_SECONDS = 0.5
"""How long a lock may be taken before it counts as held: ``holder`` locks it in passing."""


def acquire(path: Path) -> Lock:
    """The lock of the journal at ``path``, held. Raises JournalError if somebody else holds it, OSError."""
    lock = Lock(beside(path), names_owner=True)
    if not lock.acquire(PATIENCE_SECONDS):
        lock.close()
        raise JournalError(f"{path.stem} is being run by {_whose(holder(path))}. Wait for it or stop it.")
    return lock


def holder(path: Path) -> int | None:
    """The id of the process that is writing the journal at ``path`` now, None if none is, 0 if its id is unknown.

    Raises JournalError.
    """
    try:
        return owner_of(beside(path))
    except OSError as error:
        raise JournalError(f"Who writes the journal {path.name} cannot be told: {reason(error)}") from error


def dead_writer(path: Path) -> str:
    """The process that left its id in the lock, as one that closes in good order does not; "" if none did.

    Only of a journal that nobody writes now. Raises OSError.
    """
    lock = beside(path)
    text = lock.read_text(errors="replace").strip() if lock.exists() else ""
    return text if text.isdigit() else ""


def beside(path: Path) -> Path:
    """Where the lock of the journal at ``path`` is."""
    return path.with_suffix(".lock")


def reason(error: OSError) -> str:
    """Why a file of a journal refuses, and what to look at."""
    return f"{error.strerror or error}. Check that the folder exists, is yours to write, and has space left."


def _whose(pid: int | None) -> str:
    return "this process already" if pid == os.getpid() else f"another process (PID {pid or 'unknown'})"
