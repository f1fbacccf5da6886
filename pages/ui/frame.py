"""The frame of every page: its head, facts, the origin of results, and what an empty page offers."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from koderz_core import Workspace, the_workspace
from koderz_core.records import DatasetOrigin
from koderz_core.records.rows import BenchmarkRow, ExperimentRow
from koderz_core.report.formats import isolation
from koderz_core.workspace.upkeep import ABOUT_EXAMPLE
from pages.ui.address import name_by_id
from pages.ui.bundles import show_read_only
from pages.ui.edge import edge
from pages.ui.run_controls import show_running


@dataclass(frozen=True, slots=True)
class Opened:
    """What a page begins with: the process's workspace, and all benchmarks as they are now, the newest first.

    ``running``: the place in its head for what runs.
    """

    workspace: Workspace
    benchmarks: list[BenchmarkRow]
    running: DeltaGenerator


def open_page(title: str, about: str, *, badges: bool = True) -> Opened:
    """Draw the page's head and what runs; the benchmarks are asked for once. ``about``: our words, one sentence.

    ``badges`` False: the page itself draws what runs, together with the rest of what it has read.
    """
    with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center", key="head"):
        st.title(title, width="content")
        running = st.container(width="content", gap="xxsmall", key="running")
    st.caption(about)
    workspace = the_workspace()
    opened = Opened(workspace, workspace.results.benchmarks(), running)
    name_by_id(workspace, opened.benchmarks)
    if badges:
        with running:
            show_running(workspace, opened.benchmarks)
    show_read_only(workspace)
    return opened


def show_remarks(said: Iterable[str]) -> None:
    """What a reader should know besides, quietly, and below what it is about; it may quote somebody's own text."""
    if lines := [one.strip() for one in said if one.strip()]:
        with st.container(key="remarks"):
            st.text("\n".join(lines))


def show_isolation(tier: str, self_test: str) -> None:
    """What programs are judged in, quietly."""
    st.caption(f"Isolation of programs: {isolation(tier, self_test)}")


def show_origin(origin: DatasetOrigin) -> None:
    """Where the problems are from, which file that was, and under which licence; a name may be somebody's own text."""
    show_remarks([f"Problems of {origin.said}"])


def show_ground(row: BenchmarkRow | ExperimentRow) -> None:
    """What its results stand on: the problems, and what programs were judged in."""
    show_origin(row.origin)
    show_isolation(row.isolation, row.self_test)


def facts(shown: dict[str, str]) -> None:
    """A few figures side by side; they are ours, never a model's words."""
    with st.container(horizontal=True):
        for label, value in shown.items():
            st.metric(label, value)


def show_empty(workspace: Workspace, said: str, icon: str, action: str = "Launch a benchmark") -> None:
    """``said``: why there is nothing, in our words."""
    st.info(said, icon=icon)
    offer_ways(workspace, action)


def offer_ways(workspace: Workspace, action: str, *, example: bool = True, **query: str) -> None:
    """The ``example`` first, which opens on the Compare page; then the ways to a model and to Launch (``action``)."""
    with st.container(horizontal=True, key="ways"):
        if example and st.button("Open the example", key="example", icon="📖", type="primary"):
            with edge():
                benchmark = workspace.upkeep.open_example()
                st.switch_page("pages/compare.py", query_params={"benchmarks": benchmark})
        if example and st.button("No model yet: get one", key="to models", icon="📥"):
            st.switch_page("pages/models.py")
        if st.button(action, key="to launch", icon="🚀", type="secondary" if example else "primary"):
            st.switch_page("pages/launch.py", query_params=query or None)
    if not example:
        return
    st.caption(f"The example: {ABOUT_EXAMPLE[0].lower()}{ABOUT_EXAMPLE[1:]}")
