"""The chart of success against an amount, such as attempts or dollars: a staircase per configuration, in its band."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from html import escape
from itertools import pairwise
from statistics import mean

import plotly.graph_objects as go  # type: ignore[import-untyped]  # plotly ships no types

from koderz_core.analysis.comparison import Comparison
from koderz_core.analysis.configurations import ConfigurationFigures
from koderz_core.analysis.curves import Curve, Curves
from koderz_core.analysis.incidence import Axis
from koderz_core.analysis.pairs import Key
from koderz_core.report.charts import (
    BELOW,
    COLOURS,
    NEUTRAL,
    TEXT,
    TICK,
    WIDE,
    calm,
    draw_band,
    short_names,
    theme_color,
)
from koderz_core.report.charts_frontier import HIDDEN, LEFT, View, budget_line, with_title
from koderz_core.report.columns import Row
from koderz_core.report.comparison import AMOUNTS, level_at
from koderz_core.report.cost_axis import CostAxis, unit_of
from koderz_core.report.formats import amount, marked_rate, money

HEIGHT = 470
TOP, ROOM = 52, 44  # pixels for the title, and for letters at the end
LEAST, MOST = -3, 109  # percent at the ends of the axis of success
LETTER = 5.5  # percent between the letters of two curves
FEW = 12  # curves; more have no names in the legend, and the pointer shows one of them
PLACES = 80  # at which the pointer shows all curves
MOST_BANDS = 2  # more would hide each other; then only the selected two have bands
MOST_TICKS, MOST_MARKED = 20, 5  # ticks of attempts, and of other amounts
UNSEEN = 0.01  # pixels of marks that only the pointer finds
DOTTED = "1.5px,3.5px"  # Plotly's own dots look like dashes in thin lines
DASHES = ("solid", "dash", "longdashdot")  # none that looks like a level without further tries
TITLES = AMOUNTS | {"attempts": "attempts"}
POINTED = {
    "attempts": "%{x:d} attempts",
    "usd": "%{x:$.2r} per problem",
    "seconds": "%{x:.2~r} s per problem",
    "tokens": "%{x:,.2~r} tokens per problem",
    "joules": "%{x:,.2~r} J per problem",
}
"""The amount under the pointer, in Plotly's format."""


@dataclass(frozen=True, slots=True)
class Tread:
    """A level part of a curve: its ends on the axis, and the index of its level."""

    left: float
    right: float
    step: int


@dataclass(frozen=True, slots=True)
class Line:
    """A curve and its style. ``named``: its name, escaped. ``strong``: it is selected and has a band."""

    curve: Curve[Key]
    row: ConfigurationFigures
    named: str
    treads: Sequence[Tread]
    colour: str
    dash: str
    strong: bool


def success_by(comparison: Comparison, axis: Axis, view: View, title: str = "") -> go.Figure:
    """Share solved by the amount used; ``view.chosen``: the configurations with bands if there are many.

    ``title``: our words, by default what is drawn.
    """
    figure, found = go.Figure(), comparison.curves[axis]
    floor = least_shown(found)
    over = extent(found, floor)
    lines = _lines(comparison, found, floor, view.chosen)
    for line in lines:
        if line.strong:
            _band(figure, line)
    for line in lines:
        _solid(figure, line)
        if line.curve.end < found.end:
            _held(figure, line, over[1])
    scale = _scale(axis, floor, over)
    if view.budget is not None and axis == "usd":
        budget_line(figure, scale, view.budget, (LEAST, MOST))
    _pointer(figure, lines, axis, over)
    _ends(figure, lines)
    _reached(figure, comparison, axis, view.chosen)
    figure.update_xaxes(**_ticks(axis, scale, over), automargin=True, unifiedhovertitle_text=f"within {POINTED[axis]}")
    figure.update_yaxes(title="Share of problems solved", range=[LEAST, MOST], ticksuffix=" %", automargin=False)
    hovermode = "x unified" if len(lines) <= FEW else "closest"
    figure = calm(figure, HEIGHT).update_layout(margin={"l": LEFT, "t": TOP, "r": ROOM}, hovermode=hovermode)
    with_title(figure, replace(view, narrow=True), title or f"Success against {TITLES[axis]}")
    return figure.update_layout(legend=BELOW, hoverlabel_font={"size": TICK, "color": TEXT})


