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
from pages.ui.address import BENCHMARKS, choice, forget, keep
from pages.ui.shell import WITHIN
from pages.ui.tables import BENCHMARK_COLUMNS, EXPERIMENT_COLUMNS, benchmark_table, experiment_table, selected

PROBLEM_SET, SHARED = "problems", "shared"  # in the address
BENCHMARKS_PER_PAGE = 50
EXPERIMENTS_PER_PAGE = 500

Row = TypeVar("Row")


def choose_rows(workspace: Workspace, benchmarks: Sequence[BenchmarkRow]) -> list[SummaryRow]:
    """The chosen configurations in the order of the benchmarks; at first all of them."""
    of = [row.id for row in benchmarks]
    found = workspace.results.reached(workspace.results.summaries(of))
    rows = {f"{row.benchmark}/{row.configuration}": row for row in found}
    labels = {key: row.label if len(of) == 1 else f"{row.label} · {row.benchmark}" for key, row in rows.items()}
    return [rows[key] for key in _choose_several("configurations", "Configurations", labels)]


def choose_problem_set(workspace: Workspace, rows: Sequence[SummaryRow]) -> list[SummaryRow]:
    """The rows on all their problems or only on the shared ones; a choice only if the problems differ."""
    if len({row.problem_set for row in rows}) < 2 or not (shared := workspace.comparisons.shared_problems(rows)):
        keep(PROBLEM_SET, None)
        return list(rows)
    labels = {
        "each": "all problems of each configuration",
        SHARED: f"only problems that all configurations share ({len(shared)})",
    }
    chosen = choice(PROBLEM_SET, "Problems", list(labels), labels.__getitem__)
    return workspace.comparisons.on_shared_problems(rows) if chosen == SHARED else list(rows)


def only_shared_problems() -> bool:
    """Whether the user chose only the shared problems in ``choose_problem_set``."""
    return st.query_params.get(PROBLEM_SET) == SHARED


def _choose_several(name: str, label: str, options: Mapping[str, str]) -> list[str]:
    """Some of the options, in their order, at first all; the address holds them unless they are all."""
    asked = st.query_params.get(name)
    wanted = list(options) if asked is None else list(dict.fromkeys(asked.split(",")))
    known = [option for option in wanted if option in options]
    if len(known) < len(wanted):
        unknown = f"The link contains at least one unknown {name.rstrip('s')}. koderz ignores unknown {name}."
        st.warning(unknown, icon="🔎")
    key, last_key = f"{name} of {hash(tuple(options))}", f"{name} in the URL"
    if key not in st.session_state or st.session_state.get(last_key) != asked:  # also when the browser went back
        st.session_state[key] = known
    chosen = st.multiselect(label, list(options), format_func=options.__getitem__, key=key, wrap=True)
    keep(name, None if list(chosen) == list(options) else ",".join(chosen) or None)
    st.session_state[last_key] = st.query_params.get(name)
    return list(map(str, chosen))


def choose_in_table(rows: Sequence[BenchmarkRow], chosen: Sequence[BenchmarkRow]) -> None:
    """A table, the newest first, in which a benchmark can be chosen for all pages."""
    words = ""
    if len(rows) > BENCHMARKS_PER_PAGE:
        words = st.text_input("Search", key="find benchmarks", placeholder="name, id, state, dataset, model")
    matching = benchmarks_of(rows, words)
    if not matching:
        st.info("No benchmark matches the search.", icon="🟰")
        return
    part = _page_of(matching, BENCHMARKS_PER_PAGE, "benchmarks", ", newest first")
    st.caption("Choose a row to show its benchmark on all pages.")
    # The key changes with the chosen benchmarks, which can also be chosen elsewhere: an older choice does not count.
    key = f"benchmarks, chosen: {' '.join(row.id for row in chosen)}"
    of = selected(benchmark_table(part), key, "benchmark", column_config=BENCHMARK_COLUMNS, alt="Benchmarks")
    if of and [of] != [row.id for row in chosen]:
        forget(WITHIN)
        keep(BENCHMARKS, of)
        st.rerun()


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
    return selected(experiment_table(part, labels), key, "experiment", **options)


def _page_of(rows: Sequence[Row], size: int, key: str, order: str = "") -> Sequence[Row]:
    """The chosen page of a long table; all rows if they fit on one page."""
    pages = -(-len(rows) // size)
    if pages < 2:
        return rows
    first = size * (int(st.pagination(pages, key=f"part of {pages} of {key}")) - 1)
    part = rows[first : first + size]
    st.caption(f"Rows {count(first + 1)} to {count(first + len(part))} of {count(len(rows))}{order}.")
    return part
