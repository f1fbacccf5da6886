"""Export: what was measured as CSV, for any other tool."""

from __future__ import annotations

import streamlit as st

from koderz_core import Workspace
from koderz_core.export.formats import count
from koderz_core.export.tables import csv_of
from pages.ui.address import choice
from pages.ui.edge import edge
from pages.ui.frame import open_page
from pages.ui.text import listed

ABOUT = "Everything that was measured, as tables."
EVERYTHING = "all benchmarks"
TABLES = {
    "experiments": "one line per experiment: outcome, tests, tokens, cost, time",
    "iterations": "one line per program that was tried, with the program and what the tests said",
    "calls": "one line per request to a model: tokens, time, price and where it came from",
}
SHOWN = 50


def main() -> None:
    opened = open_page("Export", ABOUT)
    rows = {row.id: row for row in opened.benchmarks}
    if not rows:
        st.info("There is nothing to export yet.", icon="📦")
        st.page_link("pages/launch.py", label="Launch", icon="🚀")
        return
    benchmark = choice(
        "benchmark", "Benchmark", [EVERYTHING, *rows], lambda one: listed(rows[one]) if one in rows else one
    )
    table = choice("table", "Table", list(TABLES), short=True)
    st.caption(TABLES[table])
    _offer(opened.workspace, table, None if benchmark == EVERYTHING else benchmark)


def _offer(workspace: Workspace, table: str, benchmark: str | None) -> None:
    for_spreadsheets = st.toggle(
        "For spreadsheets", help="Text that a spreadsheet would take for a formula gets an apostrophe before it."
    )

    def written() -> bytes:
        return csv_of(workspace.results.frame(table, benchmark), for_spreadsheets=for_spreadsheets)

    name = f"koderz-{benchmark or 'all'}-{table}.csv"
    st.download_button("Download CSV", written, name, "text/csv", key="csv", icon="⬇️", on_click="ignore")
    first = workspace.results.excerpt(table, benchmark, SHOWN)
    st.dataframe(first.frame, hide_index=True, alt=f"The first lines of {table}")
    some = f"The first {SHOWN} of {count(first.lines)}" if first.lines > SHOWN else f"All {first.lines}"
    st.caption(f"{some} lines, {len(first.frame.columns)} columns. The download has all.")


with edge():
    main()
