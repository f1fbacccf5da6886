"""Experiment: everything that happened in one experiment, step by step."""

from __future__ import annotations

import streamlit as st

from koderz_core import KoderzError, Workspace
from koderz_core.records.rows import ExperimentRow
from pages.ui.address import choice, keep
from pages.ui.edge import edge
from pages.ui.experiment import show_commands, show_links, show_pair
from pages.ui.frame import Page, open_page, show_empty, show_provenance
from pages.ui.pickers import choose_experiment
from pages.ui.text import listed
from pages.ui.transcript import show_transcript

ABOUT = "Every prompt, answer, program and test result of one experiment."


def main() -> None:
    page = open_page("Experiment", ABOUT)
    workspace = page.workspace
    name = st.query_params.get("experiment")
    if name is None:
        _choose(page)
        return
    try:
        details = workspace.results.experiment(workspace.results.find(name))
    except KoderzError as error:
        st.warning("The link points to an experiment that does not exist.", icon="🔎")
        st.text(str(error))
        _choose(page)
        return
    _show(workspace, details.experiment)


def _show(workspace: Workspace, row: ExperimentRow) -> None:
    """The experiment; below it a second one and the commands."""
    show_links(workspace, row)
    show_transcript(workspace, row, workspace.results.benchmark(row.benchmark))
    st.subheader("Comparison with another experiment")
    show_pair(workspace, row)
    show_commands(workspace, row)
    show_provenance(row)


def _choose(page: Page) -> None:
    if not page.benchmarks:
        show_empty(page.workspace, "There is no experiment yet. Launch a benchmark first.", "💤")
        return
    labels = {row.id: listed(row) for row in page.benchmarks}
    benchmark = choice("benchmark", "Benchmark", list(labels), labels.__getitem__)
    rows = page.workspace.results.progress(benchmark).experiments
    chosen = choose_experiment(rows, f"experiments of {benchmark}")
    if chosen:
        keep("experiment", chosen)
        st.rerun()


with edge():
    main()
