"""Network: every address that koderz connected to, for what purpose, and how many bytes were sent."""

from __future__ import annotations

import streamlit as st

from koderz_core.report.network import AWAY, HERE, NOT_COVERED, REFUSED, headline, tables
from koderz_core.workspace.network import DAY
from pages.ui.address import link
from pages.ui.edge import edge
from pages.ui.frame import open_page
from pages.ui.tables import show_words

ABOUT = "Shows every address that koderz connected to, with the purpose and the number of bytes sent and received."
PERIODS = {"last hour": 3600.0, "last 24 hours": DAY, "last 7 days": 7 * DAY}
EMPTY = {
    AWAY: "No connection in this period.",
    REFUSED: "No refused connection in this period.",
    HERE: "No connection in this period.",
}


def main() -> None:
    page = open_page("network", ABOUT)
    network = page.workspace.network
    period = st.segmented_control("Period", list(PERIODS), default="last 24 hours", required=True)
    rows = network.traffic(PERIODS[period])
    st.text(headline(rows, f"the {period}"))
    if network.offline:
        st.info("KODERZ_OFFLINE is set: koderz refuses all connections beyond this machine.", icon="🔒")
    for table in tables(rows):
        st.header(table.title)
        if table.rows:
            show_words(table)
        else:
            st.caption(EMPTY[table.title])
    st.caption(NOT_COVERED)
    st.caption(
        "In a terminal, `koderz network` shows the same tables. To refuse all connections beyond this machine, set"
    )
    st.code("KODERZ_OFFLINE=1", language=None)
    link("launch", "New run", "🚀")


with edge():
    main()
