"""What if: what a choice per problem could gain, and what other policies would have solved and cost."""

from __future__ import annotations

import streamlit as st

from koderz_core.report.headroom import TITLE
from pages.ui.compared import open_comparison
from pages.ui.edge import edge
from pages.ui.frame import open_page
from pages.ui.frontier import about_picture
from pages.ui.headroom import show_headroom
from pages.ui.what_if import show_policies

ABOUT = "Gains that a choice between configurations could have, and policies simulated on recorded attempts."


def main() -> None:
    page = open_page("what_if", ABOUT)
    compared = open_comparison(page)
    if not compared:
        return
    st.header(TITLE)
    show_headroom(page.workspace, compared.chosen)
    st.header("Simulated policies")
    about = about_picture(compared.comparison, compared.chosen, page.benchmarks)
    show_policies(page.workspace, compared, about)


with edge():
    main()
