"""Charts of the headroom: gains over the best single configuration with paired intervals, and the complementarity."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

import plotly.graph_objects as go  # type: ignore[import-untyped]  # plotly ships no types

from koderz_core.analysis.headroom import Choice, ChoiceKind, Headroom
from koderz_core.records.progress import SummaryRow
from koderz_core.report.charts import GROUND, NEUTRAL, TEXT, TICK, calm, reaches, short_names, theme_color
from koderz_core.report.formats import percent, points_of
from koderz_core.report.headroom import NAMES, figures_by_key, in_problems, matrix_rows, ranked

LANE, ENDS = 38, 96  # pixels of a line, and of the rest of the chart
MARK = 11
MOST_CELLS = 12  # configurations in the matrix
SHORT: Mapping[ChoiceKind, str] = {
    "oracle": "Oracle",
    "repeated": "Best configuration in other repeats",
    "pair": "Oracle of two configurations",
    "best": "Best single configuration",
    "length": "Choice by prompt length",
    "random": "Random choice",
}


def headroom_chart(found: Headroom) -> go.Figure:
    """One line per choice; the shaded area holds gains that this number of problems cannot show."""
    figure, lanes = go.Figure(), []
    for choice in found.choices:
        lanes.append(lane := f"{SHORT[choice.kind]}  <b>{percent(choice.share.value)}</b>")
        _mark(figure, found, choice, lane)
    if found.perfect:
        figure.add_vrect(x0=0, x1=100 * found.perfect, fillcolor=NEUTRAL, opacity=0.12, line_width=0, layer="below")
    figure.add_vline(x=0, line={"width": 1, "color": NEUTRAL}, layer="below")
    figure.update_yaxes(type="category", categoryarray=lanes, range=[len(lanes) - 0.5, -0.5], automargin=True)
    figure.update_xaxes(title="Percentage points above best single configuration", zeroline=False, nticks=7)
    figure = calm(figure, ENDS + LANE * len(lanes))
    return figure.update_layout(hoverlabel_font={"size": TICK, "color": TEXT}, margin={"r": 16, "t": 16})


def _mark(figure: go.Figure, found: Headroom, choice: Choice, lane: str) -> None:
    """The gain of a choice with its interval; hollow for oracles, which no selector reaches."""
    gain, best = choice.difference, choice.kind == "best"
    colour, symbol = NEUTRAL if best else theme_color(0), "diamond" if best else "circle"
    value, low, high = (gain.value, gain.low, gain.high) if gain else (0.0, None, None)
    bounds = (None if low is None else 100 * low, None if high is None else 100 * high)
    hollow = choice.kind in ("oracle", "pair")
    figure.add_scatter(
        x=[100 * value],
        y=[lane],
        error_x={**reaches([100 * value], [bounds]), "color": colour, "thickness": 2, "width": 0},
        mode="markers",
        marker={
            "symbol": symbol,
            "color": GROUND if hollow else colour,
            "size": MARK,
            "line": {"width": 2, "color": colour},
        },
        customdata=[_pointed(found, choice)],
        hovertemplate="%{customdata}<extra></extra>",
        showlegend=False,
    )


def headroom_alt(found: Headroom) -> str:
    """The chart in words; our words."""
    said = [f"{SHORT[choice.kind]} {points_of(choice.difference)}" for choice in found.choices if choice.difference]
    return (
        f"Difference from the best single configuration in percentage points, with 95 % intervals: {'; '.join(said)}."
    )


def complementarity_chart(rows: Sequence[SummaryRow], found: Headroom) -> go.Figure:
    """Problems that the row solves and the column does not, of the configurations that solve most."""
    by_key = figures_by_key(rows)
    shown = [by_key[member.key] for member in ranked(found)[:MOST_CELLS]]
    solved = {row.configuration.letter: row.letters for row in matrix_rows(by_key, found)}
    letters, names = [row.letter for row in shown], short_names(shown)
    cells = [[solved[row].get(column) for column in letters] for row in letters]
    lanes = [f"{escape(names[letter])}  <b>{letter}</b>" for letter in letters]
    figure = go.Figure(
        go.Heatmap(
            x=[f"<b>{letter}</b>" for letter in letters],
            y=lanes,
            z=cells,
            text=[["" if n is None else in_problems(n) for n in row] for row in cells],
            texttemplate="%{text}",
            textfont={"size": TICK, "color": TEXT},
            colorscale=[[0, GROUND], [1, theme_color(0)]],
            opacity=0.55,
            showscale=False,
            xgap=2,
            ygap=2,
            hovertemplate="solved by %{y}, not by %{x}: %{z:.3g} problems<extra></extra>",
            hoverongaps=False,
        )
    )
    figure.update_yaxes(autorange="reversed", automargin=True, showgrid=False)
    figure.update_xaxes(title="not solved by", side="top", showgrid=False)
    figure = calm(figure, ENDS + 30 * len(letters))
    return figure.update_layout(hoverlabel_font={"size": TICK, "color": TEXT})


def complementarity_alt(rows: Sequence[SummaryRow], found: Headroom) -> str:
    """The matrix in words: what the two best solve without each other."""
    by_key = figures_by_key(rows)
    letters = {row.configuration.letter: row.letters for row in matrix_rows(by_key, found)}
    a, b = (by_key[member.key].letter for member in ranked(found)[:2])
    both = (
        f"{a} solves {in_problems(letters[a][b])} problems that {b} does not, and {b} solves "
        f"{in_problems(letters[b][a])} problems that {a} does not"
    )
    return (
        "Matrix: the number of problems that the configuration of the row solves and the configuration of the column "
        f"does not. {both}."
    )


def _pointed(found: Headroom, choice: Choice) -> str:
    gain = choice.difference
    difference = f"<br>{points_of(gain)} percentage points compared with the best single configuration" if gain else ""
    solved = in_problems(choice.share.value * found.problems)
    return f"{NAMES[choice.kind]}: {solved} of {found.problems}{difference}"
