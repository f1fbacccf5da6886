"""What an order comes to, live: how much, what it can show, what it will take, and what keeps it from starting."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import streamlit as st

from koderz_core import Workspace
from koderz_core.models.availability import Availability
from koderz_core.records import Plan
from koderz_core.records.rows import BenchmarkRow
from koderz_core.records.summaries import scripted
from pages.ui.frame import show_isolation, show_origin
from pages.ui.preparing import prepared
from pages.ui.text import worded


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
