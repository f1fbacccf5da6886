"""Registration of a benchmark: the fields on New run, and on Statistics what was planned, done and changed."""

from __future__ import annotations

from dataclasses import replace
from typing import get_args

import streamlit as st

from koderz_core.records.registrations import StoppingRule
from koderz_core.report.formats import NONE
from koderz_core.report.registration import STOPPING, registration_tables
from koderz_core.workspace.comparisons import Comparison
from koderz_core.workspace.drafts import Draft, RegistrationOrder, pair_typed
from pages.ui.draft import OpenDraft

ABOUT = (
    "Record the primary comparison, its margin and the stopping rule before the first model call. Every report then "
    "shows what was planned, what was done and what changed. The summary on this page shows a hash of the "
    "registration, which you can publish before the first model call."
)
ABOUT_PRIMARY = (
    "The configuration to compare and its baseline, separated by a comma. Enter the letter (A is the first "
    "configuration) or the label of each. If this field is empty, the benchmark must have exactly two configurations, "
    "and the configuration with the strategy `direct` is the baseline."
)
ABOUT_MARGIN = (
    "A configuration matches the baseline if its success rate is significantly above a threshold: the baseline's "
    "success rate minus this number of percentage points."
)
ABOUT_EXCLUSIONS = "Results that you will exclude, described in your own words."
RULES: tuple[StoppingRule, ...] = get_args(StoppingRule)


def choose_registration(opened: OpenDraft, draft: Draft) -> Draft:
    """The draft with the registration that is entered; None if the switch is off."""
    initial = draft.registration or RegistrationOrder()
    if not st.toggle("Register this benchmark", bool(draft.registration), key=opened.key("register"), help=ABOUT):
        return replace(draft, registration=None)
    with st.container(horizontal=True):
        names = ",".join(initial.primary or ())
        key, usual = opened.key("primary"), "A,B"
        pair = st.text_input("Primary comparison", names, key=key, placeholder=usual, help=ABOUT_PRIMARY)
        key, now = opened.key("registered margin"), 100 * initial.margin
        low, high = min(0.1, now), max(99.9, now)  # a cloned margin may be beyond these bounds
        margin = st.number_input("Margin (percentage points)", low, high, now, 1.0, key=key, help=ABOUT_MARGIN)
    rule = st.radio(
        "Stopping rule", RULES, RULES.index(initial.stopping), STOPPING.__getitem__, key=opened.key("stopping")
    )
    key = opened.key("exclusions")
    exclusions = st.text_input("Exclusions (optional)", initial.exclusions, key=key, help=ABOUT_EXCLUSIONS)
    primary = pair_typed(str(pair)) if str(pair).strip() else None
    order = RegistrationOrder(primary, round(margin / 100, 6), rule, str(exclusions))
    return replace(draft, registration=order)


def show_registrations(comparison: Comparison) -> None:
    """What was planned and what was done, for each registered benchmark. Hostile text."""
    for table in registration_tables(comparison.registered):
        st.header(table.title)
        for what, planned, done in table.rows:
            places = st.columns([1, 2, 3])
            places[0].caption(what)
            for place, word, text in ((places[1], "Planned", planned), (places[2], "Done", done)):
                if text != NONE:
                    place.text(f"{word}: {text}")
