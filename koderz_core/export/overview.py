"""What a benchmark came to at a glance, from its summaries alone: quick however large it is."""

from __future__ import annotations

from collections.abc import Sequence

from koderz_core.analysis.compared import compared
from koderz_core.export.formats import bounded, duration, money, share
from koderz_core.export.worded import CASES, NONE, Table, columns, with_column
from koderz_core.records.summaries import SummaryRow


def glance_table(rows: Sequence[SummaryRow]) -> Table:
    """One line per configuration."""
    found = [compared(row, place) for place, row in enumerate(rows)]
    cells = tuple(
        (
            one.label,
            share(one),
            f"{one.n}/{one.planned}",
            money(one.cost_per_experiment_usd),
            duration(one.seconds_per_experiment) if one.seconds_per_experiment is not None else NONE,
            NONE if one.mean_iterations is None else f"{one.mean_iterations:.1f}",
        )
        for one in found
    )
    names = columns("configuration | solved [95 %] | n | $ each | time each | iterations")
    table = Table("What each configuration solved, at what cost", names, cells)
    return with_column(table, "n", CASES, [bounded(one) for one in found])
