"""The parts of the Live page: a matrix of experiments, rates, spending, newest iterations, live text, and polling.

Live text is available only in the process that runs the benchmark. If a read fails, the last good one stays.
"""

from __future__ import annotations

import time

import streamlit as st

from koderz_core import Workspace
from koderz_core.errors import StoreError
from koderz_core.records.progress import BenchmarkProgress, Snapshot
from koderz_core.records.rows import ExperimentRow
from koderz_core.report.board import Board
from koderz_core.report.charts_spending import spending_chart, spending_text
from koderz_core.report.matrix import matrix_of_experiments
from pages.ui.address import keep
from pages.ui.frame import show_remarks
from pages.ui.live_board import show_rates
from pages.ui.matrix import show_matrix
from pages.ui.tables import NEWEST_COLUMNS, newest_table, outcome, show_picture

STREAM_TALL, FEED_TALL = 200, 300  # pixels


def show_cells(progress: BenchmarkProgress, shown: Board, chosen: str | None) -> None:
    """All experiments of a benchmark as a matrix, and the rate of each configuration. A click chooses an experiment.

    ``chosen``: the id of the marked experiment.
    """
    matrix = matrix_of_experiments(progress.experiments)
    show_matrix(matrix, "cells", lambda spot: keep("experiment", spot.experiment), chosen, progress.at)
    show_rates(progress, shown.rates)
    show_remarks(shown.footnotes, "remarks-on-rates")


def show_side(workspace: Workspace, progress: BenchmarkProgress) -> None:
    """The spending, the live text of a model and the newest iterations."""
    _show_spending(progress)
    if progress.benchmark.under_way:
        _show_stream(workspace, progress)
    _show_newest(progress)


def _show_spending(progress: BenchmarkProgress) -> None:
    st.subheader("Spending")
    about = spending_text(progress)
    if (figure := spending_chart(progress)) is not None:
        show_picture(figure, "spending", about)
    st.text(about)


def _show_newest(progress: BenchmarkProgress) -> None:
    st.subheader("Newest iterations")
    if progress.newest:
        table = newest_table(progress.newest, progress.at)
        st.dataframe(table, hide_index=True, height=FEED_TALL, column_config=NEWEST_COLUMNS, alt="Newest iterations")
    else:
        st.caption(
            "No iterations yet. The strategy `direct` never has iterations, because it submits its program without "
            "testing it."
        )


def _show_stream(workspace: Workspace, progress: BenchmarkProgress) -> None:
    st.subheader("Live text")
    if not workspace.runs.is_here(progress.benchmark.id):
        st.caption("Another process runs this benchmark. Live model output is available only in that process.")
        return
    labels = {row.id: f"{row.problem} {row.label}" for row in progress.experiments if row.state == "running"}
    if not labels:
        st.caption("Text appears here while a local model generates it.")
        return
    chosen = st.selectbox("Experiment", list(labels), format_func=labels.__getitem__)
    show_live_text(workspace, next(row for row in progress.experiments if row.id == chosen), STREAM_TALL)


def show_live_text(workspace: Workspace, row: ExperimentRow, tall: int) -> None:
    """The text of the current call of an experiment; always ``tall`` pixels, so that nothing below moves."""
    stream = workspace.runs.live.of(row.id)
    with st.container(height=tall, autoscroll=True, key="live-text"):
        st.text(f"{outcome(row)} · {stream.role} {stream.model}" if stream else "No call is running.")
        st.code(stream.text if stream else "", language=None, wrap_lines=True)


class Watch:
    """Polls the benchmark of an id; without an id the running one, else the newest.

    ``last``: the last good read, if any. ``fault``: the error of the last read, None if it succeeded.
    """

    def __init__(self, workspace: Workspace, benchmark: str) -> None:
        self._workspace = workspace
        self._benchmark = benchmark
        self._since = time.time()
        self.last: Snapshot | None = None
        self.fault: str | None = None

    def now(self) -> Snapshot:
        """The newest snapshot, or the last good one. Raises StoreError until a first read succeeds."""
        try:
            self.last, self.fault = self._workspace.results.snapshot(self._benchmark, self._since), None
        except StoreError as error:
            if self.last is None:
                raise
            self.fault = str(error)
        return self.last
