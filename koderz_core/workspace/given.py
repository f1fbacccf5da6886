"""Which problems configurations were given."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from koderz_core.records.measurements import Ground
from koderz_core.records.summaries import SummaryRow


def given(rows: Sequence[SummaryRow], grounds: Iterable[Ground]) -> list[frozenset[str]]:
    """The problems that each of these is about, in their order; those of a benchmark without a ground: none."""
    of = {one.benchmark: frozenset(one.problems) for one in grounds}
    return [of.get(row.benchmark, frozenset()) if row.only is None else frozenset(row.only) for row in rows]
