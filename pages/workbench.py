"""Fix and ask: a strategy works on a person's own file or question."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import streamlit as st

from koderz_core import KoderzError, Wanted, Workspace
from koderz_core.errors import DataError
from koderz_core.records import Budget, Dataset
from koderz_core.workspace.drafts import Row
from koderz_core.workspace.workbench import ANSWERING
from pages.ui.address import keep
from pages.ui.edge import edge
from pages.ui.frame import open_page
from pages.ui.launch_form import choose_configuration, reasons, survey
from pages.ui.text import EXACT
from pages.ui.workbench import FIX, TASKS, Entered, choose_files, choose_question, choose_task, remember, show_task

ABOUT = (
    "Let a strategy fix your own file until its tests pass, or answer a question. koderz records these tasks but "
    "excludes them from all statistics."
)
USUAL = {FIX: "repair", "ask": "direct"}


def main() -> None:
    page = open_page("workbench", ABOUT)
    workspace = page.workspace
    left, right = st.columns([2, 3], gap="large")
    with left:
        _enter(workspace)
    with right, st.container(key="task"):
        if name := choose_task(workspace.workbench):
            show_task(workspace.workbench, name)
        else:
            st.info("After you start a task, its steps, its cost and the changes to your file appear here.", icon="🛠️")


def _enter(workspace: Workspace) -> None:
    """The form of a task, and the button that starts it."""
    kind = str(
        st.segmented_control(
            "Task", list(TASKS), default=FIX, format_func=TASKS.__getitem__, required=True, key="kind of task"
        )
    )
    entered = choose_files() if kind == FIX else choose_question()
    st.header("Configuration")
    wanted = _configuration(workspace, kind)
    usd = st.number_input("Budget in dollars (optional)", 0.0, value=None, format=EXACT, key="budget of the task")
    if st.button("Start", "start task", icon="🚀", type="primary", shortcut="ctrl+enter", width="stretch"):
        try:
            with st.spinner("Starting"):
                _start(workspace, entered, wanted, Budget(usd))
        except KoderzError as error:
            st.error("The task was not started.", icon="⚠️")
            st.text(str(error))
            return
        st.rerun()


def _configuration(workspace: Workspace, kind: str) -> Wanted:
    surveyed = survey(str(workspace.settings.home))
    allowed = [form for form in workspace.plans.strategies() if kind == FIX or form.name in ANSWERING]
    # A task has no ablations, and its gate tests are the tests that the person gives.
    forms = {form.name: replace(form, ablations=(), tested=False) for form in allowed}
    ready = [row.id for row in surveyed if row.ready]
    coder = next((name for name in ready if not name.startswith("scripted/")), next(iter(ready), ""))
    with st.container(border=True, key="configuration"):
        initial = Row(Wanted(USUAL[kind], {"coder": coder} if coder else {}))
        return choose_configuration(initial, f"task {kind}", forms, reasons(surveyed), folded=True).wanted


def _start(workspace: Workspace, entered: Entered, wanted: Wanted, budget: Budget) -> None:
    """Start the task in the background, and show it. Raises KoderzError."""
    dataset, remarks = _dataset(workspace, entered)
    plan = workspace.workbench.plan(dataset, wanted, budget=budget)
    keep("task", workspace.workbench.start(plan))
    remember(plan.id, entered, remarks)


def _dataset(workspace: Workspace, entered: Entered) -> tuple[Dataset, Sequence[str]]:
    """The task as a dataset, with remarks. Raises KoderzError for texts that koderz cannot work with."""
    bench = workspace.workbench
    if entered.question is not None:
        return bench.question(entered.question, entered.read(bench)), ()
    file, tests = entered.read(bench)
    task = bench.task(file, tests, entered.instruction)
    if task.before.passed and not entered.instruction.strip():
        raise DataError(
            f"{file.name} passes all its tests, so there is nothing to fix. To change the file anyway, write an "
            "instruction."
        )
    return task.dataset, task.remarks


with edge():
    main()
