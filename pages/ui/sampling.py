"""Several samples per problem on the page Statistics: pass@k and pass^k, coverage, and the price of a further draw."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from koderz_core import Workspace
from koderz_core.records.progress import SummaryRow
from koderz_core.report.charts import file_subject
from koderz_core.report.charts_sampling import CAPTION, draws_alt, success_by_draws
from koderz_core.report.sampling import draws_of, sampling_section
from koderz_core.workspace.comparisons import Comparison, Pair
from pages.ui.address import switch
from pages.ui.slow_results import cached
from pages.ui.tables import offer_csv, show_picture, show_words

DRAWS = "draws"  # in the address
LEADING = ("k", "pass@k [95 %]", "pass^k [95 %]", "coverage [95 %]", "selected [95 %]", "$ per extra solve [95 %]")
"""Columns right after the letter, so that they are visible on a narrow screen."""
LABEL = (
    "pass@k, pass^k, coverage (share of experiments in which at least one tested program is right), and price of one "
    "further draw on every problem"
)


def show_sampling(workspace: Workspace, rows: Sequence[SummaryRow], comparison: Comparison, pair: Pair | None) -> None:
    """Folded, because reading all programs and fitting takes a while; an address that names the draws opens it."""
    part = st.expander(LABEL, DRAWS in st.query_params, icon="🎲", on_change="rerun", key="sampling")
    if part.open:
        with part:
            _draw(workspace, rows, comparison, pair)


def _draw(workspace: Workspace, rows: Sequence[SummaryRow], comparison: Comparison, pair: Pair | None) -> None:
    found, kind = cached(workspace, rows, workspace.comparisons.sampling), None
    if kinds := list(dict.fromkeys(draws.kind for _, draws in draws_of(comparison, found))):
        chosen = switch(DRAWS, "Kind of draw", kinds, lambda kind: f"{kind} as draws")
        kind = next(known for known in kinds if known == chosen)
        figure = success_by_draws(comparison, found, kind, (pair.baseline, pair.key) if pair else ())
        show_picture(figure, "pass-at-k", draws_alt(comparison, found, kind), file_subject(comparison))
        st.caption(CAPTION)
        offer_csv("pass-at-k", sampling_section(comparison, found).listing("rates").numbers)
    section = sampling_section(comparison, found, kind)
    for table in section.tables:
        st.caption(table.title)
        first = [name for name in LEADING if name in table.columns]
        show_words(table, ["key", *first, *(name for name in table.columns if name and name not in first)])
    for remark in section.remarks:
        st.text(remark)
