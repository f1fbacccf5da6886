"""Exports: tables of what was recorded and compared, and reports, as files of any size."""

from __future__ import annotations

import hashlib
import logging
import tempfile
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, cast

from koderz_core import __version__
from koderz_core.errors import DataError, UsageError
from koderz_core.exports import log_writer
from koderz_core.exports.recording import Recording, Transcript, as_measured
from koderz_core.records import Plan
from koderz_core.records.rows import Excerpt, Provenance
from koderz_core.report.benchmark_report import bibtex
from koderz_core.report.dictionary import checked_columns, sql_types, table_named
from koderz_core.report.dump import text_hashes, write_zip
from koderz_core.report.equal_cost import equal_cost_section
from koderz_core.report.export_request import COMPARED, ENDINGS, ExportOrder
from koderz_core.report.noise_words import noise_section
from koderz_core.report.sampling import sampling_section
from koderz_core.report.trust import trust_section
from koderz_core.store.frames import Form, FormName, Part, copy_rows
from koderz_core.store.results import Results
from koderz_core.strategies.labels import labels
from koderz_core.workspace.experiments import AT_ONCE
from koderz_core.workspace.names import Names

if TYPE_CHECKING:
    from pandas import DataFrame  # type: ignore[import-untyped]  # pandas ships no types

    from koderz_core.exports.otlp_sender import Sent
    from koderz_core.records.progress import SummaryRow
    from koderz_core.report.benchmark_report import Report
    from koderz_core.report.columns import Numbers
    from koderz_core.workspace.comparisons import Comparisons
    from koderz_core.workspace.experiments import Experiments
    from koderz_core.workspace.trust import TrustChecks
    from koderz_core.workspace.uncertainty import Uncertainties

_LOG = logging.getLogger("koderz")
_PIECE_BYTES = 1 << 20
_FILES = "To write the files of this experiment: koderz analyze {experiment} --dump DIR"


