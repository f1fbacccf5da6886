"""Experiment: everything that happened in one experiment, step by step."""

from __future__ import annotations

import streamlit as st

from koderz_core import KoderzError, Workspace
from koderz_core.records.rows import ExperimentRow
from pages.ui.address import BENCHMARKS, keep
from pages.ui.edge import edge
from pages.ui.experiment import show_commands, show_links, show_pair
from pages.ui.frame import Page, open_page, show_empty, show_provenance
from pages.ui.labels import choose_labelled
from pages.ui.pickers import choose_experiment
from pages.ui.shell import choose_one
from pages.ui.transcript import show_transcript

ABOUT = "Every prompt, answer, program and test result of one experiment."


def main() -> None:
    page = open_page("experiment", ABOUT)
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
    of = details.experiment.benchmark
    if of not in [row.id for row in page.chosen]:
        keep(BENCHMARKS, of)
        st.rerun()
    _show(workspace, details.experiment)


def _show(workspace: Workspace, row: ExperimentRow) -> None:
    """The experiment; below it a second one and the commands."""
    show_links(workspace, row)
    show_transcript(workspace, row, workspace.results.benchmark(row.benchmark))
    st.header("Comparison with another experiment")
    show_pair(workspace, row)
    show_commands(workspace, row)
    show_provenance(row)


def _choose(page: Page) -> None:
    if not page.chosen:
        show_empty(page.workspace, "There is no experiment yet. Run a benchmark first.", "💤")
        return
    benchmark = choose_one(page.chosen).id
    rows = page.workspace.results.progress(benchmark).experiments
    shown = choose_labelled(page.workspace, benchmark, rows)
    chosen = choose_experiment(shown.rows, f"experiments of {benchmark}", shown.labels)
    if chosen:
        keep("experiment", chosen)
        st.rerun()


with edge():
    main()
