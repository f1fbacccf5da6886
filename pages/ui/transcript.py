"""The transcript of an experiment: its figures, the text of its problem, and its steps; shown on several pages."""

from __future__ import annotations

import pandas as pd  # type: ignore[import-untyped]  # pandas ships no types
import streamlit as st

from koderz_core import Workspace
from koderz_core.records import Problem
from koderz_core.records.rows import BenchmarkRow, ExperimentDetails, ExperimentRow
from koderz_core.report.formats import SHARED, count, duration, money, one_line
from koderz_core.report.problems import MEANINGS, parts_of, problem_facts
from pages.ui.edge import edge
from pages.ui.frame import show_facts
from pages.ui.programs import show_program
from pages.ui.status import show_scripted, show_standing
from pages.ui.steps import choose_step, show_step
from pages.ui.tables import outcome, tall
from pages.ui.text import show_parts

EVERY_SECONDS = 1.0
ENDED = ("finished", "interrupted")


def show_transcript(workspace: Workspace, row: ExperimentRow, benchmark: BenchmarkRow) -> None:
    """Everything that happened in an experiment of the benchmark, redrawn until it ends; the page then runs again."""
    moving = row.state != "finished" and benchmark.under_way

    @st.fragment(run_every=EVERY_SECONDS if moving else None, key="experiment")
    def draw() -> None:
        with edge():
            details = workspace.results.experiment(row.id)
            if moving and details.experiment.state in ENDED:
                st.rerun()
            _draw(workspace, details, benchmark)

    draw()


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
    if row.failure and (meaning := MEANINGS.get(row.failure)):
        st.text(meaning)
    show_standing(workspace, row, benchmark)
    _show_problem(workspace, row)
    if not details.steps:
        st.caption("No call or test of this experiment has been recorded yet.")
        return
    left, right = st.columns([1, 3], gap="medium")
    with left:
        step = choose_step(details)
    with right:
        show_step(workspace, details, step)


def _show_problem(workspace: Workspace, row: ExperimentRow) -> None:
    """The text of the problem, which is read from its dataset only when it is opened."""
    place = st.expander("Problem", icon="🧩", key="problem text", on_change="rerun")
    if not place.open:
        return
    with place:
        problem = workspace.experiments.problem(row)
        if problem is None:
            st.caption(
                "The dataset of this problem is missing or has changed. To read the problem, open the first prompt of "
                "the experiment."
            )
            return
        st.text(problem_facts(problem))
        show_parts(parts_of(problem), "problem")
        _show_files(problem)
        if problem.canonical_solution and st.toggle("Canonical solution", key="canonical solution"):
            show_program(problem.canonical_solution, "canonical-solution")


def _show_files(problem: Problem) -> None:
    """The files of a repository that a patch may change."""
    if editable := problem.public.editable:
        lines = [problem.public.files.get(path, "").count("\n") for path in editable]
        table = pd.DataFrame({"editable file": list(map(one_line, editable)), "lines": lines})
        st.dataframe(table, hide_index=True, height=tall(len(table)), width="content", alt="Editable files")
