"""Problems: which are hard, which are flaky, and which only one configuration solves."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from koderz_core.records.progress import SummaryRow
from koderz_core.report.difficulty import shared_rows
from koderz_core.report.findings import remarks
from koderz_core.report.formats import count, plain
from koderz_core.workspace.comparisons import Difficulty, only_solved
from pages.ui.comparison import choices
from pages.ui.difficulty import choose_problems, choose_trial, show_problems, show_tables
from pages.ui.edge import edge
from pages.ui.frame import Page, open_page, show_empty, show_facts, show_remarks
from pages.ui.pickers import choose_problem_set, choose_rows
from pages.ui.slow_results import awaited_problems
from pages.ui.transcript import show_transcript

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
    for warning in shared_rows(rows):
        st.warning(warning, icon="⚖️")
    _count(rows, problems)
    _name_weak_tests(page, rows, problems)
    _draw(page, rows, problems)
    show_remarks(remarks(rows))


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
            f"Problems that lack a result of one or more configurations: {incomplete}. These problems do not count as "
            "“solved by no configuration” or “solved by only one configuration”."
        )


def _name_weak_tests(page: Page, rows: Sequence[SummaryRow], problems: Sequence[Difficulty]) -> None:
    """The problems whose tests have a low mutation score, if it has been computed."""
    weak = page.workspace.mutation.weak({row.dataset_sha256 for row in rows})
    named = [(problem.problem, weak[problem.problem]) for problem in problems if problem.problem in weak]
    if named:
        listed = "; ".join(f"{name}: {score.killed} of {score.mutants} mutants killed" for name, score in named)
        st.text(
            f"Problems with weak tests (a third of the mutants or more survive): {len(named)} ({plain(listed, 2000)})."
        )


def _draw(page: Page, rows: Sequence[SummaryRow], problems: Sequence[Difficulty]) -> None:
    """The matrix; below it the transcript of an experiment, which is chosen first because the matrix marks it."""
    shown = choose_problems(rows, problems)
    matrix = st.container()
    if not shown:
        st.info("No problem matches this selection.", icon="🟰")
        show_tables(rows, problems, shown)
        return
    with st.container(key="transcript"):
        st.header("Transcript")
        experiment = choose_trial(rows, problems, shown)
    with matrix:
        show_problems(rows, shown, experiment)
        show_tables(rows, problems, shown)
    row = page.workspace.results.experiment(experiment).experiment
    show_transcript(page.workspace, row, next(of for of in page.benchmarks if of.id == row.benchmark))


with edge():
    main()
