"""The result of a benchmark for Python: its tables, its comparison and its report."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from koderz_core.errors import UnknownNameError
from koderz_core.records import Plan
from koderz_core.report.export_request import REPORT_FORMS, ExportOrder, ReportForm
from koderz_core.store.results import Results

if TYPE_CHECKING:
    from pandas import DataFrame  # type: ignore[import-untyped]  # pandas ships no types

    from koderz_core.analysis.comparison import Comparison
    from koderz_core.workspace.exports import Exports


@dataclass(frozen=True, slots=True)
class BenchmarkResult:
    """The result of one benchmark. ``plan``: its problems, configurations and limits.

    Each attribute and method reads the recorded results when you use it, so the answer includes experiments that were
    added later. Keep a frame in a variable if you use it often. All of them may raise StoreError.
    """

    plan: Plan = field(repr=False)
    _results: Results = field(repr=False)
    _exports: Callable[[], Exports] = field(repr=False)

    def __repr__(self) -> str:
        return f"BenchmarkResult({self.benchmark!r})"

    @property
    def benchmark(self) -> str:
        """Return the id of the benchmark."""
        return self.plan.id

    @property
    def experiments(self) -> DataFrame:
        """Return one row per experiment: outcome, tests, tokens, seconds and cost (None or NaN: unknown)."""
        return self.frame("experiments")

    @property
    def comparison(self) -> DataFrame:
        """Return one row per configuration: success rate and costs, each with its 95 % interval.

        A frontier model with the strategy `direct` on the same problems is included if another benchmark measured it.
        """
        return self.frame("comparison")

    @property
    def pairs(self) -> DataFrame:
        """Return one row per pair of configuration and baseline: the difference on the same problems, with its test."""
        return self.frame("pairs")

    def frame(self, table: str) -> DataFrame:
        """Return a table of ``koderz export``, such as ``iterations`` or ``calls``. Raises UnknownNameError."""
        return self._results.frame(table, self.benchmark)

    @property
    def compared(self) -> Comparison:
        """Return the comparison for the functions of ``koderz_core.charts``."""
        return self._exports().report([self.benchmark]).comparison

    def report(self, form: ReportForm = "markdown") -> str:
        """Return the report of ``koderz export``: conclusions, tables and sources; as HTML also charts.

        ``bibtex``: the citation. Raises UnknownNameError for another ``form``.
        """
        if form not in REPORT_FORMS:
            raise UnknownNameError("report format", form, REPORT_FORMS)
        return self._exports().document(ExportOrder("comparison", form, (self.benchmark,)))
