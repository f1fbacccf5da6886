"""The live view of a benchmark: a lane of cells per configuration, newest iterations, live text, and polling.

Live text is available only in the process that runs the benchmark. If a read fails, the last good one stays.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

import streamlit as st

from koderz_core import Workspace
from koderz_core.errors import StoreError
from koderz_core.records.progress import BenchmarkProgress, Snapshot
from koderz_core.records.rows import ExperimentRow
from koderz_core.report.formats import LOOKS
from koderz_core.report.timeline import Cell, lanes
from pages.ui.tables import NEWEST_COLUMNS, newest_table, outcome

FEW = 60  # cells; more of them take a browser longer than the rest of the page
MEANING = f"{', '.join(f'{look.cell} {look.word}' for look in LOOKS.values())}."


def draw_cells(rows: Sequence[ExperimentRow]) -> None:
    """The cells of all experiments of a benchmark, in its order. Only our own glyphs and ids become markdown.

    A long block scrolls (``looks.css``).
    """
    drawn = lanes(rows)
    with st.container(gap="small", key="lanes"):
        for lane in drawn.lanes:
            with st.container(gap="xxsmall"):
                st.text(lane.label)
                st.caption(lane.summary)
                st.markdown(" ".join(map(_badge, lane.cells)))
    for footnote in drawn.footnotes:
        st.text(footnote)
    st.caption(MEANING + _about_links(drawn.each))


def _badge(cell: Cell) -> str:
    look = LOOKS[cell.shown]
    badge = f":{look.color}-badge[{look.cell} {cell.name}]"
    return badge if cell.experiment is None else f"[{badge}](experiment?experiment={cell.experiment})"


def _about_links(each: int) -> str:
    if each == 1:
        return " Click a cell to open its experiment in a new tab."
    return (
        f" A cell combines {each} experiments. It shows the symbol of their most frequent state and the number of "
        "solved experiments. Click a cell to open the first of its experiments that has started. The experiment opens "
        "in a new tab."
    )


def show_news(workspace: Workspace, progress: BenchmarkProgress) -> None:
    """The newest iterations and, next to them, the live text of a model."""
    if not workspace.runs.is_here(progress.benchmark.id):
        _newest(progress)
        if progress.benchmark.under_way:
            st.caption("Another process runs this benchmark. Live model output is available only in that process.")
        return
    left, right = st.columns(2)
    with left:
        _newest(progress)
    with right:
        _show_stream(workspace, progress)


def _newest(progress: BenchmarkProgress) -> None:
    st.subheader("Newest iterations")
    if progress.newest:
        table = newest_table(progress.newest, progress.at)
        st.dataframe(table, hide_index=True, height=300, column_config=NEWEST_COLUMNS, alt="Newest iterations")
    else:
        st.caption(
            "No iterations yet. The strategy `direct` never has iterations, because it submits its program without "
            "testing it."
        )


def _show_stream(workspace: Workspace, progress: BenchmarkProgress) -> None:
    st.subheader("Live text")
    labels = {row.id: f"{row.problem} {row.label}" for row in progress.experiments if row.state == "running"}
    if not labels:
        st.caption("Text appears here while a local model generates it.")
        return
    chosen = st.selectbox("Experiment", list(labels), format_func=labels.__getitem__)
    show_live_text(workspace, next(row for row in progress.experiments if row.id == chosen), 240)


def show_live_text(workspace: Workspace, row: ExperimentRow, tall: int) -> None:
    """The text of the current call of an experiment; always ``tall`` pixels, so that nothing below moves."""
    stream = workspace.runs.live.of(row.id)
    with st.container(height=tall, autoscroll=True, key="live-text"):
        st.text(f"{outcome(row)} · {stream.role} {stream.model}" if stream else "No call is running.")
        st.text(stream.text if stream else "")


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
