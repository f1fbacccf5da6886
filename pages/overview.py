"""Overview: what it came to, what runs, what was left, and where to go on."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from koderz_core import Workspace
from koderz_core.records.rows import BenchmarkRow
from koderz_core.report.comparison import glance_table
from koderz_core.report.findings import remarks, untested
from koderz_core.report.formats import STATES, count, money
from koderz_core.report.status import marked_state, state
from koderz_core.workspace.upkeep import how_to_remove
from pages.ui.edge import edge, show_failure
from pages.ui.frame import facts, offer_ways, open_page, show_isolation, show_remarks
from pages.ui.launch_plan import clone_link
from pages.ui.pickers import choose_benchmark
from pages.ui.run_controls import POLL_SECONDS, from_known, is_resumable, offer_retry
from pages.ui.status import show_causes
from pages.ui.tables import frame
from pages.ui.text import called

ABOUT = "Can cheap models with many tries match an expensive one, at what price, and how sure are we?"
GLANCE_COLUMNS = {"configuration": st.column_config.TextColumn(width=230)}  # leaves room for the rate on a telephone
PLACE, MOST_ERRORS = "overview", 500  # of which the causes are counted
SCRIPTED = "Count scripted models"
ABOUT_SCRIPTED = "Scripted models (mock mode) show nothing about models, so their experiments are not in these totals."
WAYS = (
    ("compare", "Compare", "⚖️"),
    ("problems", "Problems", "🧩"),
    ("live", "Watch", "📡"),
    ("export", "Export", "📦"),
)


def main() -> None:
    opened = open_page("Overview", ABOUT)
    rows, results = opened.benchmarks, opened.workspace.results
    if not rows:
        _empty(opened.workspace)
        return
    running = any(row.state == "running" for row in rows)
    now = from_known(rows, opened.workspace)
    figures = st.container()
    by_script = any(row.scripted for row in rows) and st.toggle(SCRIPTED, key="with scripted", help=ABOUT_SCRIPTED)
    with figures:
        every = POLL_SECONDS if running else None
        st.fragment(lambda: _figures(now(), with_scripted=by_script), run_every=every)()
    _go_on(rows)
    lead = st.container()
    st.subheader("Benchmarks")
    newest = next((row for row in rows if by_script or not row.scripted), None)
    chosen = choose_benchmark(rows, newest)
    with lead:
        _latest(opened.workspace, chosen, rows[0])
    for fault in results.faults:
        st.warning("A journal could not be read to its end.", icon="⚠️")
        st.text(fault)


def _empty(workspace: Workspace) -> None:
    st.subheader("Nothing has been run here yet")
    st.write(
        "A benchmark runs strategies with models on coding problems and keeps every prompt, answer, test result and "
        "cent. The quick look takes three problems and minutes."
    )
    offer_ways(workspace, "Launch the quick look", preset="quick look")
    st.caption("The same from a terminal:")
    st.code("koderz example\nkoderz quickstart", language="bash")


def _figures(rows: Sequence[BenchmarkRow], *, with_scripted: bool) -> None:
    """Totals over all benchmarks; of scripted models only where somebody asked for them."""
    running = sum(row.under_way for row in rows)
    unpriced = sum(row.unpriced for row in rows)
    spent = sum(row.cost_usd or 0.0 for row in rows)
    results = sum(row.solved + row.unsolved - (0 if with_scripted else row.scripted_results) for row in rows)
    failures = sum(row.errors + row.cancelled - (0 if with_scripted else row.scripted_failures) for row in rows)
    facts(
        {
            "running now": count(running),
            "experiments with a result": count(results),
            "without a result": count(failures),
            "spent" + (f" ({unpriced} calls unpriced)" if unpriced else ""): money(spent),
        }
    )


def _go_on(rows: Sequence[BenchmarkRow]) -> None:
    """What ended before its time or with errors comes first: it can be taken up again."""
    for row in [row for row in rows if is_resumable(row) or (row.errors and not row.under_way)][:3]:
        left = f"{STATES[row.state]} with {row.left} of {row.planned} experiments left"
        left = left if is_resumable(row) else marked_state(row)
        with st.container(horizontal=True, vertical_alignment="center"):
            st.page_link("pages/live.py", label=left, icon="⏯️", query_params={"benchmark": row.id})
            st.text(called(row))


def _latest(workspace: Workspace, row: BenchmarkRow | None, newest: BenchmarkRow) -> None:
    """The benchmark that was chosen, else the newest of real models; the newest of all where there is none."""
    st.subheader("Latest results")
    if row is None:
        st.info("All benchmarks here have scripted models, which show nothing about models.", icon="🎭")
    _glance(workspace, row or newest)


def _glance(workspace: Workspace, row: BenchmarkRow) -> None:
    """What the results of one benchmark are, how sure that is, and the ways to the rest of it."""
    with st.container(horizontal=True, vertical_alignment="center"):
        st.text(called(row), width="content")
        for page, label, icon in WAYS:
            name = "benchmarks" if page in ("compare", "problems") else "benchmark"
            st.page_link(f"pages/{page}.py", label=label, icon=icon, query_params={name: row.id})
        clone_link(row.id)
    summaries = workspace.results.summaries(row.id)
    if row.errors and not row.under_way:
        _errors(workspace, row)
    table = glance_table(summaries)
    st.dataframe(frame(table), hide_index=True, column_config=GLANCE_COLUMNS, alt=table.title)
    show_remarks((*remarks(summaries), *untested(summaries), how_to_remove(row.id) or ""))
    show_isolation(row.isolation, row.self_test)


def _errors(workspace: Workspace, row: BenchmarkRow) -> None:
    """Why experiments have no result, and the button that runs them again."""
    st.warning(f"{state(row).capitalize()}.", icon="⚠️")
    show_causes(workspace.results.experiments(row.id, outcome="error", limit=MOST_ERRORS))
    show_failure(PLACE)
    offer_retry(workspace, row, PLACE)


with edge():
    main()
