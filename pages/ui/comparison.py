"""The comparison of the pages Summary, Statistics and What if: what it depends on, its charts, tables and remarks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd  # type: ignore[import-untyped]  # pandas ships no types
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from koderz_core import Workspace
from koderz_core.records.plans import SOME_SCRIPTED
from koderz_core.records.progress import SummaryRow
from koderz_core.report import captions, formats
from koderz_core.report.charts import file_subject
from koderz_core.report.charts_costs import cost_by_role, costs_alt, has_role_costs
from koderz_core.report.charts_curves import curves_alt, success_by
from koderz_core.report.charts_frontier import View
from koderz_core.report.comparison import configurations_table, curve_rows, curves_table, pairs_table
from koderz_core.report.configuration_columns import configuration_rows
from koderz_core.report.formats import money, numbered
from koderz_core.report.headline import Answer, answer
from koderz_core.report.pair_columns import pair_rows
from koderz_core.report.spending import margins_listing, roles_listing, tier_margins_table, tiers_listing
from koderz_core.workspace.comparisons import (
    AXES,
    Axis,
    Comparison,
    ConfigurationFigures,
    DiscordantProblem,
    Pair,
    leading_pair,
)
from koderz_core.workspace.names import letter, usual_baseline
from pages.ui.address import choice, chosen_line, link, switch
from pages.ui.edge import redrawn
from pages.ui.frame import Page, show_empty
from pages.ui.frontier import PAIR, chosen_budget, without
from pages.ui.pickers import choose_problem_set, choose_rows
from pages.ui.programs import show_diff, show_program
from pages.ui.slow_results import awaited_comparison, comparison_of, is_many
from pages.ui.tables import FEW_LINES, WORD_COLUMNS, frame, led_by, offer_csv, show_chart, show_words, tall
from pages.ui.text import called, worded

AXIS_NAMES = {"attempts": "attempts", "usd": "dollars", "seconds": "seconds", "tokens": "tokens", "joules": "joules"}
CONFIGURATION = "configuration"  # in the address
LIMIT = (
    " The vertical line marks the budget of {} per problem. In this chart, the budget limits the cost of each "
    "problem. In the chart of cost against success, it limits the mean cost per problem."
)


@dataclass(frozen=True, slots=True)
class Compared:
    """A comparison with the rows behind it: the ``chosen`` ones, and ``rows`` with an added baseline."""

    chosen: Sequence[SummaryRow]
    rows: Sequence[SummaryRow]
    comparison: Comparison


def open_comparison(page: Page) -> Compared | None:
    """The comparison of the chosen configurations; None if there is none yet, which the page then says."""
    if not page.chosen:
        show_empty(page.workspace, "There is nothing to compare yet.", "⚖️", "Run two configurations")
        return None
    with choices(page):
        configurations = choose_rows(page.workspace, page.chosen)
        chosen = choose_problem_set(page.workspace, configurations)
        rows = page.workspace.comparisons.with_baseline(chosen)
        baseline = _baseline(rows)
    if not rows:
        st.info("Choose at least one configuration.", icon="⚖️")
        return None
    if not is_many(rows):
        return Compared(chosen, rows, comparison_of(page.workspace, rows, baseline))
    ready = awaited_comparison(page.workspace, rows, baseline)
    return Compared(chosen, rows, ready) if ready else None


def choices(page: Page) -> DeltaGenerator:
    """The names of the chosen benchmarks, and beside them a folded place for choices within these benchmarks."""
    with st.container(horizontal=True, vertical_alignment="center", key="subject"):
        st.text(" + ".join(map(called, page.chosen)), width="content")
        return st.popover("Configurations", icon=":material/tune:", key="choices")


def _baseline(rows: Sequence[SummaryRow]) -> str | None:
    """The baseline, as ``benchmark/configuration``; None if there is nothing to compare."""
    usual = usual_baseline(rows)
    if usual is None or len(rows) < 2:
        return None
    labels = {f"{row.benchmark}/{row.configuration}": f"{letter(at)} · {row.label}" for at, row in enumerate(rows)}
    default = f"{usual.benchmark}/{usual.configuration}"
    return choice("baseline", "Baseline", list(labels), labels.__getitem__, default=default)


def chosen_axis(comparison: Comparison) -> Axis:
    """The axis against which success is drawn, of those that have curves; part of the address."""
    drawn = [axis for axis in AXES if comparison.curves[axis].curves] or AXES[:1]
    chosen = switch("axis", "Success against", drawn, AXIS_NAMES.__getitem__)
    return next(axis for axis in drawn if axis == chosen)


def show_headline(found: Answer) -> None:
    """The main findings in sentences. Hostile text."""
    with st.container(key="answer", gap="xsmall"):
        for sentence in found.sentences:
            st.text(sentence)


def show_details(found: Answer) -> None:
    """How to read the figures of the main findings. Hostile text."""
    if found.brackets:
        st.caption(found.brackets)


def answer_of(comparison: Comparison) -> Answer:
    """The main findings; about the pair that the address names first."""
    pinned = _pair_in_address(comparison)
    return answer(comparison, pinned.key if pinned else None)


def _pair_in_address(comparison: Comparison) -> Pair | None:
    requested = st.query_params.get(PAIR)
    return next((pair for pair in comparison.pairs if "/".join(pair.key) == requested), None)


def show_warnings(comparison: Comparison) -> None:
    """The warnings that a reader needs before any number."""
    if comparison.mixed:
        st.warning(
            f"Two kinds of scores are compared on {numbered(comparison.mixed_problems, 'problem')}. For "
            "configurations marked *, the tests that stop the loop also score the programs (oracle). The other "
            "configurations are scored by held-out tests, which their loops do not run. Therefore differences "
            "between these two groups are only partly due to the strategies.",
            icon="⚖️",
        )
    if comparison.across:
        st.warning("These configurations did not run on the same problems.", icon="⚖️")
        st.text(worded(comparison.across))  # may name datasets of an imported file
    if left := sum(row.planned - row.n - row.errors - row.cancelled for row in comparison.configurations):
        st.warning(f"Partial results, which may still change. Unfinished: {numbered(left, 'experiment')}.", icon="⏳")
    if comparison.scripted:
        st.warning(SOME_SCRIPTED, icon="🎭")


def show_findings(comparison: Comparison) -> None:
    """All findings in words, with their uncertainty, and the meaning of the columns."""
    with st.expander("Details: uncertainty, missing measurements, meaning of the columns", icon="📜"):
        for finding in comparison.findings:
            st.text(finding)
        st.caption(formats.GROUPS)
        offer_csv("configurations", configuration_rows(comparison))


def show_configurations(comparison: Comparison) -> None:
    """One line each."""
    table = configurations_table(comparison)
    show_words(table, led_by(table, "solved [95 %]"))


def addressed_pair(comparison: Comparison) -> Pair | None:
    """The pair in the address, else the one that ``show_pairs`` shows at first."""
    return _pair_in_address(comparison) or leading_pair(comparison.pairs) or next(iter(comparison.pairs), None)


def show_pairs(workspace: Workspace, comparison: Comparison) -> Pair | None:
    """Every configuration against the baseline; the chosen one, with the problems on which the two differ."""
    if not comparison.pairs:
        st.info("There is only one configuration, so there is nothing to compare.", icon="⚖️")
        return None
    keys = {"/".join(pair.key): pair for pair in comparison.pairs}
    first = leading_pair(comparison.pairs)
    table, usual = pairs_table(comparison), "/".join(first.key) if first else ""
    st.caption(f"{table.title}. Choose a row to see the problems on which the configuration differs from the baseline.")
    options = {
        "column_config": WORD_COLUMNS,
        "column_order": led_by(table, "points [95 %]"),
        "height": tall(len(table.rows)),
        "alt": table.title,
    }
    chosen = keys[chosen_line(frame(table), PAIR, list(keys), usual, **options)]
    offer_csv("pairs", pair_rows(comparison))
    st.caption(formats.PAIRS)
    if chosen.finding not in comparison.findings:
        st.text(chosen.finding)
    _show_differing_problems(workspace, chosen, comparison.of(chosen.key), comparison.of(chosen.baseline))
    return chosen


def show_curves(comparison: Comparison, axis: Axis, pair: Pair | None, about: str = "") -> None:
    """Success against what was spent, each configuration up to its own maximum. ``about``: as ``about_picture``."""
    if not comparison.curves[axis].curves:
        st.info("No configuration has a result, so no curve can be drawn.", icon="📈")
        return
    if missing := captions.missing_curves(comparison):
        st.caption(missing)
    view = View(about, chosen=(pair.baseline, pair.key) if pair else (), budget=chosen_budget(comparison))
    limit = LIMIT.format(money(view.budget)) if axis == "usd" and view.budget else ""
    alt, rows = curves_alt(comparison, axis) + limit, curve_rows(comparison, axis)
    table = frame(curves_table(comparison, axis))
    show_chart(success_by(comparison, axis, view), f"curves-{axis}", alt, table, rows, file_subject(comparison))
    left_out = without(comparison, comparison.curves[axis].left_out)
    st.caption((captions.about_curves(comparison, axis) + limit + left_out).replace("$", r"\$"))


def show_costs(comparison: Comparison, about: str = "") -> None:
    """Cost per solved problem: a chart by role and model, and a table by tier. ``about``: as ``about_picture``."""
    if has_role_costs(comparison):
        roles, alt = roles_listing(comparison), costs_alt(comparison)
        figure, table = cost_by_role(comparison, about), frame(roles.table)
        show_chart(figure, "costs-by-role", alt, table, roles.numbers, file_subject(comparison))
    elif any(
        row.cached or tier.cost_usd is None or tier.cost_usd for row in comparison.configurations for tier in row.tiers
    ):
        st.info("No configuration has a known cost per solved problem, so no chart can be drawn.", icon="🏷️")
    elif not any(tier.calls for row in comparison.configurations for tier in row.tiers):
        st.info("No finished call is recorded, so there are no costs.", icon="🏷️")
    else:
        st.info("All calls were free of charge.", icon="🆓")
    if (tiers := tiers_listing(comparison)).rows:
        st.caption(tiers.title)
        show_words(tiers.table)
        offer_csv("costs", tiers.numbers)
        st.caption(formats.COSTS)
    if comparison.margins:
        st.caption(
            "Marginal cost: the additional dollars per additional solved problem. Each row compares two neighbouring "
            "configurations on the Pareto frontier."
        )
        show_words(margins_listing(comparison).table)
    if (by_tier := tier_margins_table(comparison)).rows:
        st.caption(by_tier.title)
        show_words(by_tier)


def _show_differing_problems(
    workspace: Workspace, pair: Pair, other: ConfigurationFigures, baseline: ConfigurationFigures
) -> None:
    """Every problem that only one of the two solved; the chosen one with both programs.

    A choice redraws only this part, because nothing else depends on it.
    """
    if not pair.test.n:
        return  # the finding says that no problem has a result of both
    if not pair.partings:
        st.info("Both configurations solved the same problems, so there are no programs to compare.", icon="🟰")
        return
    redrawn("partings", lambda: _choose_problem(workspace, pair, other, baseline))


def _choose_problem(
    workspace: Workspace, pair: Pair, other: ConfigurationFigures, baseline: ConfigurationFigures
) -> None:
    st.caption(
        "Problems that only one of the two configurations solved, or that one configuration solved in a larger share "
        "of its repeats than the other configuration. Choose a row to read both programs."
    )
    partings = {parting.problem: parting for parting in pair.partings}
    solvers = [baseline if parting.solved_by_baseline else other for parting in partings.values()]
    table = pd.DataFrame(
        {"problem": list(partings), "better configuration": [f"{row.letter} · {row.label}" for row in solvers]}
    )
    options = {"height": tall(len(partings), FEW_LINES), "alt": "Problems that one configuration solved more often"}
    problem = chosen_line(table, "problem", list(partings), **options)
    _show_programs(workspace, partings[problem], other, baseline)


def _show_programs(
    workspace: Workspace, parting: DiscordantProblem, other: ConfigurationFigures, baseline: ConfigurationFigures
) -> None:
    codes = (parting.baseline_code, parting.code)
    texts = workspace.results.texts([code for code in codes if code])
    sides = ((baseline, parting.baseline_experiment, codes[0]), (other, parting.experiment, codes[1]))
    for column, (row, experiment, code) in zip(st.columns(2), sides, strict=True):
        solved = parting.solved_by_baseline == (row is baseline)
        with column:
            st.text(f"{'✓ solved' if solved else '✗ unsolved'} · {row.letter} · {row.label}")
            link("experiment", "Steps of this experiment", "🔬", experiment=experiment)
            if program := texts.get(code or ""):
                show_program(program, f"program-{row.letter}")
            else:
                st.info("This configuration returned no program.", icon="🕳️")
    before, after = (texts.get(code or "", "") for code in codes)
    if before and after:
        st.caption(f"Differences between the programs of {baseline.letter} and {other.letter}")
        letters = (baseline.letter, other.letter)
        row_of = workspace.results.experiment(parting.experiment).experiment
        show_diff(before, after, "diff", letters, lambda: workspace.experiments.given_files(row_of))
