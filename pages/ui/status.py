"""Where a benchmark or an experiment stands, and the way on."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

import streamlit as st

from koderz_core import Workspace
from koderz_core.records.plans import SCRIPTED
from koderz_core.records.rows import BenchmarkRow, ExperimentRow
from koderz_core.report.formats import count, numbered
from koderz_core.report.status import ExperimentRemark, Remark, Tone, causes, experiment_remark, spent, state
from pages.ui.frame import facts
from pages.ui.live_view import show_live_text
from pages.ui.text import called, show_text

BOXES: Mapping[Tone, Callable[..., object]] = {"info": st.info, "warning": st.warning, "error": st.error}
LIVE_TALL = 160  # pixels
MOST_CAUSES = 5


def show_remark(remark: Remark) -> None:
    """A sentence about a benchmark, as much in sight as it matters."""
    BOXES[remark.tone](remark.text)


def show_scripted(row: BenchmarkRow | ExperimentRow) -> None:
    """What has to be known before any number of what no real model answered."""
    if row.scripted:
        st.warning(SCRIPTED, icon="🎭")


def show_bar(row: BenchmarkRow) -> None:
    """How many experiments of a benchmark have a result; once it has finished, how many ended."""
    done = row.planned - row.left
    without = f" · {row.errors + row.cancelled} without result" if row.errors + row.cancelled else ""
    if row.state == "finished" and row.errors:
        done, without = done + row.errors, f" · {numbered(row.errors, 'error')}"
    st.progress(done / row.planned, text=f"{done} of {row.planned} experiments · {row.solved} solved{without}")


def show_figures(row: BenchmarkRow, **more: str) -> None:
    """What a benchmark has come to; ``more`` that is known of it, in our words."""
    facts({"state": state(row), "iterations": count(row.iterations), "spent in total": spent(row), **more})


def show_causes(rows: Iterable[ExperimentRow]) -> None:
    """Why experiments ended as error, each message once."""
    found = causes(rows)
    for one in found[:MOST_CAUSES]:
        st.text(f"{numbered(one.experiments, 'experiment')}: {one.message}")
    if len(found) > MOST_CAUSES:
        st.caption(f"{numbered(len(found) - MOST_CAUSES, 'more message')}: the cells marked ! lead to them.")


def show_begun(row: BenchmarkRow) -> None:
    """What is known of a benchmark as long as its experiments are being read."""
    show_scripted(row)
    st.text(called(row))
    show_bar(row)
    show_figures(row)
    st.info(f"{count(row.planned)} experiments are being read.", icon="⏳")


def show_standing(workspace: Workspace, row: ExperimentRow, benchmark: BenchmarkRow) -> None:
    """What is to be said of an experiment without a result, and what a model says in it just now."""
    if found := experiment_remark(row, benchmark):
        _show(workspace, row, found)
    if row.shown == "running" and workspace.runs_here(row.benchmark):
        show_live_text(workspace, row, LIVE_TALL)


def _show(workspace: Workspace, row: ExperimentRow, found: ExperimentRemark) -> None:
    BOXES[found.tone](found.text, icon=found.icon)
    if found.recorded:
        show_text(found.recorded, "recorded-error")
    if found.command:
        st.caption("Fix the cause, then retry all errors of this benchmark, here or in a terminal:")
        st.code(found.command, language=None, wrap_lines=True)
        if st.button("Retry errors", "retry here", icon="🔁", help="In this dashboard."):
            workspace.resume(row.benchmark, retry_errors=True)
            st.rerun()
    if found.resumable and st.button("Resume its benchmark", "resume here", icon="▶️", help="In this dashboard."):
        workspace.resume(row.benchmark)
        st.rerun()
