"""The chart of dollars per solved problem by tier, and the parts that all charts share.

Shared parts: the colours of the theme, signs and names of tiers, short names, and lanes of configurations.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from html import escape
from os.path import commonprefix

import plotly.graph_objects as go  # type: ignore[import-untyped]  # plotly ships no types

from koderz_core.analysis.comparison import Comparison
from koderz_core.analysis.configurations import ConfigurationFigures
from koderz_core.records import Tier
from koderz_core.report.formats import money

TIERS: Mapping[Tier | None, str] = {"local": "circle", "small_frontier": "square", "frontier": "diamond", None: "x"}
COLOURS = 8  # in the theme
LONGEST_LABEL = 32
LONGEST_NAME = 24  # characters next to a point
TICK, TITLE = 12, 13  # pixels of the texts of axes
WIDE = 20.0  # a larger ratio of costs gets a logarithmic axis


def cost_by_tier(comparison: Comparison) -> go.Figure:
    """Dollars per solved problem, a lane per configuration, a part per tier."""
    figure, rows = go.Figure(), comparison.configurations
    for place, tier in enumerate(TIERS):
        each = [_drawn(comparison.measured[row.key].parts.get(tier)) if tier else None for row in rows]
        unpriced = sum(tier_cost.unpriced for row in rows for tier_cost in row.tiers if tier_cost.tier == tier)
        if any(each) or unpriced:
            figure.add_bar(
                x=each,
                y=[lane(row) for row in rows],
                orientation="h",
                name=tier_name(tier) + (f" (calls without a known price: {unpriced})" if unpriced else ""),
                marker={"color": theme_color(place), "pattern": {"shape": ("", "/", "x", ".")[place]}},
                customdata=[money(value) for value in each],
                hovertemplate="%{y}<br>%{customdata} per solved problem<extra></extra>",
            )
    _totals(figure, comparison)
    figure.update_layout(barmode="stack", legend_traceorder="normal")
    figure.update_xaxes(
        title="cost per solved problem", tickprefix="$", exponentformat="none", rangemode="tozero", nticks=5
    )
    return calm(lanes(figure, rows), 100 + 34 * len(rows))


def _drawn(usd: float | None) -> float | None:
    """None if unknown or infinite: nothing is drawn."""
    return usd if usd is not None and math.isfinite(usd) else None


def _totals(figure: go.Figure, comparison: Comparison) -> None:
    """The total of each bar, because a cheap one is too short to be read."""
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


def theme_color(place: int) -> str:
    """A placeholder for the theme's categorical colour of that place (0 to 9), which the page or report replaces."""
    return f"#{place + 1:06d}"


def tier_name(tier: str | None) -> str:
    return "no call yet" if tier is None else tier.replace("_", " ")


def lane(row: ConfigurationFigures) -> str:
    """The letter of a configuration and both ends of its label, which are the most informative parts."""
    end = LONGEST_LABEL // 2
    label = row.label if len(row.label) <= LONGEST_LABEL else f"{row.label[: end - 1]}…{row.label[-end:]}"
    return f"{escape(label)}  <b>{row.letter}</b>"


def short_names(rows: Sequence[ConfigurationFigures]) -> dict[str, str]:
    """By letter: the label with models without their common beginning; with settings only if names are equal."""
    words = {row.letter: row.label.partition(" (")[0].split() for row in rows}
    models = {word for label in words.values() for word in label[1:] if "-" in word}
    shared = commonprefix(list(models)).rpartition("-")[0]  # noqa: RUF071 (names of models are no paths)
    short = {
        letter: " ".join(word[len(shared) + 1 :] if shared and word in models else word for word in label)
        for letter, label in words.items()
    }
    names = list(short.values())
    for row in rows:
        if names.count(short[row.letter]) > 1:
            short[row.letter] += row.label[len(row.label.partition(" (")[0]) :]
    return {
        letter: name if len(name) <= LONGEST_NAME else f"{name[: LONGEST_NAME - 1]}…" for letter, name in short.items()
    }


def lanes(figure: go.Figure, rows: Sequence[ConfigurationFigures]) -> go.Figure:
    """A lane per configuration in their order, the first at the top."""
    order = [lane(row) for row in rows]
    return figure.update_yaxes(automargin=True, type="category", categoryarray=order, autorange="reversed")


def reaches(values: Sequence[float], bounds: Sequence[tuple[float | None, float | None]]) -> dict[str, object]:
    """Error bars from values to their bounds; none without a bound."""
    pairs = list(zip(values, bounds, strict=True))
    up = [math.nan if high is None or math.isinf(high) else high - value for value, (_, high) in pairs]
    down = [math.nan if low is None else value - low for value, (low, _) in pairs]
    return {"type": "data", "array": up, "arrayminus": down, "thickness": 1.2, "width": 4}


def calm(figure: go.Figure, height: int) -> go.Figure:
    """The chart with the shared layout; its legend is above it."""
    legend = {"orientation": "h", "y": 1.0, "yanchor": "bottom"}
    figure.update_xaxes(tickfont={"size": TICK}, title_font={"size": TITLE})
    figure.update_yaxes(tickfont={"size": TICK}, title_font={"size": TITLE})
    return figure.update_layout(height=height, margin={"l": 8, "r": 8, "t": 8, "b": 8}, legend=legend)
