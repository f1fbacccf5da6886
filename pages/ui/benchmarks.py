"""The benchmarks as a table of which one can be chosen: a part at a time where they are many, and a search."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from koderz_core.export.formats import count
from koderz_core.export.searched import benchmarks_of
from koderz_core.records.rows import BenchmarkRow
from pages.ui.tables import BENCHMARK_COLUMNS, benchmark_table, selected

AT_ONCE = 50  # lines; more are further parts


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
    part = _part(found)
    chosen = selected(
        benchmark_table(part),
        f"benchmarks {part[0].id}",
        "benchmark",
        column_config=BENCHMARK_COLUMNS,
        alt="Benchmarks",
    )
    return next((row for row in part if row.id == chosen), usual if part[0] is rows[0] else part[0])


def _part(rows: Sequence[BenchmarkRow]) -> Sequence[BenchmarkRow]:
    if not _many(rows):
        return rows
    pages = -(-len(rows) // AT_ONCE)
    page = int(st.pagination(pages, key=f"part of {pages} of benchmarks"))
    first = AT_ONCE * (page - 1)
    part = rows[first : first + AT_ONCE]
    st.caption(f"{count(first + 1)} to {count(first + len(part))} of {count(len(rows))}, the newest first.")
    return part


def _many(rows: Sequence[BenchmarkRow]) -> bool:
    return len(rows) > AT_ONCE
