"""The chart of success against what was used: a staircase per configuration, in its band."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from itertools import pairwise

import plotly.graph_objects as go  # type: ignore[import-untyped]  # plotly ships no types

from koderz_core.analysis.comparison import Comparison
from koderz_core.analysis.configurations import Compared
from koderz_core.analysis.curves import Curve, Curves
from koderz_core.analysis.incidence import Axis
from koderz_core.analysis.pairs import Key
from koderz_core.report.charts import COLOURS, WIDE, calm, theme_color
from koderz_core.report.formats import amount, duration, marked_rate, money

HEIGHT = 430
ROOM = 64  # pixels for letters at the end
MOST_BANDS = 2  # more would hide each other: then only the two that are looked at have theirs
MOST_TICKS = 20
DOTTED = "1.5px,3.5px"  # Plotly's own dots look like dashes where lines are thin
DASHES = ("solid", "dash", "longdashdot")  # nothing that could be taken for a level without further tries
TITLES = {"attempts": "attempts", "usd": "dollars per problem", "seconds": "seconds per problem"}


@dataclass(frozen=True, slots=True)
class Tread:
    """A level part of a curve: where it lies on the axis, and the place of its level in the curve."""

    left: float
    right: float
    step: int


@dataclass(frozen=True, slots=True)
class Line:
    """A curve and how it looks. ``strong``: it is one of those to look at, with its band."""

    curve: Curve[Key]
    row: Compared
    treads: Sequence[Tread]
    colour: str
    dash: str
    strong: bool


def success_by(comparison: Comparison, axis: Axis, looked_at: Sequence[Key]) -> go.Figure:
    """Share solved by what had been used; ``looked_at``: whose bands are shown if there are many."""
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
    figure.update_yaxes(title="share solved", range=[-3, 109], ticksuffix=" %")
    return calm(figure, HEIGHT).update_layout(margin_r=ROOM)


def curves_alt(comparison: Comparison, axis: Axis) -> str:
    """The chart in words: where each configuration's curve ends, and which of them have no further tries there."""
    found = comparison.curves[axis]
    rows = [comparison.of(one.key) for one in found.curves]
    ends = [
        f"{row.letter} {marked_rate(one.share[-1], None, None, row.marks)} within {amount(axis, one.end)}"
        + (", then no further tries" if one.end < found.end else "")
        for one, row in zip(found.curves, rows, strict=True)
    ]
    return f"Share solved against {TITLES[axis]}, one curve per configuration: {'; '.join(ends)}."


def treads(curve: Curve[Key], axis: Axis, floor: float = 0.0) -> list[Tread]:
    """The level parts of a curve up to its own end. An attempt has its number in its middle, so that all can be seen.

    ``floor``: the least that a logarithmic axis shows.
    """
    if axis == "attempts":
        numbers = range(1, round(curve.end) + 1)
        return [Tread(number - 0.5, number + 0.5, bisect_right(curve.at, number) - 1) for number in numbers]
    edges = [max(at, floor) for at in curve.at]
    return [Tread(left, right, step) for step, (left, right) in enumerate(pairwise(edges))]


def least_shown(found: Curves[Key]) -> float:
    """Where a logarithmic axis begins, 0 if none is called for: what some use is too little to be seen beside others.

    Half of the least that anybody had used when the first problem was solved.
    """
    first = [curve.at[1] for curve in found.curves if len(curve.at) > 2 and curve.at[1] > 0]
    wide = found.axis != "attempts" and bool(first) and found.end / min(first) > 5 * WIDE
    return min(first) / 2 if wide else 0.0


def extent(found: Curves[Key], floor: float = 0.0) -> tuple[float, float]:
    """From where to where the axis goes, with a little room behind the last curve's end."""
    if found.axis == "attempts":
        return 0.5, max(found.end, 1) + 0.5
    return floor, (1.15 if floor else 1.03) * (found.end or 1.0)


def corners(of: Sequence[Tread]) -> list[float]:
    """Where each level begins and ends, along the axis."""
    return [edge for tread in of for edge in (tread.left, tread.right)]


