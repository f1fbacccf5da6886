"""Launch: choose problems and configurations, see size and estimated cost, start."""

from __future__ import annotations

import streamlit as st

from koderz_core import Clone, KoderzError, Order, Preset, command_of
from koderz_core.workspace.models import Availability
from pages.ui.address import BENCHMARKS, choice, go_to
from pages.ui.edge import edge
from pages.ui.frame import Page, open_page
from pages.ui.launch_form import choose_configurations, choose_problems
from pages.ui.launch_plan import (
    choose_baselines,
    choose_budget,
    clone_in_address,
    confirmed,
    show_changes,
    show_forecast,
    show_missing_models,
    show_plan,
    show_recorded,
)
from pages.ui.tables import availability_table

ABOUT = "Choose problems, strategies and models. Benchmarks run in the background, even if you close this tab."
FRESH_SECONDS = 15.0  # how long the list of models that can run is cached


def main() -> None:
    page = open_page("launch", ABOUT)
    workspace = page.workspace
    surveyed = _surveyed(str(workspace.settings.home))
    clone = clone_in_address(workspace, page.benchmarks)
    preset = clone.preset if clone else _preset(page, surveyed)
    left, right = st.columns([3, 2], gap="large")
    with left:
        st.subheader("Problems")
        problems, dataset = choose_problems(workspace, preset.problems, clone.dataset if clone else "")
        st.subheader("Configurations")
        wanted = choose_configurations(workspace, preset, surveyed)
    with right:
        st.subheader("Benchmark")
        usual, of = (clone.order, f" of {clone.plan.id}") if clone else (Order(wanted), "")
        with st.container(horizontal=True):
            seed = int(st.number_input("Seed", 0, value=usual.seed, key=f"seed{of}"))
            repeats = int(
                st.number_input(
                    "Repeats",
                    1,
                    value=usual.repeats,
                    key=f"repeats{of}",
                    help="Number of experiments per configuration and problem.",
                )
            )
            at_once = int(
                st.number_input(
                    "Concurrency", 0, 64, key="at once", help="0: koderz chooses a number that suits the models."
                )
            )
        name = st.text_input("Name", usual.name, key=f"name{of}", help="Distinguishes benchmarks with the same plan.")
        order = Order(wanted, problems, seed, repeats, str(name), choose_budget(usual.budget, of))
        _offer(page, order, dataset, at_once or None, surveyed, clone)
    _show_unavailable(surveyed)


@st.cache_data(ttl=FRESH_SECONDS, show_spinner="Checking which models can run")
def _surveyed(home: str) -> list[Availability]:  # noqa: ARG001 (the key of the cache)
    from koderz_core import the_workspace  # noqa: PLC0415 (a cached function must not hold the page's)

    return the_workspace().models.survey()


def _preset(page: Page, surveyed: list[Availability]) -> Preset:
    presets = {preset.name: preset for preset in page.workspace.plans.presets(surveyed)}
    preset = presets[choice("preset", "Preset", list(presets), lambda name: presets[name].title, short=True)]
    st.caption(preset.description)
    return preset


def _offer(
    page: Page,
    order: Order,
    dataset: str,
    concurrency: int | None,
    surveyed: list[Availability],
    clone: Clone | None,
) -> None:
    """The plan with its estimate, the button that starts it, and the equivalent command."""
    workspace = page.workspace
    try:
        offer, baselines = choose_baselines(workspace, order, dataset, clone)
        plan = offer.plan
        workspace.costs.check(plan)
        command = command_of(order, dataset, concurrency, baselines=baselines)
        show_plan(workspace, plan, workspace.runs.remarks(plan))
    except KoderzError as error:
        st.warning("This benchmark cannot start yet.", icon="✏️")
        st.text(str(error))
        return
    forecast = workspace.costs.forecast(plan, concurrency)
    show_forecast(forecast, plan.budget)
    if clone:
        show_changes(clone, plan)
    show_recorded(page.benchmarks, plan)
    lacking = workspace.models.lacking(plan, surveyed)
    show_missing_models(lacking, plan)
    started = st.button(
        "Start", "start", icon="🚀", type="primary", shortcut="ctrl+enter", disabled=bool(lacking), width="stretch"
    )
    st.caption("Command that starts the same benchmark in a terminal:")
    st.code(command, language=None, wrap_lines=True)
    if confirmed(plan.id, workspace.plans.concern(plan, forecast), forecast, started=started):
        with st.spinner("Starting"):
            benchmark = workspace.runs.start(plan, concurrency, forecast)
        go_to("live", **{BENCHMARKS: benchmark})


def _show_unavailable(surveyed: list[Availability]) -> None:
    missing = [row for row in surveyed if not row.ready]
    if missing:
        with st.expander("Models that cannot run now, with reasons and solutions"):
            st.dataframe(availability_table(missing), hide_index=True, alt="Models that cannot run now")


with edge():
    main()
