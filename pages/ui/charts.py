"""A chart on a page, with a table under it, and numbers as CSV."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd  # type: ignore[import-untyped]  # pandas ships no types
import plotly.graph_objects as go  # type: ignore[import-untyped]  # plotly ships no types
import streamlit as st

from koderz_core.export.tables import csv_of


def show_chart(
    figure: go.Figure, name: str, alt: str, table: pd.DataFrame, records: Sequence[Mapping[str, object]]
) -> None:
    """A chart, under it the same as a table, and as CSV with every number in full. ``name``: ours, on a page once."""
    st.plotly_chart(figure, alt=alt, key=name, config={"displaylogo": False})
    with st.expander("As a table", icon="🔢"):
        st.dataframe(table, hide_index=True, alt=f"{alt}, as a table", placeholder="–", key=f"table of {name}")
        offer_csv(name, records)


def offer_csv(name: str, records: Sequence[Mapping[str, object]]) -> None:
    """A button for what a table shows, unrounded; texts that a spreadsheet would take for formulas are defused."""
    st.download_button(
        "CSV",
        lambda: csv_of(pd.DataFrame(list(records)), for_spreadsheets=True),
        f"koderz-{name}.csv",
        "text/csv",
        key=f"csv of {name}",
        icon="⬇️",
        on_click="ignore",
    )
