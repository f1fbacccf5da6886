"""Simulated policies over the chart of cost against success: hollow marks with their numbers in the table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from html import escape

import plotly.graph_objects as go  # type: ignore[import-untyped]  # plotly ships no types

from koderz_core.analysis.comparison import Comparison
from koderz_core.analysis.what_if import Simulated
from koderz_core.report.charts import GROUND, NEUTRAL, TEXT, reaches
from koderz_core.report.charts_frontier import HIDDEN, View, axis_of, cost_against_success, percentage
from koderz_core.report.charts_frontier_labels import MARK, located
from koderz_core.report.formats import money_of, plain, rate
from koderz_core.report.what_if import SIMULATED

NUMBER = 11  # pixels of the number in a mark
CAPTION = (
    "Filled marks are recorded configurations; the dotted line is their Pareto frontier. Hollow marks are simulated "
    "policies, numbered as in the table. Each interval applies to a single policy, not to all policies "
    "simultaneously. The simulation called no model."
)
Placed = tuple[int, Simulated, float]
"""Its number in the table, and its dollars per problem."""


def placed(found: Sequence[Simulated]) -> list[Placed]:
    """The simulated policies with a known cost."""
    numbered = enumerate(found, 1)
    return [(place, item, item.usd.value) for place, item in numbered if item.simulated and item.usd is not None]


def what_if_chart(comparison: Comparison, found: Sequence[Simulated], view: View) -> go.Figure:
    """At least one recorded configuration has a known cost above 0."""
    shown = placed(found)
    view = replace(view, room=[(usd, item.solved.value) for _, item, usd in shown])
    figure = cost_against_success(comparison, view)
    axis = axis_of(located(comparison), [usd for _, _, usd in shown])
    x, y = [axis.shown(usd) for _, _, usd in shown], [100 * item.solved.value for _, item, _ in shown]
    costs = [(item.usd.low, item.usd.high) if item.usd else (None, None) for _, item, _ in shown]
    known = [(None if low is None else max(axis.shown(low), axis.low), high) for low, high in costs]
    shares = [(percentage(item.solved.low), percentage(item.solved.high)) for _, item, _ in shown]
    bars = {"thickness": 1, "width": 0, "color": NEUTRAL}
    reach = {"error_x": {**reaches(x, known), **bars}, "error_y": {**reaches(y, shares), **bars}}
    figure.add_scatter(x=x, y=y, **reach, mode="markers", marker={"opacity": 0}, opacity=0.45, **HIDDEN)
    figure.add_scatter(
        x=x,
        y=y,
        mode="markers+text",
        marker={"symbol": "circle", "color": GROUND, "size": MARK, "line": {"width": 1.6, "color": TEXT}},
        text=[str(place) for place, _, _ in shown],
        textfont={"size": NUMBER, "color": TEXT},
        customdata=[_hover(place, item) for place, item, _ in shown],
        hovertemplate="%{customdata}<extra></extra>",
        name=SIMULATED,
    )
    return figure


def what_if_alt(found: Sequence[Simulated]) -> str:
    """The simulated points in words. Hostile text."""
    said = [
        f"{place} {plain(item.policy.name)} {rate(item.solved)} for {money_of(item.usd)}"
        for place, item, _ in placed(found)
    ]
    return f"Simulated policies in the chart of recorded cost against success: {'; '.join(said)}."


def _hover(place: int, one: Simulated) -> str:
    why = f"<br>the attempts are not independent draws: {escape(one.why)}" if one.why else ""
    spent = f"{money_of(one.usd)} per problem"
    return f"<b>{place}</b> {escape(one.policy.name)} ({SIMULATED})<br>{rate(one.solved)}, {spent}{why}"
