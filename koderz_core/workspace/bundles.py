"""Bundles of benchmarks, their verification, and bug reports."""

from __future__ import annotations

import getpass
import json
import logging
import os
import pwd
import socket
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from zipfile import ZipFile

from koderz_core import __version__
from koderz_core.bundles import creation
from koderz_core.bundles.checks import checked_bundle
from koderz_core.bundles.creation import (
    FILE_NAME,
    KEPT,
    BundleOptions,
    StoredBundle,
    WrittenBundle,
    locked,
    make,
    make_room,
    open_bundle,
    opened_level,
    pin,
    stored_bundles,
)
from koderz_core.bundles.privacy import ABOUT, SAFEST, Identities, level_of
from koderz_core.config import SETTINGS, Settings, environment, load_settings
from koderz_core.diagnosis import Finding
from koderz_core.errors import JournalError, KoderzError, UsageError
from koderz_core.events.tally import tally
from koderz_core.input_files import expand_home
from koderz_core.journal import read_all
from koderz_core.journal.annotations import annotations_file, complete_lines
from koderz_core.records.shards import shard_in
from koderz_core.report.export_request import ExportOrder
from koderz_core.store.answers import journals
from koderz_core.store.results import Results
from koderz_core.verification.figures import Lines, Shown, verify_figures
from koderz_core.verification.journals import ANNOTATIONS, Difference, Verified, verify_annotations, verify_journal
from koderz_core.workspace.exports import Exports

__all__ = [
    "ABOUT",
    "ANNOTATIONS",
    "FILE_NAME",
    "KEPT",
    "SAFEST",
    "Bundles",
    "Verified",
    "bug_report",
    "bug_report_files",
    "checked_bundle",
    "open_bundle",
]

_LOG = logging.getLogger("koderz")
_TABLES = ("experiments", "iterations", "calls", "comparison")
_GREW = (
    "the journal grew during the verification, so the figures were not compared; run the verification again when the "
    "benchmark has ended"
)


@dataclass(frozen=True, slots=True)
class Bundles:
    """Creates and verifies bundles. Every method that takes a benchmark may raise StoreError."""

    settings: Settings
    results: Results
    exports: Exports

    @property
    def folder(self) -> Path:
        """Return the folder that contains the stored bundles."""
        return self.settings.home / "bundles"

    def verify(self, benchmark: str) -> Verified:
        """Check that the journal, the indexed rows and the exported figures of a benchmark (by id) are consistent.

        A remark replaces the comparison of figures if the journal has grown since it was read.
        """
        path = self._journal(benchmark)
        before = _written(path)
        try:
            entries = list(read_all(path))
        except JournalError as error:
            return Verified(benchmark, {}, (Difference("a line", path.name, str(error), "a journal"),))
        totals = tally(entries)
        found = verify_journal(benchmark, entries, totals)
        labels = annotations_file(path)
        if totals.opened and labels.exists():
            found = found.and_also(verify_annotations(complete_lines(labels), totals))
        if not totals.opened or any(difference.what in ("the id", "the benchmark") for difference in found.differences):
            return found  # the store would show another benchmark
        figures = verify_figures(totals, self._shown(benchmark))
        return found.and_also(figures if _written(path) == before else Verified(benchmark, remarks=(_GREW,)))

    def make(self, benchmark: str, level: str, out: Path | None = None, *, pinned: bool = False) -> WrittenBundle:
        """Write a bundle of a benchmark (by id) to ``out``. None: to the data folder, which keeps the newest bundles.

        An unknown ``level`` counts as the level that discloses least. Raises UsageError for a shard, DataError,
        JournalError.
        """
        if shard_in(benchmark):
            raise UsageError(
                f"{benchmark} is only one shard of a benchmark. Merge all shards before you share the benchmark."
            )
        chosen, warning = level_of(level)
        if warning:
            _LOG.warning("%s", warning)
        with locked(self.folder, benchmark):
            path = out or self.folder / f"{benchmark}-{chosen}.zip"
            made = make(self._journal(benchmark), BundleOptions(chosen, identities(self.settings), __version__), path)
        if pinned:
            pin(path)
        if out is None:
            make_room(self.folder)
        return made

    def kept(self) -> list[StoredBundle]:
        """Return the bundles in the data folder, the newest first."""
        return stored_bundles(self.folder)

    def clear(self) -> int:
        """Remove all bundles that are not pinned, and return their number. Raises DataError."""
        return make_room(self.folder, most=0)

    @property
    def shown_level(self) -> str | None:
        """Return the privacy level of the bundle that this workspace shows; None if it does not show a bundle."""
        return opened_level(self.settings.home)

    def _journal(self, benchmark: str) -> Path:
        return self.settings.journals_dir / f"{benchmark}.jsonl"

    def _shown(self, benchmark: str) -> Shown:
        exported = {table: self._lines(table, benchmark) for table in _TABLES}
        results = self.results
        return Shown(
            results.benchmark(benchmark), results.summaries(benchmark), results.experiments(benchmark), exported
        )

    def _lines(self, table: str, benchmark: str) -> Lines:
        """Return only the rows of the benchmark; the baseline of a comparison may come from another benchmark."""
        with self.exports.file(ExportOrder(table, "json", (benchmark,))) as file:
            lines = [json.loads(line) for line in file]
        return [line for line in lines if line["benchmark"] == benchmark]


def _written(path: Path) -> list[tuple[str, int, int]]:
    """The size of a journal and the time of its last write, which change while the benchmark runs."""
    return [state for state in journals(path.parent) if state[0] == path.name]


def identities(settings: Settings | None, home: Path | None = None) -> Identities:
    """Return the names of the user, the machine and its folders, which must be masked.

    ``settings`` None: the settings could not be read. ``home``: the data folder, if it is known without them.
    """
    users = {Path.home().name}
    with suppress(OSError, KeyError):
        users.add(getpass.getuser())
    with suppress(KeyError):
        users.add(pwd.getpwuid(os.getuid()).pw_name)
    host = socket.gethostname()
    stated = [getattr(settings, name) for name in SETTINGS] if settings else [home]
    own = [Path.home(), Path.cwd(), *(value for value in stated if isinstance(value, Path))]
    folders = {text for path in own for text in (str(path), str(path.absolute())) if "/" in text}
    return Identities(
        users=tuple(sorted(users)),
        hosts=tuple(sorted({host, host.partition(".")[0]})),
        folders=tuple(sorted(folders)),
        secrets=settings.secrets() if settings else (),
    )


def bug_report(error: BaseException | None = None, checks: Sequence[Finding] = (), home: Path | None = None) -> bytes:
    """Return a zip file that describes koderz on this machine, without names of people, machines and folders.

    ``checks``: the results of a diagnosis. ``home``: the data folder, None: that of the settings. Raises DataError if a
    key or a folder could not be masked.
    """
    try:
        settings: Settings | None = load_settings(home=home)
    except KoderzError:
        settings = None
        home = expand_home(home or environment().get("koderz_home", ""))
    lines = [f"{check.state}: {check.said} ({check.area}, {check.subject})" for check in checks]
    found = creation.Circumstances(error, lines, settings.stated if settings else ())
    return creation.bug_report(found, identities(settings, home), __version__)


def bug_report_files(report: bytes) -> Mapping[str, str]:
    """Return the texts in a bug report, by the names of their files."""
    with ZipFile(BytesIO(report)) as archive:
        return {name: archive.read(name).decode() for name in archive.namelist()}
