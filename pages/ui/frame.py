"""The frame of every page: its head, figures, the provenance of results, and the first steps on an empty page."""

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
from pages.ui.address import BENCHMARKS, follow_address, go_to
from pages.ui.bundles import show_read_only
from pages.ui.edge import edge
from pages.ui.run_controls import show_running
from pages.ui.search import show_box
from pages.ui.shell import PAGES, choose_benchmarks, show_menu, show_tabs


@dataclass(frozen=True, slots=True)
class Page:
    """An opened page: the process's workspace, and all benchmarks at this moment, the newest first.

    ``chosen``: those of them that the page shows. ``running``: the place in its head for running benchmarks.
    """

    workspace: Workspace
    benchmarks: list[BenchmarkRow]
    chosen: list[BenchmarkRow]
    running: DeltaGenerator


def open_page(name: str, about: str, *, badges: bool = True) -> Page:
    """Draw what surrounds the page of that file name: menu, chosen benchmarks, search, title, tabs and running ones.

    ``about``: our words, one sentence. ``badges`` False: the page draws the running benchmarks itself, from the data
    that it shows below.
    """
    menu = st.sidebar.container(key="menu", gap="xxsmall")
    with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center", key="head"):
        st.title(PAGES[name].title, width="content", help=about)
        running = st.container(width="content", gap="xxsmall", key="running")
    tabs = st.container(horizontal=True, key="tabs", gap="xxsmall")
    follow_address(name)
    try:
        workspace = the_workspace()
        benchmarks = workspace.results.benchmarks()
        with st.sidebar:
            chosen = choose_benchmarks(workspace, benchmarks)
            show_box()
    finally:  # the links contain the chosen benchmarks, and must exist even if these cannot be read
        with menu:
            show_menu(name)
        with tabs:
            show_tabs(name)
    if badges:
        with running:
            show_running(workspace, benchmarks)
    show_read_only(workspace)
    return Page(workspace, benchmarks, chosen, running)


def show_remarks(remarks: Iterable[str], key: str = "remarks") -> None:
    """Remarks in small print below their subject; they may quote a user's text. ``key``: unique on the page."""
    if lines := [remark.strip() for remark in remarks if remark.strip()]:
        with st.container(key=key):
            st.text("\n".join(lines))


def show_isolation(tier: str, self_test: str) -> None:
    """The isolation in which programs are tested; its names come from the journal."""
    show_remarks([f"Isolation of programs: {isolation(tier, self_test)}"], "remarks-isolation")


def show_origin(origin: DatasetOrigin) -> None:
    """The dataset with its file and licence; its name may be a user's text."""
    show_remarks([f"Dataset: {origin.said}."])


def show_provenance(row: BenchmarkRow | ExperimentRow) -> None:
    """The dataset and the isolation behind the results."""
    show_origin(row.origin)
    show_isolation(row.isolation, row.self_test)


def show_facts(facts: dict[str, str]) -> None:
    """A few figures side by side; our words, never a model's. The first label is unique on the page."""
    with st.container(horizontal=True, key=f"facts-{next(iter(facts), '')}"):
        for label, value in facts.items():
            st.metric(label, value)


def show_empty(workspace: Workspace, reason: str, icon: str, action: str = "New run") -> None:
    """Say why the page is empty (``reason``: our words) and offer the first steps."""
    st.info(reason, icon=icon)
    offer_first_steps(workspace, action)


def offer_first_steps(workspace: Workspace, action: str, *, example: bool = True, **query: str) -> None:
    """Buttons: open the ``example`` on the Summary page, get a model, open New run (``action``)."""
    with st.container(horizontal=True, key="ways"):
        if example and st.button("Open the example", key="example", icon="📖", type="primary"):
            with edge():
                benchmark = workspace.upkeep.open_example()
                go_to("compare", **{BENCHMARKS: benchmark})
        if example and st.button("Get a model", key="to models", icon="📥"):
            go_to("models")
        if st.button(action, key="to launch", icon="🚀", type="secondary" if example else "primary"):
            go_to("launch", **query)
    if not example:
        return
    st.caption(f"The example: {ABOUT_EXAMPLE[0].lower()}{ABOUT_EXAMPLE[1:]}")
