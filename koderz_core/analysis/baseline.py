"""Which configuration the others are held against."""

from __future__ import annotations

from collections.abc import Sequence

from koderz_core.records.summaries import SummaryRow

DIRECT, SUPERVISED = "direct", "supervised"
FEWEST = 2  # ablations that make a grid


def usual_baseline(rows: Sequence[SummaryRow]) -> SummaryRow | None:
    """What others are ablations of, else the frontier model asked once, else the dearest asked once, else the first.

    All on these problems. Of several frontier models the dearest per experiment; a price that is not known counts as
    none. None of none.
    """
    if whole := ablated(rows):
        return whole
    asked_once = frontier_asked_once(rows) or [row for row in rows if row.strategy == DIRECT] or rows[:1]
    return max(asked_once, key=lambda row: (row.cost_usd or 0.0) / (row.planned or 1), default=None)


def frontier_asked_once(rows: Sequence[SummaryRow]) -> list[SummaryRow]:
    """The measured baselines: what frontier models solve when they are asked directly; errors measure nothing."""
    asked = [row for row in rows if row.strategy == DIRECT and any(one.tier == "frontier" for one in row.tiers)]
    return [row for row in asked if row.solved or row.unsolved]


def ablated(rows: Sequence[SummaryRow]) -> SummaryRow | None:
    """The supervised one that at least two others are ablations of, more than of any other; None: there is none."""
    counts = [sum(_is_ablation(other, row) for other in rows) for row in rows]
    most = max(counts, default=0)
    return rows[counts.index(most)] if most >= FEWEST and counts.count(most) == 1 else None


def _is_ablation(row: SummaryRow, whole: SummaryRow) -> bool:
    """Whether it is the whole but for one thing; a switch is one that was on there."""
    kin = row.strategy == whole.strategy == SUPERVISED and row.benchmark == whole.benchmark
    same = (row.gate, row.feedback) == (whole.gate, whole.feedback)
    if not kin or not same or any(members != whole.models.get(role) for role, members in row.models.items()):
        return False
    names = row.parameters.keys() | whole.parameters.keys()
    changed = {name for name in names if row.parameters.get(name) != whole.parameters.get(name)}
    changed -= {"retry_temperature"} if "temperature" in changed else set()
    return len(changed) == 1 and all(row.parameters.get(name) is not True for name in changed)
