"""Which problems configurations were given."""

from __future__ import annotations

from collections.abc import Sequence

from koderz_core.records.summaries import SummaryRow
from koderz_core.store.results import Results


def given(results: Results, rows: Sequence[SummaryRow]) -> list[frozenset[str]]:
    """The problems that each of these is about, in their order; those of a benchmark that is gone: none."""
    of = {one.benchmark: frozenset(one.problems) for one in results.grounds(sorted({row.benchmark for row in rows}))}
    return [of.get(row.benchmark, frozenset()) if row.only is None else frozenset(row.only) for row in rows]
