"""Statistics: paired differences, equal cost, uncertainty, slices, verifiers, supervision, samples, attempts, trust."""

from __future__ import annotations

import streamlit as st

from koderz_core.report.equal_cost import TITLE
from pages.ui.comparison import addressed_pair, open_comparison, show_findings, show_pairs, show_warnings
from pages.ui.edge import edge
from pages.ui.frame import open_page, show_remarks
from pages.ui.registration import show_registrations
from pages.ui.statistics import (
    show_attempts,
    show_checks,
    show_differences,
    show_equal_cost,
    show_noise,
    show_sampling,
    show_slices,
    show_trust,
)

ABOUT = "Paired differences between configurations, with details of attempts, verifiers, supervision and settings."


def main() -> None:
    page = open_page("statistics", ABOUT)
    compared = open_comparison(page)
    if not compared:
        return
    comparison = compared.comparison
    pair = addressed_pair(comparison)
    show_warnings(comparison)
    show_registrations(comparison)
    st.header("Differences on the same problems")
    if show_pairs(page.workspace, comparison) != pair:
        st.rerun()  # the parts below also depend on the pair, which is in the address now
    show_findings(comparison)
    st.header(TITLE)
    show_equal_cost(page.workspace, compared.rows, comparison, pair)
    st.header("Sources of uncertainty")
    show_noise(page.workspace, compared.rows, comparison, pair)
    st.header("Slices of the problems")
    show_slices(page.workspace, compared.rows, comparison)
    st.header("Verifier precision and supervision")
    show_checks(comparison)
    st.header("Several samples per problem")
    show_sampling(page.workspace, compared.rows, comparison, pair)
    st.header("Attempt by attempt")
    show_attempts(page.workspace, compared.rows, comparison, pair)
    st.header("Trust: recall and cheating")
    show_trust(page.workspace, compared.rows, comparison)
    st.header("Settings that differ")
    show_differences(comparison)
    show_remarks(comparison.remarks)


with edge():
    main()
