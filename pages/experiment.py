"""Experiment: everything that happened in one, step by step."""

from __future__ import annotations

import streamlit as st

from koderz_core import KoderzError, Workspace
from koderz_core.export.formats import SHARED, count, duration, money
from koderz_core.records.rows import ExperimentDetails
from pages.ui.address import choice, keep
from pages.ui.edge import edge
from pages.ui.files import offer_files
from pages.ui.frame import Opened, facts, open_page, show_ground
from pages.ui.steps import show_step, step_name
from pages.ui.tables import experiment_table, outcome, selected
from pages.ui.text import listed

ABOUT = "Every prompt, answer, program and test result of one experiment."
EVERY_SECONDS = 1.0
MOST_IN_SIGHT = 20  # steps; more are a list to search


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
    """The experiment, drawn anew as long as something can still happen in it."""
    benchmark = workspace.results.benchmark(begun.experiment.benchmark)
    moving = begun.experiment.state != "finished" and benchmark.under_way

    @st.fragment(run_every=EVERY_SECONDS if moving else None, key="experiment")
    def draw() -> None:
        with edge():
            details = workspace.results.experiment(begun.experiment.id)
            if moving and details.experiment.state == "finished":
                st.rerun()
            _draw(workspace, details)

    draw()


def _choose(opened: Opened) -> None:
    if not opened.benchmarks:
        st.info("There is no experiment yet. Launch a benchmark first.", icon="💤")
        st.page_link("pages/launch.py", label="Launch", icon="🚀")
        return
    named = {row.id: listed(row) for row in opened.benchmarks}
    benchmark = choice("benchmark", "Benchmark", list(named), lambda one: named[one])
    table = experiment_table(opened.workspace.results.progress(benchmark).experiments)
    st.caption("Choose a line to open its experiment.")
    chosen = selected(table, f"experiments of {benchmark}", "experiment", alt="Experiments of the benchmark")
    if chosen:
        keep("experiment", chosen)
        st.rerun()


def _draw(workspace: Workspace, details: ExperimentDetails) -> None:
    row = details.experiment
    _ways(workspace, details)
    with st.container(horizontal=True, key="subject"):
        st.text(f"{row.problem} · {row.label}" + (f" · repeat {row.repeat + 1}" if row.repeat else ""))
        st.caption(f"{row.id}")
    if row.scripted:
        st.warning("SCRIPTED: these answers come from a script, not from a model.", icon="🎭")
    facts(
        {
            "outcome": outcome(row) + (f" ({row.failure})" if row.failure else ""),
            "iterations": count(row.iterations),
            "tokens in / out": f"{count(row.input_tokens)} / {count(row.output_tokens)}",
            "time": duration(row.seconds),
            "cost": money(row.cost_usd),
        }
    )
    show_ground(row)
    if row.shared:
        st.caption(f"⚠ {SHARED}.")
    if row.error:
        st.error("It ended without a result; that is not the model's failure.", icon="⚠️")
        st.text(row.error)
    if not details.steps:
        st.info("Nothing has happened in it yet.", icon="⏳")
        return
    offer_files(workspace, row.id)
    places = [str(place) for place in range(1, len(details.steps) + 1)]
    said = {place: step_name(step) for place, step in zip(places, details.steps, strict=True)}
    few = len(places) <= MOST_IN_SIGHT
    tried = [place for place, step in zip(places, details.steps, strict=True) if step.program]
    usual = (tried or places)[-1]
    place = choice("step", "Steps", places, lambda one: said[one], default=usual, short=few)
    show_step(workspace, details, details.steps[int(place) - 1])


def _ways(workspace: Workspace, details: ExperimentDetails) -> None:
    near = workspace.results.neighbours(details.experiment.id)
    with st.container(horizontal=True):
        for label, icon, other in (("Previous", "⬅️", near.previous), ("Next", "➡️", near.next)):
            if other:
                st.page_link("pages/experiment.py", label=label, icon=icon, query_params={"experiment": other})
        st.page_link(
            "pages/live.py", label="Its benchmark", icon="📡", query_params={"benchmark": details.experiment.benchmark}
        )


with edge():
    main()
