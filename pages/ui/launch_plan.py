"""The summary of New run: size, estimate, warnings, missing models, confirmation of the cost, last run; and clones."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial

import streamlit as st

from koderz_core import Clone, Concern
from koderz_core.records import Budget, Plan
from koderz_core.records.plans import scripted
from koderz_core.records.progress import Forecast, Range, Receipt
from koderz_core.records.rows import BenchmarkRow
from koderz_core.report.forecasts import LAST_RUN, between, receipt
from koderz_core.report.formats import count, duration, money, numbered, plain
from koderz_core.report.registration import announced
from koderz_core.workspace.models import Availability
from pages.ui.address import BENCHMARKS, link
from pages.ui.draft import CLONE
from pages.ui.frame import Page, show_isolation, show_remarks
from pages.ui.slow_results import prepare
from pages.ui.text import called, worded

CONFIRMED = "confirmed benchmark"
MOST_CLONE_LINKS = 4  # that fit on a line or two


def show_ineffective(sentences: Sequence[str]) -> None:
    """Parts of the plan that cannot act; the sentences may quote a user's text."""
    if sentences:
        st.warning("At least one setting of this benchmark has no effect:", icon="⚠️")
        st.text("\n".join(sentences))


def show_plan(page: Page, plan: Plan) -> None:
    """The smallest difference it can show, remarks, dataset and isolation. Raises SandboxError, StoreError."""
    workspace, dataset = page.workspace, f"Dataset: {plan.dataset.said}."
    begun = any(row.id == plan.id for row in page.benchmarks)
    remarks = (
        workspace.comparisons.can_show(plan),
        *workspace.runs.remarks(plan),
        *announced(plan, begun=begun),
        workspace.runs.deviation(plan) if begun else "",
        dataset,
    )
    show_remarks(remarks)
    # On a busy machine the first self-test takes seconds; the form can be used meanwhile.
    self_test = prepare("sandbox", workspace.grading.sandbox.self_test, _show_self_test_runs)
    if self_test:
        show_isolation(self_test.isolation, self_test.score)


def under_last_budget(page: Page, plan: Plan) -> Plan:
    """The plan with the budget under which it would run: a change during the run outlasts the form."""
    row = next((row for row in page.benchmarks if row.id == plan.id), None)
    if row is None or row.budget_usd == plan.budget.usd:
        return plan  # without reading the journal, which may take seconds
    key = f"{page.workspace.settings.home} {row!r} {plan.budget}"
    return replace(plan, budget=_last_budget(key, partial(page.workspace.runs.under_last_budget, plan)))


@st.cache_resource(max_entries=8, show_spinner="Reading the budget of the benchmark")
def _last_budget(key: str, _read: Callable[[], Plan]) -> Budget:  # noqa: ARG001 (of the cache)
    return _read().budget


def _show_self_test_runs() -> None:
    st.caption("Isolation of programs: the self-test of the sandbox is running.")


def show_last_run(benchmarks: Sequence[BenchmarkRow], plan: Plan, started: str) -> None:
    """The recorded benchmark of the same plan, else the one that this draft ``started``, with a link to it."""
    rows = {row.id: row for row in benchmarks}
    row = rows.get(plan.id) or rows.get(started)
    if row is None:
        return
    done = f"{row.planned - row.left} of {numbered(row.planned, 'experiment')}"
    with st.container(border=True, key="last run"):
        if row.id == plan.id:
            st.text(
                f"📼 Already recorded: {done}. koderz does not repeat these experiments. To run the whole plan again, "
                "choose another seed or name."
            )
        else:
            st.text(f"📼 Last run of this draft: {called(row)}, {done} with a result.")
        if row.under_way:
            link("live", "Watch the run", "📡", **{BENCHMARKS: row.id})
        else:
            link("compare", "See results", "⚖️", **{BENCHMARKS: row.id})


def show_missing_models(lacking: Iterable[Availability], plan: Plan) -> None:
    """The models that cannot be called now, and a warning about scripted models."""
    for row in lacking:
        st.text(worded(f"⊘ {row.id} cannot run: {row.reason}. {row.cure}."))
    if scripted(plan.models()):
        st.warning("SCRIPTED models follow a script: their results say nothing about real models.", icon="🎭")
        link("models", "Requirements of real models", "🩺")


def show_figures(plan: Plan, forecast: Forecast) -> None:
    """Its size, and the estimate for the remaining experiments: median and 90th percentile of calls, cost and time."""
    with st.grid(2):
        st.metric("experiments", len(plan.experiments()), help="problems × configurations × repeats")
        if forecast.experiments and not forecast.unknown:
            _show_range("calls (median)", forecast.calls, lambda number: count(round(number)))
            _show_range("cost (median)", forecast.cost_usd, money)
            _show_range("time (median)", forecast.seconds, duration)
    sizes = ((len(plan.problems), "problem"), (len(plan.configurations), "configuration"), (plan.repeats, "repeat"))
    st.text(" × ".join(numbered(number, thing) for number, thing in sizes))
    if forecast.unknown:
        st.caption("No estimate yet: there are no comparable finished experiments.")
    elif forecast.experiments:
        st.caption(f"Estimated from {numbered(forecast.past, 'finished experiment')}.")


def in_short(plan: Plan, forecast: Forecast) -> str:
    """The size and the estimate on one line, for a narrow screen."""
    cost, seconds = forecast.cost_usd, forecast.seconds
    parts = [numbered(len(plan.experiments()), "experiment")]
    parts += [f"about {money(cost.p50)}"] if cost else []
    parts += [f"about {duration(seconds.p50)}"] if seconds else []
    return " · ".join(parts)


def show_warnings(forecast: Forecast, budget: Budget) -> None:
    """Models without a known price, and a budget that may not be enough."""
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


def clone_links(rows: Sequence[BenchmarkRow]) -> None:
    """Links to clone each of a few benchmarks; for more benchmarks, Home and Live have the links."""
    if len(rows) > MOST_CLONE_LINKS:
        return
    with st.container(horizontal=True, vertical_alignment="center", key="clones"):
        for row in rows:
            st.text(called(row), width="content")
            clone_link(row)


def clone_link(row: BenchmarkRow) -> None:
    """A link to New run, filled with the plan of a benchmark. An imported one cannot run, so it names its file."""
    if row.imported is not None:
        st.text(f"imported from {plain(row.imported)}", width="content")
        return
    link("launch", "Clone", "🧬", **{CLONE: row.id})


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
