"""Removal of a benchmark's files, pins that prevent it, and removal of copies that a killed process left.

A pin is an empty file beside the journal.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

from koderz_core.errors import JournalError, UsageError
from koderz_core.journal import acquire, beside, holder
from koderz_core.journal.checking import reason
from koderz_core.upkeep.journal_repair import Mended

PIN_SUFFIX = ".pin"
BESIDE = (".control", ".part", PIN_SUFFIX)
COPY_PREFIXES = ("copy-", "restore-")
"""Of folders in which the index is copied for an export, and a backup unpacked."""
COPY_SECONDS = 86_400.0  # an export that sorts on the disk may need its folder for hours


def require_removable(journal: Path) -> None:
    """Raise UsageError if the benchmark of that journal runs or is pinned, JournalError if that cannot be told."""
    benchmark = journal.stem
    if (pid := holder(journal)) is not None:
        who = f"process {pid}" if pid else "another process"
        raise UsageError(f"{benchmark} is being run by {who}. Stop it first: koderz stop {benchmark}")
    if is_pinned(journal):
        raise UsageError(f"{benchmark} is pinned, so it is not deleted. To allow it: koderz unpin {benchmark}")


def size_of(journal: Path) -> int:
    """Bytes of what ``remove`` removes."""
    return sum(path.stat().st_size for path in _files(journal) if path.exists())


def remove(journal: Path) -> None:
    """Delete it, with what mending kept of it. Raises as ``require_removable``, also if it has just been begun."""
    require_removable(journal)
    try:
        with acquire(journal):
            for path in _files(journal):
                path.unlink(missing_ok=True)
            beside(journal).unlink(missing_ok=True)  # who waits for it sees that it is gone and takes a new one
    except OSError as error:
        raise JournalError(f"{journal.name} cannot be deleted: {reason(error)}") from error


def _files(journal: Path) -> list[Path]:
    kept = journal.parent.glob(f"{journal.name}.damaged*")
    return [journal, *kept, *(journal.with_suffix(suffix) for suffix in BESIDE)]


def is_pinned(journal: Path) -> bool:
    """Whether the benchmark of that journal is pinned."""
    return journal.with_suffix(PIN_SUFFIX).exists()


def pin(journal: Path) -> None:
    """Pin it; twice is as once. Raises JournalError."""
    try:
        journal.with_suffix(PIN_SUFFIX).touch()
    except OSError as error:
        raise _cannot(journal, error) from error


def unpin(journal: Path) -> None:
    """Take the pin away, if there is one. Raises JournalError."""
    try:
        journal.with_suffix(PIN_SUFFIX).unlink(missing_ok=True)
    except OSError as error:
        raise _cannot(journal, error) from error


def _cannot(journal: Path, error: OSError) -> JournalError:
    return JournalError(f"The pin of {journal.stem} cannot be changed: {reason(error)}")


def clear_left(home: Path, now: float) -> Iterator[Mended]:
    """Remove such folders that nothing was put into for a day. ``now``: seconds since 1970."""
    for folder in sorted(path for prefix in COPY_PREFIXES for path in home.glob(f"{prefix}*") if path.is_dir()):
        try:
            if now - folder.stat().st_mtime > COPY_SECONDS:
                shutil.rmtree(folder)
                yield Mended(folder.name, "was left by a process that was killed; it was removed")
        except OSError as error:
            yield Mended(folder.name, f"was left by a process that was killed and stays: {reason(error)}", whole=False)
