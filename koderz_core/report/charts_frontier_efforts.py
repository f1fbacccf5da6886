"""Lines on the chart of cost against success that join configurations which differ only in their reasoning effort."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

import plotly.graph_objects as go  # type: ignore[import-untyped]  # plotly ships no types

from koderz_core.report.charts import NEUTRAL
from koderz_core.report.charts_frontier_labels import Canvas, Located
from koderz_core.report.formats import listed

EFFORT_LINE = "reasoning effort, low to high"
"""The entry of these lines in the legend."""


def effort_lines(points: Sequence[Located]) -> list[list[Located]]:
    """The points of each group that differs only in one effort, from the lowest effort to the highest."""
    placed = [(point[2].effort, point) for point in points]
    known = [(step.family, step.rank, place) for place, (step, _) in enumerate(placed) if step]
    groups = groupby(sorted(known), key=lambda one_of: one_of[0])
    lines = [[points[place] for _, _, place in group] for _, group in groups]
    return [line for line in lines if len(line) > 1]


def draw_efforts(figure: go.Figure, canvas: Canvas, points: Sequence[Located]) -> None:
    """A thin line through the points of each group, with one entry in the legend."""
    for place, line in enumerate(effort_lines(points)):
        figure.add_scatter(
            x=[canvas.costs.shown(usd) for usd, _, _ in line],
            y=[100 * point.success for _, point, _ in line],
            mode="lines",
            name=EFFORT_LINE,
            line={"color": NEUTRAL, "width": 1},
            opacity=0.8,
            hoverinfo="skip",
            showlegend=place == 0,
        )


def efforts_alt(points: Sequence[Located]) -> str:
    """The lines in words, "" if there are none."""
    lines = (listed([row.letter for _, _, row in line]) for line in effort_lines(points))
    said = "A line joins the configurations {}, which differ only in their reasoning effort (low to high)."
    return "".join(f" {said.format(line)}" for line in lines)
