"""What is new in a benchmark: its newest iterations and, if it runs in this process, what its models say."""

from __future__ import annotations

import streamlit as st

from koderz_core import Workspace
from koderz_core.records.progress import BenchmarkProgress
from pages.ui.listening import show_live_text
from pages.ui.tables import NEWEST_COLUMNS, newest_table


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
