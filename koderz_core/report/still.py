"""A still picture of the chart of cost against success: the marks, lines and texts that Plotly draws, as SVG.

A browser shows it at once. Plotly appears later, because the browser must first load and run four megabytes of code.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape, unescape
from typing import Any

import plotly.graph_objects as go  # type: ignore[import-untyped]  # plotly ships no types

from koderz_core.report.benchmark_report_html import LOOKS
from koderz_core.report.charts_frontier import ENTRY, FONT, HEADS, NARROWER, ROW
from koderz_core.report.formats import plain
from koderz_core.report.label_places import text_width

Part = Mapping[str, Any]  # Any: a part of Plotly's JSON
COLOUR = re.compile(r"#0000(0[1-8]|3[678])\b")
GREYS = {"light": ("#808495", "#E6EAF1"), "dark": ("#E6EAF1", "#31333F")}  # Streamlit's: neutral marks, grid
TAG, WEIGHTS = re.compile(r"(</?[bi]>)"), {"<b>": "font-weight='bold'", "<i>": "font-style='italic'"}
DOTS, BREAK = 'stroke-dasharray="3 3"', "<br>"
RISE, LEADING = 0.35, 1.3  # of the size of a text: from its middle to its baseline, and from line to line
LIFT, PADDING = 5, 2  # pixels below and between the entries of the legend; around a text at a point
LEAST_STEP = 40  # pixels between two ticks
BELOW, TITLE_BELOW, TITLE_LEFT, BESIDE = 16, 39, 50, 8  # pixels from the area to the middle of its outer texts
SIGNS = {  # one pixel across
    "circle": "M-.5 0A.5 .5 0 1 1 .5 0A.5 .5 0 1 1-.5 0Z",
    "square": "M-.5-.5H.5V.5H-.5Z",
    "diamond": "M0-.65L.65 0L0 .65L-.65 0Z",
    "hexagon": "M0-.5L.43-.25V.25L0 .5L-.43 .25V-.25Z",
    "x": "M-.2-.5L0-.3L.2-.5L.5-.2L.3 0L.5 .2L.2 .5L0 .3L-.2 .5L-.5 .2L-.3 0L-.5-.2Z",
}


def still(figure: go.Figure, look: str) -> str:
    """A figure of ``cost_against_success`` as SVG as wide as its place; ``look``: ``light`` or ``dark``."""
    chart = figure.to_plotly_json()
    layout, traces = chart["layout"], chart["data"]
    margin, area = layout["margin"], _area(layout)
    shown = "".join(part for trace in traces if list(trace["x"]) != [None] for part in _trace(area, trace))
    entries = [trace for trace in traces if list(trace["x"]) == [None]]
    texts = (*_axes(area, layout), *_legend(entries, layout), *_annotations(area, layout))
    place = f'x="{margin["l"]}" y="{margin["t"]}" height="{area.tall}" '
    place += f'width="calc(100% - {margin["l"] + margin["r"]}px)"'
    picture = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="100%" height="{layout["height"]}" font-family="{FONT}">'
        f'<svg {place} overflow="visible">{"".join(_grid(area, look))}</svg><svg {place}>{shown}</svg>'
        f'<svg {place} overflow="visible">{"".join(texts)}</svg></svg>'
    )
    return COLOUR.sub(lambda found: colours(look)[found[1]], picture)


def colours(look: str) -> Mapping[str, Any]:
    """The colours of the theme, by the last two digits of their placeholders."""
    theme: Any = LOOKS[look]
    series = {f"{place:02}": colour for place, colour in enumerate(theme["colours"], start=1)}
    return {**series, "36": GREYS[look][0], "37": theme["text"], "38": theme["ground"]}


@dataclass(frozen=True, slots=True)
class _Area:
    """The area of the points: its height in pixels, and the values at its edges."""

    tall: float
    xs: Sequence[float]
    ys: Sequence[float]
    logarithmic: bool

    def x(self, value: float) -> float:
        """Percent from the left."""
        return self.across(math.log10(value) if self.logarithmic else value)

    def across(self, position: float) -> float:
        """Percent from the left, of a value in the coordinates of Plotly's annotations."""
        return 100 * (position - self.xs[0]) / (self.xs[1] - self.xs[0])

    def y(self, value: float) -> float:
        """Pixels from the top."""
        return self.tall * (self.ys[1] - value) / (self.ys[1] - self.ys[0])


