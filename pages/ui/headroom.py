"""The headroom on the page What if: one sentence, the gains with their intervals, and who solves what others do not."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from koderz_core import Workspace
from koderz_core.records.progress import SummaryRow
from koderz_core.report.charts_headroom import (
    complementarity_alt,
    complementarity_chart,
    headroom_alt,
    headroom_chart,
)
from koderz_core.report.headroom import headroom_section
from pages.ui.frame import show_remarks
from pages.ui.slow_results import cached
from pages.ui.tables import frame, show_numbers, show_picture

CAPTION = (
    "Each row is a rule that chooses a configuration for each problem. The mark shows the difference between the "
    "success rate of this rule and the success rate of the best single configuration, with a paired 95 % interval; the "
    "intervals of all rules hold simultaneously. The bold number is the share of problems solved. Hollow marks are "
    "oracles, which choose configurations with knowledge of the results. A gain in the shaded area is too small to be "
    "detected with this number of problems, even if the chosen configurations solve every problem that the best single "
    "configuration solves."
)
CELLS = (
    "Number of problems solved by the configuration of the row, but not by the configuration of the column. The best "
    "configurations come first."
)


def show_headroom(workspace: Workspace, rows: Sequence[SummaryRow]) -> None:
    """The sentence comes first; refusals are sentences as well."""
    found = cached(workspace, rows, workspace.uncertainty.headroom)
    section = headroom_section(rows, found)
    first, *others = section.remarks
    if found.why:
        st.info(first, icon="🧭")
        return
    st.markdown(f"**{first.replace('[', chr(92) + '[')}**")  # our words and numbers
    left, right = st.columns([3, 2], gap="medium")
    with left:
        show_picture(headroom_chart(found), "headroom", headroom_alt(found), rows[0].benchmark)
        st.caption(CAPTION)
        choices = section.listing("choices")
        show_numbers("headroom", "Headroom", frame(choices.table), choices.numbers)
    with right:
        alt = complementarity_alt(rows, found)
        show_picture(complementarity_chart(rows, found), "complementarity", alt, rows[0].benchmark)
        st.caption(CELLS)
        members = section.listing("configurations")
        show_numbers("complementarity", "Complementarity", frame(members.table), members.numbers)
    show_remarks(others, "about headroom")
