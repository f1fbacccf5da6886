"""Where a benchmark or an experiment stands, and the way on."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import streamlit as st

from koderz_core import Workspace
from koderz_core.export.experiment_standing import Standing, standing
from koderz_core.export.standing import Remark, Tone
from koderz_core.records.rows import BenchmarkRow, ExperimentRow
from pages.ui.listening import show_live_text
from pages.ui.text import show_text

BOXES: Mapping[Tone, Callable[..., object]] = {"info": st.info, "warning": st.warning, "error": st.error}
LIVE_TALL = 160  # pixels


def show_remark(remark: Remark) -> None:
    """A sentence about a benchmark, as much in sight as it matters."""
    BOXES[remark.tone](remark.text)


def show_standing(workspace: Workspace, row: ExperimentRow, benchmark: BenchmarkRow) -> None:
    """What is to be said of an experiment without a result, and what a model says in it just now."""
    if found := standing(row, benchmark):
        _show(workspace, row, found)
    if row.shown == "running" and workspace.runs_here(row.benchmark):
        show_live_text(workspace, row, LIVE_TALL)


def _show(workspace: Workspace, row: ExperimentRow, found: Standing) -> None:
    BOXES[found.tone](found.said, icon=found.icon)
    if found.recorded:
        show_text(found.recorded, "recorded-error")
    if found.command:
        st.caption("Put right what it names. To run again all that ended so in this benchmark, in a terminal:")
        st.code(found.command, language=None, wrap_lines=True)
    if found.resumable and st.button("Resume its benchmark", "resume here", icon="▶️", help="In this dashboard."):
        workspace.resume(row.benchmark)
        st.rerun()
