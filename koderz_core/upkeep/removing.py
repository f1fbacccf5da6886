"""Taking a benchmark's files out of the data folder: the journal and what stands beside it."""

from __future__ import annotations

from pathlib import Path

from koderz_core.errors import JournalError, UsageError
from koderz_core.journal.lock import acquire, beside, holder, reason, release
from koderz_core.upkeep.pins import SUFFIX, is_pinned

BESIDE = (".control", ".part", SUFFIX)


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
        lock = acquire(journal)
        try:
            for path in _files(journal):
                path.unlink(missing_ok=True)
            beside(journal).unlink(missing_ok=True)  # who waits for it sees that it is gone and takes a new one
        finally:
            release(lock)
    except OSError as error:
        raise JournalError(f"{journal.name} cannot be deleted: {reason(error)}") from error


def _files(journal: Path) -> list[Path]:
    kept = journal.parent.glob(f"{journal.name}.damaged*")
    return [journal, *kept, *(journal.with_suffix(suffix) for suffix in BESIDE)]
