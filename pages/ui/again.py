"""The commands that show an experiment in a terminal, and that do it again."""

from __future__ import annotations

import streamlit as st

from koderz_core import KoderzError, Workspace
from koderz_core.records.rows import ExperimentRow
from koderz_core.workspace.again import commands_of


def offer_commands(workspace: Workspace, row: ExperimentRow) -> None:
    """Worked out only once somebody opens it: that reads the plan and the dataset."""
    place = st.expander("The same in a terminal", icon="⌨️", key="terminal", on_change="rerun")
    if not place.open:
        return
    with place:
        try:
            found = commands_of(workspace.results, workspace.dataset, workspace.settings, row)
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
