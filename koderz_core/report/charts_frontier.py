"""The chart of cost against success: points with names and intervals, the Pareto frontier, and the baseline's cross."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from math import ceil

import plotly.graph_objects as go  # type: ignore[import-untyped]  # plotly ships no types

from koderz_core.analysis.comparison import Comparison
from koderz_core.analysis.configurations import ConfigurationFigures
from koderz_core.analysis.pairs import Key
from koderz_core.analysis.tradeoff import Point, turn
from koderz_core.report.budget import in_unit
from koderz_core.report.charts import COLOURS, GROUND, NEUTRAL, TEXT, TIERS, reaches, theme_color, tier_name
from koderz_core.report.charts_frontier_efforts import EFFORT_LINE, draw_efforts, effort_lines, efforts_alt
from koderz_core.report.charts_frontier_labels import (
    Canvas,
    Located,
    corner_label,
    labels,
    located,
    steps,
    write,
    write_corner,
)
from koderz_core.report.compositions import compositions
from koderz_core.report.cost_axis import CostAxis, cost_axis
from koderz_core.report.formats import chance, marked_rate, money, money_span, numbered, percent, plain, share_cases
from koderz_core.report.label_places import Box, text_width

FURTHEST = 2.0  # times the most expensive point: intervals are cut there, otherwise the points would crowd together
TICK, TITLE = 13, 14  # pixels of texts
MARK, HALO = 12, 34  # pixels of a mark, and of the halo of a point that is surely on the frontier
TALL = 320  # pixels of the area of the points
LEFT, RIGHT, BOTTOM = 58, 16, 58  # pixels of the margins
ENTRY, ROW, NARROWER = 40.0, 20.0, 0.9  # pixels of a sign in the legend and of a row; texts are narrower than estimated
HEADS = (30, 52)  # pixels of the title of a wide and of a narrow chart
FONT = "system-ui, sans-serif"  # a saved picture cannot contain the font of the page
LONGEST_TITLE = 90  # characters
HIDDEN = {"hoverinfo": "skip", "showlegend": False}
RING = 3  # pixels of the ring around a chosen point


@dataclass(frozen=True, slots=True)
class View:
    """How the chart is drawn.

    ``about``: dataset, problems and date, for its title. ``narrow``: for about 350 pixels, else for about 1000.
    ``by_tier``: colours mean compositions of tiers, else configurations. ``chosen``: their names come first, and their
    points have a ring. ``budget``: dollars per problem, drawn as a vertical line. ``room``: dollars and shares of
    further marks, which both axes show as well and no label covers.
    """

    about: str = ""
    narrow: bool = False
    by_tier: bool = False
    chosen: Sequence[Key] = ()
    budget: float | None = None
    room: Sequence[tuple[float, float]] = ()

    @property
    def width(self) -> int:
        return 350 if self.narrow else 1000


def cost_against_success(comparison: Comparison, view: View = View()) -> go.Figure:
    """Dollars per problem against share solved, intervals on both: up and to the left is better.

    At least one configuration has a known cost above 0.
    """
    figure, points = go.Figure(), located(comparison)
    colours = colours_of(comparison, view)
    entries = [*_legend(figure, comparison, view, points), *["simulated"] * bool(view.room)]
    canvas = canvas_of(points, view, entries)
    corner = corner_label(comparison, canvas, points, view.room)
    _baseline(figure, canvas, [(usd, point) for usd, point, row in points if row.key == comparison.baseline])
    if view.by_tier:
        _outlines(figure, canvas, points, colours)
    _intervals(figure, canvas, points, colours)
    _cases(figure, canvas, points, colours)
    _frontier(figure, canvas, points, colours)
    draw_efforts(figure, canvas, points)
    if view.budget is not None:
        budget_line(figure, canvas.costs, view.budget, (canvas.lowest, canvas.highest))
    _marks(figure, canvas, points, colours, view.chosen)
    write(figure, canvas, labels(comparison, canvas, points, view.chosen, view.room), points)
    if corner:
        write_corner(figure, canvas, corner)
    return _laid_out(figure, canvas, view)


def has_costs(comparison: Comparison) -> bool:
    """Whether there is a known cost above 0, without which ``cost_against_success`` shows nothing."""
    return any(usd > 0 for usd, _, _ in located(comparison))


def frontier_alt(comparison: Comparison) -> str:
    """The chart in words: the configurations on the frontier, and the baseline. Hostile text."""
    best = sorted((point for point in located(comparison) if point[1].on_frontier), key=lambda point: point[0])
    names = "; ".join(
        f"{row.letter} {plain(row.label)}, {percent(point.success)} solved for {money(usd)} per problem"
        for usd, point, row in best
    )
    base = f" Baseline: {comparison.of(comparison.baseline).letter}." if comparison.baseline else ""
    shown, lines = numbered(len(located(comparison)), "configuration"), efforts_alt(located(comparison))
    return (
        f"Share of problems solved against cost per problem, for {shown}. On the Pareto frontier: {names}.{base}{lines}"
    )


def chart_title(datasets: Sequence[str], problems: int, days: Sequence[str]) -> str:
    """Dataset, number of problems and dates of a chart that stands alone. Hostile text."""
    when = " to ".join(dict.fromkeys((min(days), max(days)))) if days else ""
    parts = (", ".join(dict.fromkeys(plain(name) for name in datasets)), numbered(problems, "problem"), when)
    return " · ".join(filter(None, parts))


def colours_of(comparison: Comparison, view: View) -> Mapping[Key, str]:
    """The colour of each configuration, as in the curves, or of its composition."""
    if not view.by_tier:
        return {row.key: theme_color(at % COLOURS) for at, row in enumerate(comparison.configurations)}
    groups = enumerate(compositions(comparison))
    return {row.key: theme_color(at % COLOURS) for at, group in groups for row in group.configurations}


def _legend(figure: go.Figure, comparison: Comparison, view: View, points: Sequence[Located]) -> list[str]:
    """The entries of the legend, which are traces without data; return their names."""
    if view.by_tier:
        shown = {row.composition for _, _, row in points}
        groups = enumerate(group.composition for group in compositions(comparison))
        entries = {
            escape(name): {"symbol": "hexagon", "color": theme_color(at % COLOURS)}
            for at, name in groups
            if name in shown
        }
    else:
        tiers = {row.tier for _, _, row in points}
        entries = {tier_name(tier): {"symbol": sign, "color": NEUTRAL} for tier, sign in TIERS.items() if tier in tiers}
    for name, marker in entries.items():
        figure.add_scatter(x=[None], y=[None], mode="markers", name=name, marker={**marker, "size": MARK})
    line, halo = {"color": NEUTRAL, "dash": "dot", "width": 2}, {"size": 18, "color": NEUTRAL, "opacity": 0.3}
    figure.add_scatter(x=[None], y=[None], mode="lines", name="Pareto frontier", line=line)
    figure.add_scatter(x=[None], y=[None], mode="markers", name="halo: P(frontier)", marker=halo)
    return [*entries, "Pareto frontier", "halo: P(frontier)", *([EFFORT_LINE] if effort_lines(points) else [])]


def canvas_of(points: Sequence[Located], view: View, entries: Sequence[str]) -> Canvas:
    """The area below the title and the legend, and axes that show all points with their intervals."""
    widths, room = [ENTRY + NARROWER * text_width(name) for name in entries], view.width - LEFT - RIGHT
    in_row = len(entries) if sum(widths) <= room else max(1, int(room // max(widths)))
    top = HEADS[view.narrow] + ROW * ceil(len(entries) / in_row)
    frame = Box(LEFT, top, view.width - RIGHT, top + TALL)
    shares = [share for _, point, _ in points for share in (point.success, point.success_low, point.success_high)]
    known = [100 * share for share in shares if share is not None]
    known += [100 * bound for _, point, _ in points if point.cases for bound in (point.cases.worst, point.cases.best)]
    known += [100 * share for _, share in view.room]
    return Canvas(
        frame, axis_of(points, [usd for usd, _ in view.room]), max(-4.0, min(known) - 6), min(104.0, max(known) + 6)
    )


def axis_of(points: Sequence[Located], others: Sequence[float] = ()) -> CostAxis:
    """The axis of costs, which shows all points and ``others``, and the intervals of points up to ``FURTHEST``."""
    most = FURTHEST * max(usd for usd, _, _ in points)
    bounds = [bound for _, point, _ in points for bound in (point.usd_low, point.usd_high) if bound is not None]
    return cost_axis([*others, *(usd for usd, _, _ in points)] + [min(bound, most) for bound in bounds if bound > 0])


def _baseline(figure: go.Figure, canvas: Canvas, base: Sequence[tuple[float, Point[Key]]]) -> None:
    """The baseline as a thin cross; the part that is cheaper and better is tinted."""
    left, right = canvas.costs.low, canvas.costs.high
    for usd, point in base:
        x, y = canvas.costs.shown(usd), 100 * point.success
        corners = {"x": [left, x, x, left], "y": [y, y, canvas.highest, canvas.highest]}
        figure.add_scatter(
            **corners, fill="toself", fillcolor=theme_color(2), opacity=0.1, line={"width": 0}, mode="lines", **HIDDEN
        )
        cross = {"x": [left, right, None, x, x], "y": [y, y, None, canvas.lowest, canvas.highest]}
        figure.add_scatter(**cross, line={"width": 1, "color": NEUTRAL}, opacity=0.55, mode="lines", **HIDDEN)


def _outlines(figure: go.Figure, canvas: Canvas, points: Sequence[Located], colours: Mapping[Key, str]) -> None:
    """The convex outline of the points of each colour; of two points it is a line."""
    for colour in dict.fromkeys(colours[row.key] for _, _, row in points):
        own = [(usd, point.success) for usd, point, row in points if colours[row.key] == colour]
        by_pixel = {canvas.pixel(*values): values for values in own}
        corners = [by_pixel[pixel] for pixel in outline(list(by_pixel))]
        if len(corners) < 2:
            continue
        closed = (*corners, corners[0])
        along = {
            "x": [canvas.costs.shown(usd) for usd, _ in closed],
            "y": [100 * share for _, share in closed],
            "mode": "lines",
        }
        area = {"fill": "toself", "fillcolor": colour, "line": {"width": 0}}
        figure.add_scatter(**along, **area, opacity=0.12, **HIDDEN)
        figure.add_scatter(**along, opacity=0.6, line={"color": colour, "width": 1.5}, **HIDDEN)


def outline(points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """The corners of the convex hull (monotone chain, as in ``analysis.tradeoff.hull``)."""
    halves: list[list[tuple[float, float]]] = []
    for ordered in (sorted(set(points)), sorted(set(points), reverse=True)):
        chain: list[tuple[float, float]] = []
        for x, y in ordered:
            while len(chain) > 1 and turn(chain[-2], chain[-1], (x, y)) <= 0:
                chain.pop()
            chain.append((x, y))
        halves.append(chain)
    return halves[0][:-1] + halves[1][:-1] or halves[0]


def _intervals(figure: go.Figure, canvas: Canvas, points: Sequence[Located], colours: Mapping[Key, str]) -> None:
    """Light bars in the colour of each configuration, behind its mark."""
    for colour in dict.fromkeys(colours.values()):
        own = [(usd, point) for usd, point, row in points if colours[row.key] == colour]
        if own:
            x, y = [canvas.costs.shown(usd) for usd, _ in own], [100 * point.success for _, point in own]
            costs = [(point.usd_low, point.usd_high) for _, point in own]
            shown = [(None if low is None else canvas.costs.shown(low), high) for low, high in costs]
            shares = [(percentage(point.success_low), percentage(point.success_high)) for _, point in own]
            bars = {"thickness": 1.6, "width": 0, "color": colour}
            figure.add_scatter(
                x=x,
                y=y,
                error_x={**reaches(x, shown), **bars},
                error_y={**reaches(y, shares), **bars},
                mode="markers",
                marker={"opacity": 0},
                opacity=0.45,
                **HIDDEN,
            )


def _cases(figure: go.Figure, canvas: Canvas, points: Sequence[Located], colours: Mapping[Key, str]) -> None:
    """Thin bars from the worst to the best case of missing results."""
    for usd, point, row in points:
        if point.cases:
            ends = [100 * min(point.cases.worst, point.success), 100 * max(point.cases.best, point.success)]
            figure.add_scatter(
                x=[canvas.costs.shown(usd)] * 2,
                y=ends,
                mode="lines",
                line={"width": 0.8, "color": colours[row.key]},
                **HIDDEN,
            )


def _frontier(figure: go.Figure, canvas: Canvas, points: Sequence[Located], colours: Mapping[Key, str]) -> None:
    """A step from each point on the Pareto frontier to the next; a halo for the probability of being on it."""
    corners = steps(canvas, points)
    figure.add_scatter(
        x=[canvas.costs.shown(usd) for usd, _ in corners],
        y=[100 * share for _, share in corners],
        mode="lines",
        line={"dash": "dot", "width": 2, "color": NEUTRAL},
        **HIDDEN,
    )
    likely = [(usd, point, row) for usd, point, row in points if point.probability]
    figure.add_scatter(
        x=[canvas.costs.shown(usd) for usd, _, _ in likely],
        y=[100 * point.success for _, point, _ in likely],
        mode="markers",
        marker={
            "size": [HALO * (point.probability or 0.0) ** 0.5 for _, point, _ in likely],
            "color": [colours[row.key] for _, _, row in likely],
            "opacity": 0.25,
        },
        unselected={"marker": {"opacity": 0.25}},
        **HIDDEN,
    )


def budget_line(figure: go.Figure, axis: CostAxis, usd: float, ends: tuple[float, float]) -> None:
    """The budget as a line with its amount, between two heights; what costs more is shaded."""
    if not axis.low <= usd <= axis.high:
        return
    x = axis.shown(usd)
    corners = {"x": [x, x, axis.high, axis.high], "y": [*ends, *reversed(ends)]}
    shade = {"fill": "toself", "fillcolor": NEUTRAL, "line": {"width": 0}, "opacity": 0.1}
    figure.add_scatter(**corners, **shade, mode="lines", **HIDDEN)
    figure.add_scatter(x=[x, x], y=ends, mode="lines", line={"width": 1.5, "color": TEXT}, **HIDDEN)
    figure.add_annotation(
        x=axis.position(usd),
        y=ends[0],
        text=f"budget {in_unit(usd, axis)}",
        textangle=-90,
        showarrow=False,
        xanchor="left",
        yanchor="bottom",
        xshift=2,
        font={"size": TICK, "color": TEXT},
    )


def _marks(
    figure: go.Figure,
    canvas: Canvas,
    points: Sequence[Located],
    colours: Mapping[Key, str],
    chosen: Sequence[Key],
) -> None:
    """The configurations: the colour names it, the shape its tier; all of it under the pointer."""
    edges = [edge(ring=row.key in chosen) for _, _, row in points]
    figure.add_scatter(
        x=[canvas.costs.shown(usd) for usd, _, _ in points],
        y=[100 * point.success for _, point, _ in points],
        mode="markers",
        marker={
            "symbol": [TIERS[row.tier] for _, _, row in points],
            "color": [colours[row.key] for _, _, row in points],
            "size": [MARK + RING if row.key in chosen else MARK for _, _, row in points],
            "opacity": 1,
            "line": {name: [each[name] for each in edges] for name in ("width", "color")},
        },
        **pointed([(row.key, _hover(point, row)) for _, point, row in points]),
    )


def edge(*, ring: bool) -> dict[str, object]:
    """The edge of a mark: a ring if it is chosen."""
    return {"width": RING, "color": TEXT} if ring else {"width": 1, "color": GROUND}


def pointed(points: Sequence[tuple[Key, str]]) -> dict[str, object]:
    """Options of a trace whose points can be pointed at and chosen: their keys, and their texts under the pointer.

    The key is the second of ``customdata``. A click changes no opacity.
    """
    return {
        "customdata": [(text, "/".join(key)) for key, text in points],
        "hovertemplate": "%{customdata[0]}<extra></extra>",
        "unselected": {"marker": {"opacity": 1}},
        "showlegend": False,
    }


def percentage(share: float | None) -> float | None:
    return None if share is None else 100 * share


def _hover(point: Point[Key], row: ConfigurationFigures) -> str:
    """The text of a point under the pointer. Labels are hostile text, and Plotly interprets tags."""
    success = marked_rate(point.success, point.success_low, point.success_high, row.marks)
    cost = f"{money_span(point.usd, point.usd_low, point.usd_high)} per problem"
    frontier = f"on the Pareto frontier with probability {chance(point.probability)}"
    cases = (
        f"<br>solved {share_cases(point.cases)} of all planned problems (worst to best case for missing results)"
        if point.cases
        else ""
    )
    name = f"<b>{row.letter}</b> {escape(row.label)}<br>models: {escape(row.composition)}"
    return f"{name}<br>solved {success}{cases}<br>{cost}<br>{frontier}"


def _laid_out(figure: go.Figure, canvas: Canvas, view: View) -> go.Figure:
    """With axes, title and legend. The margins are fixed, because the labels are placed for them."""
    fonts = {"tickfont": {"size": TICK, "color": TEXT}, "title_font": {"size": TITLE, "color": TEXT}}
    figure.update_xaxes(**canvas.costs.options(5 if view.narrow else 9), automargin=False, **fonts)
    if view.narrow:
        figure.update_xaxes(title_text=canvas.costs.short_title)
    span = [canvas.lowest, canvas.highest]
    figure.update_yaxes(title="Share of problems solved", range=span, ticksuffix=" %", automargin=False, **fonts)
    margin = {"l": LEFT, "r": RIGHT, "t": canvas.frame.top, "b": BOTTOM, "autoexpand": False}
    figure.update_layout(height=canvas.frame.bottom + BOTTOM, margin=margin)
    return with_title(figure, view, "Success and cost")


def with_title(figure: go.Figure, view: View, title: str) -> go.Figure:
    """With a title that explains the chart on a slide, and the legend below it."""
    about = escape(view.about if len(view.about) <= LONGEST_TITLE else f"{view.about[:LONGEST_TITLE]}…")
    text = f"<b>{title}</b>" + (f"{'<br>' if view.narrow else ' · '}{about}" if about else "")
    figure.add_annotation(
        text=text,
        x=0,
        xref="paper",
        xanchor="left",
        y=1,
        yref="paper",
        yanchor="top",
        yshift=figure.layout.margin.t - 4,
        align="left",
        showarrow=False,
        font={"size": TITLE, "color": TEXT},
    )
    return figure.update_layout(
        legend={"orientation": "h", "x": 0, "y": 1, "yanchor": "bottom", "font": {"size": TICK, "color": TEXT}},
        hoverlabel={"align": "left"},
        font_family=FONT,
        dragmode="zoom",  # else Streamlit would set another tool as soon as points can be chosen
    )
