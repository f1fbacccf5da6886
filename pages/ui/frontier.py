"""The picture of cost against success on the pages Summary and Home, in a wide and in a narrow variant."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from koderz_core.records.progress import SummaryRow
from koderz_core.records.rows import BenchmarkRow
from koderz_core.report import formats
from koderz_core.report.charts_frontier import View, chart_title, cost_against_success, frontier_alt, has_costs
from koderz_core.report.charts_success import ranked, success_alone, success_alt
from koderz_core.report.comparison import frontier_table
from koderz_core.report.compositions import composition_rows, compositions_table
from koderz_core.report.configuration_columns import configuration_rows
from koderz_core.times import day
from koderz_core.workspace.comparisons import Comparison, Key, Pair
from pages.ui.address import switch
from pages.ui.tables import frame, offer_csv, show_numbers, show_picture, show_words

COLOURS = {"configuration": "Color by configuration", "tier": "Color by tier"}


def about_picture(comparison: Comparison, rows: Sequence[SummaryRow], benchmarks: Sequence[BenchmarkRow]) -> str:
    """Dataset, problems and dates, for a picture that leaves the page. Hostile text."""
    used = {row.benchmark for row in rows}
    days = [day(row.opened_at) for row in benchmarks if row.id in used]
    problems = comparison.tradeoff.problems or max(row.problems for row in rows)
    return chart_title([row.dataset for row in rows], problems, days)


def show_frontier(comparison: Comparison, about: str, pair: Pair | None = None) -> None:
    """Cost against success, the figures behind it, and a row per composition of tiers; success alone without costs."""
    if why := _missing_costs(comparison):
        st.info(why, icon="🏷️")
    if not ranked(comparison):
        return
    by_tier = switch("colour", "Color by", list(COLOURS), COLOURS.__getitem__) == "tier"
    chosen = (pair.baseline, pair.key) if pair else ()
    views = [View(about, narrow, by_tier, chosen) for narrow in (False, True)]
    priced = has_costs(comparison)
    alt = frontier_alt(comparison) if priced else success_alt(comparison)
    with st.container(key="pictures"):
        for view in views:
            figure = cost_against_success(comparison, view) if priced else success_alone(comparison, view)
            with st.container(key="picture-narrow" if view.narrow else "picture-wide"):
                show_picture(figure, f"frontier{'-narrow' if view.narrow else ''}", alt)
    st.caption(_caption(comparison, priced=priced).replace("$", r"\$"))
    show_numbers("frontier", alt, frame(frontier_table(comparison)), configuration_rows(comparison))
    table = compositions_table(comparison)
    if table.rows:
        st.caption(f"{table.title}. A reviewer or another role is named if its tier is higher than the coder's tier.")
        show_words(table)
        offer_csv("compositions", composition_rows(comparison))


def _caption(comparison: Comparison, *, priced: bool) -> str:
    if not priced:
        return formats.success_alone(comparison)
    unpriced = [point.key for point in comparison.tradeoff.points if point.usd is None]
    return formats.frontier(comparison.tradeoff) + without(comparison, [*comparison.tradeoff.left_out, *unpriced])


def without(comparison: Comparison, keys: Sequence[Key]) -> str:
    """A sentence that names the configurations that a chart does not show; empty if it shows all."""
    letters = ", ".join(comparison.of(key).letter for key in keys)
    return f" Not shown, because results or prices are missing: {letters}." if letters else ""


def _missing_costs(comparison: Comparison) -> str:
    """Why costs are not shown; empty if they are."""
    if has_costs(comparison):
        return ""
    if not comparison.tradeoff.points:
        why = "There is no problem for which every configuration has a result."
    elif all(point.usd is None for point in comparison.tradeoff.points):
        why = "Every configuration has calls without a known price."
    else:
        why = "All calls with a known price were free of charge."
    return f"{why} The chart of cost against success cannot be drawn."
