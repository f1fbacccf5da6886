"""The chart of pass@k and pass^k against k: measured as solid lines, extrapolated as dashed lines in their bands."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

import plotly.graph_objects as go  # type: ignore[import-untyped]  # plotly ships no types

from koderz_core.analysis.comparison import Comparison
from koderz_core.analysis.configurations import ConfigurationFigures
from koderz_core.analysis.pairs import Key
from koderz_core.analysis.rates import Interval
from koderz_core.analysis.sampling import DrawKind, Draws, PassRate
from koderz_core.report.charts import BELOW, COLOURS, TEXT, TICK, calm, draw_band, short_names, theme_color
from koderz_core.report.formats import marked_rate
from koderz_core.report.sampling import Found, draws_of

HEIGHT, TOP = 440, 16
LEAST, MOST = -3, 106  # percent at the ends of the axis of success
MOST_BANDS = 2  # more would hide each other; then only the selected two have bands
NAMES = {"any_passes": "pass@k", "all_pass": "pass^k"}
CAPTION = (
    "The upper line of each color is pass@k and the lower line is pass^k; both start at the success rate of one draw. "
    "Solid lines and filled marks show measured values; dashed lines and open marks show values that koderz "
    "extrapolated with a fitted statistical model. "
    "Bands are pointwise 95 % intervals: each interval applies to one k, not to the whole curve. With more than two "
    "configurations, only the selected pair has bands."
)


@dataclass(frozen=True, slots=True)
class Line:
    """pass@k and pass^k of a configuration. ``name``: escaped, for the legend."""

    row: ConfigurationFigures
    draws: Draws
    name: str
    colour: str
    strong: bool


def success_by_draws(comparison: Comparison, found: Found, kind: DrawKind, chosen: Sequence[Key]) -> go.Figure:
    """A fan per configuration: pass@k rises and pass^k falls from the same point. ``chosen``: as in ``View``."""
    figure, lines = go.Figure(), _lines(comparison, found, kind, chosen)
    for line in lines:
        for name in NAMES:
            _drawn(figure, line, name)
    last = max(rate.k for line in lines for rate in line.draws.rates)
    ticks = [k for k in (digit * 10**power for power in range(7) for digit in (1, 2, 5)) if k <= last]
    options = {"tickvals": ticks, "ticktext": [f"{k:,}" for k in ticks]}
    figure.update_xaxes(title="Draws per problem (k, logarithmic)", type="log", zeroline=False, **options)
    figure.update_yaxes(title="Share of problems", range=[LEAST, MOST], ticksuffix=" %")
    figure = calm(figure, HEIGHT).update_layout(margin={"t": TOP}, hovermode="closest", legend=BELOW)
    return figure.update_layout(hoverlabel_font={"size": TICK, "color": TEXT})


def draws_alt(comparison: Comparison, found: Found, kind: DrawKind) -> str:
    """The chart in words: both values at the largest measured k of each configuration."""
    ends = []
    for row, draws in draws_of(comparison, found, kind):
        rate = next(rate for rate in draws.rates if rate.k == draws.most)
        values = (marked_rate(of.value, None, None, row.marks) for of in (rate.any_passes, rate.all_pass))
        ends.append(f"{row.letter} {' and '.join(values)} with {rate.k} draws")
    return f"pass@k and pass^k against the number of draws per problem: {'; '.join(ends)}."


def _lines(comparison: Comparison, found: Found, kind: DrawKind, chosen: Sequence[Key]) -> list[Line]:
    places = {row.key: place for place, row in enumerate(comparison.configurations)}
    several = list(draws_of(comparison, found, kind))
    names, few = short_names(comparison.configurations), len(several) <= MOST_BANDS
    return [
        Line(
            row,
            draws,
            f"<b>{row.letter}</b> {escape(names[row.letter])}",
            theme_color(places[row.key] % COLOURS),
            few or row.key in chosen,
        )
        for row, draws in several
    ]


def _drawn(figure: go.Figure, line: Line, name: str) -> None:
    """Bands below the lines; the dashed line starts at the largest measured k, so that no gap is left."""
    measured = [rate for rate in line.draws.rates if not rate.extrapolated]
    beyond = [rate for rate in line.draws.rates if rate.extrapolated]
    for rates, dash in ((measured, "solid"), ([*measured[-1:], *beyond], "dash")):
        if dash == "dash" and not beyond:
            continue
        if line.strong:
            _band(figure, line, rates, name)
        shown = rates if dash == "solid" else rates[1:]
        figure.add_scatter(
            x=[rate.k for rate in rates],
            y=[100 * _of(rate, name).value for rate in rates],
            mode="lines",
            line={"color": line.colour, "dash": dash, "width": 3 if line.strong else 1.5},
            name=line.name,
            legendgroup=line.name,
            showlegend=dash == "solid" and name == "any_passes",
            hoverinfo="skip",
        )
        figure.add_scatter(
            x=[rate.k for rate in shown],
            y=[100 * _of(rate, name).value for rate in shown],
            mode="markers",
            marker={
                "color": line.colour,
                "size": 7 if line.strong else 5,
                "symbol": "circle-open" if dash == "dash" else "circle",
            },
            customdata=[_pointed(line, rate, name) for rate in shown],
            hovertemplate="%{customdata}<extra></extra>",
            legendgroup=line.name,
            showlegend=False,
        )


def _band(figure: go.Figure, line: Line, rates: Sequence[PassRate], name: str) -> None:
    bounds = [_of(rate, name) for rate in rates]
    low, high = (
        [100 * (bound or 0.0) for bound in side] for side in ([of.low for of in bounds], [of.high for of in bounds])
    )
    draw_band(figure, [rate.k for rate in rates], (low, high), line.colour, line.name)


def _pointed(line: Line, rate: PassRate, name: str) -> str:
    """``A direct: pass@5 62 % [49, 73], extrapolated``, escaped."""
    of = _of(rate, name)
    what = NAMES[name].replace("k", str(rate.k))
    value = marked_rate(of.value, of.low, of.high, line.row.marks)
    return f"{line.name}: {what} = {value}{', extrapolated' if rate.extrapolated else ''}"


def _of(rate: PassRate, name: str) -> Interval:
    found: Interval = getattr(rate, name)
    return found
