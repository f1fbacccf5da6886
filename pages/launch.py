"""Launch: choose problems and configurations, see what they come to, start."""

from __future__ import annotations

import streamlit as st

from koderz_core import KoderzError, Order, Workspace
from koderz_core.analysis.power import can_show
from koderz_core.models.availability import Availability
from koderz_core.records import Plan
from koderz_core.records.forecasts import Forecast
from koderz_core.records.summaries import scripted
from pages.ui.address import choice
from pages.ui.baselines import choose_baselines
from pages.ui.budget import choose_budget, show_forecast
from pages.ui.configurations import choose_configurations
from pages.ui.edge import edge
from pages.ui.frame import Opened, open_page, show_isolation, show_origin
from pages.ui.problems import choose_problems
from pages.ui.tables import availability_table

ABOUT = "Strategies × models × problems. It runs in the background; closing this tab stops nothing."
FRESH_SECONDS = 15.0  # how long the list of models that can run is believed


def main() -> None:
    opened = open_page("Launch", ABOUT)
    workspace = opened.workspace
    surveyed = _surveyed(str(workspace.settings.home))
    presets = {preset.name: preset for preset in workspace.presets(surveyed)}
    preset = presets[choice("preset", "Start from", list(presets), lambda name: presets[name].title, short=True)]
    st.caption(preset.description)
    left, right = st.columns([3, 2], gap="large")
    with left:
        st.subheader("Problems")
        problems, dataset = choose_problems(workspace, preset.problems)
        st.subheader("Configurations")
        wanted = choose_configurations(workspace, preset, surveyed)
    with right:
        st.subheader("Benchmark")
        with st.container(horizontal=True):
            seed = int(st.number_input("Seed", 0, value=0, key="seed"))
            repeats = int(st.number_input("Repeats", 1, 20, key="repeats", help="Of every experiment."))
            at_once = int(st.number_input("At once", 0, 64, key="at once", help="0: as many as suit the models."))
        name = st.text_input("Name", key="name", help="Tells benchmarks of the same kind apart.")
        order = Order(wanted, problems, seed, repeats, str(name), choose_budget())
        _offer(opened, order, dataset, at_once or None, surveyed)
    _unavailable(surveyed)


@st.cache_data(ttl=FRESH_SECONDS, show_spinner="Asking which models can run")
def _surveyed(home: str) -> list[Availability]:  # noqa: ARG001 (the key of the cache)
    from koderz_core import the_workspace  # noqa: PLC0415 (a cached function must not hold the page's)

    return the_workspace().available_models()


def _offer(opened: Opened, order: Order, dataset: str, concurrency: int | None, surveyed: list[Availability]) -> None:
    """What the order comes to, the command that does the same, and the button that starts it."""
    workspace = opened.workspace
    try:
        offer, baselines = choose_baselines(workspace, order, dataset)
        plan = offer.plan
        workspace.costs.check(plan)
        command = workspace.command(order, dataset, concurrency, baselines=baselines)
        tested = workspace.sandbox.self_test()
        remarks = list(workspace.judging.remarks(plan, lambda: workspace.dataset(dataset)))
    except KoderzError as error:
        st.warning("This cannot be started yet.", icon="✏️")
        st.text(str(error))
        return
    experiments = len(plan.experiments())
    st.metric("experiments", experiments, help="problems × configurations × repeats")
    st.text(f"problems: {len(plan.problems)} × configurations: {len(plan.configurations)} × repeats: {plan.repeats}")
    st.caption(can_show(len(plan.problems), plan.repeats, len(plan.configurations)))
    for remark in remarks:
        st.text(remark)
    show_origin(plan.dataset)
    show_isolation(tested.isolation, tested.score)
    forecast = workspace.costs.forecast(plan, concurrency)
    show_forecast(forecast, plan.budget)
    _recorded(opened, plan)
    lacking = workspace.lacking(plan, surveyed)
    for row in lacking:
        st.text(f"{row.id} cannot run: {row.reason}. {row.cure}.")
    if scripted(plan.models()):
        st.warning("SCRIPTED models follow a script: their results show nothing about models.", icon="🎭")
    started = st.button("Start", icon="🚀", key="start", shortcut="ctrl+enter", disabled=bool(lacking), width="stretch")
    st.caption("The same from a terminal:")
    st.code(command, language=None, wrap_lines=True)
    if started:
        _start(workspace, plan, concurrency, forecast)


def _recorded(opened: Opened, plan: Plan) -> None:
    """The same order again goes on with what is recorded, which a person should know before."""
    recorded = next((row for row in opened.benchmarks if row.id == plan.id), None)
    if recorded is not None:
        st.info(
            f"{recorded.planned - recorded.left} of {recorded.planned} experiments are recorded already and are not "
            "run again. For new ones choose another seed or name.",
            icon="📼",
        )


def _start(workspace: Workspace, plan: Plan, concurrency: int | None, forecast: Forecast) -> None:
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
