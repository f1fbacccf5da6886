"""The parts of the Problems page: filter, matrix, its figures as tables, and the choice of an experiment."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from koderz_core.records.progress import SummaryRow
from koderz_core.records.trials import Trial
from koderz_core.report.difficulty import MEANING, problem_rows, problems_table, solvers_table
from koderz_core.report.matrix import matrix_of_problems
from koderz_core.workspace.comparisons import Difficulty, Key, Kind, problems_of_kind
from koderz_core.workspace.names import letter
from pages.ui.address import choice, keep, link, warn_of_missing
from pages.ui.matrix import show_matrix
from pages.ui.tables import frame, offer_csv, tall

SHOWN: dict[Kind, str] = {
    "all": "all",
    "unsolved": "solved by no configuration",
    "split": "configurations differ",
    "flaky": "flaky",
    "only": "solved by only one configuration",
    "differ": "solved more often by one of two configurations",
}
OF_ONE_OR_TWO = ("only", "differ")  # configurations that are chosen, too
OF_SEVERAL = ("split", *OF_ONE_OR_TWO)
PROBLEM = "problem"  # in the address
PROBLEMS_PER_PAGE = 1000  # in the matrix
KEYS = ("Alt+PageUp", "Alt+PageDown")


def choose_problems(rows: Sequence[SummaryRow], problems: Sequence[Difficulty]) -> tuple[Difficulty, ...]:
    """The problems that match the filter, which is part of the address."""
    kinds = [kind for kind in SHOWN if len(rows) > 1 or kind not in OF_SEVERAL]
    with st.container(horizontal=True):
        named = choice("show", "Show", kinds, lambda name: SHOWN[_kind(name)], short=True)
        kind = _kind(named)
        first, second = ("Solved only by", "") if kind == "only" else ("First configuration", "Second configuration")
        a = _choose_configuration(rows, "one", first) if kind in OF_ONE_OR_TWO else None
        b = _choose_configuration(rows, "other", second, place=1) if kind == "differ" else None
    return problems_of_kind(problems, kind, a, b)


def show_problems(rows: Sequence[SummaryRow], problems: Sequence[Difficulty], experiment: str) -> None:
    """One page of the matrix, in which ``experiment`` is marked; a click on a cell chooses another one."""
    matrix = matrix_of_problems(rows, _page_of(problems))
    show_matrix(matrix, "matrix", lambda spot: _choose(spot.problem, spot.experiment), experiment, "transcript")
    st.caption("Click a cell to read the transcript of its experiment below.")


def _choose(problem: str, experiment: str) -> None:
    st.query_params.update({PROBLEM: problem, "experiment": experiment})


def show_tables(rows: Sequence[SummaryRow], problems: Sequence[Difficulty], shown: Sequence[Difficulty]) -> None:
    """The results on the ``shown`` problems as a table and as CSV, and those of each configuration on all problems."""
    place = st.expander("As a table", icon="🔢", key="tables", on_change="rerun")
    if not place.open:
        return
    with place:
        for table in (problems_table(rows, shown), solvers_table(rows, problems)):
            st.dataframe(frame(table), hide_index=True, alt=table.title, height=tall(len(table.rows)), key=table.title)
        st.caption(
            f"{MEANING}. Flaky: problems that the configuration solved in some of its repeats but not in all. Uniquely "
            "solved: problems that the configuration solved at least once and that no other configuration solved."
        )
        offer_csv("problems", problem_rows(rows, shown))


def choose_trial(rows: Sequence[SummaryRow], problems: Sequence[Difficulty], shown: Sequence[Difficulty]) -> str:
    """The id of the experiment in the address; else of the first one on the problem in the address.

    ``shown``: the problems that match the filter. Buttons lead through them; the first one is the usual choice.
    """
    problem = _problem_in_address(problems, shown[0])
    trials = {trial.experiment: trial for row in rows for trial in _trials(problem, row)}
    labels = {row.key: f"{letter(place)} · {row.label}" for place, row in enumerate(rows)}

    def label(experiment: str) -> str:
        repeat = f" · repeat {trials[experiment].repeat + 1}" if len(trials) > len(problem.cells) else ""
        return labels[trials[experiment].key] + repeat

    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.text(problem.problem, width="content")
        ways = st.container(horizontal=True, width="content", gap="small")
        experiment = choice("experiment", "Experiment", list(trials), label)
        link("experiment", "Open the experiment", "🔬", experiment=experiment)
    with ways:
        _offer_neighbours(shown, problem, trials[experiment])
    if st.session_state.get("experiment shown") not in (None, experiment):
        keep("step", None)
    st.session_state["experiment shown"] = experiment
    return experiment


def _offer_neighbours(shown: Sequence[Difficulty], problem: Difficulty, trial: Trial) -> None:
    """Buttons that lead to the same configuration on the previous and on the next problem of the matrix."""
    at = next((place for place, other in enumerate(shown) if other.problem == problem.problem), -1)
    for label, icon, key, place in (("Previous", "⬅️", KEYS[0], at - 1), ("Next", "➡️", KEYS[1], at + 1)):
        other = shown[place] if 0 <= place < len(shown) else None
        name = f"{label.lower()} problem"
        about = f"{label} problem in the matrix"
        arguments = (other.problem, _same_trial(other, trial)) if other else None
        st.button(
            label, name, icon=icon, help=about, shortcut=key, disabled=not other, on_click=_choose, args=arguments
        )


def _same_trial(problem: Difficulty, trial: Trial) -> str:
    """The experiment of the same configuration and repeat on a problem, else of the configuration, else the first."""
    cell = problem.cells.get(trial.key) or next(iter(problem.cells.values()))
    return next((other for other in cell.trials if other.repeat == trial.repeat), cell.trials[0]).experiment


def _problem_in_address(problems: Sequence[Difficulty], usual: Difficulty) -> Difficulty:
    experiment, name = st.query_params.get("experiment"), st.query_params.get(PROBLEM, usual.problem)
    for problem in problems:
        if any(trial.experiment == experiment for cell in problem.cells.values() for trial in cell.trials):
            if PROBLEM in st.query_params:  # the experiment decides
                keep(PROBLEM, problem.problem)
            return problem
    if all(problem.problem != name for problem in problems):
        warn_of_missing(PROBLEM)
        keep(PROBLEM, None)
    return next((problem for problem in problems if problem.problem == name), usual)


def _trials(problem: Difficulty, row: SummaryRow) -> Sequence[Trial]:
    cell = problem.cells.get(row.key)
    return cell.trials if cell else ()


def _page_of(problems: Sequence[Difficulty]) -> Sequence[Difficulty]:
    pages = -(-len(problems) // PROBLEMS_PER_PAGE)
    if pages < 2:
        keep("part", None)
        return problems
    requested = st.query_params.get("part", "1")
    page = min(int(requested), pages) if requested.isdecimal() and len(requested) < 6 and int(requested) else 1
    place = int(st.pagination(pages, default=page, key=f"page of {pages}"))
    keep("part", None if place == 1 else str(place))
    return problems[PROBLEMS_PER_PAGE * (place - 1) : PROBLEMS_PER_PAGE * place]


def _choose_configuration(rows: Sequence[SummaryRow], name: str, label: str, place: int = 0) -> Key:
    labels = {"/".join(row.key): f"{letter(at)} · {row.label}" for at, row in enumerate(rows)}
    chosen_key = choice(name, label, list(labels), labels.__getitem__, default=list(labels)[place])
    return next(row.key for row in rows if "/".join(row.key) == chosen_key)


def _kind(name: str) -> Kind:
    return next(kind for kind in SHOWN if kind == name)
