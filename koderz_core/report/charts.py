"""The chart of cost against success, and the parts that all charts share.

Shared parts: the colours of the theme, signs and names of tiers, short names of configurations, and axes of dollars.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from math import log
from os.path import commonprefix

import plotly.graph_objects as go  # type: ignore[import-untyped]  # plotly ships no types

from koderz_core.analysis.comparison import Comparison
from koderz_core.analysis.configurations import ConfigurationFigures
from koderz_core.analysis.pairs import Key
from koderz_core.analysis.tradeoff import Point
from koderz_core.records import Tier
from koderz_core.report.formats import chance, marked_rate, money, money_span, share_cases

HEIGHT = 430
LETTER = 14
FURTHEST = 2.0  # times the most expensive point: intervals are cut there, otherwise the points would crowd together
FEW = 8  # configurations whose names fit next to their points; with more, only letters are shown
WIDTH, MARGIN = 220.0, 50.0  # pixels on a narrow screen: the width of the points, and the margin on either side
CHARACTER, LETTERS = 7.0, 40.0  # pixels of a character, and of the letters next to a point
TALL = 0.07  # height of a text, as a share of the success axis
NEAR = 0.02  # of the success and, relatively, of the cost: closer letters would overlap
TIERS: Mapping[Tier | None, str] = {"local": "circle", "small_frontier": "square", "frontier": "diamond", None: "x"}
COLOURS = 8  # in the theme
LONGEST_NAME = 24  # characters next to a point
TICK, TITLE = 12, 13  # pixels of the texts of axes
WIDE = 20.0  # a larger ratio of costs gets a logarithmic axis


def cost_against_success(comparison: Comparison) -> go.Figure:
    """Dollars per problem against share solved, intervals on both: up and to the left is better."""
    figure = go.Figure()
    rows = {row.key: row for row in comparison.configurations}
    points = [(point.usd, point) for point in comparison.tradeoff.points if point.usd is not None]
    _frontier(figure, points)
    letters = _letters([(usd, point.success, rows[point.key].letter) for usd, point in points])
    texts = _texts([(usd, point.success, rows[point.key]) for usd, point in points], letters)
    for place, (tier, sign) in enumerate(TIERS.items()):
        shown = [(usd, point) for usd, point in points if rows[point.key].tier == tier]
        if shown:
            x, y = [usd for usd, _ in shown], [100 * point.success for _, point in shown]
            _cases(figure, shown, theme_color(place))
            figure.add_scatter(
                x=x,
                y=y,
                error_x=reaches(x, [(point.usd_low, point.usd_high) for _, point in shown]),
                error_y=reaches(y, [(_percent(point.success_low), _percent(point.success_high)) for _, point in shown]),
                mode="markers+text",
                text=[texts.get(rows[point.key].letter, _Text("")).text for _, point in shown],
                textposition=[texts.get(rows[point.key].letter, _Text("")).side for _, point in shown],
                textfont={"size": LETTER},
                name=tier_name(tier),
                marker={"color": theme_color(place), "symbol": sign, "size": 11},
                customdata=[_hover(point, rows[point.key]) for _, point in shown],
                hovertemplate="%{customdata}<extra></extra>",
            )
    axis = dollars(_costs(points))
    scale = ", logarithmic" if axis.get("type") == "log" else ""
    figure.update_xaxes(title=f"US$ per problem{scale} (95 % interval)", **axis)
    figure.update_yaxes(title="share of problems solved (95 % interval)", range=[-3, 109], ticksuffix=" %")
    return calm(figure, HEIGHT)


def _cases(figure: go.Figure, points: Sequence[tuple[float, Point[Key]]], color: str) -> None:
    """Thin bars, behind those of the intervals, from the worst to the best case of missing results."""
    incomplete = [(usd, 100 * point.success, point.cases) for usd, point in points if point.cases]
    if incomplete:
        bounds = [(min(100 * case.worst, at), max(100 * case.best, at)) for _, at, case in incomplete]
        y = [at for _, at, _ in incomplete]
        figure.add_scatter(
            x=[usd for usd, _, _ in incomplete],
            y=y,
            error_y={**reaches(y, bounds), "thickness": 0.8, "width": 0, "color": color},
            mode="markers",
            marker={"opacity": 0},
            hoverinfo="skip",
            showlegend=False,
        )


def _frontier(figure: go.Figure, points: Sequence[tuple[float, Point[Key]]]) -> None:
    """A step from each point on the Pareto frontier to the next."""
    best = sorted((usd, 100 * point.success) for usd, point in points if point.on_frontier)
    figure.add_scatter(
        x=[usd for usd, _ in best],
        y=[success for _, success in best],
        mode="lines",
        name="Pareto frontier",
        line={"shape": "hv", "dash": "dot", "width": 1.5, "color": theme_color(6)},
        hoverinfo="skip",
    )


def _costs(points: Sequence[tuple[float, Point[Key]]]) -> list[float]:
    """The costs that the axis has to show: the points, and their intervals up to ``FURTHEST``."""
    most = FURTHEST * max((usd for usd, _ in points), default=0.0)
    bounds = [bound for _, point in points for bound in (point.usd_low, point.usd_high) if bound is not None]
    return [usd for usd, _ in points] + [min(bound, most) for bound in bounds if bound > 0]


@dataclass(frozen=True, slots=True)
class _Text:
    """The text next to a point, and its side."""

    text: str
    side: str = "top right"


def _texts(points: Sequence[tuple[float, float, ConfigurationFigures]], letters: Mapping[str, str]) -> dict[str, _Text]:
    """The letters next to the first point of each place; for a single point also the name if it fits on a phone."""
    texts = {letter: _Text(f"<b>{group}</b>") for letter, group in letters.items()}
    if len(points) > FEW:
        return texts
    names, across = short_names([row for _, _, row in points]), _across([usd for usd, _, _ in points])
    for usd, success, row in points:
        text, name = f"<b>{row.letter}</b> {escape(names[row.letter])}", names[row.letter]
        at, long = across[usd], CHARACTER * (len(name) + 2)
        level = [across[it] for it, height, other in points if other is not row and abs(height - success) < TALL]
        for side, start in (("top right", at), ("top left", at - long)):
            room = start >= -MARGIN and start + long <= WIDTH + MARGIN
            if (
                letters.get(row.letter) == row.letter
                and room
                and not any(start - LETTERS <= it <= start + long + CHARACTER for it in level)
            ):
                texts[row.letter] = _Text(text, side)
                break
    return texts


def _across(costs: Sequence[float]) -> dict[float, float]:
    """The distance of each cost from the cheapest point, in pixels."""
    low, high = min(costs), max(costs)
    if needs_logarithm(costs):
        return {usd: WIDTH * log(usd / low) / log(high / low) for usd in costs}
    return {usd: WIDTH * (usd - low) / ((high - low) or 1.0) for usd in costs}


def _letters(points: Sequence[tuple[float, float, str]]) -> dict[str, str]:
    """The letters of all points at a place, by the letter of the first of them."""
    places: list[tuple[float, float, list[str]]] = []
    for usd, success, letter in points:
        near = [group for at, height, group in places if abs(height - success) < NEAR and abs(at - usd) <= NEAR * at]
        if near:
            near[0].append(letter)
        else:
            places.append((usd, success, [letter]))
    return {group[0]: " ".join(group) for _, _, group in places}


def _percent(share: float | None) -> float | None:
    return None if share is None else 100 * share


def _hover(point: Point[Key], row: ConfigurationFigures) -> str:
    """The text of a point under the pointer. Labels are hostile text, and Plotly interprets tags."""
    success = marked_rate(point.success, point.success_low, point.success_high, row.marks)
    cost = f"{money_span(point.usd, point.usd_low, point.usd_high)} per problem"
    frontier = f"on the Pareto frontier with probability {chance(point.probability)}"
    cases = (
        f"<br>{share_cases(point.cases)} of all planned problems (worst to best case for missing results)"
        if point.cases
        else ""
    )
    return f"<b>{row.letter}</b> {escape(row.label)}<br>solved {success}{cases}<br>{cost}<br>{frontier}"


def theme_color(place: int) -> str:
    """A placeholder for the theme's categorical colour of that place (0 to 9), which the page or report replaces."""
    return f"#{place + 1:06d}"


