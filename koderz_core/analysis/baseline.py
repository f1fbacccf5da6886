"""Which configuration the others are held against."""

from __future__ import annotations

from collections.abc import Sequence

from koderz_core.records.summaries import SummaryRow

DIRECT = "direct"


def usual_baseline(rows: Sequence[SummaryRow]) -> SummaryRow | None:
    """The frontier model asked once on these problems, if it was; else the dearest model asked once; else the first.

    Of several frontier models the dearest per experiment; a price that is not known counts as none. None of none.
    """
    asked_once = frontier_asked_once(rows) or [row for row in rows if row.strategy == DIRECT] or rows[:1]
    return max(asked_once, key=lambda row: (row.cost_usd or 0.0) / (row.planned or 1), default=None)


def frontier_asked_once(rows: Sequence[SummaryRow]) -> list[SummaryRow]:
    """The measured baselines: what frontier models solve when they are asked directly; errors measure nothing."""
    asked = [row for row in rows if row.strategy == DIRECT and any(one.tier == "frontier" for one in row.tiers)]
    return [row for row in asked if row.solved or row.unsolved]
