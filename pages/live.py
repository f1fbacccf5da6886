"""Live: one benchmark while it runs, or its last state."""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import partial

import streamlit as st

from koderz_core import Workspace
from koderz_core.records.progress import BenchmarkProgress, meant
from koderz_core.records.rows import BenchmarkRow
from koderz_core.report.board import Board, board
from koderz_core.report.status import MANY, beat_seconds, benchmark_remark, freshness
from pages.ui.address import choice
from pages.ui.edge import edge
from pages.ui.frame import Page, open_page, show_empty, show_provenance
from pages.ui.launch_plan import clone_link, show_receipt
from pages.ui.live_board import show_figures
from pages.ui.live_view import Watch, show_cells, show_side
from pages.ui.run_controls import redraw_on_change, show_badges, show_changes, show_controls, show_trouble, states
from pages.ui.slow_results import prepare
from pages.ui.status import show_causes, show_loading, show_remark, show_scripted
from pages.ui.text import called, listed

ABOUT = "Watch iterations as they happen. Closing this tab does not stop the benchmark."
LATEST = "Follow the newest benchmark"
NOTHING = (
    "No benchmark has been run yet. Benchmarks that you start on the page Launch or in a terminal appear automatically."
)
SIDE_SECONDS = 3.0  # between two drawings of the chart and the table at the side


def main() -> None:
    page = open_page("Live", ABOUT, badges=False)
    workspace, before = page.workspace, states(page.benchmarks)
    rows = {row.id: row for row in page.benchmarks}
    chosen = choice("benchmark", "Benchmark", ["", *rows], lambda name: listed(rows[name]) if name in rows else LATEST)
    watch, row = Watch(workspace, chosen), meant(page.benchmarks, chosen)
    experiment = st.query_params.get("experiment")

    @st.fragment(run_every=beat_seconds(row), key="live")
    def draw() -> None:
        with edge():
            snapshot = watch.now()
            redraw_on_change(before, snapshot.benchmarks)
            _draw_badges(page, snapshot.benchmarks)
            if snapshot.progress is None:
                show_empty(workspace, NOTHING, "💤")
                return
            shown = board(snapshot.progress)
            _draw_benchmark(workspace, snapshot.progress, shown, watch.fault)
            show_cells(snapshot.progress, shown, experiment)
            show_provenance(snapshot.progress.benchmark)

    @st.fragment(run_every=SIDE_SECONDS, key="live side")
    def draw_side() -> None:
        with edge():
            if watch.last and watch.last.progress:
                show_side(workspace, watch.last.progress)

    if row and row.planned > MANY and not prepare(f"live {row.id}", watch.now, partial(_show_loading, page, row)):
        return
    if row is None:
        draw()
        return
    left, right = st.columns([2, 1], gap="large")
    with left:
        draw()
    with right:
        draw_side()


def _draw_badges(page: Page, rows: Sequence[BenchmarkRow]) -> None:
    with page.running.container(gap="xxsmall"):
        show_badges(page.workspace, rows)


def _draw_title(row: BenchmarkRow) -> None:
    show_scripted(row)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.text(called(row), width="content")
        clone_link(row)
        if not row.under_way:
            st.page_link("pages/compare.py", label="See results", icon="⚖️", query_params={"benchmarks": row.id})


def _show_loading(page: Page, row: BenchmarkRow) -> None:
    _draw_badges(page, page.benchmarks)
    show_loading(row)


def _draw_benchmark(workspace: Workspace, progress: BenchmarkProgress, shown: Board, fault: str | None) -> None:
    """Its name, state and figures, what to know about it, and the ways to control it."""
    row, here = progress.benchmark, workspace.runs.is_here(progress.benchmark.id)
    heard_at = workspace.runs.live.heard_at(
        experiment.id for experiment in progress.experiments if experiment.state == "running"
    )
    fresh = freshness(progress, time.time(), heard_at, here=here)
    _draw_title(row)
    show_figures(progress, shown)
    show_receipt(progress.receipt)
    if remark := benchmark_remark(progress):
        show_remark(remark)
    if not row.under_way:
        show_causes(progress.experiments)
    show_controls(workspace, progress)
    show_changes(progress)
    show_trouble(workspace, progress)
    (st.caption if fresh.tone == "info" else st.warning)(fresh.text)
    if fault:
        st.text(fault)


with edge():
    main()
