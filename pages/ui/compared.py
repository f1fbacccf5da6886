"""The comparison that the pages Summary and Statistics show, and the choices that it depends on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from koderz_core.records.progress import SummaryRow
from koderz_core.workspace.comparisons import Comparison
from koderz_core.workspace.names import letter, usual_baseline
from pages.ui.address import choice
from pages.ui.frame import Page, show_empty
from pages.ui.pickers import choose_problem_set, choose_rows
from pages.ui.slow_results import awaited_comparison, comparison_of, is_many
from pages.ui.text import called


@dataclass(frozen=True, slots=True)
class Compared:
    """A comparison with the rows behind it: the ``chosen`` ones, and ``rows`` with an added baseline."""

    chosen: Sequence[SummaryRow]
    rows: Sequence[SummaryRow]
    comparison: Comparison


def open_comparison(page: Page) -> Compared | None:
    """The comparison of the chosen configurations; None if there is none yet, which the page then says."""
    if not page.chosen:
        show_empty(page.workspace, "There is nothing to compare yet.", "⚖️", "Run two configurations")
        return None
    with choices(page):
        configurations = choose_rows(page.workspace, page.chosen)
        chosen = choose_problem_set(page.workspace, configurations)
        rows = page.workspace.comparisons.with_baseline(chosen)
        baseline = _baseline(rows)
    if not rows:
        st.info("Choose at least one configuration.", icon="⚖️")
        return None
    if not is_many(rows):
        return Compared(chosen, rows, comparison_of(page.workspace, rows, baseline))
    ready = awaited_comparison(page.workspace, rows, baseline)
    return Compared(chosen, rows, ready) if ready else None


def choices(page: Page) -> DeltaGenerator:
    """The names of the chosen benchmarks, and beside them a folded place for choices within these benchmarks."""
    with st.container(horizontal=True, vertical_alignment="center", key="subject"):
        st.text(" + ".join(map(called, page.chosen)), width="content")
        return st.popover("Configurations", icon=":material/tune:", key="choices")


def _baseline(rows: Sequence[SummaryRow]) -> str | None:
    """The baseline, as ``benchmark/configuration``; None if there is nothing to compare."""
    usual = usual_baseline(rows)
    if usual is None or len(rows) < 2:
        return None
    labels = {f"{row.benchmark}/{row.configuration}": f"{letter(at)} · {row.label}" for at, row in enumerate(rows)}
    default = f"{usual.benchmark}/{usual.configuration}"
    return choice("baseline", "Baseline", list(labels), labels.__getitem__, default=default)
