"""The experiments of a benchmark as a table of which one can be chosen, a part at a time where they are many."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from koderz_core.export.formats import count
from koderz_core.export.searched import experiments_of
from koderz_core.records.rows import ExperimentRow
from pages.ui.tables import experiment_table, selected

AT_ONCE = 500  # lines; more are further parts


def choose_experiment(rows: Sequence[ExperimentRow], key: str) -> str | None:
    """Show them in their order; the id of the one that is chosen. ``key`` tells two such tables apart."""
    st.caption("Choose a line to open its experiment.")
    found = rows
    if len(rows) > AT_ONCE:
        words = st.text_input("Find", key=f"find {key}", placeholder="problem, configuration, outcome, failure, id")
        found = experiments_of(rows, str(words))
    part = _part(found, key)
    if not part:
        st.info("No experiment has all of these words.", icon="🟰")
        return None
    return selected(experiment_table(part), f"{key} {part[0].id}", "experiment", alt="Experiments of the benchmark")


def _part(rows: Sequence[ExperimentRow], key: str) -> Sequence[ExperimentRow]:
    pages = -(-len(rows) // AT_ONCE)
    if pages < 2:
        return rows
    first = AT_ONCE * (int(st.pagination(pages, key=f"part of {pages} of {key}")) - 1)
    part = rows[first : first + AT_ONCE]
    st.caption(f"{count(first + 1)} to {count(first + len(part))} of {count(len(rows))}.")
    return part
