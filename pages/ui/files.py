"""The files of an experiment, to take away."""

from __future__ import annotations

import streamlit as st

from koderz_core import Workspace
from koderz_core.export.dump_writing import zipped
from koderz_core.workspace.dumping import dump_files


def offer_files(workspace: Workspace, experiment: str) -> None:
    """A button for a zip of what ``koderz analyze --dump`` writes; it is made only when somebody wants it."""
    st.download_button(
        "Files",
        lambda: zipped(dump_files(workspace.results, experiment)),
        f"{experiment}.zip",
        "application/zip",
        key="files",
        icon="⬇️",
        on_click="ignore",
        help="Prompts, replies, programs and test results, one file each.",
    )