def _area(layout: Part) -> _Area:
    axis, margin = layout["xaxis"], layout["margin"]
    tall = layout["height"] - margin["t"] - margin["b"]
    return _Area(tall, axis["range"], layout["yaxis"]["range"], axis["type"] == "log")


def _trace(area: _Area, trace: Part) -> Iterator[str]:
    """The area, the lines, the error bars and the marks of a trace."""
    points = list(zip(trace["x"], trace["y"], strict=True))
    yield f'<g opacity="{trace.get("opacity", 1)}">'
    if "lines" in trace["mode"]:
        yield _lines(area, points, trace)
    for name, across in (("error_x", True), ("error_y", False)):
        if bars := trace.get(name):
            yield from _bars(area, points, bars, across=across)
    if "markers" in trace["mode"] and trace["marker"].get("opacity") != 0:
        for place, (x, y) in enumerate(points):
            yield _sign(f"{area.x(x):.3f}%", area.y(y), _of(trace["marker"], place))
    yield "</g>"


def _bars(area: _Area, points: Sequence[tuple[float, float]], bars: Part, *, across: bool) -> Iterator[str]:
    """The error bars of points; none where a bound is unknown."""
    line = {"line": {"width": bars["thickness"], "color": bars["color"]}}
    for (x, y), down, up in zip(points, bars["arrayminus"], bars["array"], strict=True):
        if not math.isnan(down + up):
            yield _lines(area, [(x - down, y), (x + up, y)] if across else [(x, y - down), (x, y + up)], line)


def _of(marker: Part, place: int) -> Part:
    """The mark of one point of a trace."""
    return {
        name: _of(value, place) if isinstance(value, dict) else value[place] if isinstance(value, list) else value
        for name, value in marker.items()
    }


def _lines(area: _Area, points: Sequence[tuple[float | None, float | None]], trace: Part) -> str:
    """A line, or an area with a colour. Its coordinates are percent across and pixels down."""
    path, pen = "", "M"
    for x, y in points:
        path += "" if x is None or y is None else f"{pen}{area.x(x):.3f} {area.y(y):.2f}"
        pen = "M" if x is None else "L"
    line = trace["line"]
    style = f'fill="{trace.get("fillcolor", "none")}" vector-effect="non-scaling-stroke"'
    style += f' stroke="{line["color"]}" stroke-width="{line["width"]}"' if "color" in line else ""
    style += f" {DOTS}" if "dash" in line else ""
    box = f'width="100%" height="{area.tall}" viewBox="0 0 100 {area.tall}" preserveAspectRatio="none"'
    return f'<svg {box} overflow="visible"><path d="{path}" {style}/></svg>'


def _sign(x: str, y: float, marker: Part) -> str:
    """A mark; the width of its edge does not grow with it."""
    edge = marker.get("line", {"width": 0, "color": "none"})
    style = f'fill="{marker["color"]}" fill-opacity="{marker.get("opacity", 1)}" stroke="{edge["color"]}"'
    pen = f'stroke-width="{edge["width"]}" vector-effect="non-scaling-stroke"'
    path = f'<path d="{SIGNS[marker.get("symbol", "circle")]}" transform="scale({marker["size"]})" {style} {pen}/>'
    return f'<svg x="{x}" y="{y:.2f}" overflow="visible">{path}</svg>'


def _grid(area: _Area, look: str) -> Iterator[str]:
    for tick in _ticks(area):
        line = f'y1="{area.y(tick):.2f}" y2="{area.y(tick):.2f}" stroke="{GREYS[look][1]}"'
        yield f'<line x1="0" x2="100%" {line}/>'


def _ticks(area: _Area) -> Sequence[float]:
    """As Plotly: the smallest step of 2, 5 or 10 times a power of ten with room for its texts."""
    low, high = area.ys
    rough = (high - low) / (min(max(area.tall / LEAST_STEP, 4), 9) + 1)
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * digit for digit in (2, 5, 10) if power * digit >= rough)
    return [step * place for place in range(math.ceil(low / step), math.floor(high / step) + 1)]


