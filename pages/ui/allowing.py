"""What a running benchmark may take: changed from its page, whoever runs it; and what was changed so far."""

from __future__ import annotations

import streamlit as st

from koderz_core import Workspace
from koderz_core.export.formats import money
from koderz_core.export.standing import changed
from koderz_core.records.progress import BenchmarkProgress
from koderz_core.records.rows import BenchmarkRow
from pages.ui.edge import attempt

MOST_CHANGES = 3  # on screen, the newest; `koderz analyze` tells all
LIVE = "live"  # the place of the buttons of a benchmark that is being run
KEEPS = (
    "Empty: as it is. A lower budget sends no call that it does not hold, fewer places let the others wait; nothing is "
    "lost. What has stopped for the budget already goes on only when it is resumed."
)


def show_allowance(workspace: Workspace, row: BenchmarkRow) -> None:
    """The two limits of a benchmark that is being run, to be set anew."""
    usd, places = f"budget of {row.id}", f"places of {row.id}"
    now = "no limit" if row.budget_usd is None else money(row.budget_usd)
    with st.popover("Budget and places", icon="🎚️"), st.form(f"limits of {row.id}", border=False, clear_on_submit=True):
        st.number_input("Budget of all ($)", 0.0, value=None, key=usd, placeholder=now)
        at_once = "" if row.concurrency is None else str(row.concurrency)
        st.number_input("Experiments at once", 1, 256, value=None, key=places, placeholder=at_once)
        st.caption(KEEPS)
        st.form_submit_button("Change", on_click=_change, args=[workspace, row.id, usd, places])


def show_changes(progress: BenchmarkProgress) -> None:
    """What was changed while it ran."""
    for one in progress.changes[:MOST_CHANGES]:
        st.text(f"Changed {changed(one)}")


def _change(workspace: Workspace, benchmark: str, usd: str, places: str) -> None:
    attempt(LIVE, lambda: workspace.allowing.change(benchmark, st.session_state[usd], st.session_state[places]))
