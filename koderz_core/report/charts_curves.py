"""The chart of success against attempts, dollars or seconds: a staircase per configuration, in its band."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from itertools import pairwise

import plotly.graph_objects as go  # type: ignore[import-untyped]  # plotly ships no types

from koderz_core.analysis.comparison import Comparison
from koderz_core.analysis.configurations import ConfigurationFigures
from koderz_core.analysis.curves import Curve, Curves
from koderz_core.analysis.incidence import Axis
from koderz_core.analysis.pairs import Key
from koderz_core.report.charts import COLOURS, WIDE, calm, theme_color
from koderz_core.report.formats import amount, duration, marked_rate, money

HEIGHT = 430
ROOM = 64  # pixels for letters at the end
MOST_BANDS = 2  # more would hide each other; then only the selected two have bands
MOST_TICKS = 20
DOTTED = "1.5px,3.5px"  # Plotly's own dots look like dashes in thin lines
DASHES = ("solid", "dash", "longdashdot")  # none that looks like a level without further tries
TITLES = {"attempts": "attempts", "usd": "dollars per problem", "seconds": "seconds per problem"}


@dataclass(frozen=True, slots=True)
class Tread:
    """A level part of a curve: its ends on the axis, and the index of its level."""

    left: float
    right: float
    step: int


@dataclass(frozen=True, slots=True)
class Line:
    """A curve and its style. ``strong``: it is selected and has a band."""

    curve: Curve[Key]
    row: ConfigurationFigures
    treads: Sequence[Tread]
    colour: str
    dash: str
    strong: bool


def success_by(comparison: Comparison, axis: Axis, looked_at: Sequence[Key]) -> go.Figure:
    """Share solved by the amount used; ``looked_at``: the configurations with bands if there are many."""
    figure, found = go.Figure(), comparison.curves[axis]
    floor = least_shown(found)
    left, right = extent(found, floor)
    lines = _lines(comparison, found, floor, looked_at)
    for line in lines:
        if line.strong:
            _band(figure, line)
    for line in lines:
        _solid(figure, line, axis)
        if line.curve.end < found.end:
            _held(figure, line, axis, right)
    _ends(figure, [(line.curve, line.row) for line in lines])
    _reached(figure, comparison, axis, looked_at)
    figure.update_xaxes(title=TITLES[axis], **_ticks(axis, floor, (left, right)))
    figure.update_yaxes(title="share of problems solved", range=[-3, 109], ticksuffix=" %")
    return calm(figure, HEIGHT).update_layout(margin_r=ROOM)


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
        return [Tread(number - 0.5, number + 0.5, bisect_right(curve.at, number) - 1) for number in numbers]
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


def _lines(comparison: Comparison, found: Curves[Key], floor: float, looked_at: Sequence[Key]) -> list[Line]:
    rows = {row.key: (place, row) for place, row in enumerate(comparison.configurations)}
    few = len(found.curves) <= MOST_BANDS
    return [
        Line(
            curve=curve,
            row=rows[curve.key][1],
            treads=treads(curve, found.axis, floor),
            colour=theme_color(rows[curve.key][0] % COLOURS),
            dash=DASHES[rows[curve.key][0] // COLOURS % len(DASHES)],
            strong=few or curve.key in looked_at,
        )
        for curve in found.curves
    ]


def _band(figure: go.Figure, line: Line) -> None:
    """One closed outline, along the upper bound and back along the lower one."""
    along = corners(line.treads)
    figure.add_scatter(
        x=[*along, *reversed(along)],
        y=[*heights(line.treads, line.curve.high), *reversed(heights(line.treads, line.curve.low))],
        fill="toself",
        fillcolor=line.colour,
        opacity=0.14,
        line={"width": 0},
        mode="lines",
        hoverinfo="skip",
        legendgroup=line.row.letter,
        showlegend=False,
    )


def _solid(figure: go.Figure, line: Line, axis: Axis) -> None:
    """The curve up to its own end."""
    texts = _hover(line, axis)
    figure.add_scatter(
        x=corners(line.treads),
        y=heights(line.treads, line.curve.share),
        mode="lines",
        name=line.row.letter,
        legendgroup=line.row.letter,
        line={"color": line.colour, "dash": line.dash, "width": 2.5 if line.strong else 1.2},
        customdata=[texts[tread.step] for tread in line.treads for _ in range(2)],
        hovertemplate="%{customdata}<extra></extra>",
    )


def _held(figure: go.Figure, line: Line, axis: Axis, right: float) -> None:
    """Its level from a dot at its own end to the end of the axis, as a dotted line: no further attempts."""
    level = line.curve.share[-1]
    reached = marked_rate(level, None, None, line.row.marks)
    text = f"{_name(line.row)}{reached} after {amount(axis, line.curve.end)}, no further attempts"
    figure.add_scatter(
        x=[line.treads[-1].right if line.treads else 0.5, right],
        y=[100 * level] * 2,
        mode="lines+markers",
        name=line.row.letter,
        legendgroup=line.row.letter,
        showlegend=False,
        opacity=0.9,
        line={"color": line.colour, "dash": DOTTED, "width": 1.5},
        marker={"color": line.colour, "size": [6 if line.strong else 4, 0], "line": {"width": 0}},
        customdata=[text] * 2,
        hovertemplate="%{customdata}<extra></extra>",
    )


def _ends(figure: go.Figure, curves: Sequence[tuple[Curve[Key], ConfigurationFigures]]) -> None:
    """The letter of each curve at its end; letters at about the same height are joined."""
    heights: dict[int, list[tuple[Curve[Key], ConfigurationFigures]]] = {}
    for curve, row in sorted(curves, key=lambda line: line[0].share[-1]):
        near = next((height for height in heights if abs(height - 100 * curve.share[-1]) < 3), None)
        heights.setdefault(round(100 * curve.share[-1]) if near is None else near, []).append((curve, row))
    for height, there in heights.items():
        letters = " ".join(sorted(row.letter for _, row in there))
        figure.add_annotation(
            x=1.0, xref="paper", y=height, text=f"<b>{letters}</b>", showarrow=False, xanchor="left", xshift=4
        )


def _reached(figure: go.Figure, comparison: Comparison, axis: Axis, looked_at: Sequence[Key]) -> None:
    """Where the selected configuration reaches the baseline's rate; only on the axis of dollars."""
    pair = next((pair for pair in comparison.pairs if pair.key in looked_at), None)
    if pair is None or pair.break_even is None or axis != "usd":
        return
    even, its, other = pair.break_even, comparison.of(pair.key).letter, comparison.of(pair.baseline).letter
    quiet = {"dash": "dash", "width": 1, "color": theme_color(6)}
    if even.usd is None:
        text = f"{other} solved no problem, so there is no success rate that {its} could reach"
    elif math.isinf(even.usd):
        text = f"{its} never reaches the success rate of {other} (dashed line)"
    else:
        text = f"{its} reaches the success rate of {other} (dashed line) at {money(even.usd)}"
    if even.usd is not None:
        figure.add_hline(y=100 * even.target, line=quiet)
    if even.usd and even.usd <= comparison.curves[axis].end:
        figure.add_shape(x0=even.usd, x1=even.usd, y0=-3, y1=100 * even.target, line=quiet)
    place = {"x": 0.0, "xref": "paper", "xanchor": "left", "y": 1.0, "yref": "paper", "yanchor": "top"}
    figure.add_annotation(text=text, showarrow=False, **place)


