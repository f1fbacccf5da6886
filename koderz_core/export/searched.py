"""Finding a benchmark or an experiment among many by what a person remembers of it."""

from __future__ import annotations

from collections.abc import Sequence

from koderz_core.records.rows import BenchmarkRow, ExperimentRow


def benchmarks_of(rows: Sequence[BenchmarkRow], words: str) -> Sequence[BenchmarkRow]:
    """Those in whose name, id, state, dataset or models every one of these words occurs, in their order."""
    wanted = words.casefold().split()
    return [one for one in rows if _has(wanted, one.name, one.id, one.state, one.dataset, *one.models)]


def experiments_of(rows: Sequence[ExperimentRow], words: str) -> Sequence[ExperimentRow]:
    """Those in whose problem, label, outcome or state, failure or id every one of these words occurs."""
    wanted = words.casefold().split()
    return [one for one in rows if _has(wanted, one.problem, one.label, one.shown, one.failure or "", one.id)]


def _has(wanted: Sequence[str], *told: str) -> bool:
    said = "\n".join(told).casefold() if wanted else ""
    return all(word in said for word in wanted)
