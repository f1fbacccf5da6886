"""Where experiments stand in their benchmark: by problem as people count, then by label, then by repeat."""

from __future__ import annotations

from collections.abc import Iterable

from duckdb import DuckDBPyConnection

from koderz_core.errors import UnknownNameError
from koderz_core.records.order import natural
from koderz_core.records.progress import Neighbours
from koderz_core.records.rows import ExperimentRow

Place = tuple[tuple[tuple[int, str], ...], str, int]


def ordered(experiments: Iterable[ExperimentRow]) -> tuple[ExperimentRow, ...]:
    """The experiments of a benchmark in order."""
    return tuple(sorted(experiments, key=lambda row: _place(row.problem, row.label, row.repeat)))


def neighbours(con: DuckDBPyConnection, experiment: str) -> Neighbours:
    """The experiments before and after one in its benchmark. Raises UnknownNameError."""
    rows = con.execute(_PLACES, [experiment]).fetchall()
    ids = [None, *(row[0] for row in sorted(rows, key=lambda row: _place(*row[1:]))), None]
    if experiment not in ids:
        raise UnknownNameError("experiment", experiment, [])
    at = ids.index(experiment)
    return Neighbours(ids[at - 1], ids[at + 1])


def _place(problem: str, label: str, repeat: int) -> Place:
    return natural(problem), label, repeat


_PLACES = """
select e.id, e.problem, f.label, e.repeat from experiments e
join configurations f on f.benchmark = e.benchmark and f.id = e.configuration
where e.benchmark = (select benchmark from experiments where id = ?)
"""
