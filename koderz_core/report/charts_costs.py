"""The chart of the cost per solved problem: a bar per configuration, a part per role and model."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from math import isfinite
from typing import NamedTuple

import plotly.graph_objects as go  # type: ignore[import-untyped]  # plotly ships no types

from koderz_core.analysis.comparison import Comparison
from koderz_core.analysis.configurations import ConfigurationFigures
from koderz_core.report.charts import BELOW, COLOURS, TEXT, TICK, calm, short_names, theme_color
from koderz_core.report.charts_frontier import View, with_title
from koderz_core.report.formats import count, marked_rate, money, numbered, one_line
from koderz_core.report.spending import RoleRow, role_parts

LANE, THICK = 54, 0.4  # pixels of a lane, which also has a name; the bar's share of it
NAME_SHIFT = 11  # pixels from the middle of a bar to its name
ROOM = 1.8  # the axis relative to the longest bar: its total has to fit on a phone
MOST_IN_LEGEND = 8  # roles and models; with more, the legend has only roles
MOST_IN_WORDS = 8  # configurations in the accessible name
PATTERNS = ("", "/", ".", "x", "-", "\\", "|", "+")


OVER = {"fillmode": "overlay", "fgopacity": 0.45, "solidity": 0.15, "size": 9}  # values stay readable on patterns
WORDS = {"size": TICK, "color": TEXT}
TOP, AROUND = 60, 180  # pixels of the title, and of everything except the lanes


class _Part(NamedTuple):
    role: str
    model: str


def has_role_costs(comparison: Comparison) -> bool:
    """Whether some part of a cost per solved problem is known, finite and not zero."""
    return any(_drawn(row.usd_per_solved) for row in role_parts(comparison))


def cost_by_role(comparison: Comparison, about: str = "") -> go.Figure:
    """Dollars per solved problem, with the total and the success rate at the right end of each bar.

    ``about``: dataset, problems and date, for its title.
    """
    figure, found = go.Figure(), role_parts(comparison)
    parts = _parts(found)
    looks = _looks(parts)
    several = {row.configuration.key for row in found if len(_of(found, row.configuration)) > 1}
    for part in parts:
        rows = [row for row in found if (row.of.role, row.of.model) == part]
        few = len(parts) <= MOST_IN_LEGEND
        first = next(other for other in parts if other.role == part.role) == part
        figure.add_bar(
            x=[_drawn(row.usd_per_solved) for row in rows],
            y=[row.configuration.letter for row in rows],
            orientation="h",
            width=THICK,
            name=escape(_named(part, rows) if few else one_line(part.role)),
            legendgroup=None if few else part.role,
            showlegend=few or first,
            marker=looks[part],
            text=[money(row.usd_per_solved) if row.configuration.key in several else "" for row in rows],
            textposition="inside",
            insidetextanchor="middle",
            insidetextfont={"size": TICK},
            textangle=0,
            customdata=[_hover(row) for row in rows],
            hovertemplate="%{customdata}<extra></extra>",
        )
    _lay_out(figure, comparison, _name_lanes(figure, comparison, found))
    with_title(figure, View(about, narrow=True), "Cost per solved problem")
    return figure.update_layout(legend={**BELOW, "traceorder": "normal"})


def _lay_out(figure: go.Figure, comparison: Comparison, longest: float) -> None:
    """With its axes; ``longest``: the longest bar, in dollars."""
    figure.update_layout(barmode="stack", uniformtext={"minsize": 11, "mode": "hide"})
    figure.update_xaxes(
        title="US$ per solved problem", tickprefix="$", exponentformat="none", nticks=5, range=[0, ROOM * longest]
    )
    order = [row.letter for row in comparison.configurations]
    figure.update_yaxes(
        type="category", categoryarray=order, autorange="reversed", showticklabels=False, showgrid=False
    )
    calm(figure, AROUND + LANE * len(order)).update_layout(margin_t=TOP)


def costs_alt(comparison: Comparison) -> str:
    """The accessible name of the chart: what its bars say. Hostile text."""
    rows, found = comparison.configurations, role_parts(comparison)
    names = short_names(rows)
    said = [
        f"{row.letter} {one_line(names[row.letter])}: {_total(comparison, row, found)}" for row in rows[:MOST_IN_WORDS]
    ]
    left = len(rows) - MOST_IN_WORDS
    more = f"; {numbered(left, 'more configuration')} in the table" if left > 0 else ""
    return f"Bar chart of the cost per solved problem by role and model, with success rates. {'; '.join(said)}{more}"


def _parts(found: Iterable[RoleRow]) -> list[_Part]:
    """Every role and model, the coder first, models in the order in which they appear."""
    parts = dict.fromkeys(_Part(row.of.role, row.of.model) for row in found)
    return sorted(parts, key=lambda part: (part.role != "coder", part.role))


def _looks(parts: Sequence[_Part]) -> Mapping[_Part, Mapping[str, object]]:
    """A colour per role and a pattern per model, so that both stay distinct without colour."""
    roles = list(dict.fromkeys(part.role for part in parts))
    models = list(dict.fromkeys(part.model for part in parts))
    return {
        part: {
            "color": theme_color(roles.index(part.role) % COLOURS),
            "line": {"width": 1, "color": "rgba(255,255,255,0.8)"},
            "pattern": {"shape": PATTERNS[models.index(part.model) % len(PATTERNS)], **OVER},
        }
        for part in parts
    }


def _named(part: _Part, rows: Sequence[RoleRow]) -> str:
    unpriced = sum(row.of.unpriced for row in rows)
    without = f" ({numbered(unpriced, 'call')} without a known price)" if unpriced else ""
    return f"{one_line(part.role)}: {one_line(part.model)}{without}"


def _name_lanes(figure: go.Figure, comparison: Comparison, found: Sequence[RoleRow]) -> float:
    """Write the name above each bar and the total next to it; return the length of the longest bar in dollars."""
    names, lengths = short_names(comparison.configurations), []
    for row in comparison.configurations:
        length = sum(_drawn(part.usd_per_solved) or 0.0 for part in _of(found, row))
        lengths.append(length)
        figure.add_annotation(
            x=0,
            y=row.letter,
            text=f"<b>{row.letter}</b> {escape(names[row.letter])}",
            showarrow=False,
            font=WORDS,
            xanchor="left",
            xshift=-2,
            yanchor="bottom",
            yshift=NAME_SHIFT,
        )
        figure.add_annotation(
            x=length,
            y=row.letter,
            text=_end(comparison, row, found),
            showarrow=False,
            font=WORDS,
            xanchor="left",
            xshift=4,
        )
    return max(lengths)


def _end(comparison: Comparison, row: ConfigurationFigures, found: Sequence[RoleRow]) -> str:
    """``$0.0012, 63 % solved``; the axis says that dollars are per solved problem."""
    return _total(comparison, row, found).replace(" per solved problem", "") + (" solved" if row.n else "")


def _total(comparison: Comparison, row: ConfigurationFigures, found: Sequence[RoleRow]) -> str:
    """``$0.0012 per solved problem, 63 %``: the cost, and the share solved with its marks."""
    if not row.n:
        return "no result yet"
    price = comparison.measured[row.key].price
    rate = marked_rate(row.share, None, None, row.marks)
    if price is not None:
        return f"{money(price.value)} per solved problem, {rate}"
    known = any(_drawn(part.usd_per_solved) for part in _of(found, row))
    return f"{'partly unpriced' if known else 'unpriced'}, {rate}"


def _of(found: Iterable[RoleRow], row: ConfigurationFigures) -> list[RoleRow]:
    return [part for part in found if part.configuration.key == row.key]


def _drawn(usd: float | None) -> float | None:
    """None if unknown or infinite: nothing is drawn."""
    return usd if usd is not None and isfinite(usd) else None


def _hover(row: RoleRow) -> str:
    """The text of a part under the pointer. Names are hostile text, and Plotly interprets tags."""
    configuration, cost = row.configuration, row.of
    return (
        f"<b>{configuration.letter}</b> {escape(one_line(configuration.label))}<br>"
        f"{escape(one_line(cost.role))}: {escape(one_line(cost.model))}<br>{money(row.usd_per_solved)} per solved "
        f"problem<br>{numbered(cost.calls, 'call')}, {count(cost.tokens)} tokens, {money(cost.cost_usd)} in total"
    )
