"""Overview: what has been run, what runs, what it cost, and where to go on."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from koderz_core.export.formats import STATES, count, money
from koderz_core.records.rows import BenchmarkRow
from pages.ui.edge import edge
from pages.ui.frame import facts, open_page, show_ground
from pages.ui.running import POLL_SECONDS, from_known, is_resumable
from pages.ui.tables import BENCHMARK_COLUMNS, benchmark_table, selected
from pages.ui.text import called

ABOUT = "Can cheap models with many tries match an expensive one, at what price, and how sure are we?"
WAYS = (
    ("live", "Watch", "📡"),
    ("compare", "Compare", "⚖️"),
    ("problems", "Problems", "🧩"),
    ("export", "Export", "📦"),
)


def main() -> None:
    opened = open_page("koderz", ABOUT)
    rows, results = opened.benchmarks, opened.workspace.results
    if not rows:
        _empty()
        return
    running = any(row.state == "running" for row in rows)
    now = from_known(rows, results.benchmarks)
    st.fragment(lambda: _figures(now()), run_every=POLL_SECONDS if running else None)()
    _go_on(rows)
    st.subheader("Benchmarks")
    chosen = selected(
        benchmark_table(rows), "benchmarks", "benchmark", column_config=BENCHMARK_COLUMNS, alt="All benchmarks"
    )
    _ways(next((row for row in rows if row.id == chosen), rows[0]))
    for fault in results.faults:
        st.warning("A journal could not be read to its end.", icon="⚠️")
        st.text(fault)


def _empty() -> None:
    st.subheader("Nothing has been run here yet")
    st.write(
        "A benchmark runs strategies with models on coding problems and keeps every prompt, answer, test result and "
        "cent. The quick look takes three problems and minutes."
    )
    st.page_link("pages/launch.py", label="Launch the quick look", icon="🚀", query_params={"preset": "quick look"})
    st.caption("Or from a terminal:")
    st.code("koderz quickstart", language="bash")


def _figures(rows: Sequence[BenchmarkRow]) -> None:
    running = sum(row.under_way for row in rows)
    unpriced = sum(row.unpriced for row in rows)
    spent = sum(row.cost_usd or 0.0 for row in rows)
    facts(
        {
            "running now": count(running),
            "experiments with a result": count(sum(row.solved + row.unsolved for row in rows)),
            "without a result": count(sum(row.errors + row.cancelled for row in rows)),
            "spent" + (f" ({unpriced} calls unpriced)" if unpriced else ""): money(spent),
        }
    )


def _go_on(rows: Sequence[BenchmarkRow]) -> None:
    """What ended before its time comes first: it can be taken up again."""
    for row in [one for one in rows if is_resumable(one)][:3]:
        left = f"{STATES[row.state]} with {row.left} of {row.planned} experiments left"
        with st.container(horizontal=True, vertical_alignment="center"):
            st.page_link("pages/live.py", label=left, icon="⏯️", query_params={"benchmark": row.id})
            st.text(called(row))


def _ways(row: BenchmarkRow) -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        st.text(called(row))
        for page, label, icon in WAYS:
            name = "benchmarks" if page in ("compare", "problems") else "benchmark"
            st.page_link(f"pages/{page}.py", label=label, icon=icon, query_params={name: row.id})
    show_ground(row)


with edge():
    main()
