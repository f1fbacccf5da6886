"""Another experiment of the same problem beside this one: what sets them apart, both step by step, both programs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import streamlit as st

from koderz_core import Workspace
from koderz_core.analysis.differences import StepPair, aligned
from koderz_core.records.rows import ExperimentDetails, ExperimentRow
from koderz_core.report.formats import MARKS
from koderz_core.report.timeline import RETURNED, SIDES, settings_beside, steps_beside
from koderz_core.workspace.again import fellows, set_apart
from pages.ui.address import choice, chosen_line
from pages.ui.edge import edge
from pages.ui.tables import frame, show_words, tall
from pages.ui.text import show_diff, show_text

NOBODY = ""
STEPS = {"step": st.column_config.TextColumn("step", pinned=True)}  # in sight where the screen is narrow


def show_beside(workspace: Workspace, row: ExperimentRow) -> None:
    """Offer every other experiment on the problem; the chosen one stands beside this one as both are now."""
    others = {fellow.id: fellow for fellow in fellows(workspace.results, row)}
    if not others:
        st.caption("No other experiment on this problem has begun, so none can stand beside it.")
        return

    @st.fragment(key="beside")
    def draw() -> None:
        with edge():
            options = [NOBODY, *others]
            chosen = choice(
                "beside", "Another experiment on this problem", options, lambda one: _said(others.get(one), row)
            )
            if chosen != NOBODY:
                _show(workspace, row.id, chosen)

    draw()


def _said(other: ExperimentRow | None, row: ExperimentRow) -> str:
    """Hostile text."""
    if other is None:
        return "no other"
    where = "" if other.benchmark == row.benchmark else other.benchmark
    repeat = f"repeat {other.repeat + 1}" if other.repeat or other.configuration == row.configuration else ""
    return " · ".join(one for one in (MARKS[other.shown], other.label, repeat, where, other.id) if one)


def _show(workspace: Workspace, one: str, other: str) -> None:
    left, right = (workspace.results.experiment(experiment) for experiment in (one, other))
    differing = settings_beside(set_apart(workspace.results, left.experiment, right.experiment))
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(f"{SIDES[0]} is the experiment above, {SIDES[1]} the other. What sets them apart:")
        st.page_link("pages/experiment.py", label=f"Open {SIDES[1]}", icon="🔬", query_params={"experiment": other})
    if differing.rows:
        show_words(differing)
    else:
        st.text("Nothing: the same configuration under the same conditions.")
    pairs = aligned(left.steps, right.steps)
    table = steps_beside(pairs, left.experiment, right.experiment)
    keys = [RETURNED, *map(str, range(1, len(pairs) + 1))]
    st.caption("Step by step: tries by their gate tests, what was returned by the tests that score it. Choose a line.")
    options = {"column_config": STEPS, "height": tall(table), "alt": table.title}
    at = chosen_line(frame(table), "pair", keys, **options)
    _programs(workspace, (left, right), _codes(left, right, pairs, at))


def _codes(
    left: ExperimentDetails, right: ExperimentDetails, pairs: Sequence[StepPair], at: str
) -> tuple[str | None, str | None]:
    """The programs of a line, by SHA-256."""
    if at == RETURNED:
        return left.experiment.code, right.experiment.code
    pair = pairs[int(at) - 1]
    left_code, right_code = (None if step is None else step.program for step in (pair.left, pair.right))
    return left_code, right_code


def _programs(workspace: Workspace, both: Sequence[ExperimentDetails], codes: tuple[str | None, str | None]) -> None:
    texts = workspace.results.texts([code for code in codes if code])
    for column, side, details, code in zip(st.columns(2), SIDES, both, codes, strict=True):
        with column:
            _program(side, details.experiment, texts, code)
    before, after = (texts.get(code or "") for code in codes)
    if before is not None and after is not None:
        st.caption(f"From {SIDES[0]} to {SIDES[1]}")
        show_diff(before, after, "beside-diff", SIDES)


def _program(side: str, row: ExperimentRow, texts: Mapping[str, str], code: str | None) -> None:
    st.text(f"{side} · {row.label}")
    if program := texts.get(code or ""):
        show_text(program, f"beside-{side}", "python")
    else:
        st.info("There is no program here.", icon="🕳️")
