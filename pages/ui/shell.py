"""What surrounds every page: the menu, the benchmarks chosen in the sidebar, and the tabs of a group of pages.

The ids of the chosen benchmarks are part of the address of every page.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import streamlit as st

from koderz_core import Workspace
from koderz_core.errors import UsageError
from koderz_core.records.rows import BenchmarkRow
from pages.ui.address import BENCHMARKS, EVERYTHING, choice, forget, keep, link, matching_option, warn_of_missing
from pages.ui.text import listed

BENCHMARK = "benchmark"  # in addresses of earlier versions, where it named the only benchmark
MOST_LISTED = 200  # benchmarks in the sidebar; the browser receives the list with every page
COMPARED = ("configurations", "problems", "baseline", "pair")  # the choices that the tabs of a benchmark share
WITHIN = (
    *(*COMPARED, BENCHMARK, "configuration", "problem", "experiment", "step", "beside", "line"),
    *("label", "one", "other", "show", "part", "within", "budget"),
    *("model", "then", "gate", "tries", "wrong"),
)
"""Addressed choices that mean nothing for other benchmarks."""
ABOUT_PICKER = (
    "All pages show these benchmarks. The list contains the newest {0} benchmarks; Home has a table of all benchmarks."
)


@dataclass(frozen=True, slots=True)
class Place:
    """A page of the dashboard. ``group``: its entry in the menu, empty if the menu does not lead to it."""

    group: str
    title: str
    icon: str


PAGES: Mapping[str, Place] = {
    "overview": Place("Home", "Home", ":material/home:"),
    "launch": Place("New run", "New run", ":material/play_circle:"),
    "compare": Place("Benchmark", "Summary", ":material/monitoring:"),
    "live": Place("Benchmark", "Live", ":material/sensors:"),
    "problems": Place("Benchmark", "Problems", ":material/grid_on:"),
    "experiment": Place("Benchmark", "Experiments", ":material/science:"),
    "statistics": Place("Benchmark", "Statistics", ":material/functions:"),
    "what_if": Place("Benchmark", "What if", ":material/alt_route:"),
    "export": Place("Benchmark", "Export", ":material/download:"),
    "workbench": Place("Workbench", "Fix and ask", ":material/build:"),
    "repository": Place("Workbench", "Repository", ":material/account_tree:"),
    "models": Place("System", "Models", ":material/dns:"),
    "memory": Place("System", "Memory", ":material/psychology:"),
    "network": Place("System", "Network", ":material/lan:"),
    "settings": Place("System", "Settings", ":material/tune:"),
    "search": Place("", "Search", ":material/search:"),
}
"""Every page by the name of its file, in the order of the menu and the tabs."""


def show_menu(current: str) -> None:
    """Links to the first page of each group."""
    groups: dict[str, str] = {}
    for name, place in PAGES.items():
        groups.setdefault(place.group, name)
    for group, first in groups.items():
        if group:
            with st.container(key="menu-current" if group == PAGES[current].group else f"menu-{first}"):
                link(first, group, PAGES[first].icon)


def show_tabs(current: str) -> None:
    """Links to the pages of the current page's group; those of a benchmark share the choices of a comparison."""
    pages = [name for name, place in PAGES.items() if place.group == PAGES[current].group]
    if len(pages) < 2 or not PAGES[current].group:
        return
    shared = {name: st.query_params[name] for name in COMPARED if name in st.query_params}
    for name in pages:
        with st.container(width="content", key="tab-current" if name == current else f"tab-{name}"):
            link(name, PAGES[name].title, PAGES[name].icon, **(shared if "compare" in pages else {}))


def choose_benchmarks(workspace: Workspace, benchmarks: Sequence[BenchmarkRow]) -> list[BenchmarkRow]:
    """The benchmarks that all pages show, in the order of their choice; empty only if there is none at all."""
    if not benchmarks:
        return []
    rows = {row.id: row for row in benchmarks}
    asked = _asked(workspace, rows)
    usual = [usual_benchmark(benchmarks).id]
    key, last = "chosen benchmarks", "benchmarks in the URL"
    if key not in st.session_state or st.session_state.get(last) != asked:
        st.session_state[key] = asked or usual
    kept = [name for name in st.session_state[key] if name in rows]
    st.session_state[key] = kept
    options = list(dict.fromkeys([*kept, *list(rows)[:MOST_LISTED]]))
    chosen = st.multiselect(
        "Benchmarks",
        options,
        key=key,
        format_func=lambda name: listed(rows[name]),
        placeholder="the newest benchmark",
        help=ABOUT_PICKER.format(MOST_LISTED) if len(rows) > MOST_LISTED else None,
        on_change=forget,
        args=[WITHIN],
    )
    found = list(chosen) or usual
    keep(BENCHMARKS, ",".join(found))
    st.session_state[last] = found
    return [rows[name] for name in found]


def usual_benchmark(benchmarks: Sequence[BenchmarkRow]) -> BenchmarkRow:
    """The benchmark that pages show at first: one that is running, else the newest of real models, else the newest."""
    running = next((row for row in benchmarks if row.under_way), None)
    return running or next((row for row in benchmarks if not row.scripted), benchmarks[0])


def choose_one(chosen: Sequence[BenchmarkRow]) -> BenchmarkRow:
    """One of the chosen benchmarks, for a page that shows only one."""
    if len(chosen) == 1:
        keep(BENCHMARK, None)
        return chosen[0]
    name = _choose(chosen)
    return next(row for row in chosen if row.id == name)


def choose_one_or_all(chosen: Sequence[BenchmarkRow]) -> BenchmarkRow | None:
    """One of the chosen benchmarks; None for all benchmarks of the data folder."""
    name = _choose(chosen, EVERYTHING)
    return next((row for row in chosen if row.id == name), None)


def _choose(chosen: Sequence[BenchmarkRow], *more: str) -> str:
    rows = {row.id: row for row in chosen}
    return choice(BENCHMARK, "Benchmark", [*rows, *more], lambda name: listed(rows[name]) if name in rows else name)


def _asked(workspace: Workspace, rows: Mapping[str, BenchmarkRow]) -> list[str]:
    """The ids of the benchmarks that the address names by id, by the beginning of an id, or by name."""
    requested = st.query_params.get(BENCHMARKS)
    if requested is None:
        requested = st.query_params.get(BENCHMARK, "")
        if requested in ("", EVERYTHING):
            return []
        keep(BENCHMARK, None)
    words = [matching_option(word, list(rows)) for word in filter(None, requested.split(","))]
    ids = [word if word in rows else _id_of(workspace, word) for word in words]
    if not rows.keys() >= set(ids):
        warn_of_missing(BENCHMARKS)
    return [name for name in dict.fromkeys(ids) if name in rows]


def _id_of(workspace: Workspace, name: str) -> str:
    """The id of a benchmark by the rules of the command line; the name itself if it names none or several."""
    try:
        return workspace.results.find(name)
    except UsageError:
        return name
