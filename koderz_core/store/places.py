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
    rows = list(experiments)
    # Few problems have many experiments: the names are compared once, and then numbers.
    place = {problem: at for at, problem in enumerate(sorted({row.problem for row in rows}, key=natural))}
    return tuple(sorted(rows, key=lambda row: (place[row.problem], row.label, row.repeat)))


def neighbours(con: DuckDBPyConnection, experiment: str) -> Neighbours:
    """The experiments before and after one in its benchmark. Raises UnknownNameError."""
    problems = [problem for (problem,) in con.execute(_PROBLEMS, [experiment]).fetchall()]
    rows = con.execute(_PLACES, {"experiment": experiment, "problems": _near(problems)}).fetchall()
    ids = [None, *(row[0] for row in sorted(rows, key=lambda row: _place(*row[1:]))), None]
    if experiment not in ids:
        raise UnknownNameError("experiment", experiment, None)
    at = ids.index(experiment)
    return Neighbours(ids[at - 1], ids[at + 1])


def _place(problem: str, label: str, repeat: int) -> Place:
    return natural(problem), label, repeat


def _near(problems: list[str]) -> list[str]:
    """The first of these and those on both sides of it: a benchmark can have thousands of experiments elsewhere."""
    inorder = sorted(set(problems), key=natural)
    at = inorder.index(problems[0]) if problems else 0
    return inorder[max(0, at - 1) : at + 2]


_PROBLEMS = """
select problem from experiments where benchmark = (select benchmark from experiments where id = $1)
group by problem order by bool_or(id = $1) desc
"""
_PLACES = """
select e.id, e.problem, f.label, e.repeat from experiments e
join configurations f on f.benchmark = e.benchmark and f.id = e.configuration
where e.benchmark = (select benchmark from experiments where id = $experiment)
    and list_contains($problems::varchar[], e.problem)
"""
