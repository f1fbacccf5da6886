"""The parts of the Problems page: filter, heatmap of problem × configuration, and results of one problem."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import numpy as np
import plotly.graph_objects as go  # type: ignore[import-untyped]  # plotly ships no types
import streamlit as st

from koderz_core.records.progress import SummaryRow
from koderz_core.report.charts import theme_color
from koderz_core.report.difficulty import (
    MEANING,
    key_of,
    problem_rows,
    problems_table,
    sign,
    solvers_table,
    trials_table,
)
from koderz_core.report.formats import money, numbered, one_line, plain
from koderz_core.workspace.comparisons import Cell, Difficulty, Key, Kind, problems_of_kind
from koderz_core.workspace.names import letter
from pages.ui.address import choice, chosen_line, go_to, keep
from pages.ui.tables import frame, offer_csv, selected, tall

SHOWN: dict[Kind, str] = {
    "all": "all",
    "unsolved": "solved by no configuration",
    "flaky": "flaky",
    "only": "solved by only one configuration",
    "differ": "solved more often by one of two configurations",
}
OF_SEVERAL = ("only", "differ")
PROBLEMS_PER_PAGE = 40  # in the heatmap
TALL, MOST_LINES = 420, 14  # pixels of a table with more lines, which scrolls
ROW, HEAD = 22, 40  # pixels
LONGEST_NAME, LONGEST_TIP = 22, 80  # characters next to the chart and in a tip
SOLVED, UNSOLVED, WITHOUT = theme_color(0), theme_color(1), theme_color(6)
BETWEEN = theme_color(3)  # between the two in hue
PALE = 0.22  # opacity of the colours, so that glyphs have a contrast of 4.5:1 in both themes


def choose_problems(rows: Sequence[SummaryRow], problems: Sequence[Difficulty]) -> tuple[Difficulty, ...]:
    """The problems that match the filter, which is part of the address."""
    kinds = [kind for kind in SHOWN if len(rows) > 1 or kind not in OF_SEVERAL]
    with st.container(horizontal=True):
        named = choice("show", "Show", kinds, lambda name: SHOWN[_kind(name)], short=True)
        kind = _kind(named)
        first, second = ("Solved only by", "") if kind == "only" else ("First configuration", "Second configuration")
        a = _choose_configuration(rows, "one", first) if kind in OF_SEVERAL else None
        b = _choose_configuration(rows, "other", second, place=1) if kind == "differ" else None
    return problems_of_kind(problems, kind, a, b)


def show_heatmap(rows: Sequence[SummaryRow], problems: Sequence[Difficulty]) -> None:
    """One page of the heatmap; a click on a cell opens its experiment, or lists its repeats."""
    part = _page_of(problems)
    glyphs = [meaning.partition(" ")[0] for meaning in MEANING.split(", ")]
    key = f"heatmap of {hash((tuple(map(key_of, rows)), tuple(problem.problem for problem in part)))}"
    state = st.plotly_chart(
        heatmap(rows, part),
        alt=f"Heatmap of {numbered(len(part), 'problem')} (hardest first) and "
        f"{numbered(len(rows), 'configuration')}; symbols: {', '.join(glyphs)}",
        key=key,  # other cells get another key, because an older selection does not apply to them
        on_select="rerun",
        selection_mode="points",
        config={"displayModeBar": False},
    )
    st.caption(f"{MEANING}. Click a cell to open its experiment or to list its repeats.")
    clicked = [(int(point["x"]), int(point["y"])) for point in state["selection"]["points"]][:1]
    if clicked and clicked != st.session_state.get("clicked"):
        ((x, y),) = clicked
        _open(part[y], key_of(rows[x]))
    st.session_state["clicked"] = clicked


def show_table(rows: Sequence[SummaryRow], problems: Sequence[Difficulty]) -> Difficulty:
    """The problems as a table and as CSV; the chosen problem."""
    table = problems_table(rows, problems)
    named = {problem.problem: problem for problem in problems}
    pinned = {"problem": st.column_config.TextColumn(pinned=True, width=130)}
    shown = {"alt": table.title, "height": tall(table, MOST_LINES, TALL), "column_config": pinned}
    problem = chosen_line(frame(table), "problem", list(named), **shown)
    offer_csv("problems", problem_rows(rows, problems))
    return named[problem]


def show_configurations(rows: Sequence[SummaryRow], problems: Sequence[Difficulty]) -> None:
    """The configuration behind each letter."""
    table = solvers_table(rows, problems)
    letters = frame(table)
    if len({row.benchmark for row in rows}) == 1:
        letters = letters.drop(columns="benchmark")
    st.dataframe(letters, hide_index=True, alt=table.title, key="letters", height=tall(table, MOST_LINES, TALL))
    st.caption(
        "Flaky: problems that the configuration solved in some of its repeats but not in all. Uniquely solved: "
        "problems that the configuration solved at least once and that no other configuration solved."
    )


def show_problem(rows: Sequence[SummaryRow], problem: Difficulty) -> None:
    """Every experiment on the problem, with a link to each."""
    st.text(problem.problem)
    st.caption("Choose a row to open its experiment.")
    table = trials_table(rows, problem)
    experiment = selected(frame(table), f"trials of {problem.problem}", "experiment", alt=table.title)
    if experiment:
        _go_to(experiment)


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


def _open(problem: Difficulty, key: Key) -> None:
    trials = problem.cells[key].trials
    if len(trials) == 1:
        _go_to(trials[0].experiment)
    keep("problem", problem.problem)


def _go_to(experiment: str) -> None:
    go_to("experiment", experiment=experiment)


def _choose_configuration(rows: Sequence[SummaryRow], name: str, label: str, place: int = 0) -> Key:
    labels = {"/".join(key_of(row)): f"{letter(at)} · {row.label}" for at, row in enumerate(rows)}
    chosen_key = choice(name, label, list(labels), labels.__getitem__, default=list(labels)[place])
    return next(key_of(row) for row in rows if "/".join(key_of(row)) == chosen_key)


def _kind(name: str) -> Kind:
    return next(kind for kind in SHOWN if kind == name)


def heatmap(rows: Sequence[SummaryRow], problems: Sequence[Difficulty]) -> go.Figure:
    """A line per problem from the top, a column per configuration under its letter."""
    cells = {
        (x, y): cell
        for y, problem in enumerate(problems)
        for x, row in enumerate(rows)
        if (cell := problem.cells.get(key_of(row))) is not None
    }
    figure = go.Figure()
    shape = (len(problems), len(rows))
    shares = {place: cell.share for place, cell in cells.items() if cell.share is not None}
    _add_colours(figure, shape, shares, [[0, UNSOLVED], [0.5, BETWEEN], [1, SOLVED]])
    _add_colours(figure, shape, dict.fromkeys(cells.keys() - shares.keys(), 0.0), [[0, WITHOUT], [1, WITHOUT]])
    figure.add_scatter(
        x=np.array([x for x, _ in cells]),
        y=np.array([y for _, y in cells]),
        text=[sign(cell) for cell in cells.values()],
        customdata=[_tip(rows[x], x, problems[y], cell) for (x, y), cell in cells.items()],
        mode="markers+text",
        textfont={"color": WITHOUT, "size": 12},
        marker={"size": ROW - 4, "symbol": "square", "opacity": 0, "color": WITHOUT},
        selected={"marker": {"opacity": 0}},
        unselected={"marker": {"opacity": 0}},
        hovertemplate="%{customdata}<extra></extra>",
        showlegend=False,
    )
    return _axes(figure, rows, problems)


def _add_colours(
    figure: go.Figure, shape: tuple[int, int], values: dict[tuple[int, int], float], scale: Sequence[Sequence[object]]
) -> None:
    """Colours under the glyphs."""
    z = np.full(shape, np.nan)
    for (x, y), value in values.items():
        z[y, x] = value
    figure.add_heatmap(
        z=z, zmin=0, zmax=1, colorscale=scale, opacity=PALE, showscale=False, xgap=2, ygap=2, hoverinfo="skip"
    )


def _axes(figure: go.Figure, rows: Sequence[SummaryRow], problems: Sequence[Difficulty]) -> go.Figure:
    """Letters above the columns, names next to the lines; names are hostile text, which Plotly would read as markup."""
    bare = {"showgrid": False, "zeroline": False, "fixedrange": True, "tickmode": "array", "ticks": ""}
    letters = [f"<b>{letter(place)}</b>" for place in range(len(rows))]
    places = {"tickvals": list(range(len(rows))), "ticktext": letters, "range": [-0.5, len(rows) - 0.5]}
    figure.update_xaxes(side="top", **places, **bare)
    names = [_short(problem.problem) for problem in problems]
    lines = {"tickvals": list(range(len(names))), "ticktext": names, "range": [len(names) - 0.5, -0.5]}
    figure.update_yaxes(automargin=True, **lines, **bare)
    height = HEAD + ROW * len(problems)
    return figure.update_layout(height=height, margin={"l": 4, "r": 4, "t": HEAD - 8, "b": 4}, dragmode=False)


def _short(name: str) -> str:
    line = one_line(name)
    return escape(line if len(line) <= LONGEST_NAME else f"…{line[1 - LONGEST_NAME :]}")


def _tip(row: SummaryRow, place: int, problem: Difficulty, cell: Cell) -> str:
    iterations = sum(trial.iterations for trial in cell.trials)
    return (
        f"{escape(plain(problem.problem, LONGEST_TIP))}<br><b>{letter(place)}</b> {escape(plain(row.label))}<br>"
        f"{cell.solved} of {cell.n} solved · {iterations} iterations · {money(cell.usd)}"
    )
