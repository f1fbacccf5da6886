"""The chart of what a solved problem cost, by the tier of the models that were paid."""

from __future__ import annotations

import math

import plotly.graph_objects as go  # type: ignore[import-untyped]  # plotly ships no types

from koderz_core.analysis.comparison import Comparison
from koderz_core.export.charts import TIERS, calm, lane, lanes, theme_color, tier_name
from koderz_core.export.formats import money


def cost_by_tier(comparison: Comparison) -> go.Figure:
    """Dollars per solved problem, a lane per configuration, a part per tier."""
    figure, rows = go.Figure(), comparison.configurations
    for place, tier in enumerate(TIERS):
        each = [_drawn(comparison.measured[row.key].parts.get(tier)) if tier else None for row in rows]
        unpriced = sum(one.unpriced for row in rows for one in row.tiers if one.tier == tier)
        if any(each) or unpriced:
            figure.add_bar(
                x=each,
                y=[lane(row) for row in rows],
                orientation="h",
                name=tier_name(tier) + (f", of which {unpriced} calls have no known price" if unpriced else ""),
                marker={"color": theme_color(place), "pattern": {"shape": ("", "/", "x", ".")[place]}},
                customdata=[money(one) for one in each],
                hovertemplate="%{y}<br>%{customdata} per solved problem<extra></extra>",
            )
    _totals(figure, comparison)
    figure.update_layout(barmode="stack", legend_traceorder="normal")
    figure.update_xaxes(title="per solved problem", tickprefix="$", exponentformat="none", rangemode="tozero", nticks=5)
    return calm(lanes(figure, rows), 100 + 34 * len(rows))


def _drawn(usd: float | None) -> float | None:
    """Nothing is drawn of what is unknown or has no end."""
    return usd if usd is not None and math.isfinite(usd) else None


def _totals(figure: go.Figure, comparison: Comparison) -> None:
    """What each bar comes to: a cheap one is too short to be read off."""
    for row in comparison.configurations:
        price = comparison.measured[row.key].price
        usd = price.value if price else None
        figure.add_annotation(
            x=_drawn(usd) or 0.0,
            y=lane(row),
            text=money(usd),
            showarrow=False,
            xanchor="left",
            xshift=4,
        )
