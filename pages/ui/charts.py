"""Charts of cost and success. Colour follows the theme and never speaks alone: each tier has a sign of its own too."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape

import plotly.graph_objects as go  # type: ignore[import-untyped]  # plotly ships no types

from koderz_core.analysis.comparison import Compared
from koderz_core.export.formats import money
from pages.ui.comparison import letter, share

TIERS = {"local": "circle", "small_frontier": "square", "frontier": "diamond", None: "x"}
LONGEST_LABEL = 32
WIDE = 20.0  # costs that differ more than this many times get a logarithmic axis


def theme_color(place: int) -> str:
    """The theme's categorical colour of that place (0 to 9): the front end puts the real one in, light or dark."""
    return f"#{place + 1:06d}"


def success(rows: Sequence[Compared]) -> go.Figure:
    """Share solved with its interval, a line per configuration."""
    figure = go.Figure()
    for place, (tier, sign) in enumerate(TIERS.items()):
        shown = [row for row in rows if row.tier == tier and row.share is not None]
        if shown:
            figure.add_scatter(
                x=[100 * row.share for row in shown if row.share is not None],
                y=[_lane(rows, row) for row in shown],
                error_x=_interval(shown),
                mode="markers",
                name=_tier(tier),
                marker={"color": theme_color(place), "symbol": sign, "size": 11},
                customdata=[_told(row) for row in shown],
                hovertemplate="%{customdata}<extra></extra>",
            )
    figure.update_xaxes(title="solved", range=[-3, 103], ticksuffix=" %")
    return _calm(_lanes(figure, rows), _height(rows))


def cost_against_success(rows: Sequence[Compared]) -> go.Figure:
    """Dollars per experiment against share solved: up and to the left is better."""
    figure = go.Figure()
    priced = [row for row in rows if row.share is not None and row.cost_per_experiment_usd is not None]
    for place, (tier, sign) in enumerate(TIERS.items()):
        shown = [row for row in priced if row.tier == tier]
        if shown:
            figure.add_scatter(
                x=[row.cost_per_experiment_usd for row in shown],
                y=[100 * row.share for row in shown if row.share is not None],
                error_y=_interval(shown),
                mode="markers+text",
                text=[letter(rows.index(row)) for row in shown],
                textposition="middle right",
                name=_tier(tier),
                marker={"color": theme_color(place), "symbol": sign, "size": 11},
                customdata=[_told(row) for row in shown],
                hovertemplate="%{customdata}<extra></extra>",
            )
    figure.update_xaxes(title="per experiment", **_dollars([row.cost_per_experiment_usd or 0.0 for row in priced]))
    figure.update_yaxes(title="solved", range=[-3, 103], ticksuffix=" %")
    return _calm(figure, _height(rows))


def cost_by_tier(rows: Sequence[Compared]) -> go.Figure:
    """What each configuration spent on models of each tier."""
    figure = go.Figure()
    for place, tier in enumerate(TIERS):
        spent = [sum(one.cost_usd or 0.0 for one in row.tiers if one.tier == tier) for row in rows]
        unpriced = sum(one.unpriced for row in rows for one in row.tiers if one.tier == tier)
        if any(spent) or unpriced:
            figure.add_bar(
                x=spent,
                y=[_lane(rows, row) for row in rows],
                orientation="h",
                name=_tier(tier) + (f", of which {unpriced} calls have no known price" if unpriced else ""),
                marker={"color": theme_color(place), "pattern": {"shape": ("", "/", "x", ".")[place]}},
                customdata=[money(one) for one in spent],
                hovertemplate="%{y}<br>%{customdata}<extra></extra>",
            )
    figure.update_layout(barmode="stack", legend_traceorder="normal")
    figure.update_xaxes(tickprefix="$", exponentformat="none", rangemode="tozero", nticks=4)
    return _calm(_lanes(figure, rows), 90 + 40 * len(rows))


def _dollars(costs: Sequence[float]) -> dict[str, object]:
    """An axis that shows all costs with room beside them, in the words that money has everywhere."""
    low, high = min(costs, default=0.0), max(costs, default=0.0)
    if low <= 0 or high / low <= WIDE:
        return {"range": [-0.06 * (high or 1.0), 1.15 * (high or 1.0)], "tickprefix": "$", "exponentformat": "none"}
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    ticks = [digit * 10.0**power for power in powers for digit in (1, 2, 5)]
    span = [math.log10(low / 1.6), math.log10(high * 1.9)]
    return {"type": "log", "range": span, "tickvals": ticks, "ticktext": [money(tick) for tick in ticks]}


def _lanes(figure: go.Figure, rows: Sequence[Compared]) -> go.Figure:
    """A lane per configuration, from the first at the top, whatever trace it is in."""
    order = [_lane(rows, row) for row in rows]
    return figure.update_yaxes(automargin=True, type="category", categoryarray=order, autorange="reversed")


def _interval(rows: Sequence[Compared]) -> dict[str, object]:
    """Reaches of the intervals up and down; none where there is no interval."""
    bounds = [(row.rate.low, row.rate.high, row.share) if row.rate else (None, None, row.share) for row in rows]
    up = [100 * (high - share) if high is not None and share is not None else math.nan for _, high, share in bounds]
    down = [100 * (share - low) if low is not None and share is not None else math.nan for low, _, share in bounds]
    return {"type": "data", "array": up, "arrayminus": down, "thickness": 1.4, "width": 5}


def _lane(rows: Sequence[Compared], row: Compared) -> str:
    """The letter of a configuration, which no other has, and the beginning of its label."""
    said = row.label if len(row.label) <= LONGEST_LABEL else f"{row.label[: LONGEST_LABEL - 1]}…"
    return f"{escape(said)}  <b>{letter(rows.index(row))}</b>"


def _told(row: Compared) -> str:
    """Plotly reads tags in its texts, and a label may hold a stranger's words."""
    return f"{escape(row.label)}<br>{share(row)}, n = {row.n} of {row.planned}, {money(row.cost_usd)}"


def _tier(tier: str | None) -> str:
    return "no call yet" if tier is None else tier.replace("_", " ")


def _calm(figure: go.Figure, height: int) -> go.Figure:
    """Above the chart its legend, however many lines that takes."""
    legend = {"orientation": "h", "y": 1.0, "yanchor": "bottom"}
    return figure.update_layout(height=height, margin={"l": 8, "r": 8, "t": 8, "b": 8}, legend=legend)


def _height(rows: Sequence[Compared]) -> int:
    """Two charts of the same configurations side by side are of one height."""
    return max(320, 110 + 44 * len(rows))
