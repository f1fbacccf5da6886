"""One configuration attempt by attempt, for who asks for it: programs are read, which takes a moment."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from koderz_core import Workspace
from koderz_core.analysis.comparison import Comparison
from koderz_core.analysis.pairs import Pair
from koderz_core.export.attempts import ABOUT_ATTEMPTS, attempt_rows, attempt_tables
from koderz_core.export.worded import Table
from koderz_core.records.summaries import SummaryRow
from pages.ui.address import choice
from pages.ui.charts import offer_csv
from pages.ui.compared import attempts_of
from pages.ui.tables import show_words

NAME = "configuration"  # in the address


def show_attempts(workspace: Workspace, rows: Sequence[SummaryRow], comparison: Comparison, pair: Pair | None) -> None:
    """Closed until it is wanted; an address that names a configuration opens it."""
    label = "Solves, dollars, errors and repeated programs of one configuration"
    part = st.expander(label, NAME in st.query_params, icon="🪜", on_change="rerun", key="attempt by attempt")
    if part.open:
        with part:
            _draw(workspace, rows, comparison, pair)


def _draw(workspace: Workspace, rows: Sequence[SummaryRow], comparison: Comparison, pair: Pair | None) -> None:
    named = {"/".join(one.key): one for one in comparison.configurations}
    looked_at = "/".join(pair.key) if pair else ""
    chosen = named[
        choice(NAME, "Whose", list(named), lambda key: f"{named[key].letter} · {named[key].label}", default=looked_at)
    ]
    row = next(row for row in rows if (row.benchmark, row.configuration) == chosen.key)
    found = {chosen.key: attempts_of(workspace, row)}
    tables = attempt_tables([chosen], found)
    for place, table in enumerate(tables):
        st.caption(table.title)
        show_words(_its(table))
        if not place:
            offer_csv("attempts", attempt_rows([chosen], found))
            st.caption(ABOUT_ATTEMPTS.replace("$", r"\$"))
    if not tables:
        st.info("None of its experiments has a result yet.", icon="🪜")


def _its(table: Table) -> Table:
    """Without the letter and the label: whose it is has just been chosen."""
    return Table(table.title, table.columns[2:], tuple(line[2:] for line in table.rows))
