"""Live: one benchmark while it runs, or its last state."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from functools import partial

import streamlit as st

from koderz_core import Workspace
from koderz_core.records.progress import BenchmarkProgress, meant
from koderz_core.records.rows import BenchmarkRow
from koderz_core.report.board import Board, board
from koderz_core.report.status import MANY, beat_seconds, benchmark_remark, freshness
from pages.ui.address import BENCHMARKS, link
from pages.ui.edge import edge, redrawn
from pages.ui.frame import Page, open_page, show_empty, show_provenance
from pages.ui.launch_plan import clone_link, show_receipt
from pages.ui.live_board import show_figures
from pages.ui.live_view import Watch, experiment_in_address, show_cells, show_chosen, show_side, show_stream
from pages.ui.run_controls import redraw_on_change, show_badges, show_changes, show_controls, show_trouble, states
from pages.ui.shell import choose_one
from pages.ui.slow_results import prepare
from pages.ui.status import show_causes, show_loading, show_remark, show_scripted
from pages.ui.text import called

ABOUT = "Watch iterations as they happen. Closing this tab does not stop the benchmark."
NOTHING = "No benchmark has been run yet. Benchmarks that you start on the page New run or in a terminal appear here."
STREAM_SECONDS = 0.5  # between two drawings of a text that a model writes
SIDE_SECONDS = 3.0  # between two drawings of the chart and the table at the side


def main() -> None:
    page = open_page("live", ABOUT, badges=False)
    chosen = choose_one(page.chosen).id if page.chosen else ""
    watch, row = Watch(page.workspace, chosen), meant(page.benchmarks, chosen)
    if row and row.planned > MANY and not prepare(f"live {row.id}", watch.now, partial(_show_loading, page, row)):
        return
    experiment = experiment_in_address(page.workspace, row)
    left, right = st.columns([2, 1], gap="large") if row else (st.container(), st.container())
    with left:
        redrawn("live", partial(_draw, page, watch, states(page.benchmarks), experiment), beat_seconds(row))
        if experiment:
            show_chosen(page.workspace, experiment)
    running = row if row and row.under_way else None
    here = running is not None and page.workspace.runs.is_here(running.id)
    with right:
        text = st.container()
        redrawn("live side", lambda: show_side(page.workspace, watch.progress), SIDE_SECONDS if running else None)
    with text if here else right:
        redrawn("live text", lambda: show_stream(page.workspace, watch.progress), STREAM_SECONDS if here else None)


def _draw(page: Page, watch: Watch, before: Mapping[str, str], experiment: str | None) -> None:
    """Everything about the benchmark except what is at the side; the whole page after a change of state or a click."""
    snapshot = watch.now()
    redraw_on_change(before, snapshot.benchmarks)
    if st.query_params.get("experiment") != experiment:
        st.rerun()
    progress = snapshot.progress
    shown_here = progress and progress.benchmark.id
    _draw_badges(page, [row for row in snapshot.benchmarks if row.id != shown_here])
    if progress is None:
        show_empty(page.workspace, NOTHING, "💤")
        return
    figures = board(progress)
    _draw_benchmark(page.workspace, progress, figures, watch.fault)
    show_cells(progress, figures, experiment)
    show_provenance(progress.benchmark)


def _draw_badges(page: Page, rows: Sequence[BenchmarkRow]) -> None:
    with page.running.container(gap="xxsmall"):
        show_badges(page.workspace, rows)


def _draw_title(row: BenchmarkRow) -> None:
    show_scripted(row)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.text(called(row), width="content")
        clone_link(row)
        if not row.under_way:
            link("compare", "See results", "⚖️", **{BENCHMARKS: row.id})


def _show_loading(page: Page, row: BenchmarkRow) -> None:
    _draw_badges(page, page.benchmarks)
    show_loading(row)


def _draw_benchmark(workspace: Workspace, progress: BenchmarkProgress, figures: Board, fault: str | None) -> None:
    """Its name, state and figures, what to know about it, and the ways to control it."""
    row, here = progress.benchmark, workspace.runs.is_here(progress.benchmark.id)
    heard_at = workspace.runs.live.heard_at(
        experiment.id for experiment in progress.experiments if experiment.state == "running"
    )
    fresh = freshness(progress, time.time(), heard_at, here=here)
    _draw_title(row)
    show_figures(progress, figures)
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
