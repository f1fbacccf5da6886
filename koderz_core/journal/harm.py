"""What others may do to a journal while it is written: it is noticed before the next line, and what can be is saved."""

from __future__ import annotations

import os
import shutil
import stat
from pathlib import Path

from koderz_core.errors import JournalError


def require_unharmed(file: int, path: Path, size: int) -> None:
    """Raise JournalError if the open ``file`` of a journal was deleted or is not as long as what was written to it.

    It takes microseconds, so it is asked before every line: one behind somebody else's half line would be corrupt.
    """
    now = os.fstat(file)
    if not stat.S_ISREG(now.st_mode):
        return
    if now.st_nlink == 0:
        raise JournalError(
            f"The journal {path.name} was deleted while it was written, so the benchmark stops. What stood in it is "
            f"put back: `koderz resume {path.stem}` goes on. To delete a benchmark: `koderz stop`, `koderz delete`."
        )
    if now.st_size != size:
        done = "cut short" if now.st_size < size else "written to"
        raise JournalError(
            f"The journal {path.name} was {done} by another program while it was written, so the benchmark stops. "
            f"Run `koderz doctor --repair`; then `koderz resume {path.stem}` does again what is lost."
        )


def put_back(file: int, path: Path) -> None:
    """Give a deleted file that is still open its name again, with all that is in it, unless another has it now."""
    if os.fstat(file).st_nlink or path.exists():
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(".part")
    os.lseek(file, 0, os.SEEK_SET)
    with part.open("wb") as copy, os.fdopen(os.dup(file), "rb") as deleted:
        shutil.copyfileobj(deleted, copy)
        copy.flush()
        os.fsync(copy.fileno())
    part.rename(path)
