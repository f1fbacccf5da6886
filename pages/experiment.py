"""Experiment: everything that happened in one, step by step."""

from __future__ import annotations

import streamlit as st

from koderz_core import KoderzError, Workspace
from koderz_core.records.rows import BenchmarkRow, ExperimentDetails
from koderz_core.report.formats import SHARED, count, duration, money
from pages.ui.address import choice, keep
from pages.ui.edge import edge
from pages.ui.experiment_head import offer_commands, show_ways
from pages.ui.experiment_pair import show_beside
from pages.ui.frame import Opened, facts, open_page, show_empty, show_ground
from pages.ui.pickers import choose_experiment
from pages.ui.status import show_scripted, show_standing
from pages.ui.steps import choose_step, show_step
from pages.ui.tables import outcome
from pages.ui.text import listed

ABOUT = "Every prompt, answer, program and test result of one experiment."
EVERY_SECONDS = 1.0
ENDED = ("finished", "interrupted")


def main() -> None:
    opened = open_page("Experiment", ABOUT)
    workspace = opened.workspace
    asked = st.query_params.get("experiment")
    if asked is None:
        _choose(opened)
        return
    try:
        experiment = workspace.results.find(asked)
        begun = workspace.results.experiment(experiment)
    except KoderzError as error:
        st.warning("The address asks for an experiment that is not here.", icon="🔎")
        st.text(str(error))
        _choose(opened)
        return
    _show(workspace, begun)


def _show(workspace: Workspace, begun: ExperimentDetails) -> None:
    """The experiment, drawn anew as long as something can still happen in it; then what can be done with it."""
    row = begun.experiment
    benchmark = workspace.results.benchmark(row.benchmark)
    moving = row.state != "finished" and benchmark.under_way
    show_ways(workspace, row)

    @st.fragment(run_every=EVERY_SECONDS if moving else None, key="experiment")
    def draw() -> None:
        with edge():
            details = workspace.results.experiment(row.id)
            if moving and details.experiment.state in ENDED:
                st.rerun()
            _draw(workspace, details, benchmark)

    draw()
    st.subheader("Side by side")
    show_beside(workspace, row)
    offer_commands(workspace, row)
    show_ground(row)


def _choose(opened: Opened) -> None:
    if not opened.benchmarks:
        show_empty(opened.workspace, "There is no experiment yet. Launch a benchmark first.", "💤")
        return
    named = {row.id: listed(row) for row in opened.benchmarks}
    benchmark = choice("benchmark", "Benchmark", list(named), lambda one: named[one])
    rows = opened.workspace.results.progress(benchmark).experiments
    chosen = choose_experiment(rows, f"experiments of {benchmark}")
    if chosen:
        keep("experiment", chosen)
        st.rerun()


def _draw(workspace: Workspace, details: ExperimentDetails, benchmark: BenchmarkRow) -> None:
    row = details.experiment
    show_scripted(row)
    facts(
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
        st.caption("No step has been taken yet.")
        return
    left, right = st.columns([1, 3], gap="medium")
    with left:
        step = choose_step(details)
    with right:
        show_step(workspace, details, step)


with edge():
    main()
