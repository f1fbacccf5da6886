"""The head of an experiment's page: its facts, links to its neighbours and its benchmark, commands and files."""

from __future__ import annotations

import streamlit as st

from koderz_core import KoderzError, Workspace
from koderz_core.records.rows import ExperimentRow
from koderz_core.report.dump import zipped
from pages.ui.address import keep

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


def offer_commands(workspace: Workspace, row: ExperimentRow) -> None:
    """Worked out only once somebody opens it: that reads the plan and the dataset."""
    place = st.expander("The same in a terminal", icon="⌨️", key="terminal", on_change="rerun")
    if not place.open:
        return
    with place:
        try:
            found = workspace.experiments.commands(row)
        except KoderzError as error:
            st.info("There is no command for it.", icon="⌨️")
            st.text(str(error))
            return
        _line("Show it, and write its prompts, answers, programs and results into a folder:", found.look)
        _line("Its configuration on this problem alone, asked anew as a benchmark of its own:", found.alone)
        _line("Its whole benchmark; what is recorded here is not run again:", found.whole)


def _line(about: str, command: str) -> None:
    st.caption(about)
    st.code(command, language=None, wrap_lines=True)


def offer_files(workspace: Workspace, experiment: str) -> None:
    """A button for a zip of what ``koderz analyze --dump`` writes; it is made only when somebody wants it."""
    st.download_button(
        "Files",
        lambda: zipped(workspace.experiments.files(experiment)),
        f"{experiment}.zip",
        "application/zip",
        key="files",
        icon="⬇️",
        on_click="ignore",
        help="Prompts, replies, programs and test results, one file each.",
    )
