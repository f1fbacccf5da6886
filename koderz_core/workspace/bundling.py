"""Verifying and bundling what was recorded, and reporting an error."""

from __future__ import annotations

import getpass
import json
import logging
import os
import pwd
import socket
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from koderz_core import __version__
from koderz_core.bundles import bug_report as reports
from koderz_core.bundles.creation import (
    KeptBundle,
    Made,
    Wanted,
    kept,
    locked,
    make,
    make_room,
    opened_level,
    pin,
    require_own,
)
from koderz_core.bundles.redaction import Identities, level_of
from koderz_core.config import Settings, load_settings
from koderz_core.errors import JournalError, KoderzError
from koderz_core.events.tally import tally
from koderz_core.journal import read_all
from koderz_core.report.export_request import ExportOrder
from koderz_core.store.results import Results
from koderz_core.verification.figures import Lines, Shown, verify_figures
from koderz_core.verification.journals import Difference, Verified, verify_journal
from koderz_core.workspace.exporting import Exporting

_LOG = logging.getLogger("koderz")
_TABLES = ("experiments", "iterations", "calls", "comparison")


@dataclass(frozen=True, slots=True)
class Bundling:
    """Every question about benchmarks may raise StoreError."""

    settings: Settings
    results: Results
    exporting: Exporting

    @property
    def folder(self) -> Path:
        """Where bundles are kept."""
        return self.settings.home / "bundles"

    def verify(self, benchmark: str) -> Verified:
        """Whether a benchmark (by id) is consistent: its journal, what the store tells of it, what is exported."""
        path = self._journal(benchmark)
        try:
            entries = list(read_all(path))
        except JournalError as error:
            return Verified(benchmark, {}, (Difference("a line", path.name, str(error), "a journal"),))
        told = tally(entries)
        found = verify_journal(benchmark, entries, told)
        if not told.opened or any(difference.what in ("the id", "the benchmark") for difference in found.differences):
            return found  # what the store tells would be of another benchmark
        return found.and_also(verify_figures(told, self._shown(benchmark)))

    def make(self, benchmark: str, level: str, out: Path | None = None, *, pinned: bool = False) -> Made:
        """Bundle a benchmark (by id); in the data folder, where the newest stay, unless ``out`` names a file.

        A level that nobody knows is the safest one. Raises DataError, JournalError.
        """
        chosen, warning = level_of(level)
        if warning:
            _LOG.warning("%s", warning)
        with locked(self.folder, benchmark):
            path = out or self.folder / f"{benchmark}-{chosen}.zip"
            made = make(self._journal(benchmark), Wanted(chosen, identities(self.settings), __version__), path)
        if pinned:
            pin(path)
        if out is None:
            make_room(self.folder)
        return made

    def kept(self) -> list[KeptBundle]:
        """The bundles in the data folder, the newest first."""
        return kept(self.folder)

    def clear(self) -> int:
        """Remove all of those that are not pinned; how many. Raises DataError."""
        return make_room(self.folder, most=0)

    @property
    def shown_level(self) -> str | None:
        """The privacy level of the bundle that is looked at, None where the data are the user's own."""
        return opened_level(self.settings.home)

    def require_own(self) -> None:
        """Raise UsageError where only a bundle is looked at."""
        require_own(self.settings.home)

    def _journal(self, benchmark: str) -> Path:
        return self.settings.journals_dir / f"{benchmark}.jsonl"

    def _shown(self, benchmark: str) -> Shown:
        exported = {table: self._lines(table, benchmark) for table in _TABLES}
        found = self.results
        return Shown(found.benchmark(benchmark), found.summaries(benchmark), found.experiments(benchmark), exported)

    def _lines(self, table: str, benchmark: str) -> Lines:
        """Of a comparison only what is the benchmark's own: a baseline may be another's."""
        with self.exporting.made(ExportOrder(table, "json", (benchmark,))) as file:
            lines = [json.loads(line) for line in file]
        return [line for line in lines if line["benchmark"] == benchmark]


def identities(settings: Settings | None) -> Identities:
    """Whose machine this is. ``settings`` None: they could not be read."""
    users = {Path.home().name}
    with suppress(OSError, KeyError):
        users.add(getpass.getuser())
    with suppress(KeyError):
        users.add(pwd.getpwuid(os.getuid()).pw_name)
    host = socket.gethostname()
    folders = {str(Path.home()), str(Path.cwd()), *([str(settings.home)] if settings else [])}
    return Identities(
        users=tuple(sorted(users)),
        hosts=tuple(sorted({host, host.partition(".")[0]})),
        folders=tuple(sorted(folders)),
        secrets=settings.secrets() if settings else (),
    )


def bug_report(error: BaseException) -> bytes:
    """A zip about an error, which names nobody and no place, for a person to send."""
    try:
        settings: Settings | None = load_settings()
    except KoderzError:
        settings = None
    return reports.bug_report(error, identities(settings), __version__)
