"""Summary: which configuration solves more, at what cost, and how certain that is."""

from __future__ import annotations

import streamlit as st

from pages.ui.address import link
from pages.ui.comparison import (
    CONFIGURATION,
    Compared,
    addressed_pair,
    answer_of,
    chosen_axis,
    open_comparison,
    show_configurations,
    show_costs,
    show_curves,
    show_details,
    show_findings,
    show_headline,
    show_warnings,
)
from pages.ui.downloads import offer_reports
from pages.ui.edge import edge
from pages.ui.frame import Page, open_page, show_remarks
from pages.ui.frontier import about_picture, show_frontier
from pages.ui.launch_plan import clone_links

ABOUT = "Compares configurations: success, cost per solved problem, and the significance of the differences."


def main() -> None:
    page = open_page("compare", ABOUT)
    if CONFIGURATION in st.query_params:  # before there were tabs, this page showed the attempts of a configuration
        link("statistics", "Attempts of this configuration", "🪜", **st.query_params.to_dict())
    compared = open_comparison(page)
    if compared:
        _draw(page, compared)
        offer_reports(compared.chosen, compared.comparison.baseline)
    clone_links(page.chosen)


def _draw(page: Page, compared: Compared) -> None:
    comparison = compared.comparison
    pair, found = addressed_pair(comparison), answer_of(comparison)
    show_headline(found)
    show_warnings(comparison)
    about = about_picture(comparison, compared.rows, page.benchmarks)
    show_frontier(comparison, about, pair)
    show_details(found)
    show_configurations(comparison)
    show_findings(comparison)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.header("Success against", width="content")
        axis = chosen_axis(comparison)
    show_curves(comparison, axis, pair, about)
    st.header("Cost per solved problem")
    show_costs(comparison, about)
    show_remarks(comparison.remarks)


with edge():
    main()