def curves_alt(comparison: Comparison, axis: Axis) -> str:
    """The chart in words: the end of each configuration's curve, and which have no further attempts after it."""
    found = comparison.curves[axis]
    ends = [
        f"{row.letter} {marked_rate(curve.share[-1], None, None, row.marks)} within {amount(axis, curve.end)}"
        + (", then no further attempts" if curve.end < found.end else "")
        for curve in found.curves
        for row in (comparison.of(curve.key),)
    ]
    return f"Share of problems solved against {TITLES[axis]}, one curve per configuration: {'; '.join(ends)}."


def treads(curve: Curve[Key], axis: Axis, floor: float = 0.0) -> list[Tread]:
    """The level parts of a curve up to its own end. An attempt is centred on its number, so that all are visible.

    ``floor``: the lowest value of a logarithmic axis.
    """
    if axis == "attempts":
        numbers = range(1, round(curve.end) + 1)
        return [Tread(number - 0.5, number + 0.5, curve.step(number)) for number in numbers]
    edges = [max(at, floor) for at in curve.at]
    return [Tread(left, right, step) for step, (left, right) in enumerate(pairwise(edges))]


def least_shown(found: Curves[Key]) -> float:
    """The lowest value of a logarithmic axis, 0 if a linear axis shows all curves.

    It is half of the least amount used until a first problem was solved.
    """
    first = [curve.at[1] for curve in found.curves if len(curve.at) > 2 and curve.at[1] > 0]
    wide = found.axis != "attempts" and bool(first) and found.end / min(first) > 5 * WIDE
    return min(first) / 2 if wide else 0.0


def extent(found: Curves[Key], floor: float = 0.0) -> tuple[float, float]:
    """Both ends of the axis, with a small margin after the last curve's end."""
    if found.axis == "attempts":
        return 0.5, max(found.end, 1) + 0.5
    return floor, (1.15 if floor else 1.03) * (found.end or 1.0)


def corners(of: Sequence[Tread]) -> list[float]:
    """Both ends of each level, along the axis."""
    return [edge for tread in of for edge in (tread.left, tread.right)]


def heights(of: Sequence[Tread], levels: Sequence[float]) -> list[float]:
    """The heights at ``corners``, in percent."""
    return [100 * levels[tread.step] for tread in of for _ in range(2)]


