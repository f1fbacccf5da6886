"""Compare: success with its interval, and what it cost, configuration by configuration."""

from __future__ import annotations

import streamlit as st

from koderz_core import Workspace
from koderz_core.records.rows import BenchmarkRow
from pages.ui.address import keep
from pages.ui.charts import cost_against_success, cost_by_tier, success
from pages.ui.comparison import COMPARISON_COLUMNS, comparison_table
from pages.ui.edge import edge
from pages.ui.frame import open_page
from pages.ui.text import listed

ABOUT = "Which configuration solves more, what each solution costs, and how sure that is."


def main() -> None:
    opened = open_page("Compare", ABOUT)
    rows = opened.benchmarks
    if not rows:
        st.info("There is nothing to compare yet.", icon="⚖️")
        st.page_link("pages/launch.py", label="Launch two configurations", icon="🚀")
        return
    chosen = _benchmarks(rows)
    if not chosen:
        st.info("Choose at least one benchmark.", icon="⚖️")
        return
    _draw(opened.workspace, chosen)


def _benchmarks(rows: list[BenchmarkRow]) -> list[str]:
    named = {row.id: listed(row) for row in rows}
    asked = list(dict.fromkeys(st.query_params.get("benchmarks", rows[0].id).split(",")))
    if not named.keys() >= set(asked):
        st.warning("The address asks for a benchmark that is not here. It was left out.", icon="🔎")
    known = [one for one in asked if one in named]
    chosen = st.multiselect("Benchmarks", list(named), default=known, format_func=lambda one: named[one])
    keep("benchmarks", ",".join(chosen) if chosen and chosen != [rows[0].id] else None)
    return list(chosen)


def _draw(workspace: Workspace, benchmarks: list[str]) -> None:
    comparison = workspace.compare(benchmarks)
    if comparison.remarks:
        st.text("\n".join(remark.strip() for remark in comparison.remarks))
    left, right = st.columns(2)
    with left:
        st.subheader("Success")
        st.plotly_chart(success(comparison.configurations), alt="Share solved with 95 % intervals", key="success")
    with right:
        st.subheader("Cost against success")
        if any(row.cost_per_experiment_usd is not None for row in comparison.configurations):
            chart = cost_against_success(comparison.configurations)
            st.plotly_chart(chart, alt="Cost per experiment against share solved", key="cost")
        else:
            st.info("Of no configuration the price of all calls is known.", icon="🏷️")
    table = comparison_table(comparison.configurations)
    st.dataframe(table, hide_index=True, column_config=COMPARISON_COLUMNS, alt="Configurations compared")
    if any(one.cost_usd is None or one.cost_usd for row in comparison.configurations for one in row.tiers):
        st.subheader("Where the money went")
        st.plotly_chart(cost_by_tier(comparison.configurations), alt="Cost by tier of model", key="tiers")
    st.caption(
        "Intervals are Wilson's, 95 %, for one trial per problem. Local cost is energy: watts × seconds × price."
    )


with edge():
    main()
