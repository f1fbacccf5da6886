"""The area of the chart of cost against success in pixels, and the names of its points, placed so that none overlap."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from itertools import pairwise

import plotly.graph_objects as go  # type: ignore[import-untyped]  # plotly ships no types

from koderz_core.analysis.comparison import Comparison
from koderz_core.analysis.configurations import ConfigurationFigures
from koderz_core.analysis.pairs import Key
from koderz_core.analysis.tradeoff import Point
from koderz_core.report.charts import NEUTRAL, TEXT, short_names
from koderz_core.report.cost_axis import CostAxis
from koderz_core.report.label_places import LINE, POINT, Box, Label, Line, Placed, around, place, text_width

LABEL, SMALL = 13, 12  # pixels of texts
MARK, MARK_REACH = 19, 11  # pixels of a further mark, and from its middle to the texts around it
Located = tuple[float, Point[Key], ConfigurationFigures]
"""A configuration with known dollars per problem."""


@dataclass(frozen=True, slots=True)
class Canvas:
    """The area of the points (``frame``, in pixels of the whole chart) and both axes.

    ``lowest`` and ``highest``: percent at the ends of the axis of success.
    """

    frame: Box
    costs: CostAxis
    lowest: float
    highest: float

    def pixel(self, usd: float, share: float) -> tuple[float, float]:
        """The pixel of a cost in dollars and a share solved."""
        frame = self.frame
        up = (100 * share - self.lowest) / (self.highest - self.lowest)
        return (
            frame.left + self.costs.share(usd) * (frame.right - frame.left),
            frame.bottom - up * (frame.bottom - frame.top),
        )


def located(comparison: Comparison) -> list[Located]:
    """The configurations with a known cost."""
    return [
        (point.usd, point, comparison.of(point.key)) for point in comparison.tradeoff.points if point.usd is not None
    ]


def labels(
    comparison: Comparison,
    canvas: Canvas,
    points: Sequence[Located],
    chosen: Sequence[Key],
    marks: Sequence[tuple[float, float]] = (),
) -> dict[str, Placed]:
    """The labels that have room, by letter: names of important configurations first, then the others.

    Important are those on the Pareto frontier, the baseline and the ``chosen`` ones. The others keep their letter if
    only this has room. ``marks``: dollars and shares of further marks, which no label covers.
    """
    names = short_names([row for _, _, row in points])
    first = {comparison.baseline, *chosen}
    corner = corner_label(comparison, canvas, points, marks)
    wanted = [
        Label(
            *canvas.pixel(usd, point.success),
            texts=tuple(dict.fromkeys((f"{row.letter} {names[row.letter]}", row.letter))),
            important=bool(point.on_frontier) or row.key in first,
        )
        for usd, point, row in points
    ]
    lines = [line for point in points for line in _intervals(canvas, point)]
    lines += [*_cross(comparison, canvas, points), *_steps(canvas, points)]
    taken = [around(*canvas.pixel(usd, share), MARK_REACH) for usd, share in marks]
    placed = place(wanted, canvas.frame, [*taken, *([corner.box] if corner else [])], lines)
    return {row.letter: found for found, (_, _, row) in zip(placed, points, strict=True) if found}


def corner_label(
    comparison: Comparison, canvas: Canvas, points: Sequence[Located], further: Sequence[tuple[float, float]] = ()
) -> Placed | None:
    """The text of the part that is cheaper and better than the baseline, in a corner without points, if it has room."""
    base = next((point for point in points if point[2].key == comparison.baseline), None)
    if base is None:
        return None
    x, y = canvas.pixel(base[0], base[1].success)
    room = Box(canvas.frame.left + 6, canvas.frame.top + 4, x - 6, y - 4)
    marks = [around(*canvas.pixel(usd, point.success)) for usd, point, _ in points]
    marks += [around(*canvas.pixel(usd, share), MARK_REACH) for usd, share in further]
    text = f"cheaper and better than {base[2].letter}"
    free = (box for box in _corners(room, text_width(text)) if not any(map(box.overlaps, marks)))
    return next((Placed(text, box, None) for box in free if box.inside(room)), None)


def write(figure: go.Figure, canvas: Canvas, found: Mapping[str, Placed], points: Sequence[Located]) -> None:
    """The labels of the points, at their distance in pixels from the point, with leader lines if that is far."""
    for usd, point, row in points:
        if label := found.get(row.letter):
            x, y = canvas.pixel(usd, point.success)
            box = label.box
            anchor = "left" if box.left >= x else "right" if box.right <= x else "center"
            name = label.text[len(row.letter) :]
            at = {"x": canvas.costs.position(usd), "y": 100 * point.success}
            figure.add_annotation(
                **at,
                text=f"<b>{row.letter}</b>{escape(name)}",
                showarrow=False,
                xanchor=anchor,
                xshift={"left": box.left, "right": box.right, "center": x}[anchor] - x,
                yshift=y - (box.top + box.bottom) / 2,
                font={"size": LABEL, "color": TEXT},
            )
            if near := label.leader:
                figure.add_annotation(
                    **at,
                    text="",
                    ax=near.x1 - x,
                    ay=near.y1 - y,
                    showarrow=True,
                    arrowhead=0,
                    arrowwidth=1,
                    arrowcolor=NEUTRAL,
                    standoff=POINT,
                )


def write_corner(figure: go.Figure, canvas: Canvas, label: Placed) -> None:
    """A text that belongs to no point, at its distance in pixels from the upper left corner."""
    figure.add_annotation(
        x=0,
        xref="x domain",
        xanchor="left",
        xshift=label.box.left - canvas.frame.left,
        y=1,
        yref="y domain",
        yanchor="top",
        yshift=canvas.frame.top - label.box.top,
        text=f"<i>{escape(label.text)}</i>",
        showarrow=False,
        font={"size": SMALL, "color": TEXT},
    )


def _corners(room: Box, width: float) -> Iterator[Box]:
    for left in (room.left, room.right - width):
        for top in (room.top, room.bottom - LINE):
            yield Box(left, top, left + width, top + LINE)


def _intervals(canvas: Canvas, located: Located) -> Iterator[Line]:
    """The error bars of a point."""
    usd, point, _ = located
    x, y = canvas.pixel(usd, point.success)
    if point.usd_low is not None and point.usd_high is not None:
        left, right = (canvas.pixel(bound, point.success)[0] for bound in (point.usd_low, point.usd_high))
        yield Line(max(left, canvas.frame.left), y, min(right, canvas.frame.right), y)
    if point.success_low is not None and point.success_high is not None:
        low, high = (canvas.pixel(usd, bound)[1] for bound in (point.success_low, point.success_high))
        yield Line(x, low, x, high)


def _cross(comparison: Comparison, canvas: Canvas, points: Sequence[Located]) -> list[Line]:
    """The lines through the baseline."""
    at = [canvas.pixel(usd, point.success) for usd, point, row in points if row.key == comparison.baseline]
    frame = canvas.frame
    across = [Line(frame.left, y, frame.right, y) for _, y in at]
    return across + [Line(x, frame.top, x, frame.bottom) for x, _ in at]


def steps(canvas: Canvas, points: Sequence[Located]) -> list[tuple[float, float]]:
    """The corners of the Pareto frontier as dollars and share: from below the cheapest one to the right border."""
    best = sorted((usd, point.success) for usd, point, _ in points if point.on_frontier)
    corners = [(best[0][0], canvas.lowest / 100)] if best else []
    for usd, share in best:
        corners += [(usd, corners[-1][1]), (usd, share)]
    return [*corners, (canvas.costs.high, best[-1][1])] if best else []


def _steps(canvas: Canvas, points: Sequence[Located]) -> Iterator[Line]:
    corners = [canvas.pixel(usd, share) for usd, share in steps(canvas, points)]
    return (Line(*start, *end) for start, end in pairwise(corners))
