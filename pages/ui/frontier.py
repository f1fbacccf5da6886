"""The picture of cost against success on the pages Summary and Home, in a wide and in a narrow variant."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from dataclasses import replace

import plotly.graph_objects as go  # type: ignore[import-untyped]  # plotly ships no types
import streamlit as st

from koderz_core.records.progress import SummaryRow
from koderz_core.records.rows import BenchmarkRow
from koderz_core.report import captions
from koderz_core.report.budget import budgets, in_unit, nearest, within_budget, written
from koderz_core.report.charts import file_subject
from koderz_core.report.charts_frontier import View, axis_of, chart_title, cost_against_success, frontier_alt, has_costs
from koderz_core.report.charts_frontier_labels import located
from koderz_core.report.charts_success import ranked, success_alone, success_alt
from koderz_core.report.comparison import frontier_table
from koderz_core.report.compositions import composition_rows, compositions_table
from koderz_core.report.configuration_columns import configuration_rows
from koderz_core.report.cost_axis import CostAxis
from koderz_core.report.still import still
from koderz_core.times import day
from koderz_core.workspace.comparisons import Comparison, Key, Pair
from pages.ui.address import keep, scale, switch
from pages.ui.edge import redrawn
from pages.ui.tables import chosen_point, frame, offer_csv, show_numbers, show_picture, show_words

BUDGET, NO_LIMIT = "budget", "no limit"
PAIR = "pair"  # in the address: the configuration that is compared with the baseline
CLICK = (
    "Click a point to compare its configuration with the baseline in all parts of the page. Click the point again to "
    "make its configuration the baseline."
)
COLOURS = {"configuration": "Color by configuration", "tier": "Color by tier"}


def about_picture(comparison: Comparison, rows: Sequence[SummaryRow], benchmarks: Sequence[BenchmarkRow]) -> str:
    """Dataset, problems and dates, for a picture that leaves the page. Hostile text."""
    used = {row.benchmark for row in rows}
    days = [day(row.opened_at) for row in benchmarks if row.id in used]
    problems = comparison.tradeoff.problems or max(row.problems for row in rows)
    return chart_title([row.dataset for row in rows], problems, days)


def show_frontier(comparison: Comparison, about: str, pair: Pair | None = None) -> None:
    """Cost against success, the figures behind it, and a row per composition of tiers; success alone without costs.

    ``pair``: a click on a point changes it; None: points cannot be chosen.
    """
    if why := _missing_costs(comparison):
        st.info(why, icon="🏷️")
    if not ranked(comparison):
        return
    redrawn("frontier", lambda: _draw(comparison, about, pair))
    priced = has_costs(comparison)
    st.caption(_caption(comparison, priced=priced).replace("$", r"\$"))
    alt = frontier_alt(comparison) if priced else success_alt(comparison)
    show_numbers("frontier", alt, frame(frontier_table(comparison)), configuration_rows(comparison))
    table = compositions_table(comparison)
    if table.rows:
        st.caption(
            f"{table.title}. The column `models` states the tier of the coder. If a model of another role has a higher "
            "tier, the column also states the highest tier and the role, for example `local + frontier reviewer`."
        )
        show_words(table)
        offer_csv("compositions", composition_rows(comparison))


def _draw(comparison: Comparison, about: str, pair: Pair | None) -> None:
    """The picture and its controls. A change redraws only these, unless other parts of the page depend on it."""
    before = chosen_budget(comparison)
    by_tier = switch("colour", "Color by", list(COLOURS), COLOURS.__getitem__) == "tier"
    pictures = st.container(key="pictures")
    pictures.empty()  # so that the browser keeps its place: the message for the slider arrives before the picture
    chosen = (pair.baseline, pair.key) if pair else ()
    view = View(about, by_tier=by_tier, chosen=chosen)
    alt = success_alt(comparison)
    if has_costs(comparison):
        axis = axis_of(located(comparison))
        view = replace(view, budget=_budget(axis))
        found = within_budget(comparison, axis, view.budget)
        st.text(found)
        alt = f"{frontier_alt(comparison)} {found}"
    with pictures:
        clicked = [_picture(comparison, replace(view, narrow=narrow), alt) for narrow in (False, True)]
    if pair:
        st.caption(CLICK)
        for key in filter(None, clicked):
            _choose(key, pair)
    if view.budget != before and st.query_params.get("axis") == "usd":
        st.rerun()  # the curves against dollars show the budget, too


def _picture(comparison: Comparison, view: View, alt: str) -> str | None:
    """One variant of the picture; the key of the configuration that was clicked, if there is a pair to choose."""
    draw = cost_against_success if has_costs(comparison) else success_alone
    show = chosen_point if view.chosen else show_picture
    variant = "-narrow" if view.narrow else ""
    figure = draw(comparison, view)
    with st.container(key=f"picture{variant or '-wide'}"):
        if has_costs(comparison):
            _still(figure)
        return show(figure, "frontier", alt, file_subject(comparison), variant)


def _still(figure: go.Figure) -> None:
    """The same picture without Plotly, in the place of the chart until the browser has drawn it.

    In Markdown, because the browser shows Markdown without loading another script. Markup in an image has no effect.
    """
    picture = b64encode(still(figure, st.context.theme.type or "light").encode()).decode()
    st.markdown(f"![](data:image/svg+xml;base64,{picture})")


def chosen_budget(comparison: Comparison) -> float | None:
    """The budget in the address, in dollars per problem; None: no limit."""
    amounts = budgets(axis_of(located(comparison))) if has_costs(comparison) else []
    return nearest(st.query_params.get(BUDGET, ""), amounts) if amounts else None


def _budget(axis: CostAxis) -> float | None:
    """The budget in dollars per problem, which the address holds; None: no limit."""
    amounts = {written(usd): usd for usd in budgets(axis)}
    requested = st.query_params.get(BUDGET)
    if requested and (usd := nearest(requested, list(amounts.values()))):
        keep(BUDGET, written(usd))
    labels = {name: in_unit(usd, axis) for name, usd in amounts.items()} | {NO_LIMIT: NO_LIMIT}
    per = "problem" if axis.unit == 1 else f"{axis.unit:,} problems"
    return amounts.get(scale(BUDGET, f"Budget per {per}", labels))


def _choose(clicked: str, pair: Pair) -> None:
    """Put the pair after a click into the address, and draw the page with it."""
    before = "/".join(pair.baseline), "/".join(pair.key)
    baseline, other = after = after_click(clicked, *before)
    if after == before:
        return
    if baseline != before[0]:
        keep("baseline", baseline)
    keep(PAIR, other)
    st.rerun()


def after_click(clicked: str, baseline: str, other: str) -> tuple[str, str]:
    """The baseline and the configuration that is compared with it; a second click on the latter makes it the former."""
    if clicked == other:
        return other, baseline
    return baseline, other if clicked == baseline else clicked


def _caption(comparison: Comparison, *, priced: bool) -> str:
    if not priced:
        return captions.success_alone(comparison)
    unpriced = [point.key for point in comparison.tradeoff.points if point.usd is None]
    return captions.frontier(comparison.tradeoff) + without(comparison, [*comparison.tradeoff.left_out, *unpriced])


def without(comparison: Comparison, keys: Sequence[Key]) -> str:
    """A sentence that names the configurations that a chart does not show; empty if it shows all."""
    letters = ", ".join(comparison.of(key).letter for key in keys)
    return f" Configurations not shown, because results or prices are missing: {letters}." if letters else ""


def why_without_costs(rows: Sequence[SummaryRow]) -> str:
    """Why no row has a known cost above zero, in half a sentence."""
    if not any(tier.calls for row in rows for tier in row.tiers):
        return "no finished call is recorded"
    free = all(row.cost_usd == 0 for row in rows)
    return "all calls were free of charge" if free else "no configuration has a known cost above zero"


def _missing_costs(comparison: Comparison) -> str:
    """Why costs are not shown; empty if they are."""
    if has_costs(comparison):
        return ""
    if not comparison.tradeoff.points:
        why = "There is no problem for which every configuration has a result."
    elif all(point.usd is None for point in comparison.tradeoff.points):
        cached = " or with an answer from the response cache" * any(row.cached for row in comparison.configurations)
        why = f"Every configuration has calls without a known price{cached}."
    else:
        why = "All calls with a known price were free of charge."
    return f"{why} The chart of cost against success cannot be drawn."