def _lines(comparison: Comparison, found: Curves[Key], floor: float, chosen: Sequence[Key]) -> list[Line]:
    rows = {row.key: (place, row) for place, row in enumerate(comparison.configurations)}
    few = len(found.curves) <= MOST_BANDS
    names = short_names(comparison.configurations) if len(found.curves) <= FEW else {}
    return [
        Line(
            curve=curve,
            row=rows[curve.key][1],
            named=_named(rows[curve.key][1], names),
            treads=treads(curve, found.axis, floor),
            colour=theme_color(rows[curve.key][0] % COLOURS),
            dash=DASHES[rows[curve.key][0] // COLOURS % len(DASHES)],
            strong=few or curve.key in chosen,
        )
        for curve in found.curves
    ]


def _named(row: ConfigurationFigures, names: Mapping[str, str]) -> str:
    """The letter and the short name, if it is known. Labels are hostile text, and Plotly interprets tags."""
    return f"<b>{row.letter}</b> {escape(names.get(row.letter, ''))}".strip()


def _band(figure: go.Figure, line: Line) -> None:
    bounds = heights(line.treads, line.curve.low), heights(line.treads, line.curve.high)
    draw_band(figure, corners(line.treads), bounds, line.colour, line.row.letter)


def _solid(figure: go.Figure, line: Line) -> None:
    """The curve up to its own end."""
    figure.add_scatter(
        x=corners(line.treads),
        y=heights(line.treads, line.curve.share),
        mode="lines",
        name=line.named,
        legendgroup=line.row.letter,
        line={"color": line.colour, "dash": line.dash, "width": 3 if line.strong else 1.5},
        hoverinfo="skip",
    )


def _held(figure: go.Figure, line: Line, right: float) -> None:
    """Its level from a dot at its own end to the end of the axis, as a dotted line: no further attempts."""
    figure.add_scatter(
        x=[line.treads[-1].right if line.treads else 0.5, right],
        y=[100 * line.curve.share[-1]] * 2,
        mode="lines+markers",
        legendgroup=line.row.letter,
        opacity=0.9,
        line={"color": line.colour, "dash": DOTTED, "width": 1.5},
        marker={"color": line.colour, "size": [6 if line.strong else 4, 0], "line": {"width": 0}},
        **HIDDEN,
    )


def _pointer(figure: go.Figure, lines: Sequence[Line], axis: Axis, over: tuple[float, float]) -> None:
    """Invisible marks at common places, so that the pointer shows the levels of all curves at one amount."""
    for line in lines:
        places, swatch = _places(axis, over), f"<span style='color:{line.colour}'>■</span> "
        row = Row(line.row, line.curve)
        figure.add_scatter(
            x=places,
            y=[100 * line.curve.share[line.curve.step(place)] for place in places],
            mode="markers",
            marker={"color": "rgba(0,0,0,0)", "size": UNSEEN},
            legendgroup=line.row.letter,
            customdata=[f"{swatch}{line.named}: {level_at(row, place, ', no further attempts')}" for place in places],
            hovertemplate="%{customdata}<extra></extra>",
            showlegend=False,
        )


def _places(axis: Axis, over: tuple[float, float]) -> list[float]:
    left, right = over
    if axis == "attempts":
        return [float(number) for number in range(1, round(right - 0.5) + 1)]
    if left:
        return [left * (right / left) ** (place / PLACES) for place in range(PLACES + 1)]
    return [right * place / PLACES for place in range(PLACES + 1)]


def _ends(figure: go.Figure, lines: Sequence[Line]) -> None:
    """The letter of each curve next to its end, with a line to it; only the selected ones if there are many."""
    named = [line for line in lines if line.strong or len(lines) <= FEW]
    named.sort(key=lambda line: line.curve.share[-1])
    levels = [100 * line.curve.share[-1] for line in named]
    for line, level, height in zip(named, levels, apart(levels, LETTER), strict=True):
        figure.add_annotation(
            x=1,
            xref="paper",
            y=level,
            ax=16,
            ay=height,
            ayref="y",
            text=f"<b>{line.row.letter}</b>",
            xanchor="left",
            font={"size": TICK, "color": TEXT},
            arrowhead=0,
            arrowwidth=1.5,
            arrowcolor=line.colour,
        )


def apart(levels: Sequence[float], gap: float) -> list[float]:
    """Rising levels moved as little as possible until neighbours have a gap (isotonic least squares of the rest)."""
    blocks: list[list[float]] = []
    for at, level in enumerate(levels):
        blocks.append([level - at * gap])
        while len(blocks) > 1 and mean(blocks[-2]) >= mean(blocks[-1]):
            blocks[-2:] = [blocks[-2] + blocks[-1]]
    return [at * gap + even for at, even in enumerate(mean(block) for block in blocks for _ in block)]


def _reached(figure: go.Figure, comparison: Comparison, axis: Axis, looked_at: Sequence[Key]) -> None:
    """Where the selected configuration reaches the baseline's rate; only on the axis of dollars."""
    pair = next((pair for pair in comparison.pairs if pair.key in looked_at), None)
    if pair is None or pair.break_even is None or axis != "usd":
        return
    even, its, other = pair.break_even, comparison.of(pair.key).letter, comparison.of(pair.baseline).letter
    quiet = {"dash": "dash", "width": 1, "color": NEUTRAL}
    if even.usd is None:
        text = f"{other} solved no problem, so there is no break-even cost"
    elif math.isinf(even.usd):
        text = f"{its} never reaches the rate of {other} (dashed)"
    else:
        text = f"{its} reaches the rate of {other} (dashed) at {money(even.usd)}"
    if even.usd is not None:
        figure.add_hline(y=100 * even.target, line=quiet)
    if even.usd and even.usd <= comparison.curves[axis].end:
        figure.add_shape(x0=even.usd, x1=even.usd, y0=-3, y1=100 * even.target, line=quiet)
    place = {"x": 0.0, "xref": "paper", "xanchor": "left", "y": 1.0, "yref": "paper", "yanchor": "top"}
    figure.add_annotation(text=text, showarrow=False, font={"size": TICK, "color": TEXT}, **place)


def _scale(axis: Axis, floor: float, over: tuple[float, float]) -> CostAxis:
    """Dollars in the unit of the chart of cost against success; other amounts as they are."""
    left, right = over
    return CostAxis(left, right, unit_of(right) if axis == "usd" else 1, floor or None, free=False)


def _ticks(axis: Axis, scale: CostAxis, over: tuple[float, float]) -> dict[str, object]:
    """The axis for Plotly. Logarithmic axes and dollars have ticks of their own."""
    if axis == "attempts":
        return {"title": "Attempts", "range": list(over), "tick0": 1, "dtick": 1 if over[1] <= MOST_TICKS + 1 else None}
    if axis == "usd":
        return scale.options(MOST_MARKED) | {"title": scale.short_title}
    title = TITLES[axis].capitalize() + (" (logarithmic)" if scale.least else "")
    return scale.options(MOST_MARKED, "") | {"title": title}
