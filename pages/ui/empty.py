"""What a page says that has nothing to show yet: what to do first, and an example to look at meanwhile."""

from __future__ import annotations

import streamlit as st

from koderz_core import Workspace
from koderz_core.workspace.examples import ABOUT_EXAMPLE, open_example
from pages.ui.edge import edge


def show_empty(workspace: Workspace, said: str, icon: str, action: str = "Launch a benchmark") -> None:
    """``said``: why there is nothing, in our words."""
    st.info(said, icon=icon)
    offer_ways(workspace, action)


def offer_ways(workspace: Workspace, action: str, *, example: bool = True, **query: str) -> None:
    """The ``example`` first, which opens on the Compare page; then the ways to a model and to Launch (``action``)."""
    with st.container(horizontal=True, key="ways"):
        if example and st.button("Open the example", key="example", icon="📖", type="primary"):
            with edge():
                benchmark = open_example(workspace.settings)
                st.switch_page("pages/compare.py", query_params={"benchmarks": benchmark})
        if example and st.button("No model yet: get one", key="to models", icon="📥"):
            st.switch_page("pages/models.py")
        if st.button(action, key="to launch", icon="🚀", type="secondary" if example else "primary"):
            st.switch_page("pages/launch.py", query_params=query or None)
    if not example:
        return
    st.caption(f"The example: {ABOUT_EXAMPLE[0].lower()}{ABOUT_EXAMPLE[1:]}")
