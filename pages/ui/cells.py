"""A lane per configuration with a cell per experiment: a sign, a colour, and the way to it."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from koderz_core.export.lanes import Cell, lanes
from koderz_core.records.rows import ExperimentRow

FEW = 60  # of more a browser takes longer for the cells than for all the rest of a page
SIGNS = {
    "solved": ("green", "✔"),
    "unsolved": ("red", "✘"),
    "error": ("orange", "!"),
    "cancelled": ("gray", "–"),
    "running": ("blue", "▶"),
    "paused": ("violet", "‖"),
    "interrupted": ("orange", "⚡"),
    "planned": ("gray", "·"),
}
MEANING = "✔ solved, ✘ unsolved, ! error, – cancelled, ▶ running, ‖ paused, ⚡ interrupted, · waiting."


def draw_cells(rows: Sequence[ExperimentRow]) -> None:
    """Those of all experiments of a benchmark, in its order. Only our own signs and ids become markdown.

    Where there are many, the block scrolls (``looks.css``).
    """
    drawn = lanes(rows)
    with st.container(gap="small", key="lanes"):
        for lane in drawn.lanes:
            with st.container(gap="xxsmall"):
                st.text(lane.label)
                st.caption(lane.told)
                st.markdown(" ".join(map(_badge, lane.cells)))
    for said in drawn.footnotes:
        st.text(said)
    st.caption(MEANING + _way(drawn.each))


def _badge(cell: Cell) -> str:
    color, sign = SIGNS[cell.shown]
    badge = f":{color}-badge[{sign} {cell.name}]"
    return badge if cell.experiment is None else f"[{badge}](experiment?experiment={cell.experiment})"


def _way(each: int) -> str:
    if each == 1:
        return " A cell opens its experiment in a new tab."
    return (
        f" There are many, so a cell stands for {each} experiments: its sign is what most of them are, its numbers how "
        "many are solved. It opens the first that was begun, in a new tab."
    )
