"""Live: one benchmark while it runs, or as it was left."""

from __future__ import annotations

import streamlit as st

from koderz_core import Workspace
from koderz_core.export.formats import count, duration, money
from koderz_core.records.progress import BenchmarkProgress
from koderz_core.records.rows import BenchmarkRow
from pages.ui.address import choice
from pages.ui.budget import show_receipt
from pages.ui.cells import draw_cells
from pages.ui.edge import edge
from pages.ui.frame import facts, open_page, show_ground
from pages.ui.running import Rows, from_known, show_controls, show_trouble, states
from pages.ui.tables import newest_table, outcome
from pages.ui.text import listed

ABOUT = "Watch iterations as they happen. Closing this tab stops nothing."
NEWEST = "what runs, else the newest"
EVERY_SECONDS = 1.0


def main() -> None:
    opened = open_page("Live", ABOUT)
    workspace, begun = opened.workspace, states(opened.benchmarks)
    rows = {row.id: row for row in opened.benchmarks}
    ask = from_known(opened.benchmarks, workspace.results.benchmarks)
    chosen = choice("benchmark", "Benchmark", [NEWEST, *rows], lambda one: _said(rows, one))

    @st.fragment(run_every=EVERY_SECONDS, key="live")
    def draw() -> None:
        with edge():
            now = ask()
            if states(now) != begun:
                st.rerun()
            _draw(workspace, chosen, now)

    draw()


def _said(rows: dict[str, BenchmarkRow], name: str) -> str:
    return listed(rows[name]) if name in rows else f"{NEWEST}, whoever started it"


def _draw(workspace: Workspace, chosen: str, now: Rows) -> None:
    if not now:
        st.info("Nothing has been run here yet. What you launch, here or in a terminal, appears by itself.", icon="💤")
        st.page_link("pages/launch.py", label="Launch", icon="🚀")
        return
    newest = next((row for row in now if row.under_way), now[0])
    progress = workspace.results.progress(newest.id if chosen == NEWEST else chosen)
    _head(workspace, progress)
    draw_cells(progress.experiments)
    if workspace.runs_here(progress.benchmark.id):
        left, right = st.columns(2)
        with left:
            _newest(progress)
        with right:
            _listen(workspace, progress)
        return
    _newest(progress)
    if progress.benchmark.under_way:
        st.caption("Another process runs it: what its models say just now is heard there only.")


def _newest(progress: BenchmarkProgress) -> None:
    st.subheader("Newest iterations")
    if progress.newest:
        st.dataframe(newest_table(progress.newest), hide_index=True, height=300, alt="Newest iterations")
    else:
        st.caption("A program that is handed in untested, as `direct` does, is no iteration.")


def _head(workspace: Workspace, progress: BenchmarkProgress) -> None:
    row = progress.benchmark
    if row.scripted:
        st.warning("SCRIPTED: these answers come from a script, not from a model.", icon="🎭")
    without = f" · {row.errors + row.cancelled} without result" if row.errors + row.cancelled else ""
    done = row.planned - row.left
    st.progress(done / row.planned, text=f"{done} of {row.planned} experiments · {row.solved} solved{without}")
    spent = money(row.cost_usd) if row.unpriced == 0 else f"{row.unpriced} calls unpriced"
    shown = {"state": row.state, "iterations": count(row.iterations), "spent": spent}
    facts(shown | ({"time left": _left(progress)} if row.state == "running" else {}))
    show_receipt(progress.receipt)
    show_ground(row)
    show_controls(workspace, progress)
    if row.state == "interrupted":
        st.warning("Interrupted: its process ended before it was done. Every finished step is kept.", icon="⚡")
    if row.errors and not row.under_way:
        st.caption(f"{row.errors} ended as error, which no rate counts. To run them again, in a terminal:")
        st.code(f"koderz resume {row.id} --retry-errors", language=None, wrap_lines=True)
    show_trouble(workspace, progress)


def _left(progress: BenchmarkProgress) -> str:
    return "not known yet" if progress.seconds_left is None else f"about {duration(progress.seconds_left)}"


def _listen(workspace: Workspace, progress: BenchmarkProgress) -> None:
    """What a model says right now: only the process that runs a benchmark hears it."""
    st.subheader("Live text")
    speaking = {row.id: row for row in progress.experiments if row.shown == "running"}
    if not speaking:
        st.caption("Words appear here while a local model is asked.")
        return
    chosen = st.selectbox(
        "Listen to", list(speaking), format_func=lambda one: f"{speaking[one].problem} {speaking[one].label}"
    )
    spoken = workspace.live_text(chosen)
    with st.container(height=240, autoscroll=True, key="live-text"):
        st.text(f"{outcome(speaking[chosen])} · {spoken.role} {spoken.model}" if spoken else "between two calls")
        st.text(spoken.text if spoken else "")


with edge():
    main()
