"""Problems: which are hard, which are flaky, and which only one configuration solves."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from koderz_core.records.progress import SummaryRow
from koderz_core.report.findings import remarks
from koderz_core.report.formats import count
from koderz_core.workspace.comparisons import Difficulty, only_solved
from pages.ui.compared import choices
from pages.ui.difficulty import choose_problems, show_configurations, show_heatmap, show_problem, show_table
from pages.ui.edge import edge
from pages.ui.frame import open_page, show_empty, show_facts, show_remarks
from pages.ui.pickers import choose_problem_set, choose_rows
from pages.ui.slow_results import awaited_problems

ABOUT = "The result of each configuration on each problem, with the hardest problems first."


def main() -> None:
    page = open_page("problems", ABOUT)
    if not page.chosen:
        show_empty(page.workspace, "There are no results yet.", "🧩")
        return
    with choices(page):
        rows = choose_problem_set(page.workspace, choose_rows(page.workspace, page.chosen))
    if not rows:
        st.info("Choose at least one configuration.", icon="🧩")
        return
    problems = awaited_problems(page.workspace, rows)
    if problems is None:
        return
    _warn(rows)
    _count(rows, problems)
    _draw(rows, problems)
    show_remarks(remarks(rows))


def _warn(rows: Sequence[SummaryRow]) -> None:
    if len({row.dataset_sha256 for row in rows}) > 1:
        st.warning(
            "These configurations ran on different datasets. Problems with the same id share one row, although "
            "they may be different problems.",
            icon="⚖️",
        )


def _count(rows: Sequence[SummaryRow], problems: Sequence[Difficulty]) -> None:
    """The number of problems of each kind."""
    incomplete = sum(not problem.complete for problem in problems)
    show_facts(
        {
            "problems": count(len(problems)),
            "solved by no configuration": count(sum(problem.unsolved for problem in problems)),
            "flaky": count(sum(problem.flaky for problem in problems)),
            "solved by only one configuration": count(sum(only_solved(problems).values())) if len(rows) > 1 else "–",
        }
    )
    if incomplete:
        st.text(
            f"Problems that lack a result of one or more configurations: {incomplete}. Such problems are "
            "counted neither as solved by no configuration nor as solved by only one configuration."
        )


def _draw(rows: Sequence[SummaryRow], problems: Sequence[Difficulty]) -> None:
    shown = choose_problems(rows, problems)
    if not shown:
        st.info("No problem matches this selection.", icon="🟰")
        show_configurations(rows, problems)
        return
    left, right = st.columns([5, 6], gap="large")
    with left:
        show_heatmap(rows, shown)
        show_configurations(rows, problems)
    with right:
        st.subheader("Problems")
        problem = show_table(rows, shown)
        st.subheader("Experiments on this problem")
        show_problem(rows, problem)


with edge():
    main()
