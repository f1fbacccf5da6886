"""New run: choose problems and configurations, see size and estimated cost, start."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import streamlit as st

from koderz_core import KoderzError, Preset, command_of
from koderz_core.errors import PlanError
from koderz_core.records import Plan
from koderz_core.records.progress import Forecast
from koderz_core.report.forecasts import kept_budget
from koderz_core.workspace.drafts import Draft
from koderz_core.workspace.models import Availability
from pages.ui.address import BENCHMARKS, go_to
from pages.ui.draft import OpenDraft, Presets, choose_preset, open_draft
from pages.ui.edge import edge
from pages.ui.frame import Page, open_page
from pages.ui.launch_form import edit, survey
from pages.ui.launch_plan import (
    confirmed,
    in_short,
    show_changes,
    show_figures,
    show_ineffective,
    show_last_run,
    show_missing_models,
    show_plan,
    show_warnings,
    under_last_budget,
)
from pages.ui.tables import availability_table
from pages.ui.text import called

ABOUT = "Choose problems, strategies and models. Benchmarks run in the background, even if you close this tab."
NOT_YET = "This benchmark cannot start yet."


def main() -> None:
    page = open_page("launch", ABOUT)
    workspace = page.workspace
    surveyed = survey(str(workspace.settings.home))
    presets = {preset.name: preset for preset in workspace.plans.presets(surveyed)}
    opened = open_draft(workspace, presets, page.benchmarks)
    start = st.container(key="starting-point")
    with start:
        choose_preset(opened, presets)
    left, right = st.columns([3, 2], gap="large")
    with left:
        opened.keep(workspace, edit(workspace, opened, surveyed))
        _show_unavailable(surveyed)
    with start:
        _show_changed(page, opened, presets)
    with right, st.container(key="summary"):
        st.header("Summary")
        _summarise(page, opened, presets.get(opened.draft.preset), surveyed)


def _show_changed(page: Page, opened: OpenDraft, presets: Presets) -> None:
    """The starting point of the draft, and what the person has changed since then."""
    cloned = next((row for row in page.benchmarks if row.id == opened.draft.clone), None)
    chosen, changed = opened.draft.preset, opened.changed
    if cloned:
        st.text(f"🧬 A clone of {called(cloned)}: change the fields whose values should differ from the original.")
    elif chosen in presets and not changed:
        st.caption(presets[chosen].description)
    if changed:
        with st.container(horizontal=True, vertical_alignment="center", key="modified"):
            st.badge("Modified", icon="✏️", color="orange")
            if not opened.clone:  # of a clone, the summary says what has changed
                st.caption(f"Changed: {', '.join(changed)}.", width="content")
            if opened.base.rows:  # none if the benchmark or preset that it started from no longer exists
                st.button("Undo all changes", "reset", icon="↩️", on_click=opened.reset)


def _summarise(page: Page, opened: OpenDraft, preset: Preset | None, surveyed: Sequence[Availability]) -> None:
    """The plan with its estimate, the button that starts it, and the equivalent command."""
    workspace, draft = page.workspace, opened.draft
    figures, bar = st.container(), st.container(key="start-bar")
    before, facts = st.container(), st.container()
    try:
        plan, forecast, sentences = _planned(page, draft)
        command = command_of(draft.order, draft.dataset, draft.concurrency, baselines=draft.baselines, preset=preset)
        with facts:
            show_plan(page, plan)
    except KoderzError as error:
        bar.text(NOT_YET)
        before.text(f"✏️ {error}")
        return
    with figures:
        show_figures(plan, forecast)
    lacking = workspace.models.lacking(plan, surveyed)
    with bar:
        st.text(in_short(plan, forecast))
        started = st.button(
            "Start", "start", icon="🚀", type="primary", shortcut="ctrl+enter", disabled=bool(lacking), width="stretch"
        )
    with before:
        show_missing_models(lacking, plan)
        show_last_run(page.benchmarks, plan, draft.started)
        show_ineffective(workspace.plans.ineffective(plan))
        show_warnings(forecast, plan.budget)
        if opened.clone:
            show_changes(opened.clone, plan)
        for line in sentences:
            st.text(line)
        st.caption("Command that starts the same benchmark in a terminal:")
        st.code(command, language=None, wrap_lines=True)
    if confirmed(plan.id, workspace.plans.concern(plan, forecast), forecast, started=started):
        with st.spinner("Starting"):
            benchmark = workspace.runs.start(plan, draft.concurrency, forecast)
        opened.keep(workspace, replace(draft, started=benchmark))
        go_to("live", **{BENCHMARKS: benchmark})


def _planned(page: Page, draft: Draft) -> tuple[Plan, Forecast, tuple[str, ...]]:
    """The plan, its estimate, and remarks on its baselines and budget. Raises KoderzError if it cannot start."""
    if not draft.dataset:
        raise PlanError("Complete your own problem, and press “Use this problem”.")
    workspace = page.workspace
    offer = workspace.plans.propose(draft.order, draft.dataset, baselines=draft.baselines)
    plan, sentences = under_last_budget(page, offer.plan), offer.sentences
    sentences = sentences if plan.budget == offer.plan.budget else (*sentences, kept_budget(plan))
    workspace.costs.check(plan)
    return plan, workspace.costs.forecast(plan, draft.concurrency), sentences


def _show_unavailable(surveyed: Sequence[Availability]) -> None:
    missing = [row for row in surveyed if not row.ready]
    if missing:
        with st.expander("Models that cannot run now, with reasons and solutions"):
            st.dataframe(availability_table(missing), hide_index=True, alt="Models that cannot run now")


with edge():
    main()
