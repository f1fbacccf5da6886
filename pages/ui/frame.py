"""What every page shares: its head, and how a few figures are shown."""

from __future__ import annotations

import streamlit as st

from koderz_core import Workspace, the_workspace
from pages.ui.running import show_running


def open_page(title: str, about: str) -> Workspace:
    """The process's workspace, with the page's head drawn. ``about``: our words, one sentence."""
    st.title(title)
    st.caption(about)
    workspace = the_workspace()
    with st.sidebar:
        show_running(workspace)
    return workspace


def facts(shown: dict[str, str]) -> None:
    """A few figures side by side; they are ours, never a model's words."""
    with st.container(horizontal=True):
        for label, value in shown.items():
            st.metric(label, value)
