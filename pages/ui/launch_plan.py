"""The plan of a launch: size, forecast, budget, baselines, missing models, agreement to its cost, and cloning."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import streamlit as st

from koderz_core import Clone, Concern, Order, Workspace
from koderz_core.models.availability import Availability
from koderz_core.plan.baselines import Offer
from koderz_core.records import Budget, Plan
from koderz_core.records.forecasts import Forecast, Range, Receipt
from koderz_core.records.plans import scripted
from koderz_core.records.rows import BenchmarkRow
from koderz_core.report.forecasts import LAST_RUN, between, receipt
from koderz_core.report.formats import count, duration, money, numbered
from pages.ui.address import keep, meant
from pages.ui.frame import show_isolation, show_origin
from pages.ui.slow_results import prepared
from pages.ui.text import called, worded

AGREED_KEY = "agreed to"
ABOUT_BASELINES = (
    "Also ask the stronger models and the coder directly, on the same problems. Without that nothing measured says "
    "what supervision adds, or what it saves."
)
MOST_CLONE_LINKS = 4  # of which all fit on a line or two
CLONE_KEY = "clone"  # in the address, and of what is kept for the session


def show_plan(workspace: Workspace, plan: Plan, remarks: Iterable[str]) -> None:
    """Its size, what that can show, and what it stands on. Raises SandboxError, StoreError."""
    st.metric("experiments", len(plan.experiments()), help="problems × configurations × repeats")
    st.text(f"problems: {len(plan.problems)} × configurations: {len(plan.configurations)} × repeats: {plan.repeats}")
    st.text(workspace.comparing.can_show(plan))
    for remark in remarks:
        st.text(remark)
    show_origin(plan.dataset)
    # Its first self-test takes seconds on a busy machine, and whoever fills in the page need not wait for it.
    tested = prepared("sandbox", workspace.sandbox.self_test, _say_it_is_tested)
    if tested:
        show_isolation(tested.isolation, tested.score)


def _say_it_is_tested() -> None:
    st.caption("Isolation of programs: the self-test of the sandbox is running.")


def show_recorded(benchmarks: Sequence[BenchmarkRow], plan: Plan) -> None:
    """The same order again goes on with what is recorded, which a person should know before."""
    recorded = next((row for row in benchmarks if row.id == plan.id), None)
    if recorded is not None:
        st.info(
            f"{recorded.planned - recorded.left} of {recorded.planned} experiments are recorded already and are not "
            "run again. For new ones choose another seed or name.",
            icon="📼",
        )


def show_lacking(lacking: Iterable[Availability], plan: Plan) -> None:
    """The models that cannot be asked now, and those that are none."""
    for row in lacking:
        st.text(worded(f"{row.id} cannot run: {row.reason}. {row.cure}."))
    if scripted(plan.models()):
        st.warning("SCRIPTED models follow a script: their results show nothing about models.", icon="🎭")
        st.page_link("pages/models.py", label="What other models lack, and what to do", icon="🩺")


def choose_budget(usual: Budget, of: str) -> Budget:
    """What a person allows to be spent; what is left empty has no limit. It is ``usual`` until it is changed.

    ``of``: sets widgets apart from those of another launch.
    """
    with st.container(horizontal=True):
        usd = st.number_input(
            "Budget ($)",
            0.0,
            value=usual.usd,
            key=f"budget{of}",
            help="For the whole benchmark. Experiments that it does not cover have no result and can be resumed.",
        )
        each = st.number_input(
            "Per experiment ($)",
            0.0,
            value=usual.per_experiment_usd,
            key=f"budget each{of}",
            help="An experiment that uses it up counts as unsolved.",
        )
    allow_unpriced = st.checkbox(
        "Allow unpriced models",
        usual.allow_unpriced,
        key=f"allow unpriced{of}",
        help="They count as $0.",
        disabled=usd is None and each is None,
    )
    return Budget(usd, each, allow_unpriced)


def show_forecast(forecast: Forecast, budget: Budget) -> None:
    """What is left to do will probably cost and take that, and in nine of ten cases at most so much."""
    if forecast.unknown:
        st.caption("No estimate yet: there are no comparable finished experiments.")
    elif forecast.experiments:
        with st.container(horizontal=True):
            _told("calls, about", forecast.calls, lambda number: count(round(number)))
            _told("price, about", forecast.cost_usd, money)
            _told("time, about", forecast.seconds, duration)
        st.caption(f"Estimated from {numbered(forecast.past, 'finished experiment')}.")
    for model in forecast.unpriced:
        st.text(f"No price is known for {model}.")
    if forecast.may_exceed(budget.usd):
        st.text(f"{money(budget.usd)} for all of it, what is spent already included, may not be enough.")


def _told(label: str, expected: Range | None, shown: Callable[[float], str]) -> None:
    """Nothing where it is not known."""
    if expected:
        most = f"9 in 10: at most {shown(expected.p90)}"
        about = "In half of the cases it is less."
        st.metric(label, shown(expected.p50), most, delta_color="off", delta_arrow="off", help=about)


def show_receipt(came_to: Receipt | None) -> None:
    """What the last run of a benchmark that has come to its end cost and took, beside what was foretold."""
    if came_to:
        st.text(receipt(came_to, LAST_RUN))


def agreed(benchmark: str, concern: Concern | None, forecast: Forecast, *, started: bool) -> bool:
    """Whether it may begin: at once where there is nothing to agree to, else after the dialog that ``started`` opens.

    ``benchmark``: the id that is agreed to, and no other.
    """
    if started and concern:
        _ask(benchmark, concern, forecast)
    said_so = st.session_state.pop(AGREED_KEY, None) == benchmark
    return said_so or (started and concern is None)


@st.dialog("Start this?")
def _ask(benchmark: str, concern: Concern, forecast: Forecast) -> None:
    if st.session_state.get(AGREED_KEY) == benchmark:
        st.rerun()  # the dialog goes, and the page begins it
    for reason in concern.reasons:
        st.text(f"⚠️ {reason}")
    st.text(f"Left to do: {numbered(forecast.experiments, 'experiment')}.")
    if forecast.tells:
        st.text(f"Price: {between(forecast.cost_usd, money)}.\nTime: {between(forecast.seconds, duration)}.")
    st.text(concern.cap)
    st.text(concern.where)
    st.caption("From when on you are asked, is a setting: `confirm_usd` and `confirm_hours`.")
    with st.container(horizontal=True):
        st.button("Start it", type="primary", icon="🚀", key="agree", on_click=_agree, args=[benchmark])
        if st.button("Not now", key="not now"):
            st.rerun()


def _agree(benchmark: str) -> None:
    st.session_state[AGREED_KEY] = benchmark


def choose_baselines(workspace: Workspace, order: Order, dataset: str, clone: Clone | None) -> tuple[Offer, bool]:
    """The plan of an order with the baselines it lacks, unless the person wants none. Raises as ``Planner.offer``.

    A ``clone`` has had those that it was to have.
    """
    lacking = workspace.planner.lacking(order)
    of = f" of {clone.plan.id}" if clone else ""
    wanted = st.checkbox(
        "Measure baselines too", value=clone is None, key=f"baselines{of}", disabled=not lacking, help=ABOUT_BASELINES
    )
    offer = workspace.planner.offer(order, dataset, baselines=wanted)
    for line in offer.told:
        st.text(line)
    return offer, wanted


def clone_links(rows: Sequence[BenchmarkRow]) -> None:
    """The ways to a clone of each of a few benchmarks; of many, each has its own on Overview and Live."""
    if len(rows) > MOST_CLONE_LINKS:
        return
    with st.container(horizontal=True, vertical_alignment="center", key="clones"):
        for row in rows:
            st.text(called(row), width="content")
            clone_link(row.id)


def clone_link(benchmark: str) -> None:
    """The way to Launch, filled with what a benchmark was planned as."""
    st.page_link("pages/launch.py", label="Clone", icon="🧬", query_params={CLONE_KEY: benchmark})


def cloned(workspace: Workspace, benchmarks: Sequence[BenchmarkRow]) -> Clone | None:
    """The benchmark that the address asks to begin with, None if it asks for none. Raises as ``Planner.clone``."""
    asked = st.query_params.get(CLONE_KEY)
    if asked is None:
        return None
    rows = {row.id: row for row in benchmarks}
    chosen = meant(asked, list(rows))
    if chosen not in rows:
        st.warning(
            "The address asks for a benchmark that is not here. This is what else you can begin with.", icon="🔎"
        )
        keep(CLONE_KEY, None)
        return None
    clone = _read(workspace, rows[chosen])
    with st.container(horizontal=True, vertical_alignment="center"):
        st.text(f"🧬 A clone of {called(rows[chosen])}: change what should differ.")
        st.page_link("pages/launch.py", label="Begin with a preset instead", icon="↩️")
    return clone


def _read(workspace: Workspace, row: BenchmarkRow) -> Clone:
    """Read once for each session: a journal is long. One that has grown since is read anew."""
    read: tuple[tuple[str, int], Clone] | None = st.session_state.get(CLONE_KEY)
    now = (row.id, row.planned)
    if read is None or read[0] != now:
        with st.spinner("Reading its plan"):
            read = st.session_state[CLONE_KEY] = (now, workspace.planner.clone(row.id))
    return read[1]


def show_changes(clone: Clone, plan: Plan) -> None:
    """What makes this another benchmark than the cloned one; a name may make it the same nevertheless."""
    changed = clone.changed(plan)
    if changed and plan.id == clone.plan.id:
        st.text(f"Not as recorded: {changed}. Under its name this extends {plan.id}; another name makes another one.")
    elif changed:
        st.text(f"Not as recorded: {changed}. So this is another benchmark than {clone.plan.id}.")
