"""Running benchmarks: badges in the head of every page, pause, resume, stop and retry, and changes of limits.

All of it works for a benchmark of any process.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence

import streamlit as st

from koderz_core import Workspace
from koderz_core.records.progress import BenchmarkProgress
from koderz_core.records.rows import BenchmarkRow
from koderz_core.report.formats import money, numbered
from koderz_core.report.status import Stage, changed, trouble_notices
from pages.ui.address import keep
from pages.ui.edge import attempt, edge, forget_failure, show_failure
from pages.ui.text import called

Rows = Sequence[BenchmarkRow]
POLL_SECONDS = 2.0
WHOLE = ""
MOST_WAITING = 200  # of thousands, each browser would be sent all of them at every look
HEAD = "head"
SIGNS: Mapping[str, str] = {"paused": "⏸️", "stopping": "⏹️"}
FIRST = f"Of experiments that are not begun, the first {MOST_WAITING} can be chosen singly."
ICONS: Mapping[str, str] = {"Pause": "⏸️", "Resume": "▶️", "Stop": "⏹️", "Retry errors": "🔁"}
TROUBLE_SIGNS: Mapping[Stage, str] = {"retrying": "🔁", "closed": "⏳", "failed": "⚠️", "recovered": "✅"}
STOPS = "What it stops ends at its next step and can be taken up again."
MOST_CHANGES = 3  # on screen, the newest; `koderz analyze` tells all
LIVE = "live"  # the place of the buttons of a benchmark that is being run
KEEPS = (
    "Empty: as it is. A lower budget sends no call that it does not hold, fewer places let the others wait; nothing is "
    "lost. What has stopped for the budget already goes on only when it is resumed."
)


def show_running(workspace: Workspace, known: Rows) -> None:
    """Everything that runs, with a way to it and a way to stop it; the page is drawn anew when that changes."""
    begun = states(known)
    now = from_known(known, workspace)

    @st.fragment(run_every=POLL_SECONDS, key="running now")
    def draw() -> None:
        with edge():
            rows = now()
            redraw_on_change(begun, rows)
            show_badges(workspace, rows)

    draw()


def show_badges(workspace: Workspace, rows: Rows) -> None:
    """Of these benchmarks those that run, with a way to each and a way to stop it."""
    for row in [row for row in rows if row.under_way]:
        _one(workspace, row)
    show_failure(HEAD)


def show_controls(workspace: Workspace, progress: BenchmarkProgress) -> None:
    """Pause, resume and stop a benchmark that runs, or a part of it; or take up again what nobody is at."""
    row = progress.benchmark
    show_failure(LIVE)
    with st.container(horizontal=True, key="ways on"):
        if is_resumable(row):
            _button("Resume", row, LIVE, lambda: workspace.resume(row.id), "It goes on in this dashboard.")
        offer_retry(workspace, row, LIVE)
    if not row.under_way:
        return
    key = f"part of {row.id}"
    parts = _parts(progress, st.session_state.get(key))
    paused = any(experiment.state == "paused" for experiment in progress.experiments)
    who = f"Process {row.holder}" if row.holder else "A process that does not tell its number"
    elsewhere = "" if workspace.runs_here(row.id) else f" {who} runs it and obeys within two seconds."
    with st.container(horizontal=True, vertical_alignment="bottom", key="controls"):
        tip = (
            FIRST
            if any(experiment.id not in parts for experiment in progress.experiments if experiment.state != "finished")
            else None
        )
        chosen = st.selectbox(
            "Pause or stop", list(parts), format_func=lambda one: parts.get(one, one), key=key, help=tip
        )
        part = chosen or None
        held, over = row.state == "paused", row.state == "stopping"
        waits = f"It waits before its next step.{elsewhere}"
        with st.container(horizontal=True, width="content"):
            _button("Pause", row, LIVE, lambda: workspace.pause(row.id, part), waits, disabled=held or over)
            _button("Resume", row, LIVE, lambda: workspace.go_on(row.id, part), elsewhere, disabled=not paused)
            _button("Stop", row, LIVE, lambda: workspace.stop(row.id, part), STOPS + elsewhere, disabled=over)
            show_allowance(workspace, row)


def offer_retry(workspace: Workspace, row: BenchmarkRow, place: str) -> None:
    """A button that runs again what ended as error, where no process runs the benchmark."""
    if row.errors and not row.under_way:
        tip = f"In this dashboard, as `koderz resume {row.id} --retry-errors` does in a terminal."
        _button("Retry errors", row, place, lambda: workspace.resume(row.id, retry_errors=True), tip)


def show_trouble(workspace: Workspace, progress: BenchmarkProgress) -> None:
    """What broke a benchmark, and which models cannot be called while it runs."""
    for notice in trouble_notices(progress.troubles, time.time()) if progress.benchmark.under_way else ():
        st.text(f"{TROUBLE_SIGNS[notice.stage]} {notice.text}")
    if trouble := workspace.trouble(progress.benchmark.id):
        st.error("This benchmark broke off.", icon="⚠️")
        st.text(trouble)


def is_resumable(row: BenchmarkRow) -> bool:
    """Whether nobody is at it and a resumption would take up something: what ended as error keeps that result."""
    return not row.under_way and (row.state != "finished" or row.cancelled > 0)


def _parts(progress: BenchmarkProgress, chosen: str | None = None) -> dict[str, str]:
    """What can be paused and stopped, by target: what has not ended; of many not begun the first and the chosen."""
    left = [experiment for experiment in progress.experiments if experiment.state != "finished"]
    single = [experiment for experiment in left if experiment.started_at is not None or experiment.id == chosen]
    single += [experiment for experiment in left if experiment.started_at is None and experiment.id != chosen][
        :MOST_WAITING
    ]
    labels = {experiment.configuration: experiment.label for experiment in left}
    return {
        WHOLE: "the whole benchmark",
        **{configuration: f"configuration {label}" for configuration, label in labels.items()},
        **{
            experiment.id: f"experiment {experiment.problem} {experiment.label} {experiment.repeat + 1}"
            for experiment in single
        },
    }


def _button(
    label: str, row: BenchmarkRow, place: str, act: Callable[[], object], tip: str, *, disabled: bool = False
) -> None:
    """``place`` tells two buttons of one benchmark apart."""
    key, about = f"{label.lower()} {place} {row.id}", tip.strip() or None
    st.button(label, key, about, icon=ICONS[label], on_click=_press, args=[row.id, place, act], disabled=disabled)


def _press(benchmark: str, place: str, act: Callable[[], object]) -> None:
    """Do it; on the page of a benchmark the address names it from then on, whatever runs next."""
    if place == LIVE:
        keep("benchmark", benchmark)
    attempt(place, act)


def redraw_on_change(begun: Mapping[str, str | None], rows: Rows) -> None:
    """Draw the page anew once a benchmark is in another state than it had ``begun`` with.

    What could not be done before is out of date then.
    """
    if states(rows) != begun:
        for place in (HEAD, LIVE):
            forget_failure(place)
        st.rerun()


def states(rows: Rows) -> dict[str, str]:
    """What has to change before a page is drawn anew."""
    return {row.id: row.state for row in rows}


def from_known(known: Rows, workspace: Workspace) -> Callable[[], Rows]:
    """Says what is ``known`` once, then asks: so a part that repeats by itself does not ask when it is first drawn."""
    first, since = [known], time.time()
    return lambda: first.pop() if first else workspace.results.benchmarks(since)


def _one(workspace: Workspace, row: BenchmarkRow) -> None:
    label, icon = f"{row.planned - row.left} of {row.planned}", SIGNS.get(row.state, "▶️")
    label += f" · {numbered(row.errors, 'error')}" if row.errors else ""
    with st.container(horizontal=True, horizontal_alignment="right", vertical_alignment="center", gap="small"):
        st.text(called(row), width="content")
        st.page_link("pages/live.py", label=label, icon=icon, query_params={"benchmark": row.id}, width="content")
        _button("Stop", row, HEAD, lambda: workspace.stop(row.id), STOPS, disabled=row.state == "stopping")


def show_allowance(workspace: Workspace, row: BenchmarkRow) -> None:
    """The two limits of a benchmark that is being run, to be set anew."""
    usd, places = f"budget of {row.id}", f"places of {row.id}"
    now = "no limit" if row.budget_usd is None else money(row.budget_usd)
    with st.popover("Budget and places", icon="🎚️"), st.form(f"limits of {row.id}", border=False, clear_on_submit=True):
        st.number_input("Budget of all ($)", 0.0, value=None, key=usd, placeholder=now)
        at_once = "" if row.concurrency is None else str(row.concurrency)
        st.number_input("Experiments at once", 1, 256, value=None, key=places, placeholder=at_once)
        st.caption(KEEPS)
        st.form_submit_button("Change", on_click=_change, args=[workspace, row.id, usd, places])


def show_changes(progress: BenchmarkProgress) -> None:
    """What was changed while it ran."""
    for change in progress.changes[:MOST_CHANGES]:
        st.text(f"Changed {changed(change)}")


def _change(workspace: Workspace, benchmark: str, usd: str, places: str) -> None:
    attempt(LIVE, lambda: workspace.allowing.change(benchmark, st.session_state[usd], st.session_state[places]))
