"""Problems: which are hard, which are luck, and which only one configuration solves."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from koderz_core.records.progress import SummaryRow
from koderz_core.report.findings import remarks
from koderz_core.report.formats import count
from koderz_core.workspace.comparisons import Difficulty, only_solved
from pages.ui.difficulty import choose_problems, show_configurations, show_heatmap, show_problem, show_table
from pages.ui.edge import edge
from pages.ui.frame import facts, open_page, show_empty, show_remarks
from pages.ui.pickers import choose_ground, choose_rows
from pages.ui.slow_results import sorted_out

ABOUT = "What came of each problem under each configuration, the hardest first."


def main() -> None:
    opened = open_page("Problems", ABOUT)
    if not opened.benchmarks:
        show_empty(opened.workspace, "No problem has been tried yet.", "🧩")
        return
    rows = choose_rows(opened.workspace, opened.benchmarks)
    if not rows:
        st.info("Choose at least one configuration.", icon="🧩")
        return
    rows = choose_ground(opened.workspace, rows)
    problems = sorted_out(opened.workspace, rows)
    if problems is None:
        return
    _warn(rows)
    _count(rows, problems)
    _draw(rows, problems)
    show_remarks(remarks(rows))


def _warn(rows: Sequence[SummaryRow]) -> None:
    if len({row.dataset_sha256 for row in rows}) > 1:
        st.warning(
            "These are of different datasets. Problems of the same id share a line here, and may be different ones.",
            icon="⚖️",
        )


def _count(rows: Sequence[SummaryRow], problems: Sequence[Difficulty]) -> None:
    """How many there are of each kind."""
    open_ones = sum(not problem.complete for problem in problems)
    facts(
        {
            "problems": count(len(problems)),
            "unsolved by all": count(sum(problem.unsolved for problem in problems)),
            "flaky": count(sum(problem.flaky for problem in problems)),
            "solved by one only": count(sum(only_solved(problems).values())) if len(rows) > 1 else "–",
        }
    )
    if open_ones:
        st.text(
            f"{open_ones} problems lack a result of some configuration: they count neither as unsolved by all nor as "
            "solved by one only."
        )


def _draw(rows: Sequence[SummaryRow], problems: Sequence[Difficulty]) -> None:
    shown = choose_problems(rows, problems)
    if not shown:
        st.info("No problem is like that.", icon="🟰")
        show_configurations(rows, problems)
        return
    left, right = st.columns([5, 6], gap="large")
    with left:
        show_heatmap(rows, shown)
        show_configurations(rows, problems)
    with right:
        st.subheader("Problems")
        problem = show_table(rows, shown)
        st.subheader("Experiments on it")
        show_problem(rows, problem)


with edge():
    main()
