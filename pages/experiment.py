"""Experiment: everything that happened in one experiment, step by step."""

from __future__ import annotations

import streamlit as st

from koderz_core import KoderzError, Workspace
from koderz_core.records.rows import BenchmarkRow, ExperimentDetails, ExperimentRow
from koderz_core.report.formats import SHARED, count, duration, money
from pages.ui.address import choice, keep
from pages.ui.edge import edge
from pages.ui.experiment import show_commands, show_links, show_pair
from pages.ui.frame import Page, open_page, show_empty, show_facts, show_provenance
from pages.ui.labels import choose_labelled
from pages.ui.pickers import choose_experiment
from pages.ui.status import show_scripted, show_standing
from pages.ui.steps import choose_step, show_step
from pages.ui.tables import outcome
from pages.ui.text import listed

ABOUT = "Every prompt, answer, program and test result of one experiment."
EVERY_SECONDS = 1.0
ENDED = ("finished", "interrupted")


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
    """The experiment, redrawn until it has ended; below it a second one and the commands."""
    benchmark = workspace.results.benchmark(row.benchmark)
    moving = row.state != "finished" and benchmark.under_way
    show_links(workspace, row)

    @st.fragment(run_every=EVERY_SECONDS if moving else None, key="experiment")
    def draw() -> None:
        with edge():
            details = workspace.results.experiment(row.id)
            if moving and details.experiment.state in ENDED:
                st.rerun()
            _draw(workspace, details, benchmark)

    draw()
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
    shown = choose_labelled(page.workspace, benchmark, rows)
    chosen = choose_experiment(shown.rows, f"experiments of {benchmark}", shown.labels)
    if chosen:
        keep("experiment", chosen)
        st.rerun()


def _draw(workspace: Workspace, details: ExperimentDetails, benchmark: BenchmarkRow) -> None:
    row = details.experiment
    show_scripted(row)
    show_facts(
        {
            "outcome": outcome(row) + (f" ({row.failure})" if row.failure else ""),
            "iterations": count(row.iterations),
            "time": duration(row.seconds),
            "cost": money(row.cost_usd),
        }
    )
    spent = f"tokens: {count(row.input_tokens)} in, {count(row.output_tokens)} out"
    st.caption(f"calls: {count(row.calls)} · {spent}" + (f" · ⚠ {SHARED}" if row.shared else ""))
    show_standing(workspace, row, benchmark)
    if not details.steps:
        st.caption("No call or test of this experiment has been recorded yet.")
        return
    left, right = st.columns([1, 3], gap="medium")
    with left:
        step = choose_step(details)
    with right:
        show_step(workspace, details, step)


with edge():
    main()
