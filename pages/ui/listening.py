"""What a model says just now, word by word: only the process that runs a benchmark hears it."""

from __future__ import annotations

import streamlit as st

from koderz_core import Workspace
from koderz_core.records.rows import ExperimentRow
from pages.ui.tables import outcome


def show_live_text(workspace: Workspace, row: ExperimentRow, tall: int) -> None:
    """The words of the call that an experiment waits for; always ``tall`` pixels, as what is below must not move."""
    spoken = workspace.live_text(row.id)
    with st.container(height=tall, autoscroll=True, key="live-text"):
        st.text(f"{outcome(row)} · {spoken.role} {spoken.model}" if spoken else "between two calls")
        st.text(spoken.text if spoken else "")
