"""What charts share: colours of the theme, signs and names of tiers, and axes of dollars."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from html import escape
from os.path import commonprefix

import plotly.graph_objects as go  # type: ignore[import-untyped]  # plotly ships no types

from koderz_core.analysis.compared import Compared
from koderz_core.export.formats import money
from koderz_core.records import Tier

TIERS: Mapping[Tier | None, str] = {"local": "circle", "small_frontier": "square", "frontier": "diamond", None: "x"}
COLOURS = 8  # that the theme has
LONGEST_LABEL = 32
LONGEST_NAME = 24  # characters beside a point
TICK, TITLE = 12, 13  # pixels of the texts of axes
WIDE = 20.0  # costs that differ more than this many times get a logarithmic axis


def theme_color(place: int) -> str:
    """The theme's categorical colour of that place (0 to 9): what shows it puts the real one in, light or dark."""
    return f"#{place + 1:06d}"


def tier_name(tier: str | None) -> str:
    return "no call yet" if tier is None else tier.replace("_", " ")


def lane(row: Compared) -> str:
    """The letter of a configuration, which no other has, and both ends of its label: they say most."""
    end = LONGEST_LABEL // 2
    said = row.label if len(row.label) <= LONGEST_LABEL else f"{row.label[: end - 1]}…{row.label[-end:]}"
    return f"{escape(said)}  <b>{row.letter}</b>"


def short_names(rows: Sequence[Compared]) -> dict[str, str]:
    """By letter: the words of the label, models without the beginning that all share; settings only if they decide."""
    words = {row.letter: row.label.partition(" (")[0].split() for row in rows}
    models = {word for said in words.values() for word in said[1:] if "-" in word}
    shared = commonprefix(list(models)).rpartition("-")[0]  # noqa: RUF071 (names of models are no paths)
    short = {
        letter: " ".join(word[len(shared) + 1 :] if shared and word in models else word for word in said)
        for letter, said in words.items()
    }
    names = list(short.values())
    for row in rows:
        if names.count(short[row.letter]) > 1:
            short[row.letter] += row.label[len(row.label.partition(" (")[0]) :]
    return {letter: one if len(one) <= LONGEST_NAME else f"{one[: LONGEST_NAME - 1]}…" for letter, one in short.items()}


def lanes(figure: go.Figure, rows: Sequence[Compared]) -> go.Figure:
    """A lane per configuration, from the first at the top, whatever trace it is in."""
    order = [lane(row) for row in rows]
    return figure.update_yaxes(automargin=True, type="category", categoryarray=order, autorange="reversed")


def reaches(values: Sequence[float], bounds: Sequence[tuple[float | None, float | None]]) -> dict[str, object]:
    """Error bars from values to their bounds; none where there is no bound."""
    pairs = list(zip(values, bounds, strict=True))
    up = [math.nan if high is None or math.isinf(high) else high - value for value, (_, high) in pairs]
    down = [math.nan if low is None else value - low for value, (low, _) in pairs]
    return {"type": "data", "array": up, "arrayminus": down, "thickness": 1.2, "width": 4}


def needs_logarithm(costs: Sequence[float]) -> bool:
    """Whether an axis of costs has to be logarithmic to tell the small ones apart."""
    return bool(costs) and min(costs) > 0 and max(costs) / min(costs) > WIDE


def dollars(costs: Sequence[float]) -> dict[str, object]:
    """An axis that shows all costs with room beside them, in the words that money has everywhere."""
    low, high = min(costs, default=0.0), max(costs, default=0.0)
    if not needs_logarithm(costs):
        return {"range": [-0.06 * (high or 1.0), 1.15 * (high or 1.0)], "tickprefix": "$", "exponentformat": "none"}
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    digits = (1, 2, 5) if len(powers) <= 3 else (1,)
    ticks = [digit * 10.0**power for power in powers for digit in digits]
    span = [math.log10(low / 1.6), math.log10(high * 1.9)]
    return {"type": "log", "range": span, "tickvals": ticks, "ticktext": [money(tick) for tick in ticks]}


def calm(figure: go.Figure, height: int) -> go.Figure:
    """Above the chart its legend, however many lines that takes."""
    legend = {"orientation": "h", "y": 1.0, "yanchor": "bottom"}
    figure.update_xaxes(tickfont={"size": TICK}, title_font={"size": TITLE})
    figure.update_yaxes(tickfont={"size": TICK}, title_font={"size": TITLE})
    return figure.update_layout(height=height, margin={"l": 8, "r": 8, "t": 8, "b": 8}, legend=legend)
