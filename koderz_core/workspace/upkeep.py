"""Maintenance of a workspace's data folder: repair, backups, pins, deletion of benchmarks, the example benchmark."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from koderz_core import __version__
from koderz_core.config import PROGRAMS, SETTINGS, Settings
from koderz_core.errors import InfrastructureError, StoreError, UsageError
from koderz_core.examples import EXAMPLE, example_journal
from koderz_core.files import keep_file
from koderz_core.memory.client import memory_file
from koderz_core.memory.memory_file import count_of_benchmark, forget_benchmark
from koderz_core.settings_text import has_password
from koderz_core.store.results import Results
from koderz_core.upkeep.backup import BackupReport, RestoreReport, Source, back_up, restore
from koderz_core.upkeep.journals import (
    Repair,
    remove,
    remove_left_copies,
    repair_journals,
    require_removable,
    set_pin,
    size_in_bytes,
)
from koderz_core.workspace.names import benchmark_named

DAY_SECONDS = 86_400.0
ABOUT_EXAMPLE = (
    "A real benchmark, recorded on a machine with 2 cores: Qwen2.5-Coder 0.5B on 18 problems of HumanEval+, "
    "asked once, and asked again with the failures of its tests."
)


@dataclass(frozen=True, slots=True)
class Unwanted:
    """A benchmark that is, or was, to be deleted: the bytes of its files, and the memories it left behind.

    ``memories`` None: another server keeps them, and they stay there.
    """

    benchmark: str
    size: int
    memories: int | None


class Upkeep:
    """May be asked from any thread."""

    def __init__(self, settings: Settings, results: Results, clock: Callable[[], float] = time.time) -> None:
        """``clock``: seconds since 1970."""
        self._settings, self._results, self._clock = settings, results, clock

    def mend(self) -> Iterator[Repair]:
        """Mend what can be mended without losing anything that is sound: journals, locks, left copies, the index."""
        mended = list(repair_journals(self._settings.journals_dir))
        yield from mended
        yield from remove_left_copies(self._settings.home, self._clock())
        if fault := self.index_fault():
            try:
                events = self._results.reindex().events
            except StoreError as error:
                yield Repair("index", f"cannot be built anew: {error}", sound=False)
            else:
                yield Repair("index", f"was built anew from {events} events, because: {fault}")

    def index_fault(self) -> str:
        """Why the index cannot be used as it is, "" if it can; what is only missing or damaged mends itself."""
        if not self._settings.journals_dir.exists():
            return ""
        try:
            self._results.store.ingest()
        except StoreError as error:
            return str(error)
        return ""

    def back_up(self, path: Path) -> BackupReport:
        """Write a backup. Raises UsageError if the file exists, DataError."""
        source = Source(self._settings.home, memory_file(self._settings), _is_secret)
        return back_up(source, path.expanduser(), __version__, self._clock())

    def restore(self, path: Path) -> RestoreReport:
        """Put a backup into this data folder. Raises UsageError if something else stands there, DataError."""
        return restore(path.expanduser(), self._settings.home, memory_file(self._settings))

    def find(self, text: str) -> str:
        """The id of a benchmark, also of one whose journal cannot be read. Raises UnknownNameError, UsageError."""
        if text in {journal.stem for journal in self._settings.journals_dir.glob("*.jsonl")}:
            return text
        return benchmark_named(self._results, text)

    def pin(self, benchmark: str) -> None:
        """Let nothing delete the benchmark of that id. Raises JournalError."""
        set_pin(self._journal(benchmark), pinned=True)

    def unpin(self, benchmark: str) -> None:
        """Take that back. Raises JournalError."""
        set_pin(self._journal(benchmark), pinned=False)

    def unwanted(self, benchmark: str) -> Unwanted:
        """What ``delete`` would delete. Raises UsageError if it runs or is pinned, InfrastructureError."""
        journal = self._journal(benchmark)
        require_removable(journal)
        return Unwanted(benchmark, size_in_bytes(journal), count_of_benchmark(self._settings, benchmark))

    def old(self, keep: int | None, days: float | None) -> list[str]:
        """The benchmarks beyond the newest ``keep`` and not written to for ``days``, the oldest first.

        Those that run or are pinned are left out. Benchmarks are as old as the last line of their journal.
        """
        journals = sorted(self._settings.journals_dir.glob("*.jsonl"), key=lambda one: -one.stat().st_mtime)
        before = self._clock() - (days or 0.0) * DAY_SECONDS
        old = [journal for journal in journals[keep or 0 :] if journal.stat().st_mtime < before]
        return [path.stem for path in reversed(old) if _may_go(path)]

    def delete(self, benchmarks: Iterable[str]) -> Iterator[Unwanted]:
        """Delete benchmarks, one after the other: memories, then journal; then the index is brought up to date.

        Raises as ``unwanted``; what was deleted before then stays so.
        """
        try:
            for benchmark in benchmarks:
                found = self.unwanted(benchmark)
                forget_benchmark(self._settings, benchmark)
                remove(self._journal(benchmark))
                for left in self._settings.cache_dir.glob(f"{benchmark}.jsonl.*.mirroring"):
                    left.unlink(missing_ok=True)
                yield found
        finally:
            self._results.reindex()

    def _journal(self, benchmark: str) -> Path:
        return self._settings.journals_dir / f"{benchmark}.jsonl"


def _may_go(journal: Path) -> bool:
    try:
        require_removable(journal)
    except (UsageError, InfrastructureError):
        return False
    return True


def _is_secret(name: str, value: object) -> bool:
    """Keys, addresses that are secrets, logins in addresses, and programs, which are of this machine only."""
    return (name in SETTINGS and SETTINGS[name].secret) or has_password(value) or name in PROGRAMS


def open_example(settings: Settings) -> str:
    """Put the example's journal into the data folder, unless it is there; the benchmark's id. Raises DataError."""
    journal = settings.journals_dir / f"{EXAMPLE}.jsonl"
    if not journal.exists():  # whatever it has become since, nothing of it is overwritten
        keep_file(journal, example_journal())
    return EXAMPLE


def how_to_remove(benchmark: str) -> str | None:
    """What to say below the example, None below any other benchmark."""
    if benchmark != EXAMPLE:
        return None
    return (
        "The example counts like any benchmark of yours, also in totals and forecasts. To remove it, in a terminal: "
        f"koderz delete {EXAMPLE} --yes"
    )
