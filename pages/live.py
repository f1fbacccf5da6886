"""Live: one benchmark while it runs, or as it was left."""

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
from pages.ui.frame import Opened, open_page, show_empty, show_ground
from pages.ui.launch_plan import clone_link, show_receipt
from pages.ui.live_view import FEW, Watch, draw_cells, show_news
from pages.ui.run_controls import redraw_on_change, show_badges, show_changes, show_controls, show_trouble, states
from pages.ui.slow_results import prepared
from pages.ui.status import show_bar, show_begun, show_causes, show_figures, show_remark, show_scripted
from pages.ui.text import called, listed

ABOUT = "Watch iterations as they happen. Closing this tab stops nothing."
USUAL = "Follow the latest run"
NOTHING = "Nothing has been run here yet. What you launch, here or in a terminal, appears by itself."
REST_SECONDS = 2.0  # between two times that many cells are drawn


def main() -> None:
    opened = open_page("Live", ABOUT, badges=False)
    workspace, begun = opened.workspace, states(opened.benchmarks)
    rows = {row.id: row for row in opened.benchmarks}
    chosen = choice("benchmark", "Benchmark", ["", *rows], lambda one: _said(rows, one))
    watch, row = Watch(workspace, chosen), meant(opened.benchmarks, chosen)
    beat = beat_seconds(row)
    many = row is not None and row.planned > FEW
    place = st.container()

    @st.fragment(run_every=beat, key="live")
    def draw() -> None:
        with edge():
            seen = watch.now()
            redraw_on_change(begun, seen.benchmarks)
            if seen.progress is None:
                _counts(opened, place, seen)
                show_empty(workspace, NOTHING, "💤")
                return
            _figures(workspace, seen.progress, watch.fault)
            if not many:
                _counts(opened, place, seen)

    @st.fragment(run_every=max(beat, REST_SECONDS), key="live counts")
    def draw_counts() -> None:
        with edge():
            if watch.last:
                _counts(opened, place, watch.last)

    if row and row.planned > MANY and not prepared(f"live {row.id}", watch.once, partial(_show_begun, opened, row)):
        return
    draw()
    if many:
        draw_counts()


def _said(rows: dict[str, BenchmarkRow], name: str) -> str:
    return listed(rows[name]) if name in rows else USUAL


def _counts(opened: Opened, place: DeltaGenerator, seen: Snapshot) -> None:
    """Whatever counts experiments, all of it of one snapshot: what runs, the bar, the cells, the newest iterations."""
    with opened.running.container(gap="xxsmall"):
        show_badges(opened.workspace, seen.benchmarks)
    if seen.progress is None:
        return
    with place:
        _title(seen.progress.benchmark)
    draw_cells(seen.progress.experiments)
    show_news(opened.workspace, seen.progress)
    show_ground(seen.progress.benchmark)


def _title(row: BenchmarkRow) -> None:
    show_scripted(row)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.text(called(row), width="content")
        clone_link(row.id)
        if not row.under_way:
            st.page_link("pages/compare.py", label="See results", icon="⚖️", query_params={"benchmarks": row.id})
    show_bar(row)


def _show_begun(opened: Opened, row: BenchmarkRow) -> None:
    with opened.running:
        show_badges(opened.workspace, opened.benchmarks)
    show_begun(row)


def _figures(workspace: Workspace, progress: BenchmarkProgress, fault: str | None) -> None:
    row, here = progress.benchmark, workspace.runs_here(progress.benchmark.id)
    heard_at = workspace.heard_at(experiment.id for experiment in progress.experiments if experiment.state == "running")
    fresh = freshness(progress, time.time(), heard_at, here=here)
    show_figures(row, **({"at work": at_work(row), "time left": _left(progress)} if row.under_way else {}))
    show_receipt(progress.receipt)
    if stands := benchmark_remark(progress):
        show_remark(stands)
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
