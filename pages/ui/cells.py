"""A lane per configuration with a cell per experiment: a sign, a colour, and the way to it."""

from __future__ import annotations

import re
from collections.abc import Sequence

import streamlit as st

from koderz_core.records.rows import ExperimentRow

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
MOST_LINKS = 400  # more would cost the browser more than a second to draw


def draw_cells(rows: Sequence[ExperimentRow]) -> None:
    """Draw all experiments of a benchmark, in its order. Only our own signs and ids become markdown."""
    linked = len(rows) <= MOST_LINKS
    lanes: dict[str, list[str]] = {}
    for row in rows:
        lane = lanes.setdefault(row.label, [])
        lane.append(_cell(row, len(lane), linked=linked))
    for label, cells in lanes.items():
        with st.container(gap="xxsmall"):
            st.text(label)
            st.markdown(" ".join(cells))
    st.caption(MEANING + (" A cell opens its experiment in a new tab." if linked else ""))


def _cell(row: ExperimentRow, place: int, *, linked: bool) -> str:
    """Named by the number in its problem's id, of which nothing but digits is shown."""
    color, sign = SIGNS[row.shown]
    number = re.search(r"[0-9]{1,6}$", row.problem)
    badge = f":{color}-badge[{sign} {number[0] if number else place}]"
    return f"[{badge}](experiment?experiment={row.id})" if linked and row.shown != "planned" else badge
