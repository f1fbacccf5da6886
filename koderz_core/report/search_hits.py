"""The words around a match of a search, for the terminal and the page."""

from __future__ import annotations

from koderz_core.records.search import SearchHit
from koderz_core.report.formats import numbered, one_line

NO_MATCH = "No recorded text contains all of these words."
MORE = "More texts match. Add words, choose a kind or a benchmark, or show more matches."
LONGEST_NAME = 60


def source(hit: SearchHit) -> str:
    """The problem, the configuration and the benchmark of a match, and in how many experiments it occurs. Hostile."""
    names = (hit.problem, hit.configuration, hit.benchmark_name or hit.benchmark)
    parts = [_short(name) for name in names if name]
    return " · ".join(parts + ([f"in {numbered(hit.experiments, 'experiment')}"] if hit.experiments > 1 else []))


def _short(name: str) -> str:
    line = one_line(name)
    return line if len(line) <= LONGEST_NAME else f"{line[:LONGEST_NAME]}…"
