"""What if: what a choice per problem could gain, and what other policies would have solved and cost."""

from __future__ import annotations

import streamlit as st

from koderz_core.report.headroom import TITLE
from pages.ui.comparison import Compared, open_comparison, show_warnings
from pages.ui.edge import edge
from pages.ui.frame import Page, open_page, show_remarks
from pages.ui.frontier import about_picture
from pages.ui.what_if import show_headroom, show_policies

ABOUT = (
    "Shows how far the success rate could rise if the best configuration were chosen separately for each problem. "
    "Also simulates policies on the recorded attempts. A policy is a rule that says which models to ask, in which "
    "order and how often."
)
POLICIES = "Simulated policies"


def main() -> None:
    page = open_page("what_if", ABOUT)
    compared = open_comparison(page)
    if compared:
        show_warnings(compared.comparison)
        _draw(page, compared)


def _draw(page: Page, compared: Compared) -> None:
    """The headroom comes first: without it, no policy and no selector can gain anything.

    An added baseline of another benchmark is omitted, because its attempts answer no question about these.
    """
    st.header(TITLE)
    show_headroom(page.workspace, compared.chosen)
    st.header(POLICIES)
    about = about_picture(compared.comparison, compared.chosen, page.benchmarks)
    show_policies(page.workspace, compared, about)
    show_remarks(compared.comparison.remarks)


with edge():
    main()
