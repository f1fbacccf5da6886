"""The parts of the Compare page: each answers one question by a chart or a table, its numbers, and a remark."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd  # type: ignore[import-untyped]  # pandas ships no types
import streamlit as st

from koderz_core import Workspace
from koderz_core.analysis.comparison import AXES, Comparison
from koderz_core.analysis.configurations import ConfigurationFigures
from koderz_core.analysis.incidence import Axis
from koderz_core.analysis.pairs import DiscordantProblem, Key, Pair, leading_pair
from koderz_core.records.plans import SOME_SCRIPTED
from koderz_core.records.progress import SummaryRow
from koderz_core.report import formats
from koderz_core.report.attempts import ABOUT_ATTEMPTS, attempt_rows, attempt_tables
from koderz_core.report.charts import cost_against_success, cost_by_tier
from koderz_core.report.charts_curves import curves_alt, success_by
from koderz_core.report.comparison import (
    answer,
    ceilings_table,
    common,
    configurations_table,
    curve_rows,
    curves_table,
    frontier_table,
    pairs_table,
    settings_by_row,
    settings_table,
    with_reviews,
)
from koderz_core.report.configuration_columns import configuration_rows
from koderz_core.report.formats import TextTable, numbered
from koderz_core.report.pair_columns import pair_rows
from koderz_core.report.spending import margins_table, tier_rows, tiers_table
from koderz_core.report.supervision import SHOWS, SHOWS_NOT, reviews_table, supervision_table
from pages.ui.address import choice, chosen_line, switch
from pages.ui.edge import edge
from pages.ui.slow_results import attempts_of
from pages.ui.tables import WORD_COLUMNS, frame, led_by, offer_csv, show_chart, show_words, tall
from pages.ui.text import show_diff, show_text

FEW_COLUMNS = 6  # of a table of words: more may not fit
AXIS_NAMES = {"attempts": "attempts", "usd": "dollars", "seconds": "seconds"}
LONGEST_LIST = 320  # pixels; a longer list scrolls
CONFIGURATION = "configuration"  # in the address


def chosen_axis() -> Axis:
    """What success is shown against; part of the URL."""
    named = switch("axis", "Success against", list(AXES), lambda one: AXIS_NAMES[one])
    return next(axis for axis in AXES if axis == named)


def show_answer(comparison: Comparison) -> None:
    """What it comes to, and what would mislead if it were not said, before any number."""
    found = answer(comparison)
    st.subheader(found.headline)
    st.text(found.details)
    if comparison.mixed:
        st.warning(
            f"Two kinds of scores on {numbered(comparison.mixed_problems, 'problem')}: those marked * stopped on the "
            "very tests that score them (oracle), the others are scored by tests that no loop saw (held-out). Their "
            "difference is not the strategies' alone.",
            icon="⚖️",
        )
    if comparison.across:
        st.warning(comparison.across, icon="⚖️")
    if left := sum(row.planned - row.n - row.errors - row.cancelled for row in comparison.configurations):
        st.warning(
            f"Partial: {numbered(left, 'experiment')} must still end, so every number here will move.", icon="⏳"
        )
    if comparison.scripted:
        st.warning(SOME_SCRIPTED, icon="🎭")


def show_findings(comparison: Comparison) -> None:
    """All of it in words: how sure that is, what nobody has measured, and what the columns say."""
    with st.expander("In full: how sure that is, what was not measured, what the columns say", icon="📜"):
        for said in comparison.findings:
            st.text(said)
        st.caption(formats.GROUPS)
        offer_csv("configurations", configuration_rows(comparison))


def show_frontier(comparison: Comparison) -> None:
    """Cost against success, and the figures behind it."""
    if any(point.usd is not None for point in comparison.tradeoff.points):
        alt = "Cost per problem against share solved, with intervals on both and the frontier"
        numbers = configuration_rows(comparison)
        show_chart(cost_against_success(comparison), "frontier", alt, frame(frontier_table(comparison)), numbers)
        st.caption(formats.frontier(comparison.tradeoff) + _without(comparison, comparison.tradeoff.left_out))
        return
    unpriced = any(row.cost_usd is None for row in comparison.configurations)
    why = (
        "Some call of every configuration has no known price."
        if unpriced
        else "No problem has a result of all of them."
    )
    st.info(f"{why} So there is nothing to draw cost against success with.", icon="🏷️")


def show_configurations(comparison: Comparison) -> None:
    """One line each."""
    table = configurations_table(comparison)
    show_words(table, led_by(table, "solved [95 %]"))


def show_pairs(workspace: Workspace, comparison: Comparison) -> Pair | None:
    """Every configuration against the baseline; the one that is looked at, with the problems that part the two."""
    if not comparison.pairs:
        st.info("With one configuration there is nothing to hold against it.", icon="⚖️")
        return None
    keys = {"/".join(pair.key): pair for pair in comparison.pairs}
    first = leading_pair(comparison.pairs)
    table, usual = pairs_table(comparison), "/".join(first.key) if first else ""
    st.caption(f"{table.title}. Choose a line to see which problems part the two.")
    order = led_by(table, "points [95 %]")
    options = {"column_config": WORD_COLUMNS, "column_order": order, "height": tall(table), "alt": table.title}
    chosen = keys[chosen_line(frame(table), "pair", list(keys), usual, **options)]
    offer_csv("pairs", pair_rows(comparison))
    st.caption(formats.PAIRS)
    if chosen.finding not in comparison.findings:
        st.text(chosen.finding)
    show_partings(workspace, chosen, comparison.of(chosen.key), comparison.of(chosen.baseline))
    return chosen


def show_curves(comparison: Comparison, axis: Axis, pair: Pair | None) -> None:
    """Success against what was used, each configuration to its own end."""
    if not comparison.curves[axis].curves:
        st.info("No problem has a result of all of them, or a price of it. So there is no curve to draw.", icon="📈")
        return
    looked_at = [pair.baseline, pair.key] if pair else []
    alt = curves_alt(comparison, axis)
    table = frame(curves_table(comparison, axis))
    show_chart(success_by(comparison, axis, looked_at), f"curves-{axis}", alt, table, curve_rows(comparison, axis))
    st.caption(formats.about_curves(comparison, axis) + _without(comparison, comparison.curves[axis].left_out))


def show_costs(comparison: Comparison) -> None:
    """What a solved problem cost, and to whom it was paid."""
    if any(tier.cost_usd is None or tier.cost_usd for row in comparison.configurations for tier in row.tiers):
        alt = "Dollars per solved problem by tier of model, a bar per configuration"
        show_chart(cost_by_tier(comparison), "costs", alt, frame(tiers_table(comparison)), tier_rows(comparison))
        st.caption(formats.COSTS)
    else:
        st.info("Nothing was paid.", icon="🆓")
    if comparison.margins:
        st.caption("Marginal cost per extra solved problem, from each configuration on the frontier to the next.")
        show_words(margins_table(comparison))


def show_checks(comparison: Comparison) -> None:
    """How far trying on can go, and what the supervisor contributed."""
    ceilings, told = ceilings_table(comparison), with_reviews(comparison)
    if ceilings.rows:
        show_words(ceilings)
        st.caption("Right if the gate passes: the ceiling of trying until it does.")
    else:
        st.caption("No loop stopped on other tests than those that score it, so there is no ceiling to be seen.")
    if told:
        show_words(supervision_table(told))
        show_words(reviews_table(told))
        st.caption(f"{SHOWS} {SHOWS_NOT}")


def show_differences(comparison: Comparison) -> None:
    """Only what differs, and in one line what does not."""
    table = settings_table(comparison)
    if table.rows:
        shown = settings_by_row(table)
        show_words(shown)
        if len(shown.columns) > FEW_COLUMNS:
            st.caption(f"{numbered(len(shown.columns), 'column')}: scroll the table sideways to see all of them.")
    st.text(common(comparison))


def _without(comparison: Comparison, keys: Sequence[Key]) -> str:
    letters = ", ".join(comparison.of(key).letter for key in keys)
    return f" Not shown, for lack of results or prices: {letters}." if letters else ""


def show_partings(workspace: Workspace, pair: Pair, it: ConfigurationFigures, baseline: ConfigurationFigures) -> None:
    """Every problem that one of the two solved and the other did not; the chosen one with both programs.

    Another choice draws only this part anew: nothing else hangs on it.
    """
    if not pair.partings:
        st.info("Both solved the same problems, so there is no program to look at.", icon="🟰")
        return

    @st.fragment(key="partings")
    def draw() -> None:
        with edge():
            _draw_programs(workspace, pair, it, baseline)

    draw()


def _draw_programs(workspace: Workspace, pair: Pair, it: ConfigurationFigures, baseline: ConfigurationFigures) -> None:
    st.caption(
        "Problems that one of the two solved, or solved in more of its repeats. Choose a line to read both programs."
    )
    partings = {parting.problem: parting for parting in pair.partings}
    solvers = [baseline if parting.solved_by_baseline else it for parting in partings.values()]
    table = pd.DataFrame(
        {"problem": list(partings), "solved more by": [f"{row.letter} · {row.label}" for row in solvers]}
    )
    tall: int | str = LONGEST_LIST if len(partings) > 8 else "content"
    problem = chosen_line(table, "problem", list(partings), height=tall, alt="Problems that one of the two solved")
    _programs(workspace, partings[problem], it, baseline)


def _programs(
    workspace: Workspace, parting: DiscordantProblem, it: ConfigurationFigures, baseline: ConfigurationFigures
) -> None:
    codes = (parting.baseline_code, parting.code)
    texts = workspace.results.texts([code for code in codes if code])
    sides = ((baseline, parting.baseline_experiment, codes[0]), (it, parting.experiment, codes[1]))
    for column, (row, experiment, code) in zip(st.columns(2), sides, strict=True):
        solved = parting.solved_by_baseline == (row is baseline)
        with column:
            st.text(f"{'✓ solved' if solved else '✗ unsolved'} · {row.letter} · {row.label}")
            st.page_link(
                "pages/experiment.py",
                label="Its experiment, step by step",
                icon="🔬",
                query_params={"experiment": experiment},
            )
            if program := texts.get(code or ""):
                show_text(program, f"program-{row.letter}", "python")
            else:
                st.info("It returned no program.", icon="🕳️")
    before, after = (texts.get(code or "", "") for code in codes)
    if before and after:
        st.caption(f"From {baseline.letter} to {it.letter}")
        show_diff(before, after, "diff", (baseline.letter, it.letter))


def show_attempts(workspace: Workspace, rows: Sequence[SummaryRow], comparison: Comparison, pair: Pair | None) -> None:
    """Closed until it is wanted; an address that names a configuration opens it."""
    label = "Solves, dollars, errors and repeated programs of one configuration"
    part = st.expander(label, CONFIGURATION in st.query_params, icon="🪜", on_change="rerun", key="attempt by attempt")
    if part.open:
        with part:
            _draw_attempts(workspace, rows, comparison, pair)


def _draw_attempts(workspace: Workspace, rows: Sequence[SummaryRow], comparison: Comparison, pair: Pair | None) -> None:
    named = {"/".join(configuration.key): configuration for configuration in comparison.configurations}
    looked_at = "/".join(pair.key) if pair else ""
    chosen = named[
        choice(
            CONFIGURATION,
            "Whose",
            list(named),
            lambda key: f"{named[key].letter} · {named[key].label}",
            default=looked_at,
        )
    ]
    row = next(row for row in rows if (row.benchmark, row.configuration) == chosen.key)
    found = {chosen.key: attempts_of(workspace, row)}
    tables = attempt_tables([chosen], found)
    for place, table in enumerate(tables):
        st.caption(table.title)
        show_words(_its(table))
        if not place:
            offer_csv("attempts", attempt_rows([chosen], found))
            st.caption(ABOUT_ATTEMPTS.replace("$", r"\$"))
    if not tables:
        st.info("None of its experiments has a result yet.", icon="🪜")


def _its(table: TextTable) -> TextTable:
    """Without the letter and the label: whose it is has just been chosen."""
    return TextTable(table.title, table.columns[2:], tuple(line[2:] for line in table.rows))
