"""Configurations at equal cost on the page Statistics: the chart with simultaneous bands, and what they support."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from koderz_core import Workspace
from koderz_core.records.progress import SummaryRow
from koderz_core.report.charts import file_subject
from koderz_core.report.equal_cost import (
    PER_PROBLEM,
    TITLE,
    equal_cost_chart,
    equal_cost_section,
)
from koderz_core.workspace.comparisons import Comparison, Pair
from koderz_core.workspace.uncertainty import COSTS, EqualCost
from pages.ui.address import switch
from pages.ui.slow_results import cached
from pages.ui.tables import frame, led_by, show_chart, show_words

AXIS = "equal"  # in the address


def show_equal_cost(
    workspace: Workspace, rows: Sequence[SummaryRow], comparison: Comparison, pair: Pair | None
) -> None:
    """Folded; an address that names the amount opens it."""
    label = (
        "Share of problems solved at equal cost per problem (in dollars, tokens, seconds or joules), with simultaneous "
        "95 % bands"
    )
    part = st.expander(label, AXIS in st.query_params, icon="⚖️", on_change="rerun", key="equal cost")
    if not part.open:
        return
    with part:
        chosen = switch(AXIS, "Equal", COSTS, PER_PROBLEM.__getitem__)
        axis = next(axis for axis in COSTS if axis == chosen)
        found = cached(workspace, rows, workspace.uncertainty.equal_cost, comparison.baseline, axis)
        _draw(comparison, found, pair)


def _draw(comparison: Comparison, found: EqualCost, pair: Pair | None) -> None:
    section = equal_cost_section(comparison, found)
    first, *others = section.remarks
    st.text(first)  # it may name sources of energy, which are texts of a journal
    if found.why:
        return
    chosen = (pair.baseline, pair.key) if pair else ()
    orders, areas, breadth = (listing.table for listing in section.listings[:3])
    figure, name = equal_cost_chart(comparison, found, chosen), f"equal-{found.axis}"
    alt = f"{TITLE}: {'; '.join(': '.join(row[:2]) for row in orders.rows)}"
    show_chart(figure, name, alt, frame(orders), section.listing("bands").numbers, file_subject(comparison))
    for table, leading in ((orders, ""), (areas, "area [95 %]"), (breadth, "all attempts")):
        if table.rows:
            st.caption(table.title.replace("$", r"\$"))
            show_words(table, led_by(table, leading) if leading else None)
    for remark in others:
        st.text(remark)
