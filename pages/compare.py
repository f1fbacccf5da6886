"""Compare: which configuration solves more, at what price, and how sure that is."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from koderz_core import Workspace
from koderz_core.records.progress import SummaryRow
from koderz_core.workspace.comparisons import Comparison
from koderz_core.workspace.names import letter, usual_baseline
from pages.ui.address import choice
from pages.ui.comparison import (
    chosen_axis,
    show_answer,
    show_attempts,
    show_checks,
    show_configurations,
    show_costs,
    show_curves,
    show_differences,
    show_findings,
    show_frontier,
    show_pairs,
)
from pages.ui.downloads import offer_reports
from pages.ui.edge import edge
from pages.ui.frame import open_page, show_empty, show_remarks
from pages.ui.launch_plan import clone_links
from pages.ui.pickers import choose_ground, choose_rows
from pages.ui.slow_results import answered, compared, is_many

ABOUT = "Which configuration solves more, what each solution costs, and how sure that is."


def main() -> None:
    opened = open_page("Compare", ABOUT)
    if not opened.benchmarks:
        show_empty(opened.workspace, "There is nothing to compare yet.", "⚖️", "Launch two configurations")
        return
    left, right = st.columns([3, 1])
    with left:
        rows = choose_rows(opened.workspace, opened.benchmarks)
    if not rows:
        st.info("Choose at least one configuration.", icon="⚖️")
        return
    with right:
        chosen = choose_ground(opened.workspace, rows)
        rows = opened.workspace.comparisons.with_baseline(chosen)
        baseline = _baseline(rows)
    found = answered(opened.workspace, rows, baseline) if is_many(rows) else None
    if found or not is_many(rows):
        _draw(opened.workspace, rows, baseline, found)
        offer_reports(chosen)
    shown = {row.benchmark for row in rows}
    clone_links([row for row in opened.benchmarks if row.id in shown])


def _baseline(rows: Sequence[SummaryRow]) -> str | None:
    """What the others are held against, as the workspace understands it."""
    usual = usual_baseline(rows)
    if usual is None or len(rows) < 2:
        return None
    named = {f"{row.benchmark}/{row.configuration}": f"{letter(at)} · {row.label}" for at, row in enumerate(rows)}
    default = f"{usual.benchmark}/{usual.configuration}"
    return choice("baseline", "Baseline", list(named), lambda one: named[one], default=default)


def _draw(workspace: Workspace, rows: Sequence[SummaryRow], baseline: str | None, found: Comparison | None) -> None:
    """``found``: what was computed already, None where that takes no time."""
    lead = st.container()
    left, right = st.columns(2)
    with right, st.container(horizontal=True, vertical_alignment="center", key="curves-head"):
        st.subheader("Success against", width="content")
        axis = chosen_axis()
    comparison = found or compared(workspace, rows, baseline, axis)
    with lead:
        show_answer(comparison)
        show_configurations(comparison)
        show_findings(comparison)
    with left:
        with st.container(horizontal=True, vertical_alignment="center", key="frontier-head"):
            st.subheader("Cost against success")
        show_frontier(comparison)
    st.subheader("On the same problems")
    pair = show_pairs(workspace, comparison)
    with right:
        show_curves(comparison, axis, pair)
    st.subheader("What a solved problem cost")
    show_costs(comparison)
    st.subheader("Ceiling and supervision")
    show_checks(comparison)
    st.subheader("Attempt by attempt")
    show_attempts(workspace, rows, comparison, pair)
    st.subheader("What differs")
    show_differences(comparison)
    show_remarks(comparison.remarks)


with edge():
    main()
