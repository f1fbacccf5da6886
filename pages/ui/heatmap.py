"""The chart of problem × configuration: how much of it was solved, as a sign and as a colour."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import numpy as np
import plotly.graph_objects as go  # type: ignore[import-untyped]  # plotly ships no types

from koderz_core.analysis.compared import letter
from koderz_core.analysis.difficulty import Cell, Difficulty
from koderz_core.export.charts import theme_color
from koderz_core.export.difficulty import key_of, sign, taken_usd
from koderz_core.export.formats import money, one_line, plain
from koderz_core.records.summaries import SummaryRow

ROW, HEAD = 22, 40  # pixels
LONGEST_NAME, MOST_TOLD = 22, 80  # characters beside the chart, and above a cell
SOLVED, UNSOLVED, WITHOUT = theme_color(0), theme_color(1), theme_color(6)
BETWEEN = theme_color(3)  # what lies between them in hue too
PALE = 0.22  # of the colours, so that signs stand out from them by 4.5:1 in both themes


def heatmap(rows: Sequence[SummaryRow], problems: Sequence[Difficulty]) -> go.Figure:
    """A line per problem from the top, a column per configuration under its letter; a point stands at (x, y)."""
    cells = {
        (x, y): cell
        for y, one in enumerate(problems)
        for x, row in enumerate(rows)
        if (cell := one.cells.get(key_of(row))) is not None
    }
    figure = go.Figure()
    shape = (len(problems), len(rows))
    shares = {place: cell.share for place, cell in cells.items() if cell.share is not None}
    _ground(figure, shape, shares, [[0, UNSOLVED], [0.5, BETWEEN], [1, SOLVED]])
    _ground(figure, shape, dict.fromkeys(cells.keys() - shares.keys(), 0.0), [[0, WITHOUT], [1, WITHOUT]])
    figure.add_scatter(
        x=np.array([x for x, _ in cells]),
        y=np.array([y for _, y in cells]),
        text=[sign(cell) for cell in cells.values()],
        customdata=[_told(rows[x], x, problems[y], cell) for (x, y), cell in cells.items()],
        mode="markers+text",
        textfont={"color": WITHOUT, "size": 12},
        marker={"size": ROW - 4, "symbol": "square", "opacity": 0, "color": WITHOUT},
        selected={"marker": {"opacity": 0}},
        unselected={"marker": {"opacity": 0}},
        hovertemplate="%{customdata}<extra></extra>",
        showlegend=False,
    )
    return _axes(figure, rows, problems)


def _ground(
    figure: go.Figure, shape: tuple[int, int], values: dict[tuple[int, int], float], scale: Sequence[Sequence[object]]
) -> None:
    """Colours under the signs."""
    z = np.full(shape, np.nan)
    for (x, y), value in values.items():
        z[y, x] = value
    figure.add_heatmap(
        z=z, zmin=0, zmax=1, colorscale=scale, opacity=PALE, showscale=False, xgap=2, ygap=2, hoverinfo="skip"
    )


def _axes(figure: go.Figure, rows: Sequence[SummaryRow], problems: Sequence[Difficulty]) -> go.Figure:
    """Problems are numbered on the axis and only then named: a name is a stranger's words, which Plotly would read."""
    bare = {"showgrid": False, "zeroline": False, "fixedrange": True, "tickmode": "array", "ticks": ""}
    letters = [f"<b>{letter(place)}</b>" for place in range(len(rows))]
    places = {"tickvals": list(range(len(rows))), "ticktext": letters, "range": [-0.5, len(rows) - 0.5]}
    figure.update_xaxes(side="top", **places, **bare)
    names = [_short(one.problem) for one in problems]
    lines = {"tickvals": list(range(len(names))), "ticktext": names, "range": [len(names) - 0.5, -0.5]}
    figure.update_yaxes(automargin=True, **lines, **bare)
    height = HEAD + ROW * len(problems)
    return figure.update_layout(height=height, margin={"l": 4, "r": 4, "t": HEAD - 8, "b": 4}, dragmode=False)


def _short(name: str) -> str:
    line = one_line(name)
    return escape(line if len(line) <= LONGEST_NAME else f"…{line[1 - LONGEST_NAME :]}")


def _told(row: SummaryRow, place: int, problem: Difficulty, cell: Cell) -> str:
    tries = sum(trial.iterations for trial in cell.trials)
    return (
        f"{escape(plain(problem.problem, MOST_TOLD))}<br><b>{letter(place)}</b> {escape(plain(row.label))}<br>"
        f"{cell.solved} of {cell.n} solved · {tries} iterations · {money(taken_usd(cell.trials))}"
    )
