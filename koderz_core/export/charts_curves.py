"""The chart of success against what was used: a staircase per configuration, in its band."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from html import escape
from itertools import pairwise

import plotly.graph_objects as go  # type: ignore[import-untyped]  # plotly ships no types

from koderz_core.analysis.compared import Compared
from koderz_core.analysis.comparison import Comparison
from koderz_core.analysis.curves import Curve, Curves
from koderz_core.analysis.incidence import Axis
from koderz_core.analysis.pairs import Key
from koderz_core.export.charts import COLOURS, WIDE, calm, theme_color
from koderz_core.export.formats import duration, money, span

HEIGHT = 430
ROOM = 64  # pixels for letters at the end
MOST_BANDS = 2  # more would hide each other: then only the two that are looked at have theirs
MOST_TICKS = 20
DASHES = ("solid", "dash", "dot")
TITLES = {"attempts": "attempts", "usd": "dollars per problem", "seconds": "seconds per problem"}


def success_by(comparison: Comparison, axis: Axis, looked_at: Sequence[Key]) -> go.Figure:
    """Share solved by what had been used; ``looked_at``: whose bands are shown if there are many."""
    figure, found = go.Figure(), comparison.curves[axis]
    rows = {row.key: (place, row) for place, row in enumerate(comparison.configurations)}
    few = len(found.curves) <= MOST_BANDS
    floor = _floor(found)
    for curve in found.curves:
        if few or curve.key in looked_at:
            _band(figure, curve, rows[curve.key][0], floor)
    for curve in found.curves:
        place, row = rows[curve.key]
        figure.add_scatter(
            x=_used(curve, floor),
            y=[100 * share for share in curve.share],
            mode="lines",
            name=row.letter,
            line={
                "shape": "hv",
                "color": theme_color(place % COLOURS),
                "dash": DASHES[place // COLOURS % len(DASHES)],
                "width": 2.5 if few or curve.key in looked_at else 1.2,
            },
            customdata=_told(row, axis, curve),
            hovertemplate="%{customdata}<extra></extra>",
        )
    _ends(figure, [(curve, rows[curve.key][1]) for curve in found.curves])
    _reached(figure, comparison, axis, looked_at)
    figure.update_xaxes(title=TITLES[axis], **_ticks(axis, floor, found.end))
    figure.update_yaxes(title="solved", range=[-3, 109], ticksuffix=" %")
    return calm(figure, HEIGHT).update_layout(margin_r=ROOM)


def _floor(found: Curves[Key]) -> float:
    """Where a logarithmic axis begins, 0 if none is called for: what some use is too little to be seen beside others.

    Half of the least that anybody had used when the first problem was solved.
    """
    first = [curve.at[1] for curve in found.curves if len(curve.at) > 2 and curve.at[1] > 0]
    wide = found.axis != "attempts" and bool(first) and found.end / min(first) > 5 * WIDE
    return min(first) / 2 if wide else 0.0


def _used(curve: Curve[Key], floor: float) -> list[float]:
    return [max(at, floor) for at in curve.at]


def _band(figure: go.Figure, curve: Curve[Key], place: int, floor: float) -> None:
    """One closed outline, up along the higher bound and back along the lower one."""
    along = _stairs(_used(curve, floor))
    figure.add_scatter(
        x=[*along, *reversed(along)],
        y=[*_levels(curve.high), *reversed(_levels(curve.low))],
        fill="toself",
        fillcolor=theme_color(place % COLOURS),
        opacity=0.14,
        line={"width": 0},
        mode="lines",
        hoverinfo="skip",
        showlegend=False,
    )


def _stairs(at: Sequence[float]) -> list[float]:
    return [at[0], *(x for _, right in pairwise(at) for x in (right, right))]


def _levels(share: Sequence[float]) -> list[float]:
    return [100 * share[0], *(100 * y for left, right in pairwise(share) for y in (left, right))]


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
    pair = next((one for one in comparison.pairs if one.key in looked_at), None)
    if pair is None or pair.break_even is None or axis != "usd":
        return
    even, its = pair.break_even, comparison.of(pair.key).letter
    quiet = {"dash": "dot", "width": 1, "color": theme_color(6)}
    never = math.isinf(even.usd)
    reached = "never reaches" if never else "reaches"
    said = f"{its} {reached} what {comparison.of(pair.baseline).letter} solved (dotted)"
    said += "" if never else f" at {money(even.usd)}"
    figure.add_hline(y=100 * even.target, line=quiet)
    if 0 < even.usd <= comparison.curves[axis].end:
        figure.add_shape(x0=even.usd, x1=even.usd, y0=-3, y1=100 * even.target, line=quiet)
    place = {"x": 0.0, "xref": "paper", "xanchor": "left", "y": 1.0, "yref": "paper", "yanchor": "top"}
    figure.add_annotation(text=said, showarrow=False, **place)


def _ticks(axis: Axis, floor: float, end: float) -> dict[str, object]:
    if not floor:
        ticks: Mapping[Axis, Mapping[str, object]] = {
            "attempts": {"dtick": 1 if end <= MOST_TICKS else None},
            "usd": {"tickprefix": "$", "exponentformat": "none"},
            "seconds": {"ticksuffix": " s"},
        }
        return {"range": [0, 1.02 * (end or 1.0)], **ticks[axis]}
    powers = range(math.ceil(math.log10(floor)), math.floor(math.log10(end)) + 1)
    say = money if axis == "usd" else duration
    places = [10.0**power for power in powers]
    span = [math.log10(floor), math.log10(end)]
    return {"type": "log", "range": span, "tickvals": places, "ticktext": [say(place) for place in places]}


def _told(row: Compared, axis: Axis, curve: Curve[Key]) -> list[str]:
    """Plotly reads tags in its texts, and a label may hold a stranger's words."""
    used = {"attempts": lambda at: f"{at:.0f} attempts", "usd": money, "seconds": duration}[axis]
    who = f"<b>{row.letter}</b> {escape(row.label)}<br>"
    steps = zip(curve.at, curve.share, curve.low, curve.high, strict=True)
    return [f"{who}{span(share, low, high)} by {used(at)}" for at, share, low, high in steps]