def tier_name(tier: str | None) -> str:
    return "no call yet" if tier is None else tier.replace("_", " ")


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


def reaches(values: Sequence[float], bounds: Sequence[tuple[float | None, float | None]]) -> dict[str, object]:
    """Error bars from values to their bounds; none without a bound."""
    pairs = list(zip(values, bounds, strict=True))
    up = [math.nan if high is None or math.isinf(high) else high - value for value, (_, high) in pairs]
    down = [math.nan if low is None else value - low for value, (low, _) in pairs]
    return {"type": "data", "array": up, "arrayminus": down, "thickness": 1.2, "width": 4}


def needs_logarithm(costs: Sequence[float]) -> bool:
    """Whether an axis of costs has to be logarithmic to show the differences of small ones."""
    return bool(costs) and min(costs) > 0 and max(costs) / min(costs) > WIDE


def dollars(costs: Sequence[float]) -> dict[str, object]:
    """An axis that shows all costs with a margin, in the format of ``money``."""
    low, high = min(costs, default=0.0), max(costs, default=0.0)
    if not needs_logarithm(costs):
        return {"range": [-0.06 * (high or 1.0), 1.15 * (high or 1.0)], "tickprefix": "$", "exponentformat": "none"}
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    digits = (1, 2, 5) if len(powers) <= 3 else (1,)
    ticks = [digit * 10.0**power for power in powers for digit in digits]
    span = [math.log10(low / 1.6), math.log10(high * 1.9)]
    return {"type": "log", "range": span, "tickvals": ticks, "ticktext": [money(tick) for tick in ticks]}


def calm(figure: go.Figure, height: int) -> go.Figure:
    """The chart with the shared layout; its legend is above it."""
    legend = {"orientation": "h", "y": 1.0, "yanchor": "bottom"}
    figure.update_xaxes(tickfont={"size": TICK}, title_font={"size": TITLE})
    figure.update_yaxes(tickfont={"size": TICK}, title_font={"size": TITLE})
    return figure.update_layout(height=height, margin={"l": 8, "r": 8, "t": 8, "b": 8}, legend=legend)
