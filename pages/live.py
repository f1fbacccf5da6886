"""Live: one benchmark while it runs, or as it was left."""

from __future__ import annotations

import time
from functools import partial

import streamlit as st

from koderz_core import Workspace
from koderz_core.export.formats import duration
from koderz_core.export.standing import MANY, at_work, beat_seconds, freshness, standing
from koderz_core.records.progress import BenchmarkProgress, meant
from koderz_core.records.rows import BenchmarkRow
from pages.ui.address import choice
from pages.ui.allowing import show_changes
from pages.ui.budget import show_receipt
from pages.ui.cells import FEW, draw_cells
from pages.ui.cloning import clone_link
from pages.ui.edge import edge
from pages.ui.empty import show_empty
from pages.ui.frame import open_page, show_ground
from pages.ui.news import show_news
from pages.ui.preparing import prepared
from pages.ui.running import redraw_on_change, show_controls, show_trouble, states
from pages.ui.standing import show_begun, show_figures, show_remark, show_scripted
from pages.ui.text import called, listed
from pages.ui.watching import Watch

ABOUT = "Watch iterations as they happen. Closing this tab stops nothing."
USUAL = "what runs, else the newest"
NOTHING = "Nothing has been run here yet. What you launch, here or in a terminal, appears by itself."
REST_SECONDS = 2.0  # between looks at what stands below the figures, where it is much


def main() -> None:
    opened = open_page("Live", ABOUT)
    workspace, begun = opened.workspace, states(opened.benchmarks)
    rows = {row.id: row for row in opened.benchmarks}
    chosen = choice("benchmark", "Benchmark", ["", *rows], lambda one: _said(rows, one))
    watch, row = Watch(workspace, chosen), meant(opened.benchmarks, chosen)
    beat = beat_seconds(row)
    many = row is not None and row.planned > FEW

    @st.fragment(run_every=beat, key="live")
    def draw() -> None:
        with edge():
            if (seen := watch.now()) is None:
                show_empty(workspace, NOTHING, "💤")
                return
            redraw_on_change({seen.benchmark.id: begun.get(seen.benchmark.id)}, [seen.benchmark])
            _head(workspace, seen, watch.fault)
            if not many:
                _rest(workspace, seen)

    @st.fragment(run_every=max(beat, REST_SECONDS), key="live rest")
    def draw_rest() -> None:
        with edge():
            if watch.last:
                _rest(workspace, watch.last)

    if row and row.planned > MANY and not prepared(f"live {row.id}", watch.once, partial(show_begun, row)):
        return
    draw()
    if many:
        draw_rest()


def _said(rows: dict[str, BenchmarkRow], name: str) -> str:
    return listed(rows[name]) if name in rows else f"{USUAL}, whoever started it"


def _rest(workspace: Workspace, progress: BenchmarkProgress) -> None:
    draw_cells(progress.experiments)
    show_news(workspace, progress)
    show_ground(progress.benchmark)


def _head(workspace: Workspace, progress: BenchmarkProgress, fault: str | None) -> None:
    row, fresh = progress.benchmark, freshness(progress, time.time())
    show_scripted(row)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.text(called(row), width="content")
        clone_link(row.id)
    show_figures(row, **({"at work": at_work(row), "time left": _left(progress)} if row.under_way else {}))
    show_receipt(progress.receipt)
    show_controls(workspace, progress)
    show_changes(progress)
    if stands := standing(progress):
        show_remark(stands)
    if row.errors and not row.under_way:
        st.caption(f"{row.errors} ended as error, which no rate counts. To run them again, in a terminal:")
        st.code(f"koderz resume {row.id} --retry-errors", language=None, wrap_lines=True)
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
