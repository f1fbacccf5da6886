"""The chart of success alone, for configurations without a known cost above 0: one line each, the best first."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import plotly.graph_objects as go  # type: ignore[import-untyped]  # plotly ships no types

from koderz_core.analysis.comparison import Comparison
from koderz_core.analysis.configurations import ConfigurationFigures
from koderz_core.report.charts import NEUTRAL, TEXT, TIERS, reaches, tier_name
from koderz_core.report.charts_frontier import (
    HIDDEN,
    MARK,
    TICK,
    View,
    colours_of,
    edge,
    percentage,
    pointed,
    with_title,
)
from koderz_core.report.formats import case_bounds, percent, plain, solved_rate

LANE, CLOSE, ENDS = 22, 17, 120  # pixels of a line, of a line of many, and of the rest of the chart
MANY = 20


def success_alone(comparison: Comparison, view: View) -> go.Figure:
    """Share solved of each configuration with a result, with its interval."""
    figure, rows, colours = go.Figure(), ranked(comparison), colours_of(comparison, view)
    names = _names(rows, narrow=view.narrow)
    for row in rows:
        _row(figure, row, names[row.letter], colours[row.key], ring=row.key in view.chosen)
    for tier, sign in TIERS.items():
        if any(row.tier == tier for row in rows):
            marker = {"symbol": sign, "color": NEUTRAL, "size": MARK}
            figure.add_scatter(x=[None], y=[None], mode="markers", name=tier_name(tier), marker=marker)
    order = [names[row.letter] for row in rows]
    fonts = {"tickfont": {"size": TICK, "color": TEXT}, "title_font": {"size": TICK + 1, "color": TEXT}}
    figure.update_yaxes(type="category", categoryarray=order, range=[len(rows) - 0.5, -0.5], **fonts)
    figure.update_yaxes(automargin=True, tickmode="linear", dtick=1)
    figure.update_xaxes(title="Share of problems solved", range=[-3, 103], ticksuffix=" %", nticks=6, **fonts)
    margin = {"l": 8, "r": 16, "t": 84 if view.narrow else 60, "b": 52}
    figure.update_layout(height=ENDS + (LANE if len(rows) <= MANY else CLOSE) * len(rows), margin=margin)
    return with_title(figure, view, "Success")


def _row(figure: go.Figure, row: ConfigurationFigures, lane: str, colour: str, *, ring: bool) -> None:
    """The line of a configuration: its mark, its interval, and a thin bar for missing results."""
    share = 100 * (row.share or 0.0)
    low, high = (row.rate.low, row.rate.high) if row.rate else (None, None)
    reach = reaches([share], [(percentage(low), percentage(high))])
    bars = {**reach, "thickness": 1.6, "width": 0, "color": colour}
    if row.missing and row.cases:
        ends, thin = [100 * row.cases.worst, 100 * row.cases.best], {"width": 0.8, "color": colour}
        figure.add_scatter(x=ends, y=[lane] * 2, mode="lines", line=thin, **HIDDEN)
    figure.add_scatter(x=[share], y=[lane], error_x=bars, opacity=0.5, marker={"opacity": 0}, **HIDDEN)
    mark = {"symbol": TIERS[row.tier], "color": colour, "size": MARK, "line": edge(ring=ring)}
    figure.add_scatter(
        x=[share],
        y=[lane],
        mode="markers",
        marker=mark,
        **pointed([(row.key, _hover(row))]),
    )


def success_alt(comparison: Comparison) -> str:
    """The chart in words: the best three. Hostile text."""
    best = "; ".join(f"{row.letter} {plain(row.label)} {percent(row.share)}" for row in ranked(comparison)[:3])
    return f"Share of problems solved per configuration, the best first: {best}."


def ranked(comparison: Comparison) -> list[ConfigurationFigures]:
    """The configurations with a result, the best first."""
    scored = [row for row in comparison.configurations if row.share is not None]
    return sorted(scored, key=lambda row: -(row.share or 0.0))


def _hover(row: ConfigurationFigures) -> str:
    bounds = case_bounds(row)
    missing = "of all planned problems (worst to best case for missing results)"
    cases = f"<br>solved {bounds} {missing}" if bounds else ""
    return f"<b>{row.letter}</b> {escape(row.label)}<br>solved {solved_rate(row)}{cases}"


def _names(rows: Sequence[ConfigurationFigures], *, narrow: bool) -> dict[str, str]:
    """By letter: the label without a first word that all have, shortened."""
    most = 15 if narrow else 40
    shared = len({row.label.split(" ")[0] for row in rows}) == 1 and all(" " in row.label for row in rows)
    labels = {row.letter: row.label.partition(" ")[2] if shared else row.label for row in rows}
    cut = {letter: name if len(name) <= most else f"{name[: most - 1]}…" for letter, name in labels.items()}
    return {letter: f"{escape(name)}  <b>{letter}</b>" for letter, name in cut.items()}
