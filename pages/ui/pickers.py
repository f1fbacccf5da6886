"""Choice of benchmarks, configurations and experiments for a page, from tables with a search and several pages.

The configurations and the problems that are chosen are part of the page's address.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import streamlit as st

from koderz_core import Workspace
from koderz_core.records.progress import SummaryRow
from koderz_core.records.rows import BenchmarkRow, ExperimentRow
from koderz_core.report.formats import count
from koderz_core.report.status import benchmarks_of, experiments_of
from pages.ui.address import choice, keep
from pages.ui.tables import BENCHMARK_COLUMNS, benchmark_table, experiment_table, selected
from pages.ui.text import listed

GROUND = "problems"  # in the address
BENCHMARKS_PER_PAGE = 50  # lines; more are further parts
EXPERIMENTS_PER_PAGE = 500  # lines; more are further parts


def choose_rows(workspace: Workspace, benchmarks: Sequence[BenchmarkRow]) -> list[SummaryRow]:
    """The chosen configurations in the order of their benchmarks; at first all of the newest one."""
    left, right = st.columns([2, 3])
    with left:
        named = {row.id: listed(row) for row in benchmarks}
        of = _several("benchmarks", "Benchmarks", named, [benchmarks[0].id])
    with right:
        rows = {f"{row.benchmark}/{row.configuration}": row for row in workspace.results.summaries(of)}
        labels = {key: row.label if len(of) == 1 else f"{row.label} · {row.benchmark}" for key, row in rows.items()}
        return [rows[key] for key in _several("configurations", "Configurations", labels, list(rows))]


def choose_ground(workspace: Workspace, rows: Sequence[SummaryRow]) -> list[SummaryRow]:
    """The same, on all that each was given or only on what all were; asked where these are not the same problems."""
    if len({row.problem_set for row in rows}) < 2 or not (shared := workspace.comparisons.shared_problems(rows)):
        keep(GROUND, None)
        return list(rows)
    said = {"each": "all that each was given", "shared": f"the {len(shared)} that all were given"}
    chosen = choice(GROUND, "Problems", list(said), said.__getitem__)
    return workspace.comparisons.on_shared_problems(rows) if chosen == "shared" else list(rows)


def _several(name: str, label: str, options: Mapping[str, str], usual: Sequence[str]) -> list[str]:
    """Some of the options, in their order; the URL holds them unless they are the usual ones."""
    asked = st.query_params.get(name)
    wanted = list(usual) if asked is None else list(dict.fromkeys(asked.split(",")))
    known = [one for one in wanted if one in options]
    if len(known) < len(wanted):
        st.warning(f"The address asks for a {name.rstrip('s')} that is not here. It was left out.", icon="🔎")
    key = f"{name} of {hash(tuple(options))}"
    chosen = st.multiselect(label, list(options), known, format_func=lambda one: options[one], key=key, wrap=True)
    keep(name, None if list(chosen) == list(usual) else ",".join(chosen) or None)
    return [str(one) for one in chosen]


def choose_benchmark(rows: Sequence[BenchmarkRow], usual: BenchmarkRow | None) -> BenchmarkRow | None:
    """Show them, the newest first; the one that is chosen in the table, else ``usual``.

    In a further part of them, or after a search, it is the first in sight.
    """
    words = (
        st.text_input("Find", key="find benchmarks", placeholder="name, id, state, dataset, model")
        if _many(rows)
        else ""
    )
    found = benchmarks_of(rows, str(words))
    if not found:
        st.info("No benchmark has all of these words.", icon="🟰")
        return usual
    part = _page_of_benchmarks(found)
    chosen = selected(
        benchmark_table(part),
        f"benchmarks {part[0].id}",
        "benchmark",
        column_config=BENCHMARK_COLUMNS,
        alt="Benchmarks",
    )
    return next((row for row in part if row.id == chosen), usual if part[0] is rows[0] else part[0])


def _page_of_benchmarks(rows: Sequence[BenchmarkRow]) -> Sequence[BenchmarkRow]:
    if not _many(rows):
        return rows
    pages = -(-len(rows) // BENCHMARKS_PER_PAGE)
    page = int(st.pagination(pages, key=f"part of {pages} of benchmarks"))
    first = BENCHMARKS_PER_PAGE * (page - 1)
    part = rows[first : first + BENCHMARKS_PER_PAGE]
    st.caption(f"{count(first + 1)} to {count(first + len(part))} of {count(len(rows))}, the newest first.")
    return part


def _many(rows: Sequence[BenchmarkRow]) -> bool:
    return len(rows) > BENCHMARKS_PER_PAGE


def choose_experiment(rows: Sequence[ExperimentRow], key: str) -> str | None:
    """Show them in their order; the id of the one that is chosen. ``key`` tells two such tables apart."""
    st.caption("Choose a line to open its experiment.")
    found = rows
    if len(rows) > EXPERIMENTS_PER_PAGE:
        words = st.text_input("Find", key=f"find {key}", placeholder="problem, configuration, outcome, failure, id")
        found = experiments_of(rows, str(words))
    part = _page_of_experiments(found, key)
    if not part:
        st.info("No experiment has all of these words.", icon="🟰")
        return None
    return selected(experiment_table(part), f"{key} {part[0].id}", "experiment", alt="Experiments of the benchmark")


def _page_of_experiments(rows: Sequence[ExperimentRow], key: str) -> Sequence[ExperimentRow]:
    pages = -(-len(rows) // EXPERIMENTS_PER_PAGE)
    if pages < 2:
        return rows
    first = EXPERIMENTS_PER_PAGE * (int(st.pagination(pages, key=f"part of {pages} of {key}")) - 1)
    part = rows[first : first + EXPERIMENTS_PER_PAGE]
    st.caption(f"{count(first + 1)} to {count(first + len(part))} of {count(len(rows))}.")
    return part
