"""Checks of the journals: whether they are intact, which process writes them, and whether it is still running."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

from koderz_core.config import Settings
from koderz_core.diagnosis.findings import Finding
from koderz_core.errors import JournalError
from koderz_core.journal import dead_writer, holder
from koderz_core.journal.annotations import annotations_folder
from koderz_core.journal.checking import check, torn

REPAIR = "koderz doctor --repair"
MOST_LINES = 5


def check_journals(settings: Settings, unread: Collection[str] | None = None) -> Iterator[Finding]:
    """The journals that are being written, whose writer has died, or that are damaged. Others have no finding.

    ``unread``: the faults that the index reported; only journals named there are read completely. None: all journals
    are, which takes a while.
    """
    paths = sorted(settings.journals_dir.glob("*.jsonl"))
    findings: list[Finding] = []
    for path in paths:
        findings += _journal(path, whole=unread is None or any(path.name in fault for fault in unread))
    faulty = [f"{finding.subject}.jsonl" for finding in findings if finding.state != "ready"]
    other = [fault for fault in unread or () if not any(name in fault for name in faulty)]
    cure = "Move the journal named in this message to another folder, and report the fault"
    findings += [Finding("journals", "the index", "missing", fault, cure) for fault in other]
    yield from findings
    listed = " (listed above)" if findings else ""
    result = f"journals checked: {len(paths)}; findings: {len(findings)}{listed}"
    yield Finding("journals", str(settings.journals_dir), "ready", result)


def check_annotations(settings: Settings) -> Iterator[Finding]:
    """The journals of labels and notes that are damaged. koderz leaves their unreadable lines out."""
    for path in sorted(annotations_folder(settings.journals_dir).glob("*.jsonl")):
        try:
            faults = check(path)
        except JournalError as error:
            yield Finding("labels", path.stem, "absent", str(error).partition(". ")[0], f"Check {path}")
            continue
        if faults.later:
            result = "some labels were written by a later version of koderz"
            yield Finding("labels", path.stem, "absent", result, "Upgrade koderz")
        elif faults.corrupt:
            yield Finding("labels", path.stem, "absent", f"{_lines(faults.corrupt)} cannot be read", REPAIR)


def index(fault: str) -> Iterator[Finding]:
    """The index of the journals. ``fault``: why it cannot be used, "" if it can."""
    lead, _, cure = fault.partition(". ")
    yield Finding("index", "koderz.duckdb", "missing" if fault else "ready", lead or "up to date", cure)


def _journal(path: Path, *, whole: bool) -> Iterator[Finding]:
    """The findings of one journal. ``whole``: read all of it, not only its end."""
    try:
        pid, dead = holder(path), dead_writer(path)
        damage = () if pid is not None else tuple(_damage(path, whole=whole))
    except (JournalError, OSError) as error:
        yield Finding("journals", path.stem, "absent", str(error).partition(". ")[0], f"Check {path}")
        return
    if pid is not None:
        result = f"is in use: process {pid or 'unknown'} is writing to it"
        yield Finding("journals", path.stem, "ready", result)
    elif dead:
        result = f"the last process that wrote to this journal (process {dead}) ended without closing the journal"
        yield Finding("journals", path.stem, "absent", result, f"koderz resume {path.stem}")
    yield from damage


def _damage(path: Path, *, whole: bool) -> Iterator[Finding]:
    """The faults of all lines, or only that of the last one."""
    if not whole:
        if left := torn(path):
            yield _torn(path, left)
        return
    faults = check(path)
    if faults.later:
        yield Finding("journals", path.stem, "missing", "was written by a later version of koderz", "Upgrade koderz")
    if faults.corrupt:
        yield Finding("journals", path.stem, "missing", f"{_lines(faults.corrupt)} cannot be read", REPAIR)
    elif faults.torn:
        yield _torn(path, faults.torn)


def _lines(numbers: Sequence[int]) -> str:
    """``line 3``, ``lines 3 and 8``, ``lines 3, 8, 9, 12, 20 and 4 more``."""
    shown, more = list(map(str, numbers[:MOST_LINES])), len(numbers) - MOST_LINES
    if len(numbers) == 1:
        return f"line {shown[0]}"
    last = f"{more} more" if more > 0 else shown.pop()
    return f"lines {', '.join(shown)} and {last}"


def _torn(path: Path, left: int) -> Finding:
    result = f"its last line is incomplete ({left} bytes); resuming the benchmark removes this line"
    return Finding("journals", path.stem, "absent", result, REPAIR)
