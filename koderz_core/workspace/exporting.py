"""Exports: tables of what was recorded and compared, and reports, as files of whatever size."""

from __future__ import annotations

import hashlib
import logging
import tempfile
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, cast

from koderz_core import __version__
from koderz_core.errors import DataError, UsageError
from koderz_core.records.rows import Excerpt, Provenance
from koderz_core.report.benchmark_report import bibtex
from koderz_core.report.dictionary import checked_columns, sql_types, table_named
from koderz_core.report.export_request import COMPARED, ExportOrder
from koderz_core.store.frames import Form, FormName, Part, copy_rows
from koderz_core.store.results import Results
from koderz_core.workspace.comparing import Comparing
from koderz_core.workspace.names import benchmark_named

if TYPE_CHECKING:
    from pandas import DataFrame  # type: ignore[import-untyped]  # pandas ships no types

    from koderz_core.analysis.comparison import Comparison
    from koderz_core.analysis.incidence import Axis
    from koderz_core.report.benchmark_report import Report

_LOG = logging.getLogger("koderz")
_PIECE_BYTES = 1 << 20
_FILES = "Its files are written by: koderz analyze {experiment} --dump DIR"


class Exporting:
    """Answers from what is in the store now. Every question may raise StoreError."""

    def __init__(
        self, results: Results, comparing: Comparing, folder: Path, clock: Callable[[], float] = time.time
    ) -> None:
        """``folder``: where a file that has no name grows until it is handed over; ``clock``: seconds since 1970."""
        self._results = results
        self._comparing = comparing
        self._folder = folder
        self._clock = clock

    def found(self, order: ExportOrder) -> ExportOrder:
        """The same with every benchmark and configuration by its id. Raises UnknownNameError, UsageError."""
        if order.table not in COMPARED:
            named = (benchmark_named(self._results, word, _FILES) for word in order.of)
            return replace(order, of=tuple(dict.fromkeys(named)))
        rows = self._comparing.named(order.of, same_problems=order.same_problems)
        if not rows:
            raise UsageError("There is nothing to compare yet. Begin with: koderz quickstart")
        return replace(order, of=tuple(f"{row.benchmark}/{row.configuration}" for row in rows)) if order.of else order

    def made(self, order: ExportOrder) -> BinaryIO:
        """A file with what was ordered, at its beginning; close it, and it is gone. Raises as ``found``, DataError."""
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            # Not in memory, and not where temporary files are, which may be memory too.
            file = cast(BinaryIO, tempfile.TemporaryFile(dir=self._folder))  # noqa: SIM115 (it is handed over)
        except OSError as error:
            raise DataError(f"Nothing can be written in {self._folder}: {error.strerror}. Make room there.") from error
        try:
            self._write(self.found(order), file)
        except BaseException:
            file.close()
            raise
        return file

    def preview(self, order: ExportOrder, limit: int) -> Excerpt:
        """The first lines of a table, and how many it has. Raises as ``found``."""
        found = self.found(order)
        if found.table in COMPARED:
            rows = self._rows(found)
            return Excerpt(rows.head(limit), len(rows))
        with self._results.tables() as tables:
            return tables.excerpt(_part(found), limit)

    def report(self, of: Sequence[str] = (), *, same_problems: bool = False) -> Report:
        """Configurations, as ``koderz compare`` names them, side by side, and where that comes from. As ``found``."""
        from koderz_core.report.benchmark_report import Report  # noqa: PLC0415 (numpy, which nobody else here needs)

        comparison = self._compared(of, same_problems=same_problems)
        stands_on = self._provenance({row.benchmark for row in comparison.configurations})
        return Report(comparison, stands_on, self._clock(), __version__)

    def _write(self, order: ExportOrder, file: BinaryIO) -> None:
        if order.is_report:
            file.write(self._worded(order).encode(errors="replace"))
            file.seek(0)
            return
        form = Form(cast(FormName, order.form), order.for_spreadsheets)  # no report, so it is one of a table's
        if order.table in COMPARED:
            columns = checked_columns(order.table, order.columns) or table_named(order.table).names
            types = sql_types(order.table)
            copy_rows(self._rows(order), {name: types[name] for name in columns}, form, file)
            return
        with self._results.tables(apart=True) as tables:
            tables.copy(_part(order), form, file)

    def _rows(self, order: ExportOrder) -> DataFrame:
        from pandas import DataFrame  # noqa: PLC0415 (as above)

        from koderz_core.report.configuration_columns import configuration_rows  # noqa: PLC0415 (as above)
        from koderz_core.report.pair_columns import pair_rows  # noqa: PLC0415 (as above)

        compared = self._compared(order.of, (), same_problems=order.same_problems)
        rows = {"comparison": configuration_rows, "pairs": pair_rows}[order.table](compared)
        columns = order.columns or table_named(order.table).names
        # As objects: a whole number stays one beside one that is missing.
        return DataFrame([[row.get(name) for name in columns] for row in rows], columns=list(columns), dtype=object)

    def _compared(self, of: Sequence[str], axes: Sequence[Axis] | None = None, *, same_problems: bool) -> Comparison:
        rows = self._comparing.named(of, same_problems=same_problems)
        return self._comparing.compare(self._comparing.with_baseline(rows), axes=axes)

    def _worded(self, order: ExportOrder) -> str:
        if order.form == "bibtex":
            rows = self._comparing.with_baseline(self._comparing.named(order.of, same_problems=order.same_problems))
            return bibtex(self._provenance({row.benchmark for row in rows}), __version__)
        report = self.report(order.of, same_problems=order.same_problems)
        if order.form == "html":
            from koderz_core.report.benchmark_report_html import html  # noqa: PLC0415 (plotly)

            return html(report)
        from koderz_core.report.benchmark_report import markdown  # noqa: PLC0415 (as above)

        return markdown(report)

    def _provenance(self, benchmarks: Collection[str]) -> tuple[Provenance, ...]:
        with self._results.tables() as tables:
            found = tables.provenance(benchmarks)
        folder = self._results.store.journals_dir
        return tuple(replace(one, journal_sha256=_sha256(folder / f"{one.benchmark}.jsonl", one)) for one in found)


def _part(order: ExportOrder) -> Part:
    return Part(order.table, order.of or None, checked_columns(order.table, order.columns))


def _sha256(journal: Path, of: Provenance) -> str | None:
    """Of what the numbers are made of: a journal that somebody writes may be longer by now."""
    if of.journal_bytes is None:
        return None
    found, left = hashlib.sha256(), of.journal_bytes
    try:
        with journal.open("rb") as file:
            while piece := file.read(min(left, _PIECE_BYTES)):
                found.update(piece)
                left -= len(piece)
    except OSError as error:
        _LOG.warning("%s cannot be read: %s. Its hash is missing in what was exported.", journal, error.strerror)
    return None if left else found.hexdigest()
