"""The parts of the Live page: a matrix of experiments, rates, spending, newest iterations, live text, and polling.

Live text is available only in the process that runs the benchmark. If a read fails, the last good one stays.
"""

from __future__ import annotations

import time

import streamlit as st

from koderz_core import Workspace
from koderz_core.errors import KoderzError, StoreError
from koderz_core.records.progress import BenchmarkProgress, Snapshot
from koderz_core.records.rows import BenchmarkRow
from koderz_core.report.board import Board
from koderz_core.report.charts_spending import spending_alt, spending_chart, spending_text
from koderz_core.report.matrix import matrix_of_experiments
from pages.ui.address import keep, link, warn_of_missing
from pages.ui.frame import show_remarks
from pages.ui.live_board import show_rates
from pages.ui.matrix import show_matrix
from pages.ui.status import show_live_text
from pages.ui.tables import NEWEST_COLUMNS, newest_table, show_picture
from pages.ui.transcript import show_transcript

STREAM_TALL, FEED_TALL = 200, 300  # pixels


def show_cells(progress: BenchmarkProgress, shown: Board, chosen: str | None) -> None:
    """All experiments of a benchmark as a matrix, and the rate of each configuration. A click chooses an experiment.

    ``chosen``: the id of the marked experiment.
    """
    matrix = matrix_of_experiments(progress.experiments)
    show_matrix(matrix, "cells", lambda spot: _choose(spot.experiment), chosen, "transcript", progress.benchmark.id)
    st.caption("Click a cell to read the transcript of its experiment below.")
    show_rates(progress, shown.rates)
    show_remarks(shown.footnotes, "remarks-on-rates")


def show_side(workspace: Workspace, progress: BenchmarkProgress | None) -> None:
    """The experiments of each worker, the spending and the newest iterations."""
    if progress is None:
        return
    if workers := workspace.runs.experiments_by_worker(progress.benchmark.id):
        st.header("Workers")
        rows = [{"worker": name, "experiments": len(running)} for name, running in sorted(workers.items())]
        st.dataframe(rows, hide_index=True, alt="Number of experiments that each worker runs now")
    st.header("Spending")
    if (figure := spending_chart(progress)) is not None:
        show_picture(figure, "spending", spending_alt(progress), progress.benchmark.id)
    if about := spending_text(progress):
        st.text(about)
    st.header("Newest iterations")
    if progress.newest:
        table = newest_table(progress.newest, progress.at)
        st.dataframe(table, hide_index=True, height=FEED_TALL, column_config=NEWEST_COLUMNS, alt="Newest iterations")
    else:
        st.caption(
            "No iterations yet. Configurations with the strategy `direct` never have iterations, because they submit "
            "each program without testing it."
        )


def show_stream(workspace: Workspace, progress: BenchmarkProgress | None) -> None:
    """The live text of a model; nothing after the end of the benchmark."""
    if progress is None or not progress.benchmark.under_way:
        return
    st.header("Live model output")
    if not workspace.runs.is_here(progress.benchmark.id):
        st.caption("Another process runs this benchmark. Live model output is available only in that process.")
        return
    running = [row for row in progress.experiments if row.state == "running"]
    labels = {row.id: f"{row.problem} {row.label}, repeat {row.repeat + 1}" for row in running}
    if not labels:
        st.caption("Text appears here while a local model generates it.")
        return
    # A key, because the chosen experiment stays chosen when others end or start. One that has ended is formatted too.
    key = "experiment of live output"
    chosen = st.selectbox("Experiment", list(labels), format_func=lambda of: labels.get(of, of), key=key)
    show_live_text(workspace, next(row for row in running if row.id == chosen), STREAM_TALL, "live-text")


def experiment_in_address(workspace: Workspace, benchmark: BenchmarkRow | None) -> str | None:
    """The id of the experiment that the address names; if it does not belong to this benchmark, the page forgets it."""
    if (name := st.query_params.get("experiment")) is None:
        return None
    try:
        row = workspace.results.experiment(workspace.results.find(name)).experiment
    except KoderzError:
        warn_of_missing("experiment")
        row = None
    if row is None or benchmark is None or row.benchmark != benchmark.id:
        _choose(None)
        return None
    keep("experiment", row.id)  # in full, because the page is redrawn when the address names another experiment
    return row.id


def show_chosen(workspace: Workspace, experiment: str) -> None:
    """The transcript of the experiment that the user chose in the matrix."""
    with st.container(key="transcript"):
        row = workspace.results.experiment(experiment).experiment
        with st.container(horizontal=True, vertical_alignment="center"):
            st.header("Transcript", width="content")
            st.text(
                f"{row.problem} · {row.label}" + (f" · repeat {row.repeat + 1}" if row.repeat else ""), width="content"
            )
            link("experiment", "Open", "🔬", experiment=experiment)
            st.button("Close", icon="✖️", key="close transcript", on_click=_choose, args=[None])
        show_transcript(workspace, row, workspace.results.benchmark(row.benchmark))


def _choose(experiment: str | None) -> None:
    keep("experiment", experiment)
    keep("step", None)


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

    @property
    def progress(self) -> BenchmarkProgress | None:
        """The progress of the last good read; None if there is none or no benchmark."""
        return self.last.progress if self.last else None

    def now(self) -> Snapshot:
        """The newest snapshot, or the last good one. Raises StoreError until a first read succeeds."""
        try:
            self.last, self.fault = self._workspace.results.snapshot(self._benchmark, self._since), None
        except StoreError as error:
            if self.last is None:
                raise
            self.fault = str(error)
        return self.last
