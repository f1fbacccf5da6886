"""Running benchmarks: badges in the head of every page, pause, resume, stop and retry, and changes of limits.

The controls work for benchmarks of any process.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial

import streamlit as st

from koderz_core import Workspace
from koderz_core.records.progress import BenchmarkProgress
from koderz_core.records.rows import BenchmarkRow
from koderz_core.report.formats import money, numbered
from koderz_core.report.status import Stage, changed, trouble_notices
from pages.ui.address import BENCHMARKS, link
from pages.ui.edge import attempt, forget_failure, redrawn, show_failure
from pages.ui.text import EXACT, called

Rows = Sequence[BenchmarkRow]
POLL_SECONDS = 2.0
WHOLE = ""
MOST_WAITING = 200  # experiments in the list: a browser receives it with every redraw
HEAD = "head"
SIGNS: Mapping[str, str] = {"paused": "⏸️", "stopping": "⏹️"}
FIRST = f"The list contains only the first {MOST_WAITING} of the experiments that have not started."
ICONS: Mapping[str, str] = {"Pause": "⏸️", "Resume": "▶️", "Stop": "⏹️", "Retry errors": "🔁"}
TROUBLE_SIGNS: Mapping[Stage, str] = {
    "retrying": "🔁",
    "closed": "⏳",
    "failed": "⚠️",
    "recovered": "✅",
    "low": "🧠",
    "critical": "⏸️",
}
STOPS = "Experiments stop after their current call or test and can be resumed."
MOST_CHANGES = 3  # on the page, the newest; `koderz analyze` prints all
LIVE = "live"  # the place of the buttons of a running benchmark
ABOUT_LIMITS = (
    "An empty field leaves its limit unchanged. If you lower the budget, calls that would exceed it are not sent. If "
    "you lower the concurrency, fewer experiments run at the same time and the others wait. No results are lost. To "
    "run experiments that a budget has already stopped, resume the benchmark."
)


def show_running(workspace: Workspace, known: Rows) -> None:
    """Badges of the running benchmarks, with a link and a stop button; a change of state redraws the page."""
    before = states(known)
    now = reader_of(known, workspace)

    def draw() -> None:
        rows = now()
        redraw_on_change(before, rows)
        show_badges(workspace, rows)

    redrawn("running now", draw, POLL_SECONDS)


def show_badges(workspace: Workspace, rows: Rows) -> None:
    """Badges of those benchmarks that run, with a link and a stop button."""
    for row in [row for row in rows if row.under_way]:
        label, icon = f"{row.planned - row.left} of {row.planned}", SIGNS.get(row.state, "▶️")
        label += f" · {numbered(row.errors, 'error')}" if row.errors else ""
        with st.container(horizontal=True, horizontal_alignment="right", vertical_alignment="center", gap="small"):
            st.text(called(row), width="content")
            link("live", label, icon, **{BENCHMARKS: row.id})
            stop = partial(workspace.runs.stop, row.id)
            _button("Stop", row, HEAD, stop, STOPS, disabled=row.state == "stopping")
        show_failure(f"{HEAD} {row.id}")


def _part(progress: BenchmarkProgress, parts: Mapping[str, str], key: str) -> str | None:
    """The chosen configuration or experiment, None for the whole benchmark."""
    left_out = any(it.id not in parts for it in progress.experiments if it.state != "finished")
    chosen = st.selectbox(
        "Applies to",
        list(parts),
        format_func=lambda target: parts.get(target, target),
        key=key,
        help=FIRST if left_out else None,
    )
    return chosen or None


def show_controls(workspace: Workspace, progress: BenchmarkProgress) -> None:
    """Pause, resume and stop a running benchmark or a part of it; resume one that no process runs."""
    row = progress.benchmark
    show_failure(f"{LIVE} {row.id}")
    with st.container(horizontal=True, key="ways on"):
        if is_resumable(row):
            _button(
                "Resume",
                row,
                LIVE,
                lambda: workspace.runs.resume(row.id),
                "The dashboard process continues the benchmark.",
            )
        offer_retry(workspace, row, LIVE)
    if not row.under_way:
        return
    key = f"part of {row.id}"
    parts = _parts(progress, st.session_state.get(key))
    paused = any(experiment.state == "paused" for experiment in progress.experiments)
    elsewhere = "" if workspace.runs.is_here(row.id) else _elsewhere(row)
    with st.container(horizontal=True, vertical_alignment="bottom", key="controls"):
        part = _part(progress, parts, key)
        ended = part is not None and _has_ended(progress, part)
        halted, stopping = row.state == "paused", row.state == "stopping"
        waits = f"Experiments wait before their next call or test.{elsewhere}"
        with st.container(horizontal=True, width="content"):
            pause, resume, stop = (
                partial(_control, act, row.id, key)
                for act in (workspace.runs.pause, workspace.runs.unpause, workspace.runs.stop)
            )
            _button("Pause", row, LIVE, pause, waits, disabled=halted or stopping or ended)
            _button("Resume", row, LIVE, resume, elsewhere, disabled=not paused)
            _button("Stop", row, LIVE, stop, STOPS + elsewhere, disabled=stopping or ended)
            show_limits(workspace, row)
    if ended:
        st.caption("The chosen part has ended. To pause or stop other experiments, choose another part.")


def _control(act: Callable[[str, str | None], object], benchmark: str, key: str) -> None:
    """Act on the part that is chosen now: a new choice may arrive together with the click."""
    act(benchmark, st.session_state.get(key) or None)


def _elsewhere(row: BenchmarkRow) -> str:
    process = f"Process {row.holder}" if row.holder else "Another process"
    return f" {process} is running the benchmark; the button takes effect within two seconds."


def offer_retry(workspace: Workspace, row: BenchmarkRow, place: str) -> None:
    """A button that runs failed experiments again, if that is possible."""
    if is_retryable(row):
        tip = (
            "Run failed experiments again in this dashboard. To do this in a terminal: "
            f"`koderz resume {row.id} --retry-errors`."
        )
        _button("Retry errors", row, place, lambda: workspace.runs.resume(row.id, retry_errors=True), tip)


def show_trouble(workspace: Workspace, progress: BenchmarkProgress) -> None:
    """The error that ended a benchmark, and the models that cannot be called while it runs."""
    for notice in trouble_notices(progress.troubles, time.time()) if progress.benchmark.under_way else ():
        st.text(f"{TROUBLE_SIGNS[notice.stage]} {notice.text}")
    if trouble := workspace.runs.trouble(progress.benchmark.id):
        st.error("This benchmark ended with an error.", icon="⚠️")
        st.text(trouble)


def is_resumable(row: BenchmarkRow) -> bool:
    """Whether no process runs it and resuming would run something; those with an error stay as they are."""
    return _can_continue(row) and (row.state != "finished" or row.cancelled > 0)


def is_retryable(row: BenchmarkRow) -> bool:
    """Whether no process runs it and experiments with an error can run again."""
    return _can_continue(row) and row.errors > 0


def _can_continue(row: BenchmarkRow) -> bool:
    """Whether no process runs it, its experiments were not imported, and it is not decided."""
    return row.imported is None and not (row.under_way or row.decision)


def _parts(progress: BenchmarkProgress, chosen: str | None = None) -> dict[str, str]:
    """The targets to pause and stop, with labels: unfinished parts, of waiting ones only the first and the chosen.

    A chosen part that has ended stays: otherwise the whole benchmark would be chosen, and Stop would end all of it.
    """
    known = progress.experiments
    single = [it for it in known if it.id == chosen or (it.state != "finished" and it.started_at is not None)]
    waiting = [it for it in known if it.id != chosen and it.state != "finished" and it.started_at is None]
    single += waiting[:MOST_WAITING]
    labels = {it.configuration: it.label for it in known if it.configuration == chosen or it.state != "finished"}
    return {
        WHOLE: "the whole benchmark",
        **{configuration: f"configuration {label}" for configuration, label in labels.items()},
        **{
            experiment.id: f"experiment {experiment.problem} {experiment.label}, repeat {experiment.repeat + 1}"
            for experiment in single
        },
    }


def _has_ended(progress: BenchmarkProgress, part: str) -> bool:
    """Whether every experiment of a configuration, or the experiment, has ended."""
    return all(it.state == "finished" for it in progress.experiments if part in (it.id, it.configuration))


def _button(
    label: str, row: BenchmarkRow, place: str, act: Callable[[], object], tip: str, *, disabled: bool = False
) -> None:
    """``place`` distinguishes two buttons of one benchmark; its error belongs to the place and the benchmark."""
    here, about = f"{place} {row.id}", tip.strip() or None
    key = f"{label.lower()} {here}"
    st.button(label, key, about, icon=ICONS[label], on_click=attempt, args=[here, act], disabled=disabled)


def redraw_on_change(before: Mapping[str, str | None], rows: Rows) -> None:
    """Redraw the page if the state of a benchmark differs from ``before``; earlier failures are then outdated."""
    if states(rows) != before:
        for row in rows:
            forget_failure(f"{HEAD} {row.id}")
            forget_failure(f"{LIVE} {row.id}")
        st.rerun()


def states(rows: Rows) -> dict[str, str]:
    """The states by benchmark; a change of them redraws the page."""
    return {row.id: row.state for row in rows}


def reader_of(known: Rows, workspace: Workspace) -> Callable[[], Rows]:
    """Returns the ``known`` rows once, then reads: the first drawing of a repeating part needs no query."""
    first, since = [known], time.time()
    return lambda: first.pop() if first else workspace.results.benchmarks(since)


def show_limits(workspace: Workspace, row: BenchmarkRow) -> None:
    """A form for the two limits of a running benchmark."""
    usd, concurrency = f"budget of {row.id}", f"concurrency of {row.id}"
    now = "no limit" if row.budget_usd is None else money(row.budget_usd)
    with (
        st.popover("Budget and concurrency", icon="🎚️"),
        st.form(f"limits of {row.id}", border=False, clear_on_submit=True),
    ):
        st.number_input("Budget of the benchmark ($)", 0.0, value=None, format=EXACT, key=usd, placeholder=now)
        at_once = "" if row.concurrency is None else str(row.concurrency)
        st.number_input("Concurrent experiments", 1, 256, value=None, key=concurrency, placeholder=at_once)
        st.caption(ABOUT_LIMITS)
        st.form_submit_button("Change", on_click=_change, args=[workspace, row.id, usd, concurrency])


def show_changes(progress: BenchmarkProgress) -> None:
    """The newest changes of limits during the run."""
    for change in progress.changes[:MOST_CHANGES]:
        st.text(f"Change at {changed(change)}")


def _change(workspace: Workspace, benchmark: str, usd: str, concurrency: str) -> None:
    now = st.session_state[usd], st.session_state[concurrency]
    attempt(f"{LIVE} {benchmark}", lambda: workspace.runs.change(benchmark, *now))