@dataclass(frozen=True)
class Exports:
    """Exports the current content of the store. Every method may raise StoreError.

    ``folder``: for temporary files. ``comparisons`` to ``experiments``: functions that return these services, which are
    loaded only if a table or a log needs them. ``clock``: seconds since 1970.
    """

    folder: Path
    results: Results
    names: Names
    comparisons: Callable[[], Comparisons]
    uncertainty: Callable[[], Uncertainties]
    trust: Callable[[], TrustChecks]
    experiments: Callable[[], Experiments]
    clock: Callable[[], float] = time.time

    def resolve(self, order: ExportOrder) -> ExportOrder:
        """Replace every name of a benchmark or configuration by its id. Raises UnknownNameError, UsageError."""
        if order.table not in COMPARED:
            ids = (self.names.benchmark(name, _FILES) for name in order.of)
            order = replace(order, of=tuple(dict.fromkeys(ids)))
            if order.is_exchange:
                self._require_one_dataset(order)
            return order
        rows = self.comparisons().named(order.of, same_problems=order.same_problems)
        if not rows:
            raise UsageError("There are no results to compare yet. Start with: koderz quickstart")
        return replace(order, of=tuple(f"{row.benchmark}/{row.configuration}" for row in rows)) if order.of else order

    def file(self, order: ExportOrder) -> BinaryIO:
        """Return an open temporary file with the export, at its start. Raises DataError, and as ``resolve``."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            # Not in memory, and not in the system's folder of temporary files, which may be in memory too.
            file = cast(BinaryIO, tempfile.TemporaryFile(dir=self.folder))  # noqa: SIM115 (it is handed over)
        except OSError as error:
            raise DataError(
                f"The folder {self.folder} cannot be written: {error.strerror}. Check the permissions of this "
                "folder and the free space on its disk."
            ) from error
        try:
            self._write(self.resolve(order), file)
        except BaseException:
            file.close()
            raise
        return file

    def preview(self, order: ExportOrder, limit: int) -> Excerpt:
        """Return the first rows of a table, and its number of rows. Raises as ``resolve``."""
        order = self.resolve(order)
        if order.table in COMPARED:
            rows = self._rows(order)
            return Excerpt(rows.head(limit), len(rows))
        with self.results.tables() as tables:
            return tables.excerpt(_part(order), limit)

    def frame(self, table: str, benchmark: str | None) -> DataFrame:
        """Return a table in ``COMPARED`` of a benchmark, None: of the newest one. Raises as ``resolve``."""
        return self._rows(self.resolve(ExportOrder(table, of=(benchmark,) if benchmark else ())), None)

    def report(self, of: Sequence[str] = (), *, same_problems: bool = False) -> Report:
        """Return a comparison of configurations, named as in ``koderz compare``, with its sources.

        Raises as ``resolve``.
        """
        from koderz_core.report.benchmark_report import Report  # noqa: PLC0415 (numpy, which tables do not need)

        comparison = self.comparisons().compare(self._chosen(of, same_problems=same_problems))
        provenance = self._provenance({row.benchmark for row in comparison.configurations})
        return Report(comparison, provenance, self.clock(), __version__)

    def send(self, order: ExportOrder, url: str, headers: Sequence[str]) -> Sent:
        """Send the traces of benchmarks to a receiver, with ``headers`` of the form ``NAME=VALUE``.

        Raises ReceiverError, OfflineError, and as ``resolve``.
        """
        from koderz_core.exports.otlp import traces  # noqa: PLC0415 (tables do not need it)
        from koderz_core.exports.otlp_sender import endpoint_of, send  # noqa: PLC0415 (as above)

        to = endpoint_of(url, headers)
        self.experiments().settings.check_egress(to.url, "the traces", "--endpoint")
        return send(traces(map(self._recording, self._exported(self.resolve(order)))), to)

    def _write(self, order: ExportOrder, file: BinaryIO) -> None:
        if order.is_report:
            file.write(self.document(order).encode(errors="replace"))
            file.seek(0)
            return
        if order.is_log:
            self._write_log(order, file)
            return
        if order.is_exchange:
            with self.results.tables(apart=True) as tables:
                tables.copy(Part(order.form, order.of or None), Form("json"), file)
            return
        form = Form(cast(FormName, order.form), order.for_spreadsheets)  # not a report, so it is a form of tables
        if order.table in COMPARED:
            columns = checked_columns(order.table, order.columns) or table_named(order.table).names
            types = sql_types(order.table)
            copy_rows(self._rows(order), {name: types[name] for name in columns}, form, file)
            return
        with self.results.tables(apart=True) as tables:
            tables.copy(_part(order), form, file)

    def _require_one_dataset(self, order: ExportOrder) -> None:
        """Raise UsageError for programs of several datasets, because their lines name none, and for wrong patches."""
        of = order.of or tuple(row.id for row in self.results.benchmarks())
        programs = order.form in ("samples", "swebench")
        names = sorted({source.dataset for source in self._provenance(of)}) if programs else []
        if order.form == "swebench":
            self._require_patches(of)
        if len(names) > 1:
            raise UsageError(
                f"A file in the format {order.form} cannot state its dataset, but these benchmarks use several "
                f"datasets: {', '.join(names)}. Export the benchmarks of each dataset into a separate file."
            )

    def _require_patches(self, benchmarks: Sequence[str]) -> None:
        """Raise UsageError if a benchmark has other problems than repository tasks. Unknown problems are accepted."""
        for benchmark in benchmarks:
            plan = self.results.plan(benchmark)
            dataset = self.experiments().dataset(plan)
            kinds = (
                {problem.public.kind for problem in dataset.problems if problem.id in plan.problems}
                if dataset
                else set()
            )
            if kinds - {"repo"}:
                raise UsageError(
                    f"The format swebench is for patches of repository tasks, but {benchmark} has problems of the kind "
                    f"{', '.join(sorted(kinds))}. Use the format samples, or choose other benchmarks."
                )

    def _write_log(self, order: ExportOrder, file: BinaryIO) -> None:
        """Every call of the benchmarks. A log of several files is written as one zip."""
        files = log_writer(order.form)(map(self._recording, self._exported(order)))
        if ENDINGS[order.form] == "zip":
            write_zip(files, file)
        else:
            file.writelines(made.content for made in files)
        file.seek(0)

    def _exported(self, order: ExportOrder) -> Sequence[str]:
        """The benchmarks of a log, the oldest first if none is named."""
        return order.of or [row.id for row in reversed(self.results.benchmarks())]

    def _recording(self, benchmark: str) -> Recording:
        experiments, plan = self.experiments(), self.results.plan(benchmark)
        dataset = experiments.dataset(plan)
        counted = set(plan.problems[: self.results.decisions([benchmark]).get(benchmark)])
        return Recording(
            self._provenance([benchmark])[0],
            plan,
            {each.id: each for each in plan.experiments() if each.problem in counted},
            {problem.id: problem for problem in dataset.problems} if dataset else {},
            labels(plan.configurations),
            partial(self._transcripts, plan),
        )

    def _transcripts(self, plan: Plan, configuration: str) -> Iterator[Transcript]:
        started = {row.id for row in self.results.experiments(plan.id) if row.started_at is not None}
        planned = [each.id for each in plan.experiments() if each.configuration == configuration and each.id in started]
        for start in range(0, len(planned), AT_ONCE):
            found = self.experiments().read(planned[start : start + AT_ONCE], text_hashes)
            for details in found.details:
                yield Transcript(as_measured(details), found.texts)

    def _rows(self, order: ExportOrder, kind: type | None = object) -> DataFrame:
        """The rows. As objects, a whole number stays a whole number beside a missing one; None: as pandas infers."""
        from pandas import DataFrame  # noqa: PLC0415 (as above)

        rows = self._compared_rows(order)
        columns = order.columns or table_named(order.table).names
        return DataFrame([[row.get(name) for name in columns] for row in rows], columns=list(columns), dtype=kind)

    def _compared_rows(self, order: ExportOrder) -> list[Numbers]:
        """The rows of a table in ``COMPARED``."""
        from koderz_core.report.configuration_columns import configuration_rows  # noqa: PLC0415 (numpy)
        from koderz_core.report.pair_columns import pair_rows  # noqa: PLC0415 (as above)
        from koderz_core.workspace.uncertainty import COSTS  # noqa: PLC0415 (as above)

        comparisons, uncertainty = self.comparisons(), self.uncertainty()
        rows = self._chosen(order.of, same_problems=order.same_problems)
        compared = comparisons.compare(rows, axes=())
        base = compared.baseline
        match order.table:
            case "comparison":
                return configuration_rows(compared)
            case "pairs":
                return pair_rows(compared)
            case "pass_rates":
                return sampling_section(compared, comparisons.sampling(rows)).listing("rates").numbers
            case "noise":
                return noise_section(compared, uncertainty.noise(rows, base)).listing("sources").numbers
            case "bands":
                found = [equal_cost_section(compared, uncertainty.equal_cost(rows, base, axis)) for axis in COSTS]
                return [row for section in found for row in section.listing("bands").numbers]
            case _:
                return trust_section(compared, self.trust().check(rows, read=True)).listing("configurations").numbers

    def _chosen(self, of: Sequence[str], *, same_problems: bool) -> list[SummaryRow]:
        """The named configurations, and a baseline if none of them is one."""
        comparisons = self.comparisons()
        return comparisons.with_baseline(comparisons.named(of, same_problems=same_problems))

    def document(self, order: ExportOrder) -> str:
        """Return the text of a report, or of its citation. Raises as ``resolve``."""
        if order.form == "bibtex":
            rows = self._chosen(order.of, same_problems=order.same_problems)
            return bibtex(self._provenance({row.benchmark for row in rows}), __version__)
        report = self.report(order.of, same_problems=order.same_problems)
        if order.form == "html":
            from koderz_core.report.benchmark_report_html import html  # noqa: PLC0415 (plotly)

            return html(report)
        from koderz_core.report.benchmark_report import markdown  # noqa: PLC0415 (as above)

        return markdown(report)

    def _provenance(self, benchmarks: Collection[str]) -> tuple[Provenance, ...]:
        with self.results.tables() as tables:
            rows = tables.provenance(benchmarks)
        folder = self.results.store.journals_dir
        return tuple(replace(row, journal_sha256=_sha256(folder / f"{row.benchmark}.jsonl", row)) for row in rows)


def _part(order: ExportOrder) -> Part:
    return Part(order.table, order.of or None, checked_columns(order.table, order.columns))


def _sha256(journal: Path, provenance: Provenance) -> str | None:
    """The hash of the bytes that the numbers are made of: a journal that is being written may be longer now."""
    if provenance.journal_bytes is None:
        return None
    digest, left = hashlib.sha256(), provenance.journal_bytes
    try:
        with journal.open("rb") as file:
            while piece := file.read(min(left, _PIECE_BYTES)):
                digest.update(piece)
                left -= len(piece)
    except OSError as error:
        _LOG.warning(
            "The journal %s cannot be read: %s. The export does not contain the hash of this journal.",
            journal,
            error.strerror,
        )
    return None if left else digest.hexdigest()
