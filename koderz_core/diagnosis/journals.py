"""The journals, whether they are sound and who writes them: the process behind each lock, and whether it lives."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path

from koderz_core.config import Settings
from koderz_core.diagnosis.findings import Finding
from koderz_core.errors import JournalError
from koderz_core.journal import dead_writer, holder
from koderz_core.journal.checking import check, torn

REPAIR = "koderz doctor --repair"
MOST_LINES = 5


def journals(settings: Settings, unread: Collection[str] | None = None) -> Iterator[Finding]:
    """The journals that are being written, whose writer died, or that are not sound; all others need no word.

    ``unread``: what the index says it could not read of them, and only what it names is read here to its end; None:
    every line is, which takes a while.
    """
    paths = sorted(settings.journals_dir.glob("*.jsonl"))
    told = [finding for path in paths for finding in _journal(path, whole=_is_named(path, unread))]
    wrong = [f"{finding.subject}.jsonl" for finding in told if finding.state != "ready"]
    other = [fault for fault in unread or () if not any(name in fault for name in wrong)]
    cure = "Move that journal elsewhere, and report it"
    told += [Finding("journals", "the index", "missing", fault, cure) for fault in other]
    yield from told
    yield Finding("journals", str(settings.journals_dir), "ready", f"{len(paths)} journals, {len(told)} to be told of")


def _is_named(path: Path, unread: Collection[str] | None) -> bool:
    return unread is None or any(path.name in fault for fault in unread)


def index(fault: str) -> Iterator[Finding]:
    """The index of the journals; ``fault``: why it cannot be used, "" if it can."""
    said, _, cure = fault.partition(". ")
    yield Finding("index", "koderz.duckdb", "missing" if fault else "ready", said or "up to date", cure)


def _journal(path: Path, *, whole: bool) -> Iterator[Finding]:
    """``whole``: whether to read all of it, not only its end."""
    try:
        pid, said = holder(path), dead_writer(path)
        condition = () if pid is not None else tuple(_condition(path) if whole else _ending(path))
    except (JournalError, OSError) as error:
        yield Finding("journals", path.stem, "absent", str(error).partition(". ")[0], f"Look at {path}")
        return
    if pid is not None:
        yield Finding("journals", path.stem, "ready", f"is being written by process {pid or 'unknown'}, which lives")
    elif said:
        dead = f"process {said} wrote it last and is gone without having closed it"
        yield Finding("journals", path.stem, "absent", dead, f"koderz resume {path.stem}")
    yield from condition


def _condition(path: Path) -> Iterator[Finding]:
    """What is wrong with any of its lines."""
    found = check(path)
    if found.later:
        yield Finding("journals", path.stem, "missing", "was written by a later koderz", "Upgrade koderz")
    if found.corrupt:
        numbers = ", ".join(map(str, found.corrupt[:MOST_LINES]))
        more = f" and {len(found.corrupt) - MOST_LINES} more" if len(found.corrupt) > MOST_LINES else ""
        yield Finding("journals", path.stem, "missing", f"line {numbers}{more} cannot be read", REPAIR)
    elif found.torn:
        yield _torn(path, found.torn)


def _ending(path: Path) -> Iterator[Finding]:
    """What is wrong with its end."""
    if left := torn(path):
        yield _torn(path, left)


def _torn(path: Path, left: int) -> Finding:
    said = f"its last line is torn ({left} bytes): whoever goes on with it cuts that off"
    return Finding("journals", path.stem, "absent", said, REPAIR)