def _ticks(axis: Axis, floor: float, over: tuple[float, float]) -> dict[str, object]:
    left, right = over
    if not floor:
        ticks: Mapping[Axis, Mapping[str, object]] = {
            "attempts": {"tick0": 1, "dtick": 1 if right <= MOST_TICKS + 1 else None},
            "usd": {"tickprefix": "$", "exponentformat": "none"},
            "seconds": {"ticksuffix": " s"},
        }
        return {"range": [left, right], **ticks[axis]}
    powers = range(math.ceil(math.log10(floor)), math.floor(math.log10(right)) + 1)
    formatted = money if axis == "usd" else duration
    places = [10.0**power for power in powers]
    span = [math.log10(left), math.log10(right)]
    return {"type": "log", "range": span, "tickvals": places, "ticktext": [formatted(place) for place in places]}


def _hover(line: Line, axis: Axis) -> list[str]:
    curve, name = line.curve, _name(line.row)
    steps = zip(curve.at, curve.share, curve.low, curve.high, strict=True)
    return [
        f"{name}{marked_rate(share, low, high, line.row.marks)} within {amount(axis, at)}"
        for at, share, low, high in steps
    ]


def _name(row: ConfigurationFigures) -> str:
    """The configuration in a text under the pointer. Labels are hostile text, and Plotly interprets tags."""
    return f"<b>{row.letter}</b> {escape(row.label)}<br>"
