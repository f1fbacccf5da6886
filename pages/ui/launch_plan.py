"""The plan of a launch: size, estimate, budget, baselines, missing models, confirmation of its cost, and cloning."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import streamlit as st

from koderz_core import Clone, Concern, Order, Proposal, Workspace
from koderz_core.records import Budget, Plan
from koderz_core.records.plans import scripted
from koderz_core.records.progress import Forecast, Range, Receipt
from koderz_core.records.rows import BenchmarkRow
from koderz_core.report.forecasts import LAST_RUN, between, receipt
from koderz_core.report.formats import count, duration, money, numbered, plain
from koderz_core.workspace.models import Availability
from pages.ui.address import keep, link, matching_option
from pages.ui.frame import show_isolation, show_origin
from pages.ui.slow_results import prepare
from pages.ui.text import called, worded

CONFIRMED = "confirmed benchmark"
ABOUT_BASELINES = (
    "Also run the strategy `direct` on the same problems: with the coder, and with every spec or reviewer model that "
    "belongs to the tier frontier or small frontier. Without these baselines, the benchmark cannot show what "
    "supervision adds or saves."
)
MOST_CLONE_LINKS = 4  # that fit on a line or two
CLONE_KEY = "clone"  # in the address and in the session


def show_plan(workspace: Workspace, plan: Plan, remarks: Iterable[str]) -> None:
    """Its size, the smallest difference it can show, dataset and isolation. Raises SandboxError, StoreError."""
    st.metric("experiments", len(plan.experiments()), help="problems × configurations × repeats")
    sizes = ((len(plan.problems), "problem"), (len(plan.configurations), "configuration"), (plan.repeats, "repeat"))
    st.text(" × ".join(numbered(number, thing) for number, thing in sizes))
    st.text(workspace.comparisons.can_show(plan))
    for remark in remarks:
        st.text(remark)
    show_origin(plan.dataset)
    # On a busy machine the first self-test takes seconds; the form can be used meanwhile.
    self_test = prepare("sandbox", workspace.grading.sandbox.self_test, _show_self_test_runs)
    if self_test:
        show_isolation(self_test.isolation, self_test.score)


def _show_self_test_runs() -> None:
    st.caption("Isolation of programs: the self-test of the sandbox is running.")


def show_recorded(benchmarks: Sequence[BenchmarkRow], plan: Plan) -> None:
    """Say that the same plan continues a recorded benchmark."""
    recorded = next((row for row in benchmarks if row.id == plan.id), None)
    if recorded is not None:
        st.info(
            f"Already recorded: {recorded.planned - recorded.left} of {recorded.planned} experiments. koderz does not "
            "run recorded experiments again. To run them again, choose another seed or name.",
            icon="📼",
        )


def show_missing_models(lacking: Iterable[Availability], plan: Plan) -> None:
    """The models that cannot be called now, and a warning about scripted models."""
    for row in lacking:
        st.text(worded(f"{row.id} cannot run: {row.reason}. {row.cure}."))
    if scripted(plan.models()):
        st.warning("SCRIPTED models follow a script: their results say nothing about real models.", icon="🎭")
        link("models", "Requirements of real models", "🩺")


def choose_budget(usual: Budget, of: str) -> Budget:
    """The budget, at first ``usual``; an empty field sets no limit. ``of`` makes the widgets' keys unique."""
    with st.container(horizontal=True):
        usd = st.number_input(
            "Budget ($)",
            0.0,
            value=usual.usd,
            key=f"budget{of}",
            help="Cost limit of the whole benchmark. Experiments that would exceed this limit are cancelled without a "
            "result. You can resume them.",
        )
        each = st.number_input(
            "Budget per experiment ($)",
            0.0,
            value=usual.per_experiment_usd,
            key=f"budget each{of}",
            help="Cost limit of each experiment. At this limit, an experiment ends with its best program so far.",
        )
    allow_unpriced = st.checkbox(
        "Allow unpriced models",
        usual.allow_unpriced,
        key=f"allow unpriced{of}",
        help="Also call models without a known price. Both budgets count their calls as $0.",
        disabled=usd is None and each is None,
    )
    return Budget(usd, each, allow_unpriced)


def show_forecast(forecast: Forecast, budget: Budget) -> None:
    """The estimate for the remaining experiments: median and 90th percentile of calls, price and time."""
    if forecast.unknown:
        st.caption("No estimate yet: there are no comparable finished experiments.")
    elif forecast.experiments:
        with st.container(horizontal=True):
            _show_range("calls (median)", forecast.calls, lambda number: count(round(number)))
            _show_range("cost (median)", forecast.cost_usd, money)
            _show_range("time (median)", forecast.seconds, duration)
        st.caption(f"Estimated from {numbered(forecast.past, 'finished experiment')}.")
    for model in forecast.unpriced:
        st.text(f"No price is known for {model}.")
    if forecast.may_exceed(budget.usd):
        st.text(
            f"The budget of {money(budget.usd)} may not be enough. Money that the benchmark has already spent counts "
            "against this budget."
        )


