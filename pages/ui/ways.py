"""What an experiment is, and the ways from it: to those before and after it, to its benchmark, to its files."""

from __future__ import annotations

import streamlit as st

from koderz_core import Workspace
from koderz_core.records.rows import ExperimentRow
from pages.ui.address import keep
from pages.ui.files import offer_files

KEYS = ("Alt+PageUp", "Alt+PageDown")
OF_ONE = ("experiment", "step", "beside", "pair")  # what the address says of one experiment; the view holds for all


def show_ways(workspace: Workspace, row: ExperimentRow) -> None:
    """What it is, and where to go from it."""
    near = workspace.results.neighbours(row.id)
    st.text(f"{row.problem} · {row.label}" + (f" · repeat {row.repeat + 1}" if row.repeat else ""))
    with st.container(horizontal=True, vertical_alignment="center", key="ways"):
        _way("Previous", "⬅️", KEYS[0], near.previous)
        _way("Next", "➡️", KEYS[1], near.next)
        offer_files(workspace, row.id)
        st.page_link("pages/live.py", label="Its benchmark", icon="📡", query_params={"benchmark": row.benchmark})
        st.caption(row.id)


def _way(label: str, icon: str, key: str, other: str | None) -> None:
    if st.button(label, label, icon=icon, shortcut=key, disabled=other is None):
        for name in OF_ONE:
            keep(name, None)
        keep("experiment", other)
        st.rerun()
