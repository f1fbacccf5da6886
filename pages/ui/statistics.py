"""Sections of the page Statistics, each with its tables and remarks; the slow ones are folded."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import streamlit as st

from koderz_core import Workspace
from koderz_core.records.progress import SummaryRow
from koderz_core.report.attempts import attempts_section
from koderz_core.report.charts import file_subject
from koderz_core.report.charts_sampling import CAPTION, draws_alt, success_by_draws
from koderz_core.report.comparison import ceilings_table, common, settings_by_row, settings_table, with_reviews
from koderz_core.report.equal_cost import PER_PROBLEM, TITLE, equal_cost_chart, equal_cost_section
from koderz_core.report.formats import TextTable, numbered
from koderz_core.report.noise_words import noise_section
from koderz_core.report.sampling import draws_of, sampling_section
from koderz_core.report.sections import Section
from koderz_core.report.slices import slice_section
from koderz_core.report.supervision import SHOWS, SHOWS_NOT, reviews_listing, supervision_table
from koderz_core.report.trust import MOST_SHOWN, trust_section, trust_signs
from koderz_core.workspace.comparisons import SLICES_BY, Comparison, Key, Pair
from koderz_core.workspace.uncertainty import COSTS, EqualCost, Uncertainty
from pages.ui.address import address_of, choice, link, switch
from pages.ui.comparison import CONFIGURATION
from pages.ui.slow_results import cached, names_of, prepare
from pages.ui.tables import FEW_LINES, frame, led_by, offer_csv, show_chart, show_picture, show_words, tall

AXIS, NOISE, DRAWS, SLICES, TRUST = "equal", "noise", "draws", "by", "trust"  # in the address
FEW_COLUMNS = 6  # of a table in words; more may not fit
LEADING = ("k", "pass@k [95 %]", "pass^k [95 %]", "coverage [95 %]", "selected [95 %]", "$ per extra solve [95 %]")
"""Columns right after the letter, so that they are visible on a narrow screen."""
ABOUT_SAMPLING = (
    "pass@k, pass^k, coverage (share of experiments in which at least one tested program is right), and price of one "
    "further draw on every problem"
)
ABOUT_TRUST = (
    "Do models recall published solutions, or cheat on the tests? koderz compares the results on the original "
    "problems with the results on variants of these problems, and scans the recorded programs without executing them."
)


def show_equal_cost(
    workspace: Workspace, rows: Sequence[SummaryRow], comparison: Comparison, pair: Pair | None
) -> None:
    """Folded; an address that names the amount opens it."""
    label = (
        "Share of problems solved at equal cost per problem (in dollars, tokens, seconds or joules), with simultaneous "
        "95 % bands"
    )
    part = st.expander(label, AXIS in st.query_params, icon="⚖️", on_change="rerun", key="equal cost")
    if not part.open:
        return
    with part:
        chosen = switch(AXIS, "Equal", COSTS, PER_PROBLEM.__getitem__)
        axis = next(axis for axis in COSTS if axis == chosen)
        found = cached(workspace, rows, workspace.uncertainty.equal_cost, comparison.baseline, axis)
        _draw_equal_cost(comparison, found, pair)


def _draw_equal_cost(comparison: Comparison, found: EqualCost, pair: Pair | None) -> None:
    section = equal_cost_section(comparison, found)
    first, *others = section.remarks
    st.text(first)  # it may name sources of energy, which are texts of a journal
    if found.why:
        return
    chosen = (pair.baseline, pair.key) if pair else ()
    orders, areas, breadth = (listing.table for listing in section.listings[:3])
    figure, name = equal_cost_chart(comparison, found, chosen), f"equal-{found.axis}"
    alt = f"{TITLE}: {'; '.join(': '.join(row[:2]) for row in orders.rows)}"
    show_chart(figure, name, alt, frame(orders), section.listing("bands").numbers, file_subject(comparison))
    for table, leading in ((orders, ""), (areas, "area [95 %]"), (breadth, "all attempts")):
        if table.rows:
            st.caption(table.title.replace("$", r"\$"))
            show_words(table, led_by(table, leading) if leading else None)
    for remark in others:
        st.text(remark)


def show_noise(workspace: Workspace, rows: Sequence[SummaryRow], comparison: Comparison, pair: Pair | None) -> None:
    """Folded; an address with ``noise`` opens it."""
    label = (
        "Sources of variance, effect of more problems or repeats on the standard error, and contribution of each "
        "problem to the comparison"
    )
    part = st.expander(label, NOISE in st.query_params, icon="🎲", on_change="rerun", key="sources of uncertainty")
    if part.open:
        with part:
            found = cached(workspace, rows, workspace.uncertainty.noise, comparison.baseline)
            linked = len({row.dataset_sha256 for row in rows}) == 1
            _draw_noise(comparison, found, pair.key if pair else None, linked=linked)


def _draw_noise(comparison: Comparison, found: Uncertainty, pair: Key | None, *, linked: bool) -> None:
    section = noise_section(comparison, found, pair)
    first, *others = section.remarks
    st.text(first)
    for name in ("sources", "designs", "carriers"):
        if (table := section.listing(name).table).rows:
            st.caption(table.title)
            show_words(table, led_by(table, "standard error") if "standard error" in table.columns else None)
    offer_csv("noise", section.listing("sources").numbers)
    _show_items(section, linked=linked)
    for remark in others:
        st.text(remark)


def _show_items(section: Section, *, linked: bool) -> None:
    """Every problem; ``linked``: with a link to its experiments, which needs ids that are unique."""
    table = section.listings[-1].table
    if not table.rows:
        return
    st.caption(table.title)
    shown = frame(table)
    if linked:
        shown.insert(1, "experiments", [address_of("problems", problem=problem) for problem in shown["problem"]])
    columns = {"experiments": st.column_config.LinkColumn(display_text="open", width="small")}
    height = tall(len(table.rows), FEW_LINES)
    st.dataframe(shown, hide_index=True, column_config=columns, height=height, alt=table.title)
    offer_csv("problem-shares", section.listing("problems").numbers)


def show_sampling(workspace: Workspace, rows: Sequence[SummaryRow], comparison: Comparison, pair: Pair | None) -> None:
    """Folded, because reading all programs and fitting takes a while; an address that names the draws opens it."""
    part = st.expander(ABOUT_SAMPLING, DRAWS in st.query_params, icon="🎲", on_change="rerun", key="sampling")
    if part.open:
        with part:
            _draw_sampling(workspace, rows, comparison, pair)


def _draw_sampling(workspace: Workspace, rows: Sequence[SummaryRow], comparison: Comparison, pair: Pair | None) -> None:
    found, kind = cached(workspace, rows, workspace.comparisons.sampling), None
    if kinds := list(dict.fromkeys(draws.kind for _, draws in draws_of(comparison, found))):
        chosen = switch(DRAWS, "Kind of draw", kinds, lambda kind: f"{kind} as draws")
        kind = next(known for known in kinds if known == chosen)
        figure = success_by_draws(comparison, found, kind, (pair.baseline, pair.key) if pair else ())
        show_picture(figure, "pass-at-k", draws_alt(comparison, found, kind), file_subject(comparison))
        st.caption(CAPTION)
        offer_csv("pass-at-k", sampling_section(comparison, found).listing("rates").numbers)
    section = sampling_section(comparison, found, kind)
    for table in section.tables:
        st.caption(table.title)
        first = [name for name in LEADING if name in table.columns]
        show_words(table, ["key", *first, *(name for name in table.columns if name and name not in first)])
    for remark in section.remarks:
        st.text(remark)


def show_trust(workspace: Workspace, rows: Sequence[SummaryRow], comparison: Comparison) -> None:
    """Folded, because it reads all programs; an address that names it opens it."""
    st.caption(ABOUT_TRUST)
    part = st.expander(
        "Checks for recalled solutions and cheating",
        TRUST in st.query_params,
        icon="🔎",
        on_change="rerun",
        key=TRUST,
    )
    if not part.open:
        return
    with part:
        work = partial(cached, workspace, rows, workspace.trust.check, read=True)
        found = prepare(f"trust of {names_of(rows)}", work, _show_reading)
        if found is None:
            return
        section = trust_section(comparison, found)
        for table in section.tables:
            st.caption(table.title)
            show_words(table)
        if found.dated:
            slices = cached(workspace, rows, workspace.comparisons.slices, "year", comparison.baseline)
            by_year = slice_section(comparison, slices).listing("rows").table
            st.caption(by_year.title)
            show_words(by_year)
        for sign, experiments in trust_signs(found):
            with st.container(horizontal=True, key=f"sign-{sign}"):
                st.caption(f"Experiments with the sign “{sign}”:")
                for experiment in experiments[:MOST_SHOWN]:
                    link("experiment", experiment, "🔬", experiment=experiment)
        offer_csv(TRUST, section.listing("configurations").numbers)
        for remark in section.remarks:
            st.text(remark)


def _show_reading() -> None:
    st.info("Reading the recorded programs …", icon="⏳")


def show_checks(comparison: Comparison) -> None:
    """The ceiling of further attempts, and the contribution of the supervisor."""
    ceilings, supervised = ceilings_table(comparison), with_reviews(comparison)
    if ceilings.rows:
        show_words(ceilings)
        st.caption(
            "Verifier precision: of the programs that pass the gate, the share that also passes the held-out tests. "
            "This share is the ceiling: the success rate cannot exceed it, whatever the number of attempts."
        )
    else:
        st.caption(
            "Verifier precision cannot be shown: either the tests that stop each loop also score its programs, or no "
            "configuration has a loop."
        )
    if supervised:
        show_words(supervision_table(supervised))
        show_words(reviews_listing(supervised).table)
        st.caption(f"{SHOWS} {SHOWS_NOT}")


def show_slices(workspace: Workspace, rows: Sequence[SummaryRow], comparison: Comparison) -> None:
    """Folded; an address that names a division of the problems opens it."""
    label = "Success rates and differences by difficulty, topic, tag, kind or year of the problems"
    part = st.expander(label, SLICES in st.query_params, icon="🍰", on_change="rerun", key="slices")
    if not part.open:
        return
    with part:
        by = switch(SLICES, "Divide the problems by", SLICES_BY, str)
        chosen = next(known for known in SLICES_BY if known == by)
        found = cached(workspace, rows, workspace.comparisons.slices, chosen, comparison.baseline)
        section = slice_section(comparison, found)
        listing = section.listing("rows")
        table = listing.table
        st.caption(table.title)
        first, last = ("slice", "key"), ("configuration",)
        show_words(table, [*first, *(name for name in table.columns if name and name not in first + last), *last])
        offer_csv("slices", listing.numbers)
        for remark in section.remarks:
            st.text(remark)


def show_differences(comparison: Comparison) -> None:
    """The settings that differ, and in one line those that do not."""
    table = settings_table(comparison)
    if table.rows:
        shown = settings_by_row(table)
        show_words(shown)
        if len(shown.columns) > FEW_COLUMNS:
            st.caption(f"{numbered(len(shown.columns), 'column')}: scroll the table sideways to see all of them.")
    st.text(common(comparison))


def show_attempts(workspace: Workspace, rows: Sequence[SummaryRow], comparison: Comparison, pair: Pair | None) -> None:
    """Folded; an address that names a configuration opens it."""
    label = "Solved problems, cost, errors and repeated programs per attempt of one configuration"
    part = st.expander(label, CONFIGURATION in st.query_params, icon="🪜", on_change="rerun", key="attempt by attempt")
    if part.open:
        with part:
            _draw_attempts(workspace, rows, comparison, pair)


def _draw_attempts(workspace: Workspace, rows: Sequence[SummaryRow], comparison: Comparison, pair: Pair | None) -> None:
    by_key = {"/".join(configuration.key): configuration for configuration in comparison.configurations}
    labels = {key: f"{configuration.letter} · {configuration.label}" for key, configuration in by_key.items()}
    usual = "/".join(pair.key) if pair else ""
    chosen = by_key[choice(CONFIGURATION, "Configuration", list(labels), labels.__getitem__, default=usual)]
    row = next(row for row in rows if row.key == chosen.key)
    attempts = cached(workspace, [row], workspace.comparisons.attempts)
    section = attempts_section([chosen], attempts)
    tables = section.tables
    for place, table in enumerate(tables):
        st.caption(table.title)
        unlabelled = tuple(line[2:] for line in table.rows)  # without letter and label, which the choice shows
        show_words(TextTable(table.title, table.columns[2:], unlabelled))
        if not place:
            offer_csv("attempts", section.listing("attempts").numbers)
            st.caption(" ".join(section.remarks).replace("$", r"\$"))
    if not tables:
        st.info("No experiment of this configuration has a result yet.", icon="🪜")
