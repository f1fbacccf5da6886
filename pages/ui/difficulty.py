"""The parts of the Problems page: which problems are looked at, the heatmap, and what came of one of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import pandas as pd  # type: ignore[import-untyped]  # pandas ships no types
import streamlit as st

from koderz_core.analysis.compared import letter
from koderz_core.analysis.difficulty import Difficulty, Key, Kind, chosen
from koderz_core.export.difficulty import MEANING, key_of, problem_rows, problems_table, solvers_table, trials_table
from koderz_core.export.worded import Table
from koderz_core.records.summaries import SummaryRow
from pages.ui.address import choice, keep
from pages.ui.charts import offer_csv
from pages.ui.heatmap import heatmap
from pages.ui.lines import chosen_line
from pages.ui.tables import selected

SHOWN: dict[Kind, str] = {
    "all": "all",
    "unsolved": "unsolved by all",
    "flaky": "flaky",
    "only": "only one solves",
    "differ": "two differ",
}
OF_SEVERAL = ("only", "differ")
AT_ONCE = 40  # problems in the heatmap; more are further pages of it
TALL, MOST_LINES = 420, 14  # pixels of a table with more lines, which scrolls


def choose_problems(rows: Sequence[SummaryRow], problems: Sequence[Difficulty]) -> tuple[Difficulty, ...]:
    """Those that fit the filter, which is part of the URL."""
    kinds = [kind for kind in SHOWN if len(rows) > 1 or kind not in OF_SEVERAL]
    with st.container(horizontal=True):
        named = choice("show", "Show", kinds, lambda one: SHOWN[_kind(one)], short=True)
        kind = _kind(named)
        a = _one(rows, "one", "Solved only by" if kind == "only" else "One") if kind in OF_SEVERAL else None
        b = _one(rows, "other", "The other", place=1) if kind == "differ" else None
    return chosen(problems, kind, a, b)


def show_heatmap(rows: Sequence[SummaryRow], problems: Sequence[Difficulty]) -> None:
    """A page of it; a click on a cell opens its experiment, or where repeats make it several, lists them."""
    part = _part(problems)
    signs = [sign.partition(" ")[0] for sign in MEANING.split(", ")]
    key = f"heatmap of {hash((tuple(map(key_of, rows)), tuple(one.problem for one in part)))}"
    state = st.plotly_chart(
        heatmap(rows, part),
        alt=f"{len(part)} problems, the hardest first, by {len(rows)} configurations: {', '.join(signs)}",
        key=key,  # another one for other cells: what was chosen among those says nothing about these
        on_select="rerun",
        selection_mode="points",
        config={"displayModeBar": False},
    )
    st.caption(f"{MEANING}. A click opens the experiment, or lists its repeats.")
    clicked = [(int(point["x"]), int(point["y"])) for point in state["selection"]["points"]][:1]
    if clicked and clicked != st.session_state.get("clicked"):
        ((x, y),) = clicked
        _open(part[y], key_of(rows[x]))
    st.session_state["clicked"] = clicked


def show_table(rows: Sequence[SummaryRow], problems: Sequence[Difficulty]) -> Difficulty:
    """The same as a table, and as CSV; the problem that is chosen in it."""
    table = problems_table(rows, problems)
    named = {one.problem: one for one in problems}
    pinned = {"problem": st.column_config.TextColumn(pinned=True, width=130)}
    shown = {"alt": table.title, "height": _height(table), "column_config": pinned}
    problem = chosen_line(_frame(table), "problem", list(named), **shown)
    offer_csv("problems", problem_rows(rows, problems))
    return named[problem]


def show_configurations(rows: Sequence[SummaryRow], problems: Sequence[Difficulty]) -> None:
    """What the letters stand for."""
    table = solvers_table(rows, problems)
    frame = _frame(table)
    if len({row.benchmark for row in rows}) == 1:
        frame = frame.drop(columns="benchmark")
    st.dataframe(frame, hide_index=True, alt=table.title, key="letters", height=_height(table))
    st.caption("Flaky: its repeats disagree. Only it: it solved the problem at least once, and all others never did.")


def show_problem(rows: Sequence[SummaryRow], problem: Difficulty) -> None:
    """Every experiment on it, with the way to each."""
    st.text(problem.problem)
    st.caption("Choose a line to open its experiment.")
    table = trials_table(rows, problem)
    experiment = selected(_frame(table), f"trials of {problem.problem}", "experiment", alt=table.title)
    if experiment:
        _go_to(experiment)


def _part(problems: Sequence[Difficulty]) -> Sequence[Difficulty]:
    pages = -(-len(problems) // AT_ONCE)
    if pages < 2:
        keep("part", None)
        return problems
    asked = st.query_params.get("part", "1")
    page = min(int(asked), pages) if asked.isdecimal() and len(asked) < 6 and int(asked) else 1
    place = int(st.pagination(pages, default=page, key=f"page of {pages}"))
    keep("part", None if place == 1 else str(place))
    return problems[AT_ONCE * (place - 1) : AT_ONCE * place]


def _open(problem: Difficulty, key: Key) -> None:
    trials = problem.cells[key].trials
    if len(trials) == 1:
        _go_to(trials[0].experiment)
    keep("problem", problem.problem)


def _go_to(experiment: str) -> None:
    st.switch_page("pages/experiment.py", query_params={"experiment": experiment})


def _one(rows: Sequence[SummaryRow], name: str, label: str, place: int = 0) -> Key:
    named = {"/".join(key_of(row)): (at, row) for at, row in enumerate(rows)}
    options = list(named)
    picked = choice(
        name, label, options, lambda one: f"{letter(named[one][0])} · {named[one][1].label}", default=options[place]
    )
    return key_of(named[picked][1])


def _kind(name: str) -> Kind:
    return next(kind for kind in SHOWN if kind == name)


def _height(table: Table) -> int | Literal["content"]:
    return TALL if len(table.rows) > MOST_LINES else "content"


def _frame(table: Table) -> pd.DataFrame:
    return pd.DataFrame(list(table.rows), columns=[name or " " for name in table.columns])
