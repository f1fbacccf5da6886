"""Choices of benchmarks, configurations and experiments; long tables have a search and several pages.

The chosen configurations and problems are part of the page's address.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeVar

import streamlit as st

from koderz_core import Workspace
from koderz_core.records.progress import SummaryRow
from koderz_core.records.rows import BenchmarkRow, ExperimentRow
from koderz_core.report.formats import count
from koderz_core.report.status import benchmarks_of, experiments_of
from pages.ui.address import choice, keep
from pages.ui.tables import BENCHMARK_COLUMNS, EXPERIMENT_COLUMNS, benchmark_table, experiment_table, selected
from pages.ui.text import listed

PROBLEM_SET = "problems"  # in the address
BENCHMARKS_PER_PAGE = 50
EXPERIMENTS_PER_PAGE = 500

Row = TypeVar("Row")


def choose_rows(workspace: Workspace, benchmarks: Sequence[BenchmarkRow]) -> list[SummaryRow]:
    """The chosen configurations in the order of their benchmarks; at first all of the newest benchmark."""
    left, right = st.columns([2, 3])
    with left:
        named = {row.id: listed(row) for row in benchmarks}
        of = _choose_several("benchmarks", "Benchmarks", named, [benchmarks[0].id])
    with right:
        rows = {f"{row.benchmark}/{row.configuration}": row for row in workspace.results.summaries(of)}
        labels = {key: row.label if len(of) == 1 else f"{row.label} · {row.benchmark}" for key, row in rows.items()}
        return [rows[key] for key in _choose_several("configurations", "Configurations", labels, list(rows))]


def choose_problem_set(workspace: Workspace, rows: Sequence[SummaryRow]) -> list[SummaryRow]:
    """The rows on all their problems or only on the shared ones; a choice only if the problems differ."""
    if len({row.problem_set for row in rows}) < 2 or not (shared := workspace.comparisons.shared_problems(rows)):
        keep(PROBLEM_SET, None)
        return list(rows)
    labels = {
        "each": "all problems of each configuration",
        "shared": f"only problems that all configurations share ({len(shared)})",
    }
    chosen = choice(PROBLEM_SET, "Problems", list(labels), labels.__getitem__)
    return workspace.comparisons.on_shared_problems(rows) if chosen == "shared" else list(rows)


def _choose_several(name: str, label: str, options: Mapping[str, str], usual: Sequence[str]) -> list[str]:
    """Some of the options, in their order; the address holds them unless they are the usual ones."""
    asked = st.query_params.get(name)
    wanted = list(usual) if asked is None else list(dict.fromkeys(asked.split(",")))
    known = [option for option in wanted if option in options]
    if len(known) < len(wanted):
        st.warning(f"The link names at least one unknown {name.rstrip('s')}. koderz ignores unknown names.", icon="🔎")
    key = f"{name} of {hash(tuple(options))}"
    chosen = st.multiselect(label, list(options), known, format_func=options.__getitem__, key=key, wrap=True)
    keep(name, None if list(chosen) == list(usual) else ",".join(chosen) or None)
    return list(map(str, chosen))


def choose_benchmark(rows: Sequence[BenchmarkRow], usual: BenchmarkRow | None) -> BenchmarkRow | None:
    """Show a table, the newest first; the benchmark chosen in it, else ``usual``.

    After a search or on a later page of the table, the first visible one takes the place of ``usual``.
    """
    words = ""
    if len(rows) > BENCHMARKS_PER_PAGE:
        words = st.text_input("Search", key="find benchmarks", placeholder="name, id, state, dataset, model")
    matching = benchmarks_of(rows, words)
    if not matching:
        st.info("No benchmark matches the search.", icon="🟰")
        return usual
    part = _page_of(matching, BENCHMARKS_PER_PAGE, "benchmarks", ", newest first")
    chosen = selected(
        benchmark_table(part),
        f"benchmarks {part[0].id}",
        "benchmark",
        column_config=BENCHMARK_COLUMNS,
        alt="Benchmarks",
    )
    return next((row for row in part if row.id == chosen), usual if part[0] is rows[0] else part[0])


def choose_experiment(rows: Sequence[ExperimentRow], key: str, labels: Mapping[str, Sequence[str]]) -> str | None:
    """Show a table in the order of the rows; the id of the chosen experiment. ``key`` is unique on the page."""
    st.caption("Select a row to open its experiment.")
    matching = rows
    if len(rows) > EXPERIMENTS_PER_PAGE:
        words = st.text_input("Search", key=f"find {key}", placeholder="problem, configuration, outcome, failure, id")
        matching = experiments_of(rows, str(words))
    part = _page_of(matching, EXPERIMENTS_PER_PAGE, key)
    if not part:
        st.info("No experiment matches the search.", icon="🟰")
        return None
    options = {"column_config": EXPERIMENT_COLUMNS, "alt": "Experiments of the benchmark"}
    return selected(experiment_table(part, labels), f"{key} {part[0].id}", "experiment", **options)


def _page_of(rows: Sequence[Row], size: int, key: str, order: str = "") -> Sequence[Row]:
    """The chosen page of a long table; all rows if they fit on one page."""
    pages = -(-len(rows) // size)
    if pages < 2:
        return rows
    first = size * (int(st.pagination(pages, key=f"part of {pages} of {key}")) - 1)
    part = rows[first : first + size]
    st.caption(f"{count(first + 1)} to {count(first + len(part))} of {count(len(rows))}{order}.")
    return part
