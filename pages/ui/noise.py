"""Sources of uncertainty on the page Statistics: problems or draws, the best designs, the problems that matter."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from koderz_core import Workspace
from koderz_core.records.progress import SummaryRow
from koderz_core.report.noise_words import noise_section
from koderz_core.report.sections import Section
from koderz_core.workspace.comparisons import Comparison, Key, Pair
from koderz_core.workspace.uncertainty import Uncertainty
from pages.ui.address import address_of
from pages.ui.slow_results import cached
from pages.ui.tables import FEW_LINES, frame, led_by, offer_csv, show_words, tall

OPEN = "noise"  # in the address


def show_noise(workspace: Workspace, rows: Sequence[SummaryRow], comparison: Comparison, pair: Pair | None) -> None:
    """Folded; an address with ``noise`` opens it."""
    label = (
        "Sources of variance, effect of more problems or repeats on the standard error, and contribution of each "
        "problem to the comparison"
    )
    part = st.expander(label, OPEN in st.query_params, icon="🎲", on_change="rerun", key="sources of uncertainty")
    if part.open:
        with part:
            found = cached(workspace, rows, workspace.uncertainty.noise, comparison.baseline)
            _draw(comparison, found, pair.key if pair else None, linked=len({row.dataset_sha256 for row in rows}) == 1)


def _draw(comparison: Comparison, found: Uncertainty, pair: Key | None, *, linked: bool) -> None:
    section = noise_section(comparison, found, pair)
    first, *others = section.remarks
    st.text(first)
    for name in ("sources", "designs", "carriers"):
        if (table := section.listing(name).table).rows:
            st.caption(table.title)
            show_words(table, led_by(table, "standard error") if "standard error" in table.columns else None)
    offer_csv("noise", section.listing("sources").numbers)
    _show_items(section, linked=linked)
    for remark in others:
        st.text(remark)


def _show_items(section: Section, *, linked: bool) -> None:
    """Every problem; ``linked``: with a link to its experiments, which needs ids that are unique."""
    table = section.listings[-1].table
    if not table.rows:
        return
    st.caption(table.title)
    shown = frame(table)
    if linked:
        shown.insert(1, "experiments", [address_of("problems", problem=problem) for problem in shown["problem"]])
    columns = {"experiments": st.column_config.LinkColumn(display_text="open", width="small")}
    height = tall(len(table.rows), FEW_LINES)
    st.dataframe(shown, hide_index=True, column_config=columns, height=height, alt=table.title)
    offer_csv("problem-shares", section.listing("problems").numbers)