def _axes(area: _Area, layout: Part) -> Iterator[str]:
    """The texts of both axes."""
    x, y = layout["xaxis"], layout["yaxis"]
    for tick in _ticks(area):
        yield _text(f"{tick:g}{y['ticksuffix']}", "0", -BESIDE, area.y(tick), y["tickfont"], "end")
    for value, text in zip(x["tickvals"], x["ticktext"], strict=True):
        yield _text(text, f"{area.x(value):.3f}%", 0, area.tall + BELOW, x["tickfont"], "middle")
    yield _text(x["title"]["text"], "50%", 0, area.tall + TITLE_BELOW, x["title"]["font"], "middle")
    turned = _text(y["title"]["text"], "0", 0, 0, y["title"]["font"], "middle")
    yield f'<g transform="translate({-TITLE_LEFT} {area.tall / 2}) rotate(-90)">{turned}</g>'


def _legend(entries: Sequence[Part], layout: Part) -> Iterator[str]:
    """The signs and names above the area, in one row or, in a narrow chart, below each other in columns."""
    font, top = layout["legend"]["font"], layout["margin"]["t"]
    title = HEADS[any(BREAK in note["text"] for note in layout["annotations"])]
    rows = round((top - title) / ROW)
    widths = [ENTRY + LIFT + NARROWER * text_width(unescape(entry["name"])) for entry in entries]
    in_row = math.ceil(len(entries) / rows)
    for place, entry in enumerate(entries):
        row, column = divmod(place, in_row)
        left = sum(widths[:place]) if rows == 1 else column * max(widths)
        y = ROW * (row + 0.5 - rows) - LIFT
        if "lines" in entry["mode"]:
            line = entry["line"]
            style = f'stroke="{line["color"]}" stroke-width="{line["width"]}" {DOTS}'
            yield f'<line x1="{left + 5}" x2="{left + 35}" y1="{y}" y2="{y}" {style}/>'
        else:
            yield _sign(str(left + ENTRY / 2), y, entry["marker"])
        yield _text(entry["name"], "0", left + ENTRY, y, font, "start")


def _annotations(area: _Area, layout: Part) -> Iterator[str]:
    """Texts, and lines that lead from a point to its text. All but those at points start at the upper left corner."""
    for note in layout["annotations"]:
        at_point = note.get("xref", "x") == "x"
        x, y = (f"{area.across(note['x']):.3f}%", area.y(note["y"])) if at_point else ("0", 0.0)
        content = _leader(note) if note["showarrow"] else "".join(_note(note))
        yield f'<svg x="{x}" y="{y:.2f}" overflow="visible">{content}</svg>'


def _leader(note: Part) -> str:
    """The line from a point to its text, which starts outside the mark."""
    ends = (note["ax"], note["ay"])
    x, y = (note["standoff"] * end / (math.hypot(*ends) or 1.0) for end in ends)
    return f'<line x1="{x:.2f}" y1="{y:.2f}" x2="{ends[0]:.2f}" y2="{ends[1]:.2f}" stroke="{note["arrowcolor"]}"/>'


def _note(note: Part) -> Iterator[str]:
    """The lines of a text; a turned one reads upwards."""
    font, right, down = note["font"], note.get("xshift", 0), -note.get("yshift", 0)
    if "textangle" in note:
        text = _text(note["text"], "0", BESIDE / 2, right + font["size"] / 2 + PADDING, font, "start")
        yield f'<g transform="rotate(-90)">{text}</g>'
        return
    anchor = {"left": "start", "right": "end"}.get(note["xanchor"], "middle")
    right += {"start": PADDING, "end": -PADDING}.get(anchor, 0)
    down += font["size"] * LEADING / 2 if note.get("yanchor") == "top" else 0
    for place, line in enumerate(note["text"].split(BREAK)):
        yield _text(line, "0", right, down + place * font["size"] * LEADING, font, anchor)


def _text(text: str, x: str, right: float, y: float, font: Part, anchor: str) -> str:
    """A text ``right`` of ``x``, with its middle at ``y``. Hostile: only bold and italic tags are interpreted."""
    parts = (_tag(part) if TAG.fullmatch(part) else escape(plain(unescape(part))) for part in TAG.split(text))
    place = f'x="{x}" dx="{right:.2f}" y="{y + RISE * font["size"]:.2f}" text-anchor="{anchor}"'
    style = f'font-size="{font["size"]}" fill="{font["color"]}" xml:space="preserve"'
    return f"<text {place} {style}>{''.join(parts)}</text>"


def _tag(tag: str) -> str:
    return "</tspan>" if tag.startswith("</") else f"<tspan {WEIGHTS[tag]}>"
