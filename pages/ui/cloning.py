"""Launching a benchmark again, as it was or changed: the way there, what it begins with, and what has been changed."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from koderz_core import Clone, Workspace
from koderz_core.records import Plan
from koderz_core.records.rows import BenchmarkRow
from pages.ui.address import keep, meant
from pages.ui.text import called

MOST_LINKS = 4  # of which all fit on a line or two
KEY = "clone"  # in the address, and of what is kept for the session


def clone_links(rows: Sequence[BenchmarkRow]) -> None:
    """The ways to a clone of each of a few benchmarks; of many, each has its own on Overview and Live."""
    if len(rows) > MOST_LINKS:
        return
    with st.container(horizontal=True, vertical_alignment="center", key="clones"):
        for row in rows:
            st.text(called(row), width="content")
            clone_link(row.id)


def clone_link(benchmark: str) -> None:
    """The way to Launch, filled with what a benchmark was planned as."""
    st.page_link("pages/launch.py", label="Clone", icon="🧬", query_params={KEY: benchmark})


def cloned(workspace: Workspace, benchmarks: Sequence[BenchmarkRow]) -> Clone | None:
    """The benchmark that the address asks to begin with, None if it asks for none. Raises as ``Launching.clone``."""
    asked = st.query_params.get(KEY)
    if asked is None:
        return None
    rows = {row.id: row for row in benchmarks}
    chosen = meant(asked, list(rows))
    if chosen not in rows:
        st.warning(
            "The address asks for a benchmark that is not here. This is what else you can begin with.", icon="🔎"
        )
        keep(KEY, None)
        return None
    clone = _read(workspace, rows[chosen])
    with st.container(horizontal=True, vertical_alignment="center"):
        st.text(f"🧬 A clone of {called(rows[chosen])}: change what should differ.")
        st.page_link("pages/launch.py", label="Begin with a preset instead", icon="↩️")
    return clone


def _read(workspace: Workspace, row: BenchmarkRow) -> Clone:
    """Read once for each session: a journal is long. One that has grown since is read anew."""
    read: tuple[tuple[str, int], Clone] | None = st.session_state.get(KEY)
    now = (row.id, row.planned)
    if read is None or read[0] != now:
        with st.spinner("Reading its plan"):
            read = st.session_state[KEY] = (now, workspace.launching.clone(row.id))
    return read[1]


def show_changes(clone: Clone, plan: Plan) -> None:
    """What makes this another benchmark than the cloned one; a name may make it the same nevertheless."""
    changed = clone.changed(plan)
    if changed and plan.id == clone.plan.id:
        st.text(f"Not as recorded: {changed}. Under its name this extends {plan.id}; another name makes another one.")
    elif changed:
        st.text(f"Not as recorded: {changed}. So this is another benchmark than {clone.plan.id}.")
