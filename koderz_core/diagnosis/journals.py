"""Who writes the journals: the locks beside them, the process behind each, and whether it lives."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from koderz_core.config import Settings
from koderz_core.diagnosis.findings import Finding
from koderz_core.errors import JournalError
from koderz_core.journal import holder


def journals(settings: Settings) -> Iterator[Finding]:
    """The journals that are being written, and those whose writer died; all others need no word."""
    paths = sorted(settings.journals_dir.glob("*.jsonl"))
    told = [finding for path in paths for finding in _journal(path)]
    yield from told
    yield Finding("journals", str(settings.journals_dir), "ready", f"{len(paths)} journals, {len(told)} with a lock")


def _journal(path: Path) -> Iterator[Finding]:
    try:
        pid, said = holder(path), _said(path)
    except (JournalError, OSError) as error:
        yield Finding("journals", path.stem, "absent", str(error).partition(". ")[0], f"Look at {path}")
        return
    if pid is not None:
        yield Finding("journals", path.stem, "ready", f"is being written by process {pid or 'unknown'}, which lives")
    elif said:
        dead = f"process {said} wrote it last and is gone without having closed it"
        yield Finding("journals", path.stem, "absent", dead, f"koderz resume {path.stem}")


def _said(path: Path) -> str:
    """The id that a writer leaves in its lock unless it closes in good order; "" if there is none."""
    lock = path.with_suffix(".lock")
    said = lock.read_text(errors="replace").strip() if lock.exists() else ""
    return said if said.isdigit() else ""
