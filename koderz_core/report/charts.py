"""The parts that all charts share: colours of the theme, signs and names of tiers, short names, and the layout."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from os.path import commonprefix
from typing import Protocol

import plotly.graph_objects as go  # type: ignore[import-untyped]  # plotly ships no types

from koderz_core.analysis.comparison import Comparison
from koderz_core.records import Tier

TIERS: Mapping[Tier | None, str] = {"local": "circle", "small_frontier": "square", "frontier": "diamond", None: "x"}
COLOURS = 8  # in the theme
LONGEST_NAME = 24  # characters next to a point
TICK, TITLE = 12, 13  # pixels of the texts of axes
TEXT, GROUND, NEUTRAL = "#000037", "#000038", "#000036"
"""Placeholders of Streamlit for the colours of texts, of the page and of neutral marks; the report replaces them."""
# The legend: names are long, and below the chart they may take several rows.
BELOW = {"yref": "container", "y": 0.01, "yanchor": "bottom", "tracegroupgap": 0}
WIDE = 20.0  # a larger ratio of costs gets a logarithmic axis


class Named(Protocol):
    """A configuration with its letter and its full name, which is hostile text."""

    @property
    def letter(self) -> str: ...

    @property
    def label(self) -> str: ...


def theme_color(place: int) -> str:
    """A placeholder for the theme's categorical colour of that place (0 to 9), which the page or report replaces."""
    return f"#{place + 1:06d}"


def tier_name(tier: str | None) -> str:
    return "no call yet" if tier is None else tier.replace("_", " ")


def short_names(rows: Sequence[Named], longest: int = LONGEST_NAME) -> dict[str, str]:
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
    return {letter: name if len(name) <= longest else f"{name[: longest - 1]}…" for letter, name in short.items()}


def file_subject(comparison: Comparison) -> str:
    """The benchmarks of a chart, for the name of its file."""
    first, *others = dict.fromkeys(row.benchmark for row in comparison.configurations)
    return f"{first}-and-{len(others)}-more" if others else first


def reaches(values: Sequence[float], bounds: Sequence[tuple[float | None, float | None]]) -> dict[str, object]:
    """Error bars from values to their bounds; none without a bound."""
    pairs = list(zip(values, bounds, strict=True))
    up = [math.nan if high is None or math.isinf(high) else high - value for value, (_, high) in pairs]
    down = [math.nan if low is None else value - low for value, (low, _) in pairs]
    return {"type": "data", "array": up, "arrayminus": down, "thickness": 1.2, "width": 4}


def calm(figure: go.Figure, height: int) -> go.Figure:
    """The chart with the shared texts of axes and margins."""
    fonts = {"tickfont": {"size": TICK, "color": TEXT}, "title_font": {"size": TITLE, "color": TEXT}}
    figure.update_xaxes(**fonts)
    figure.update_yaxes(**fonts)
    return figure.update_layout(height=height, margin={"l": 8, "r": 8, "t": 8, "b": 8})


def draw_band(
    figure: go.Figure, along: Sequence[float], bounds: tuple[Sequence[float], Sequence[float]], colour: str, group: str
) -> None:
    """One closed outline, along the upper bounds and back along the lower ones. ``bounds``: the lower ones first."""
    low, high = bounds
    figure.add_scatter(
        x=[*along, *reversed(along)],
        y=[*high, *reversed(low)],
        fill="toself",
        fillcolor=colour,
        opacity=0.14,
        line={"width": 0},
        mode="lines",
        hoverinfo="skip",
        legendgroup=group,
        showlegend=False,
    )
