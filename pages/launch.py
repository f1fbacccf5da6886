"""Launch: choose problems and configurations, see what they come to, start."""

from __future__ import annotations

import streamlit as st

from koderz_core import Clone, KoderzError, Order, Preset
from koderz_core.models.availability import Availability
from koderz_core.plan.costs import unreviewed
from koderz_core.plan.selection import choices
from pages.ui.address import choice
from pages.ui.edge import edge
from pages.ui.frame import Opened, open_page
from pages.ui.launch_form import choose_configurations, choose_problems
from pages.ui.launch_plan import (
    agreed,
    choose_baselines,
    choose_budget,
    cloned,
    show_changes,
    show_forecast,
    show_lacking,
    show_plan,
    show_recorded,
)
from pages.ui.tables import availability_table

ABOUT = "Strategies × models × problems. It runs in the background; closing this tab stops nothing."
FRESH_SECONDS = 15.0  # how long the list of models that can run is believed


def main() -> None:
    opened = open_page("Launch", ABOUT)
    workspace = opened.workspace
    surveyed = _surveyed(str(workspace.settings.home))
    clone = cloned(workspace, opened.benchmarks)
    begin = clone.preset if clone else _preset(opened, surveyed)
    left, right = st.columns([3, 2], gap="large")
    with left:
        st.subheader("Problems")
        problems, dataset = choose_problems(workspace, begin.problems, clone.dataset if clone else "")
        st.subheader("Configurations")
        wanted = choose_configurations(workspace, begin, surveyed)
    with right:
        st.subheader("Benchmark")
        usual, of = (clone.order, f" of {clone.plan.id}") if clone else (Order(wanted), "")
        with st.container(horizontal=True):
            seed = int(st.number_input("Seed", 0, value=usual.seed, key=f"seed{of}"))
            repeats = int(
                st.number_input("Repeats", 1, value=usual.repeats, key=f"repeats{of}", help="Of every experiment.")
            )
            at_once = int(st.number_input("Concurrency", 0, 64, key="at once", help="0: as many as suit the models."))
        name = st.text_input("Name", usual.name, key=f"name{of}", help="Tells benchmarks of the same kind apart.")
        order = Order(wanted, problems, seed, repeats, str(name), choose_budget(usual.budget, of))
        _offer(opened, order, dataset, at_once or None, surveyed, clone)
    _unavailable(surveyed)


@st.cache_data(ttl=FRESH_SECONDS, show_spinner="Asking which models can run")
def _surveyed(home: str) -> list[Availability]:  # noqa: ARG001 (the key of the cache)
    from koderz_core import the_workspace  # noqa: PLC0415 (a cached function must not hold the page's)

    return the_workspace().available_models()


def _preset(opened: Opened, surveyed: list[Availability]) -> Preset:
    presets = {preset.name: preset for preset in opened.workspace.planner.presets(surveyed)}
    preset = presets[choice("preset", "Start from", list(presets), lambda name: presets[name].title, short=True)]
    st.caption(preset.description)
    return preset


def _offer(
    opened: Opened,
    order: Order,
    dataset: str,
    concurrency: int | None,
    surveyed: list[Availability],
    clone: Clone | None,
) -> None:
    """What the order comes to, the command that does the same, and the button that starts it."""
    workspace = opened.workspace
    try:
        offer, baselines = choose_baselines(workspace, order, dataset, clone)
        plan = offer.plan
        workspace.costs.check(plan)
        command = workspace.command(order, dataset, concurrency, baselines=baselines)
        remarks = workspace.judging.remarks(plan, lambda: workspace.dataset(dataset))
        show_plan(workspace, plan, (*choices(plan), *unreviewed(plan), *remarks))
    except KoderzError as error:
        st.warning("This cannot be started yet.", icon="✏️")
        st.text(str(error))
        return
    forecast = workspace.costs.forecast(plan, concurrency)
    show_forecast(forecast, plan.budget)
    if clone:
        show_changes(clone, plan)
    show_recorded(opened.benchmarks, plan)
    lacking = workspace.lacking(plan, surveyed)
    show_lacking(lacking, plan)
    started = st.button(
        "Start", "start", icon="🚀", type="primary", shortcut="ctrl+enter", disabled=bool(lacking), width="stretch"
    )
    st.caption("The same from a terminal:")
    st.code(command, language=None, wrap_lines=True)
    if agreed(plan.id, workspace.planner.concern(plan, forecast), forecast, started=started):
        with st.spinner("Starting"):
            benchmark = workspace.start(plan, concurrency, forecast)
        st.switch_page("pages/live.py", query_params={"benchmark": benchmark})


def _unavailable(surveyed: list[Availability]) -> None:
    missing = [row for row in surveyed if not row.ready]
    if missing:
        with st.expander("Models that cannot run now: why, and what to do"):
            st.dataframe(availability_table(missing), hide_index=True, alt="Models that cannot run now")


with edge():
    main()
