"""A lane per configuration with a cell per experiment: a sign, a colour, and the way to it."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

import streamlit as st

from koderz_core.export.lanes import Cell, Lanes, lanes
from koderz_core.records.rows import ExperimentRow

FEW, EVERY_SECONDS = 60, 2.0
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


class Cells:
    """The cells of a benchmark that is watched; many are not made anew each time, as a browser takes long for them."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        """``clock``: seconds."""
        self._clock = clock
        self._lanes = Lanes((), 1)
        self._old_at = 0.0

    def of(self, rows: Sequence[ExperimentRow]) -> Lanes:
        """Those of all experiments of a benchmark, in its order."""
        now = self._clock()
        if len(rows) <= FEW or now >= self._old_at:
            self._lanes, self._old_at = lanes(rows), now + EVERY_SECONDS
        return self._lanes


def draw_cells(drawn: Lanes) -> None:
    """Only our own signs and ids become markdown. Where there are many, the block scrolls (``looks.css``)."""
    with st.container(gap="small", key="lanes"):
        for lane in drawn.lanes:
            with st.container(gap="xxsmall"):
                st.text(lane.label)
                st.caption(lane.told)
                st.markdown(" ".join(map(_badge, lane.cells)))
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
