"""Upkeep of the data folder: repair, backups, pins, deletion of benchmarks, and the example benchmark."""

from __future__ import annotations

import math
import shutil
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from koderz_core import __version__
from koderz_core.config import SETTINGS, Settings
from koderz_core.errors import CortexError, InfrastructureError, StoreError, UsageError
from koderz_core.examples import EXAMPLE, example_journal
from koderz_core.files import keep_file
from koderz_core.input_files import expand_home
from koderz_core.journal import journals_in
from koderz_core.journal.annotations import annotations_file, annotations_folder, read
from koderz_core.memory.client import memory_file
from koderz_core.memory.memory_file import count_of_benchmark, forget_benchmark
from koderz_core.models.answer_cache import Contents, answer_cache
from koderz_core.records.shards import shard_in
from koderz_core.report.formats import numbered
from koderz_core.settings_fields import PROGRAMS
from koderz_core.settings_text import has_password
from koderz_core.store.results import Results
from koderz_core.upkeep.backup import BackupReport, RestoreReport, Source, back_up, restore
from koderz_core.upkeep.journals import (
    Repair,
    remove,
    remove_left_copies,
    repair_annotations,
    repair_journals,
    require_removable,
    set_pin,
    size_in_bytes,
)
from koderz_core.workspace.names import Names

DAY_SECONDS = 86_400.0
NEEDED_BYTES = 1 << 20  # of free space, for a change of the memory file
ABOUT_EXAMPLE = (
    "A real benchmark, recorded on a machine with 2 cores: Qwen2.5-Coder 0.5B on 18 problems of HumanEval+. It "
    "compares two strategies: asking the model once, and showing the model its failed tests and asking again."
)


@dataclass(frozen=True, slots=True)
class Deletion:
    """A benchmark that is to be deleted or was deleted: the bytes of its files, and the number of its memories.

    ``memories`` None: the memories are on another server and are kept. ``annotations``: labels and notes.
    """

    benchmark: str
    size: int
    memories: int | None
    annotations: int


