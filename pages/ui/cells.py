"""A lane per configuration with a cell per experiment: a sign, a colour, and the way to it."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from koderz_core.records.rows import ExperimentRow

SIGNS = {
    "solved": ":green-badge[✔]",
    "unsolved": ":red-badge[✘]",
    "error": ":orange-badge[!]",
    "cancelled": ":gray-badge[–]",
    "running": ":blue-badge[▶]",
    "paused": ":violet-badge[⏸]",
    "waiting": ":gray-badge[·]",
}
MOST_LINKS = 400  # more would cost the browser more than a second to draw


def draw_cells(rows: Sequence[ExperimentRow]) -> None:
    """Draw all experiments of a benchmark, in its order. Only our own signs and ids become markdown."""
    linked = len(rows) <= MOST_LINKS
    lanes: dict[str, list[str]] = {}
    for row in rows:
        lanes.setdefault(row.label, []).append(_cell(row, linked=linked))
    for label, cells in lanes.items():
        st.text(label)
        st.markdown(" ".join(cells))
    st.caption(
        "✔ solved  ✘ unsolved  ! error, – cancelled: no result  ▶ running  ⏸ paused  · waiting. "
        "A cell opens its experiment."
    )


def _cell(row: ExperimentRow, *, linked: bool) -> str:
    sign = SIGNS[row.outcome or (row.state if row.state in SIGNS else "waiting")]
    return f"[{sign}](experiment?experiment={row.id})" if linked and row.started_at is not None else sign