def _show_range(label: str, estimate: Range | None, worded: Callable[[float], str]) -> None:
    """Nothing if there is no estimate."""
    if estimate:
        most = f"90th percentile: {worded(estimate.p90)}"
        about = "The large number is the median."
        st.metric(label, worded(estimate.p50), most, delta_color="off", delta_arrow="off", help=about)


def show_receipt(last: Receipt | None) -> None:
    """Cost and time of the last run of a finished benchmark, next to its estimate."""
    if last:
        st.text(receipt(last, LAST_RUN))


def confirmed(benchmark: str, concern: Concern | None, forecast: Forecast, *, started: bool) -> bool:
    """Whether the benchmark of this id may start: at once without a concern, else after the user confirms a dialog."""
    if started and concern:
        _confirm(benchmark, concern, forecast)
    confirmation = st.session_state.pop(CONFIRMED, None) == benchmark
    return confirmation or (started and concern is None)


@st.dialog("Start this benchmark?")
def _confirm(benchmark: str, concern: Concern, forecast: Forecast) -> None:
    if st.session_state.get(CONFIRMED) == benchmark:
        st.rerun()  # closes the dialog, and the page starts the benchmark
    for reason in concern.reasons:
        st.text(f"⚠️ {reason}")
    st.text(f"Remaining: {numbered(forecast.experiments, 'experiment')}.")
    if forecast.tells:
        st.text(f"Cost: {between(forecast.cost_usd, money)}.\nTime: {between(forecast.seconds, duration)}.")
    st.text(concern.cap)
    st.text(concern.where)
    st.caption(
        "The settings `confirm_usd` and `confirm_hours` set the limits above which koderz asks for confirmation."
    )
    with st.container(horizontal=True):
        st.button("Start it", type="primary", icon="🚀", key="agree", on_click=_store_confirmation, args=[benchmark])
        if st.button("Not now", key="not now"):
            st.rerun()


def _store_confirmation(benchmark: str) -> None:
    st.session_state[CONFIRMED] = benchmark


def choose_baselines(workspace: Workspace, order: Order, dataset: str, clone: Clone | None) -> tuple[Proposal, bool]:
    """The plan of an order with its missing baselines, if the user wants them. Raises as ``Planner.propose``.

    A ``clone`` adds none by default, because its benchmark had the baselines that were wanted.
    """
    lacking = workspace.plans.lacking(order)
    of = f" of {clone.plan.id}" if clone else ""
    wanted = st.checkbox(
        "Measure baselines too", value=clone is None, key=f"baselines{of}", disabled=not lacking, help=ABOUT_BASELINES
    )
    offer = workspace.plans.propose(order, dataset, baselines=wanted)
    for line in offer.sentences:
        st.text(line)
    return offer, wanted


def clone_links(rows: Sequence[BenchmarkRow]) -> None:
    """Links to clone each of a few benchmarks; for more benchmarks, Overview and Live have the links."""
    if len(rows) > MOST_CLONE_LINKS:
        return
    with st.container(horizontal=True, vertical_alignment="center", key="clones"):
        for row in rows:
            st.text(called(row), width="content")
            clone_link(row)


def clone_link(row: BenchmarkRow) -> None:
    """A link to Launch, filled with the plan of a benchmark. An imported one cannot run, so it names its file."""
    if row.imported is not None:
        st.text(f"imported from {plain(row.imported)}", width="content")
        return
    link("launch", "Clone", "🧬", **{CLONE_KEY: row.id})


def clone_in_address(workspace: Workspace, benchmarks: Sequence[BenchmarkRow]) -> Clone | None:
    """The clone that the address asks for, None if it asks for none. Raises as ``Planner.clone``."""
    requested = st.query_params.get(CLONE_KEY)
    if requested is None:
        return None
    rows = {row.id: row for row in benchmarks}
    chosen = matching_option(requested, list(rows))
    if chosen not in rows:
        st.warning(
            "The link points to a benchmark that does not exist. Choose another starting point below.", icon="🔎"
        )
        keep(CLONE_KEY, None)
        return None
    clone = _clone_of(workspace, rows[chosen])
    with st.container(horizontal=True, vertical_alignment="center"):
        st.text(f"🧬 A clone of {called(rows[chosen])}: change the inputs that should differ.")
        link("launch", "Start from a preset instead", "↩️")
    return clone


def _clone_of(workspace: Workspace, row: BenchmarkRow) -> Clone:
    """The clone, read once per session because a journal is long; read again if the benchmark has grown."""
    cached: tuple[tuple[str, int], Clone] | None = st.session_state.get(CLONE_KEY)
    version = (row.id, row.planned)
    if cached is None or cached[0] != version:
        with st.spinner("Reading the plan of the benchmark"):
            cached = st.session_state[CLONE_KEY] = (version, workspace.plans.clone(row.id))
    return cached[1]


def show_changes(clone: Clone, plan: Plan) -> None:
    """How the plan differs from the recorded one, and which benchmark it becomes."""
    changed = clone.changed(plan)
    if changed and plan.id == clone.plan.id:
        st.text(
            f"Changed: {changed}. If you keep the name, this plan extends {plan.id}. "
            "If you choose another name, the plan creates a new benchmark."
        )
    elif changed:
        st.text(f"Changed: {changed}. This plan therefore creates a new benchmark and does not extend {clone.plan.id}.")
