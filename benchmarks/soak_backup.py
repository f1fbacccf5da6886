"""The backup in the middle of ``soak_service.py``: made while a benchmark runs, restored elsewhere, compared."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, Protocol

COLUMNS = "type, category, project, title, tags, content, metadata, created_at"  # those that a recall does not change


class Soaked(Protocol):
    """The part of a soak that a backup needs."""

    home: Path
    work: Path

    def koderz(self, *words: str, home: Path | None = None) -> str: ...
    def ask(self, method: str, path: str) -> Any: ...  # Any: JSON
    def fault(self, text: str) -> None: ...


def checked(soak: Soaked) -> str:
    """Make a backup, restore it, compare it; a sentence about the result."""
    file, other = soak.work / "backup.zip", soak.work / "restored"
    soak.koderz("backup", str(file))
    soak.koderz("restore", str(file), home=other)
    faults = [*_journals(soak.home, other), *_memories(soak.home, other), *_results(soak, other)]
    for fault in faults:
        soak.fault(f"the restored backup: {fault}")
    number = len(list((other / "journals").glob("*.jsonl")))
    return f"backup of {number} journals, {file.stat().st_size / 1e6:.1f} MB, restored with {len(faults)} differences"


def _journals(home: Path, other: Path) -> Iterator[str]:
    """Ended benchmarks are equal, byte for byte; of the running one, the backup has the beginning."""
    names = {path.name for path in (home / "journals").glob("*.jsonl")}
    for name in sorted(names ^ {path.name for path in (other / "journals").glob("*.jsonl")}):
        yield f"{name} exists in only one of both folders"
    shorter = 0
    for name in sorted(names):
        now, then = ((folder / "journals" / name).read_bytes() for folder in (home, other))
        if not now.startswith(then):
            yield f"{name} differs"
        shorter += len(then) < len(now)
    if shorter > 1:
        yield f"{shorter} journals are shorter, but only one benchmark was running"


def _memories(home: Path, other: Path) -> Iterator[str]:
    now, then = _rows(home), _rows(other)
    if not then:
        yield "it has no memories"
    if lost := then - now:
        yield f"{len(lost)} memories differ"


def _rows(folder: Path) -> set[tuple[object, ...]]:
    with closing(sqlite3.connect(f"file:{folder / 'cortex.db'}?mode=ro", uri=True)) as file:
        return set(file.execute(f"select id, {COLUMNS} from memories"))


def _results(soak: Soaked, other: Path) -> Iterator[str]:
    """The tables of all ended benchmarks, computed again from the restored journals."""
    for row in soak.ask("GET", "/v1/benchmarks"):
        if row["state"] != "finished":
            continue
        words = ("export", row["id"], "--format", "json", "--out", "-")
        if soak.koderz(*words) != soak.koderz(*words, home=other):
            yield f"the table of {row['id']} differs"
