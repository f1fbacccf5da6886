"""A line of a table as a choice that is part of the page's address."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd  # type: ignore[import-untyped]  # pandas ships no types
import streamlit as st

from pages.ui.address import keep


def chosen_line(table: pd.DataFrame, name: str, keys: Sequence[str], usual: str = "", /, **options: object) -> str:
    """Show a table of which one line is always chosen; its key, which the URL holds but for the usual one's.

    ``keys``: one per line, at least one. ``usual``: one of them, the first if not given. ``options`` of
    ``st.dataframe``.
    """
    usual = usual or keys[0]
    asked, seen, version = st.query_params.get(name, usual), f"{name} in the URL", f"version of {name}"
    if asked not in keys:
        st.warning(f"The address asks for a {name} that is not here. This is another one.", icon="🔎")
    at = keys.index(asked if asked in keys else usual)
    if st.session_state.get(seen) != (asked, tuple(keys)):
        # Another address or another table: what was chosen before must not be taken for a choice in this one.
        st.session_state[version] = st.session_state.get(version, 0) + 1
    state = st.dataframe(
        table,
        key=f"{name} {st.session_state[version]}",
        on_select="rerun",
        selection_mode="single-row-required",
        selection_default={"selection": {"rows": [at]}},
        hide_index=True,
        **options,  # type: ignore[call-overload]  # options of st.dataframe, by name
    )
    rows = state["selection"]["rows"]
    chosen = keys[rows[0]] if rows and rows[0] < len(keys) else keys[at]
    keep(name, None if chosen == usual else chosen)
    st.session_state[seen] = (chosen, tuple(keys))
    return chosen
