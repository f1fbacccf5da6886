"""Pins: benchmarks that are not to be deleted. A pin is an empty file beside the journal."""

from __future__ import annotations

from pathlib import Path

from koderz_core.errors import JournalError
from koderz_core.journal.lock import reason

SUFFIX = ".pin"


def is_pinned(journal: Path) -> bool:
    """Whether the benchmark of that journal is pinned."""
    return journal.with_suffix(SUFFIX).exists()


def pin(journal: Path) -> None:
    """Pin it; twice is as once. Raises JournalError."""
    try:
        journal.with_suffix(SUFFIX).touch()
    except OSError as error:
        raise _cannot(journal, error) from error


def unpin(journal: Path) -> None:
    """Take the pin away, if there is one. Raises JournalError."""
    try:
        journal.with_suffix(SUFFIX).unlink(missing_ok=True)
    except OSError as error:
        raise _cannot(journal, error) from error


def _cannot(journal: Path, error: OSError) -> JournalError:
    return JournalError(f"The pin of {journal.stem} cannot be changed: {reason(error)}")
