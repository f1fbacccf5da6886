"""What runs now: shown beside every page, and stopped by one click."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from koderz_core import Workspace
from koderz_core.records.rows import BenchmarkRow
from pages.ui.edge import edge

POLL_SECONDS = 2.0


def show_running(workspace: Workspace) -> None:
    """Everything that runs, with a way to it and a way to stop it; the page is drawn anew when that changes."""
    begun = _states(workspace.results.benchmarks())

    @st.fragment(run_every=POLL_SECONDS, key="running now")
    def draw() -> None:
        with edge():
            rows = workspace.results.benchmarks()
            if _states(rows) != begun:
                st.rerun()
            for row in rows:
                if row.state == "running":
                    _one(workspace, row)

    draw()


def stop_button(workspace: Workspace, row: BenchmarkRow, place: str) -> None:
    """Stops a benchmark where this process runs it; else says who does. ``place`` tells two buttons apart."""
    here = workspace.runs_here(row.id)
    ours = "Running experiments end at their next step and can be taken up again."
    st.button(
        "Stop",
        key=f"stop {place} {row.id}",
        icon="⏹️",
        on_click=_stop,
        args=[workspace, row.id],
        disabled=not here,
        help=ours if here else f"Process {row.holder} runs it: press Ctrl-C there.",
    )


def _stop(workspace: Workspace, benchmark: str) -> None:
    with edge():
        workspace.stop(benchmark)


def _states(rows: Sequence[BenchmarkRow]) -> dict[str, str]:
    return {row.id: row.state for row in rows}


def _one(workspace: Workspace, row: BenchmarkRow) -> None:
    label = f"{row.id}: {row.finished}/{row.planned}"
    st.page_link("pages/live.py", label=label, icon="▶️", query_params={"benchmark": row.id})
    stop_button(workspace, row, "sidebar")
