"""The status of a benchmark or an experiment, and how to continue it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

import streamlit as st

from koderz_core import Workspace
from koderz_core.records.plans import SCRIPTED
from koderz_core.records.rows import BenchmarkRow, ExperimentRow
from koderz_core.report.board import bar, figures
from koderz_core.report.formats import numbered
from koderz_core.report.status import ExperimentRemark, Remark, Tone, causes, experiment_remark
from pages.ui.frame import show_facts
from pages.ui.tables import outcome
from pages.ui.text import called, show_text

BOXES: Mapping[Tone, Callable[..., object]] = {"info": st.info, "warning": st.warning, "error": st.error}
LIVE_TALL = 160  # pixels
MOST_CAUSES = 5


def show_remark(remark: Remark) -> None:
    """A sentence about a benchmark, in a box of its tone."""
    BOXES[remark.tone](remark.text)


def show_scripted(row: BenchmarkRow | ExperimentRow) -> None:
    """A warning above results of scripted models."""
    if row.scripted:
        st.warning(SCRIPTED, icon="🎭")


def show_causes(rows: Iterable[ExperimentRow]) -> None:
    """The error messages of experiments, each once."""
    messages = causes(rows)
    for cause in messages[:MOST_CAUSES]:
        st.text(f"{numbered(cause.experiments, 'experiment')}: {cause.message}")
    if len(messages) > MOST_CAUSES:
        st.caption(
            f"{numbered(len(messages) - MOST_CAUSES, 'more message')}: on the page Live, click the cells of "
            "experiments with an error to read all messages."
        )


def show_loading(row: BenchmarkRow) -> None:
    """The figures of a benchmark while its experiments are loaded."""
    show_scripted(row)
    st.text(called(row))
    done = bar(row)
    st.progress(done.share, text=done.text)
    show_facts(dict(figures(row)))
    st.info(f"Loading {numbered(row.planned, 'experiment')} …", icon="⏳")


def show_standing(workspace: Workspace, row: ExperimentRow, benchmark: BenchmarkRow) -> None:
    """The status of an experiment without a result, and the live text of its model."""
    if status := experiment_remark(row, benchmark):
        _show_status(workspace, row, status)
    if row.shown == "running" and workspace.runs.is_here(row.benchmark):
        show_live_text(workspace, row, LIVE_TALL, "live-text-here")


def show_live_text(workspace: Workspace, row: ExperimentRow, tall: int, key: str) -> None:
    """The text of the current call of an experiment; always ``tall`` pixels, so that nothing below moves.

    ``key``: unique on the page.
    """
    stream = workspace.runs.live.of(row.id)
    with st.container(height=tall, autoscroll=True, key=key):
        st.text(f"{outcome(row)} · {stream.role} {stream.model}" if stream else "No call is running.")
        st.code(stream.text if stream else "", language=None, wrap_lines=True)


def _show_status(workspace: Workspace, row: ExperimentRow, status: ExperimentRemark) -> None:
    BOXES[status.tone](status.text, icon=status.icon)
    if status.recorded:
        show_text(status.recorded, "recorded-error")
    if status.command:
        st.caption(
            "Fix the cause, then retry all experiments that ended with an error. Press the button below, or run in a "
            "terminal:"
        )
        st.code(status.command, language=None, wrap_lines=True)
        if st.button("Retry errors", "retry here", icon="🔁", help="The retries run in this dashboard."):
            workspace.runs.resume(row.benchmark, retry_errors=True)
            st.rerun()
    if status.resumable and st.button(
        "Resume the benchmark", "resume here", icon="▶️", help="The benchmark runs in this dashboard."
    ):
        workspace.runs.resume(row.benchmark)
        st.rerun()