class Upkeep:
    """Repairs, backs up and deletes data. May be used from any thread."""

    def __init__(self, settings: Settings, results: Results, clock: Callable[[], float] = time.time) -> None:
        """``clock``: seconds since 1970."""
        self._settings, self._results, self._clock = settings, results, clock

    def repair(self) -> Iterator[Repair]:
        """Repair everything that can be repaired without losing intact data: journals, locks, old copies, the index."""
        mended = list(repair_journals(self._settings.journals_dir))
        yield from mended
        yield from repair_annotations(annotations_folder(self._settings.journals_dir))
        yield from remove_left_copies(self._settings.home, self._clock())
        if fault := self.index_fault():
            try:
                events = self._results.reindex().events
            except StoreError as error:
                yield Repair("index", f"cannot be rebuilt: {error}", sound=False)
            else:
                yield Repair("index", f"was rebuilt from {numbered(events, 'event')}. Reason: {fault}")

    def index_fault(self) -> str:
        """Return why the index cannot be used, "" if it can. A missing or damaged index is rebuilt automatically."""
        if not self._settings.journals_dir.exists():
            return ""
        try:
            self._results.store.ingest()
        except StoreError as error:
            return str(error)
        return ""

    def back_up(self, path: Path) -> BackupReport:
        """Write a backup. Raises UsageError if the file already exists, and DataError."""
        source = Source(self._settings.home, memory_file(self._settings), _is_secret)
        return back_up(source, expand_home(path), __version__, self._clock())

    def restore(self, path: Path) -> RestoreReport:
        """Restore a backup into this data folder. Raises UsageError if an existing file differs, and DataError."""
        return restore(expand_home(path), self._settings.home, memory_file(self._settings))

    def find(self, name: str) -> str:
        """Return the id of the benchmark with this name, even if its journal cannot be read.

        Raises UnknownNameError. Raises UsageError, also if the file of the journal was renamed: pins and the deletion
        would miss it.
        """
        stems = {journal.stem for journal in self._settings.journals_dir.glob("*.jsonl")}
        found = name if name in stems else Names(self._results).benchmark(name)
        for benchmark, file in self._renamed().items():
            usual = self._journal(benchmark)
            if file == f"{found}.jsonl" or (found == benchmark and not usual.exists()):
                raise UsageError(
                    f"The journal of {benchmark} is in the file {file}, but koderz pins and deletes a benchmark only "
                    f"if this file is named {usual.name}. Rename the file in {usual.parent}, then repeat the command."
                )
        return found

    def _renamed(self) -> dict[str, str]:
        try:
            return self._results.renamed_journals()
        except StoreError:
            return {}  # a deletion may be what makes room for the index

    def pin(self, benchmark: str) -> None:
        """Protect a benchmark (by id) from deletion. Raises JournalError."""
        set_pin(self._journal(benchmark), pinned=True)

    def unpin(self, benchmark: str) -> None:
        """Remove the protection of a benchmark. Raises JournalError."""
        set_pin(self._journal(benchmark), pinned=False)

    def deletion(self, benchmark: str) -> Deletion:
        """Return what ``delete`` would delete.

        Raises UsageError for a running or pinned benchmark, InfrastructureError.
        """
        return replace(self._files(benchmark), memories=count_of_benchmark(self._settings, benchmark))

    def _files(self, benchmark: str) -> Deletion:
        """The size of the files of a benchmark, and its labels and notes. Raises as ``deletion``."""
        journal = self._journal(benchmark)
        require_removable(journal)
        labels = annotations_file(journal)
        return Deletion(benchmark, size_in_bytes(journal) + size_in_bytes(labels), None, len(read(labels)))

    def old(self, keep: int | None, days: float | None) -> list[str]:
        """Return the benchmarks that ``keep`` and ``days`` do not keep, the oldest first.

        Running and pinned benchmarks, and those whose journal file was renamed, are omitted. The age of a benchmark is
        the age of the last line of its journal. Shards that are not merged count as one benchmark: all are returned, or
        none. The shards of a merged benchmark precede it: without it, they would be benchmarks again.
        """
        parts = defaultdict[str, list[Path]](list)
        for path in journals_in(self._settings.journals_dir):
            shard = shard_in(path.stem)
            parts[shard[0] if shard else path.stem].append(path)
        newest = sorted(parts.values(), key=lambda paths: -_written_at(paths))
        before = math.inf if days is None else self._clock() - days * DAY_SECONDS
        old = [paths for paths in newest[keep or 0 :] if _written_at(paths) < before]
        renamed = set(self._renamed().values())  # their pins and memories have the benchmark's id
        going = [paths for paths in old if all(path.name not in renamed and _may_go(path) for path in paths)]
        return [each.stem for paths in reversed(going) for path in paths for each in (*_shards(path), path)]

    def delete(self, benchmarks: Iterable[str]) -> Iterator[Deletion]:
        """Delete benchmarks one by one: memories, then journal, then labels and notes. Finally, update the index.

        Raises as ``deletion``, before the first deletion if a benchmark runs or is pinned. Benchmarks that were deleted
        before an error stay deleted.
        """
        named = list(benchmarks)
        for benchmark in named:
            require_removable(self._journal(benchmark))
        try:
            for benchmark in named:
                files = self._files(benchmark)
                memories = self._forget(benchmark)
                remove(self._journal(benchmark))
                if (labels := annotations_file(self._journal(benchmark))).parent.exists():
                    remove(labels)
                for left in self._settings.cache_dir.glob(f"{benchmark}.jsonl.*.mirroring"):
                    left.unlink(missing_ok=True)
                yield replace(files, memories=memories)
        finally:
            self._results.reindex()

    def _forget(self, benchmark: str) -> int | None:
        """Delete the memories of a benchmark, on a full disk after its journal: deleting memories needs free space."""
        try:
            return forget_benchmark(self._settings, benchmark)
        except CortexError:
            if shutil.disk_usage(self._settings.home).free >= NEEDED_BYTES:
                raise
        remove(self._journal(benchmark))
        return forget_benchmark(self._settings, benchmark)

    def cache_contents(self) -> Contents:
        """Return the size of the response cache. Raises DataError."""
        return answer_cache(self._settings).contents()

    def clear_cache(self) -> Contents:
        """Delete the response cache; return its previous size. Raises DataError."""
        contents = self.cache_contents()
        answer_cache(self._settings).clear()
        return contents

    def open_example(self) -> str:
        """Copy the example's journal into the data folder if it is missing; return its id. Raises DataError."""
        journal = self._journal(EXAMPLE)
        if not journal.exists():  # a journal that has changed since is not overwritten
            keep_file(journal, example_journal())
        return EXAMPLE

    def _journal(self, benchmark: str) -> Path:
        return self._settings.journals_dir / f"{benchmark}.jsonl"


def _written_at(journals: Iterable[Path]) -> float:
    return max(journal.stat().st_mtime for journal in journals)


def _shards(journal: Path) -> list[Path]:
    """The shards from which a journal was merged, if they lie beside it and may be deleted."""
    alike = sorted(journal.parent.glob(f"{journal.stem}-*-of-*.jsonl"))
    return [path for path in alike if shard_in(path.stem) and _may_go(path)]


def _may_go(journal: Path) -> bool:
    try:
        require_removable(journal)
    except (UsageError, InfrastructureError):
        return False
    return True


def _is_secret(name: str, value: object) -> bool:
    """Keys, secret addresses, logins in addresses, and paths of programs, which hold on this machine only."""
    return (name in SETTINGS and SETTINGS[name].secret) or has_password(value) or name in PROGRAMS


def how_to_remove(benchmark: str) -> str | None:
    """Return a remark on how to remove the example benchmark, None for any other benchmark."""
    if benchmark != EXAMPLE:
        return None
    return (
        "Totals and estimates include this example as well as your own benchmarks. To remove the example, type in a "
        f"terminal: koderz delete {EXAMPLE} --yes"
    )
