"""The Trust section of the Statistics page: variants of problems, likeness to known solutions, signs in programs."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import streamlit as st

from koderz_core import Workspace
from koderz_core.records.progress import SummaryRow
from koderz_core.report.slices import slice_table
from koderz_core.report.trust import MOST_SHOWN, trust_section, trust_signs
from koderz_core.workspace.comparisons import Comparison
from pages.ui.address import link
from pages.ui.slow_results import cached, names_of, prepare
from pages.ui.tables import offer_csv, show_words

TRUST = "trust"  # in the address
ABOUT = (
    "Do models recall published solutions, or cheat on the tests? koderz compares the results on the original "
    "problems with the results on variants of these problems, and scans the recorded programs without executing them."
)


def show_trust(workspace: Workspace, rows: Sequence[SummaryRow], comparison: Comparison) -> None:
    """Folded, because it reads all programs; an address that names it opens it."""
    st.caption(ABOUT)
    part = st.expander(
        "Checks for recalled solutions and cheating",
        TRUST in st.query_params,
        icon="🔎",
        on_change="rerun",
        key=TRUST,
    )
    if not part.open:
        return
    with part:
        work = partial(cached, workspace, rows, workspace.trust.check, read=True)
        found = prepare(f"trust of {names_of(rows)}", work, _show_reading)
        if found is None:
            return
        section = trust_section(comparison, found)
        for table in section.tables:
            st.caption(table.title)
            show_words(table)
        if found.dated:
            by_year = slice_table(
                comparison, cached(workspace, rows, workspace.comparisons.slices, "year", comparison.baseline)
            )
            st.caption(by_year.title)
            show_words(by_year)
        for sign, experiments in trust_signs(found):
            with st.container(horizontal=True, key=f"sign-{sign}"):
                st.caption(f"Experiments with the sign “{sign}”:")
                for experiment in experiments[:MOST_SHOWN]:
                    link("experiment", experiment, "🔬", experiment=experiment)
        offer_csv(TRUST, section.listing("configurations").numbers)
        for remark in section.remarks:
            st.text(remark)


def _show_reading() -> None:
    st.info("Reading the recorded programs …", icon="⏳")