def heights(of: Sequence[Tread], levels: Sequence[float]) -> list[float]:
    """What belongs to ``corners``, in percent."""
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
    """One closed outline, up along the higher bound and back along the lower one."""
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
    told = _told(line, axis)
    figure.add_scatter(
        x=corners(line.treads),
        y=heights(line.treads, line.curve.share),
        mode="lines",
        name=line.row.letter,
        legendgroup=line.row.letter,
        line={"color": line.colour, "dash": line.dash, "width": 2.5 if line.strong else 1.2},
        customdata=[told[tread.step] for tread in line.treads for _ in range(2)],
        hovertemplate="%{customdata}<extra></extra>",
    )


def _held(figure: go.Figure, line: Line, axis: Axis, right: float) -> None:
    """Its level from a dot at its own end to the end of the axis, dotted: no further tries."""
    level = line.curve.share[-1]
    reached = marked_rate(level, None, None, line.row.marks)
    said = f"{_who(line.row)}{reached} after {amount(axis, line.curve.end)}, no further tries"
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
        customdata=[said] * 2,
        hovertemplate="%{customdata}<extra></extra>",
    )


def _ends(figure: go.Figure, curves: Sequence[tuple[Curve[Key], Compared]]) -> None:
    """The letter of each curve at its end, those at about the same height in one place."""
    heights: dict[int, list[tuple[Curve[Key], Compared]]] = {}
    for curve, row in sorted(curves, key=lambda one: one[0].share[-1]):
        near = next((height for height in heights if abs(height - 100 * curve.share[-1]) < 3), None)
        heights.setdefault(round(100 * curve.share[-1]) if near is None else near, []).append((curve, row))
    for height, there in heights.items():
        said = " ".join(row.letter for _, row in sorted(there, key=lambda one: one[1].letter))
        figure.add_annotation(
            x=1.0, xref="paper", y=height, text=f"<b>{said}</b>", showarrow=False, xanchor="left", xshift=4
        )


def _reached(figure: go.Figure, comparison: Comparison, axis: Axis, looked_at: Sequence[Key]) -> None:
    """Where the configuration looked at reaches what the baseline solves; that is a matter of dollars."""
    pair = next((pair for pair in comparison.pairs if pair.key in looked_at), None)
    if pair is None or pair.break_even is None or axis != "usd":
        return
    even, its, other = pair.break_even, comparison.of(pair.key).letter, comparison.of(pair.baseline).letter
    quiet = {"dash": "dash", "width": 1, "color": theme_color(6)}
    if even.usd is None:
        said = f"{other} solved nothing: there is nothing to reach"
    elif math.isinf(even.usd):
        said = f"{its} never reaches what {other} solved (dashed)"
    else:
        said = f"{its} reaches what {other} solved (dashed) at {money(even.usd)}"
    if even.usd is not None:
        figure.add_hline(y=100 * even.target, line=quiet)
    if even.usd and even.usd <= comparison.curves[axis].end:
        figure.add_shape(x0=even.usd, x1=even.usd, y0=-3, y1=100 * even.target, line=quiet)
    place = {"x": 0.0, "xref": "paper", "xanchor": "left", "y": 1.0, "yref": "paper", "yanchor": "top"}
    figure.add_annotation(text=said, showarrow=False, **place)


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
    say = money if axis == "usd" else duration
    places = [10.0**power for power in powers]
    span = [math.log10(left), math.log10(right)]
    return {"type": "log", "range": span, "tickvals": places, "ticktext": [say(place) for place in places]}


def _told(line: Line, axis: Axis) -> list[str]:
    curve, who = line.curve, _who(line.row)
    steps = zip(curve.at, curve.share, curve.low, curve.high, strict=True)
    return [
        f"{who}{marked_rate(share, low, high, line.row.marks)} within {amount(axis, at)}"
        for at, share, low, high in steps
    ]


def _who(row: Compared) -> str:
    """Plotly reads tags in its texts, and a label may hold a stranger's words."""
    return f"<b>{row.letter}</b> {escape(row.label)}<br>"
