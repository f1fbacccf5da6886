"""The live view of a benchmark: a lane of cells per configuration, newest iterations, live text, and polling.

Live text is heard only in the process that runs the benchmark. Where reading fails, the last reading stays.
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

FEW = 60  # of more a browser takes longer for the cells than for all the rest of a page
MEANING = f"{', '.join(f'{look.cell} {look.word}' for look in LOOKS.values())}."


def draw_cells(rows: Sequence[ExperimentRow]) -> None:
    """Those of all experiments of a benchmark, in its order. Only our own signs and ids become markdown.

    Where there are many, the block scrolls (``looks.css``).
    """
    drawn = lanes(rows)
    with st.container(gap="small", key="lanes"):
        for lane in drawn.lanes:
            with st.container(gap="xxsmall"):
                st.text(lane.label)
                st.caption(lane.summary)
                st.markdown(" ".join(map(_badge, lane.cells)))
    for said in drawn.footnotes:
        st.text(said)
    st.caption(MEANING + _way(drawn.each))


def _badge(cell: Cell) -> str:
    look = LOOKS[cell.shown]
    badge = f":{look.color}-badge[{look.cell} {cell.name}]"
    return badge if cell.experiment is None else f"[{badge}](experiment?experiment={cell.experiment})"


def _way(each: int) -> str:
    if each == 1:
        return " A cell opens its experiment in a new tab."
    return (
        f" There are many, so a cell stands for {each} experiments: its sign is what most of them are, its numbers how "
        "many are solved. It opens the first that was begun, in a new tab."
    )


def show_news(workspace: Workspace, progress: BenchmarkProgress) -> None:
    """The newest iterations, and beside them the words of a model."""
    if not workspace.runs_here(progress.benchmark.id):
        _newest(progress)
        if progress.benchmark.under_way:
            st.caption("Another process runs it: what its models say just now is heard there only.")
        return
    left, right = st.columns(2)
    with left:
        _newest(progress)
    with right:
        _listen(workspace, progress)


def _newest(progress: BenchmarkProgress) -> None:
    st.subheader("Newest iterations")
    if progress.newest:
        table = newest_table(progress.newest, progress.at)
        st.dataframe(table, hide_index=True, height=300, column_config=NEWEST_COLUMNS, alt="Newest iterations")
    else:
        st.caption("`direct` submits its program without testing, so it has no iterations.")


def _listen(workspace: Workspace, progress: BenchmarkProgress) -> None:
    st.subheader("Live text")
    speaking = {row.id: row for row in progress.experiments if row.state == "running"}
    if not speaking:
        st.caption("Words appear here while a local model is asked.")
        return
    chosen = st.selectbox(
        "Listen to", list(speaking), format_func=lambda one: f"{speaking[one].problem} {speaking[one].label}"
    )
    show_live_text(workspace, speaking[chosen], 240)


def show_live_text(workspace: Workspace, row: ExperimentRow, tall: int) -> None:
    """The words of the call that an experiment waits for; always ``tall`` pixels, as what is below must not move."""
    spoken = workspace.live_text(row.id)
    with st.container(height=tall, autoscroll=True, key="live-text"):
        st.text(f"{outcome(row)} · {spoken.role} {spoken.model}" if spoken else "between two calls")
        st.text(spoken.text if spoken else "")


class Watch:
    """The benchmark of an id or, without one, what runs, else the newest; looked at from now on.

    ``last``: what was read last, if anything was. ``fault``: why nothing could be read when it was last tried, None if
    it could.
    """

    def __init__(self, workspace: Workspace, benchmark: str) -> None:
        self._workspace = workspace
        self._benchmark = benchmark
        self._since = time.time()
        self.last: Snapshot | None = None
        self.fault: str | None = None

    def now(self) -> Snapshot:
        """The newest that can be read. Raises StoreError as long as nothing could."""
        try:
            self.last, self.fault = self._workspace.results.snapshot(self._benchmark, self._since), None
        except StoreError as error:
            if self.last is None:
                raise
            self.fault = str(error)
        return self.last

    def once(self) -> bool:
        """Have it read, so that later looks read only what is new; whether it is there. Raises as ``now``."""
        return self.now().progress is not None
