"""Live: one benchmark while it runs, or its last state."""

from __future__ import annotations

import time
from functools import partial

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from koderz_core import Workspace
from koderz_core.records.progress import BenchmarkProgress, Snapshot, meant
from koderz_core.records.rows import BenchmarkRow
from koderz_core.report.formats import duration
from koderz_core.report.status import MANY, at_work, beat_seconds, benchmark_remark, freshness
from pages.ui.address import choice
from pages.ui.edge import edge
from pages.ui.frame import Page, open_page, show_empty, show_provenance
from pages.ui.launch_plan import clone_link, show_receipt
from pages.ui.live_view import FEW, Watch, draw_cells, show_news
from pages.ui.run_controls import redraw_on_change, show_badges, show_changes, show_controls, show_trouble, states
from pages.ui.slow_results import prepare
from pages.ui.status import show_bar, show_causes, show_figures, show_loading, show_remark, show_scripted
from pages.ui.text import called, listed

ABOUT = "Watch iterations as they happen. Closing this tab does not stop the benchmark."
LATEST = "Follow the newest benchmark"
NOTHING = (
    "No benchmark has been run yet. Benchmarks that you start on the page Launch or in a terminal appear automatically."
)
REDRAW_SECONDS = 2.0  # between two drawings of many cells


def main() -> None:
    page = open_page("Live", ABOUT, badges=False)
    workspace, before = page.workspace, states(page.benchmarks)
    rows = {row.id: row for row in page.benchmarks}
    chosen = choice("benchmark", "Benchmark", ["", *rows], lambda name: listed(rows[name]) if name in rows else LATEST)
    watch, row = Watch(workspace, chosen), meant(page.benchmarks, chosen)
    beat = beat_seconds(row)
    many = row is not None and row.planned > FEW
    place = st.container()

    @st.fragment(run_every=beat, key="live")
    def draw() -> None:
        with edge():
            snapshot = watch.now()
            redraw_on_change(before, snapshot.benchmarks)
            if snapshot.progress is None:
                _draw_counts(page, place, snapshot)
                show_empty(workspace, NOTHING, "💤")
                return
            _draw_figures(workspace, snapshot.progress, watch.fault)
            if not many:
                _draw_counts(page, place, snapshot)

    @st.fragment(run_every=max(beat, REDRAW_SECONDS), key="live counts")
    def draw_counts() -> None:
        with edge():
            if watch.last:
                _draw_counts(page, place, watch.last)

    if row and row.planned > MANY and not prepare(f"live {row.id}", watch.now, partial(_show_loading, page, row)):
        return
    draw()
    if many:
        draw_counts()


def _draw_counts(page: Page, place: DeltaGenerator, snapshot: Snapshot) -> None:
    """Everything that counts experiments, from one snapshot: badges, bar, cells and newest iterations."""
    with page.running.container(gap="xxsmall"):
        show_badges(page.workspace, snapshot.benchmarks)
    if snapshot.progress is None:
        return
    with place:
        _draw_title(snapshot.progress.benchmark)
    draw_cells(snapshot.progress.experiments)
    show_news(page.workspace, snapshot.progress)
    show_provenance(snapshot.progress.benchmark)


def _draw_title(row: BenchmarkRow) -> None:
    show_scripted(row)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.text(called(row), width="content")
        clone_link(row)
        if not row.under_way:
            st.page_link("pages/compare.py", label="See results", icon="⚖️", query_params={"benchmarks": row.id})
    show_bar(row)


def _show_loading(page: Page, row: BenchmarkRow) -> None:
    with page.running:
        show_badges(page.workspace, page.benchmarks)
    show_loading(row)


def _draw_figures(workspace: Workspace, progress: BenchmarkProgress, fault: str | None) -> None:
    row, here = progress.benchmark, workspace.runs.is_here(progress.benchmark.id)
    heard_at = workspace.runs.live.heard_at(
        experiment.id for experiment in progress.experiments if experiment.state == "running"
    )
    fresh = freshness(progress, time.time(), heard_at, here=here)
    show_figures(row, **({"in progress": at_work(row), "time left": _left(progress)} if row.under_way else {}))
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


def _left(progress: BenchmarkProgress) -> str:
    if progress.benchmark.state != "running":
        return "–"
    return "not known yet" if progress.seconds_left is None else f"about {duration(progress.seconds_left)}"


with edge():
    main()
