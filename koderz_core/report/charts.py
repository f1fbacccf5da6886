"""Charts of cost: dollars per solved problem by tier, and cost against success; and what all charts share.

Shared are the colours of the theme, the signs and names of tiers, lanes of configurations, and axes of dollars.
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
from koderz_core.analysis.configurations import Compared
from koderz_core.analysis.pairs import Key
from koderz_core.analysis.tradeoff import Point
from koderz_core.records import Tier
from koderz_core.report.formats import chance, marked_rate, money, money_span, share_cases

HEIGHT = 430
LETTER = 14
FURTHEST = 2.0  # times the dearest point: what reaches beyond leaves the chart, else the points would lie in a heap
FEW = 8  # configurations whose names have room beside their points; of more the letters stand there
WIDTH, MARGIN = 220.0, 50.0  # pixels on a narrow screen: what the points span, and the room on either side of it
CHARACTER, LETTERS = 7.0, 40.0  # pixels of one character, and of the letters beside a point
TALL = 0.07  # of the success: a text is as tall
NEAR = 0.02  # of the success and, relatively, of the cost: letters any closer would lie on each other
TIERS: Mapping[Tier | None, str] = {"local": "circle", "small_frontier": "square", "frontier": "diamond", None: "x"}
COLOURS = 8  # that the theme has
LONGEST_LABEL = 32
LONGEST_NAME = 24  # characters beside a point
TICK, TITLE = 12, 13  # pixels of the texts of axes
WIDE = 20.0  # costs that differ more than this many times get a logarithmic axis


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
                name=tier_name(tier) + (f", of which {unpriced} calls have no known price" if unpriced else ""),
                marker={"color": theme_color(place), "pattern": {"shape": ("", "/", "x", ".")[place]}},
                customdata=[money(value) for value in each],
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


def cost_against_success(comparison: Comparison) -> go.Figure:
    """Dollars per problem against share solved, intervals on both: up and to the left is better."""
    figure = go.Figure()
    rows = {row.key: row for row in comparison.configurations}
    points = [(point.usd, point) for point in comparison.tradeoff.points if point.usd is not None]
    _frontier(figure, points)
    letters = _letters([(usd, one.success, rows[one.key].letter) for usd, one in points])
    texts = _texts([(usd, one.success, rows[one.key]) for usd, one in points], letters)
    for place, (tier, sign) in enumerate(TIERS.items()):
        shown = [(usd, one) for usd, one in points if rows[one.key].tier == tier]
        if shown:
            x, y = [usd for usd, _ in shown], [100 * one.success for _, one in shown]
            _cases(figure, shown, theme_color(place))
            figure.add_scatter(
                x=x,
                y=y,
                error_x=reaches(x, [(one.usd_low, one.usd_high) for _, one in shown]),
                error_y=reaches(y, [(_percent(one.success_low), _percent(one.success_high)) for _, one in shown]),
                mode="markers+text",
                text=[texts.get(rows[one.key].letter, _Text("")).said for _, one in shown],
                textposition=[texts.get(rows[one.key].letter, _Text("")).side for _, one in shown],
                textfont={"size": LETTER},
                name=tier_name(tier),
                marker={"color": theme_color(place), "symbol": sign, "size": 11},
                customdata=[_told(one, rows[one.key]) for _, one in shown],
                hovertemplate="%{customdata}<extra></extra>",
            )
    axis = dollars(_costs(points))
    scale = ", logarithmic" if axis.get("type") == "log" else ""
    figure.update_xaxes(title=f"US$ per problem{scale} (95 % interval)", **axis)
    figure.update_yaxes(title="share solved (95 % interval)", range=[-3, 109], ticksuffix=" %")
    return calm(figure, HEIGHT)


def _cases(figure: go.Figure, points: Sequence[tuple[float, Point[Key]]], color: str) -> None:
    """Thin bars, behind those of the intervals, to what missing results could make of a success."""
    held = [(usd, 100 * one.success, one.cases) for usd, one in points if one.cases]
    if held:
        bounds = [(min(100 * case.worst, at), max(100 * case.best, at)) for _, at, case in held]
        y = [at for _, at, _ in held]
        figure.add_scatter(
            x=[usd for usd, _, _ in held],
            y=y,
            error_y={**reaches(y, bounds), "thickness": 0.8, "width": 0, "color": color},
            mode="markers",
            marker={"opacity": 0},
            hoverinfo="skip",
            showlegend=False,
        )


def _frontier(figure: go.Figure, points: Sequence[tuple[float, Point[Key]]]) -> None:
    """A step from each point that nobody beats to the next."""
    best = sorted((usd, 100 * one.success) for usd, one in points if one.on_frontier)
    figure.add_scatter(
        x=[usd for usd, _ in best],
        y=[success for _, success in best],
        mode="lines",
        name="Pareto frontier",
        line={"shape": "hv", "dash": "dot", "width": 1.5, "color": theme_color(6)},
        hoverinfo="skip",
    )


def _costs(points: Sequence[tuple[float, Point[Key]]]) -> list[float]:
    """What the axis has to show: the points, and their intervals as far as that leaves the points apart."""
    most = FURTHEST * max((usd for usd, _ in points), default=0.0)
    bounds = [bound for _, one in points for bound in (one.usd_low, one.usd_high) if bound is not None]
    return [usd for usd, _ in points] + [min(bound, most) for bound in bounds if bound > 0]


@dataclass(frozen=True, slots=True)
class _Text:
    """What stands beside a point, and on which side of it."""

    said: str
    side: str = "top right"


def _texts(points: Sequence[tuple[float, float, Compared]], letters: Mapping[str, str]) -> dict[str, _Text]:
    """Beside the first point of each place its letters; the name of a single one where there is room on a telephone."""
    texts = {letter: _Text(f"<b>{said}</b>") for letter, said in letters.items()}
    if len(points) > FEW:
        return texts
    names, across = short_names([row for _, _, row in points]), _across([usd for usd, _, _ in points])
    for usd, success, row in points:
        said, name = f"<b>{row.letter}</b> {escape(names[row.letter])}", names[row.letter]
        at, long = across[usd], CHARACTER * (len(name) + 2)
        level = [across[it] for it, height, other in points if other is not row and abs(height - success) < TALL]
        for side, start in (("top right", at), ("top left", at - long)):
            room = start >= -MARGIN and start + long <= WIDTH + MARGIN
            if (
                letters.get(row.letter) == row.letter
                and room
                and not any(start - LETTERS <= it <= start + long + CHARACTER for it in level)
            ):
                texts[row.letter] = _Text(said, side)
                break
    return texts


def _across(costs: Sequence[float]) -> dict[float, float]:
    """How far to the right of the cheapest point each cost lies, in pixels."""
    low, high = min(costs), max(costs)
    if needs_logarithm(costs):
        return {usd: WIDTH * log(usd / low) / log(high / low) for usd in costs}
    return {usd: WIDTH * (usd - low) / ((high - low) or 1.0) for usd in costs}


def _letters(points: Sequence[tuple[float, float, str]]) -> dict[str, str]:
    """What stands beside a point, by its letter: the letters of all that lie there too, at the first of them only."""
    there: list[tuple[float, float, list[str]]] = []
    for usd, success, letter in points:
        near = [held for at, height, held in there if abs(height - success) < NEAR and abs(at - usd) <= NEAR * at]
        if near:
            near[0].append(letter)
        else:
            there.append((usd, success, [letter]))
    return {held[0]: " ".join(held) for _, _, held in there}


def _percent(share: float | None) -> float | None:
    return None if share is None else 100 * share


def _told(point: Point[Key], row: Compared) -> str:
    """Plotly reads tags in its texts, and a label may hold a stranger's words."""
    success = marked_rate(point.success, point.success_low, point.success_high, row.marks)
    cost = f"{money_span(point.usd, point.usd_low, point.usd_high)} per problem"
    said = f"on the frontier with probability {chance(point.probability)}"
    cases = f"<br>{share_cases(point.cases)} of all that were given (worst to best case)" if point.cases else ""
    return f"<b>{row.letter}</b> {escape(row.label)}<br>solved {success}{cases}<br>{cost}<br>{said}"


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
