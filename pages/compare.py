"""Compare: which configuration solves more, what it costs, and how certain the difference is."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from koderz_core.records.progress import SummaryRow
from koderz_core.workspace.comparisons import Comparison
from koderz_core.workspace.names import letter, usual_baseline
from pages.ui.address import choice
from pages.ui.comparison import (
    addressed_pair,
    answer_of,
    chosen_axis,
    show_attempts,
    show_checks,
    show_configurations,
    show_costs,
    show_curves,
    show_details,
    show_differences,
    show_findings,
    show_headline,
    show_pairs,
    show_warnings,
)
from pages.ui.downloads import offer_reports
from pages.ui.edge import edge
from pages.ui.frame import Page, open_page, show_empty, show_remarks
from pages.ui.frontier import about_picture, show_frontier
from pages.ui.launch_plan import clone_links
from pages.ui.pickers import choose_problem_set, choose_rows
from pages.ui.slow_results import awaited_comparison, comparison_of, is_many

ABOUT = "Compares configurations: success, cost per solved problem, and the significance of the differences."


def main() -> None:
    page = open_page("Compare", ABOUT)
    if not page.benchmarks:
        show_empty(page.workspace, "There is nothing to compare yet.", "⚖️", "Launch two configurations")
        return
    left, right = st.columns([3, 1])
    with left:
        rows = choose_rows(page.workspace, page.benchmarks)
    if not rows:
        st.info("Choose at least one configuration.", icon="⚖️")
        return
    with right:
        chosen = choose_problem_set(page.workspace, rows)
        rows = page.workspace.comparisons.with_baseline(chosen)
        baseline = _baseline(rows)
    ready = awaited_comparison(page.workspace, rows, baseline) if is_many(rows) else None
    if ready or not is_many(rows):
        _draw(page, rows, baseline, ready)
        offer_reports(chosen)
    shown = {row.benchmark for row in rows}
    clone_links([row for row in page.benchmarks if row.id in shown])


def _baseline(rows: Sequence[SummaryRow]) -> str | None:
    """The baseline, as ``benchmark/configuration``; None if there is nothing to compare."""
    usual = usual_baseline(rows)
    if usual is None or len(rows) < 2:
        return None
    labels = {f"{row.benchmark}/{row.configuration}": f"{letter(at)} · {row.label}" for at, row in enumerate(rows)}
    default = f"{usual.benchmark}/{usual.configuration}"
    return choice("baseline", "Baseline", list(labels), labels.__getitem__, default=default)


def _draw(page: Page, rows: Sequence[SummaryRow], baseline: str | None, ready: Comparison | None) -> None:
    """``ready``: the comparison computed in the background; None: it is small and computed here."""
    workspace = page.workspace
    comparison = ready or comparison_of(workspace, rows, baseline)
    pair, found = addressed_pair(comparison), answer_of(comparison)
    show_headline(found)
    show_warnings(comparison)
    about = about_picture(comparison, rows, page.benchmarks)
    show_frontier(comparison, about, pair)
    show_details(found)
    show_configurations(comparison)
    show_findings(comparison)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.subheader("Success against", width="content")
        axis = chosen_axis(comparison)
    show_curves(comparison, axis, pair, about)
    st.subheader("Differences on the same problems")
    if show_pairs(workspace, comparison) != pair:
        st.rerun()  # what is above also depends on the pair, which is in the address now
    st.subheader("Cost per solved problem")
    show_costs(comparison, about)
    st.subheader("Verifier precision and supervision")
    show_checks(comparison)
    st.subheader("Attempt by attempt")
    show_attempts(workspace, rows, comparison, pair)
    st.subheader("Settings that differ")
    show_differences(comparison)
    show_remarks(comparison.remarks)


with edge():
    main()
