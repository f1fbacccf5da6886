"""The charts of the dashboard and of reports as Plotly figures, for notebooks and scripts.

Each function takes a comparison: ``result.compared`` of a benchmark, or what ``workspace.comparisons.compare`` returns.
Hovering, saving and changing a figure work as with any other figure of Plotly.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import plotly.graph_objects as go  # type: ignore[import-untyped]  # plotly ships no types
import plotly.io  # type: ignore[import-untyped]  # as above

from koderz_core.analysis.comparison import AXES, Comparison
from koderz_core.analysis.incidence import Axis
from koderz_core.errors import UnknownNameError, UsageError
from koderz_core.report import charts_costs, charts_curves, charts_frontier, charts_success
from koderz_core.report.benchmark_report_html import LOOKS
from koderz_core.report.charts_frontier import View
from koderz_core.report.still import COLOUR, colours

__all__ = ["cost_against_success", "cost_by_role", "success", "success_by"]

Look = Literal["light", "dark"]


def cost_against_success(comparison: Comparison, look: Look = "light") -> go.Figure:
    """Draw the share of solved problems against dollars per problem, with intervals and the Pareto frontier.

    Raises UsageError if no configuration has a known cost above 0.
    """
    if not charts_frontier.has_costs(comparison):
        raise UsageError("No configuration has a known cost above $0. Use charts.success, which needs no costs.")
    return _painted(charts_frontier.cost_against_success(comparison), look)


def success(comparison: Comparison, look: Look = "light") -> go.Figure:
    """Draw the share of solved problems of each configuration, with its interval.

    Raises UsageError if no experiment has a result.
    """
    if not charts_success.ranked(comparison):
        raise UsageError("No experiment of this comparison has a result yet. Run or resume the benchmark.")
    return _painted(charts_success.success_alone(comparison, View()), look)


def success_by(comparison: Comparison, axis: Axis = "attempts", look: Look = "light") -> go.Figure:
    """Draw the share of solved problems against attempts, or usd, seconds, tokens or joules per problem.

    Raises UnknownNameError for another axis, UsageError if the amounts are unknown.
    """
    if axis not in AXES:
        raise UnknownNameError("axis", axis, AXES)
    if axis not in comparison.curves or not comparison.curves[axis].curves:
        raise UsageError(
            f"No configuration has a curve of success against {axis}. Choose another axis: {', '.join(AXES)}."
        )
    return _painted(charts_curves.success_by(comparison, axis, View()), look)


def cost_by_role(comparison: Comparison, look: Look = "light") -> go.Figure:
    """Draw the dollars per solved problem of each configuration, by role and model.

    Raises UsageError if no part of a cost is known, finite and above 0.
    """
    if not charts_costs.has_role_costs(comparison):
        raise UsageError("No configuration has a known cost per solved problem above $0.")
    return _painted(charts_costs.cost_by_role(comparison), look)


def _painted(figure: go.Figure, look: Look) -> go.Figure:
    """The figure in the colours of a report instead of placeholders of the theme."""
    if look not in LOOKS:
        raise UnknownNameError("look", look, LOOKS)
    palette, theme = colours(look), LOOKS[look]
    text = COLOUR.sub(lambda found: str(palette[found[1]]), figure.update_layout(template=None).to_json())
    painted = plotly.io.from_json(text)
    painted.update_layout(
        font={"color": theme["text"], "size": 13}, paper_bgcolor=theme["ground"], plot_bgcolor=theme["ground"]
    )
    lines = {"gridcolor": theme["line"], "zerolinecolor": theme["line"], "linecolor": theme["line"]}
    update: Callable[..., go.Figure]
    for update in (painted.update_xaxes, painted.update_yaxes):
        update(automargin=True, **lines)
    return painted
