"""Which configurations of which benchmarks a page is about; both choices are part of its address."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import streamlit as st

from koderz_core import Workspace
from koderz_core.records.rows import BenchmarkRow
from koderz_core.records.summaries import SummaryRow
from pages.ui.address import choice, keep
from pages.ui.text import listed

GROUND = "problems"  # in the address


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
    if len({row.problem_set for row in rows}) < 2 or not (shared := workspace.comparing.shared_problems(rows)):
        keep(GROUND, None)
        return list(rows)
    said = {"each": "all that each was given", "shared": f"the {len(shared)} that all were given"}
    chosen = choice(GROUND, "Problems", list(said), said.__getitem__)
    return workspace.comparing.on_shared_problems(rows) if chosen == "shared" else list(rows)


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
