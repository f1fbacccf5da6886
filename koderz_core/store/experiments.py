"""Experiments with their results: those that match a query, and a cache of those of a watched benchmark."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any

import msgspec
from duckdb import DuckDBPyConnection

from koderz_core.errors import UnknownNameError
from koderz_core.records import Outcome
from koderz_core.records.plans import natural
from koderz_core.records.progress import Neighbours
from koderz_core.records.rows import BenchmarkRow, ExperimentRow
from koderz_core.store.index import SAW_BASE_TESTS, SEARCHED, Index, Values, in_effect
from koderz_core.store.schema import build_of


def ordered(experiments: Iterable[ExperimentRow]) -> tuple[ExperimentRow, ...]:
    """The experiments of a benchmark in order."""
    rows = list(experiments)
    # Few problems have many experiments: their names are compared once, and then only numbers.
    place = {problem: at for at, problem in enumerate(sorted({row.problem for row in rows}, key=natural))}
    return tuple(sorted(rows, key=lambda row: (place[row.problem], row.label, row.repeat)))


def neighbours(index: Index, experiment: str) -> Neighbours:
    """The experiments before and after one in the order of its benchmark. Raises UnknownNameError."""
    problems = [problem for (problem,) in index.con.execute(_PROBLEMS, [experiment]).fetchall()]
    rows = index.con.execute(_PLACES, {"experiment": experiment, "problems": _near(problems)}).fetchall()
    ids = [None, *(row[0] for row in sorted(rows, key=lambda row: (natural(row[1]), *row[2:]))), None]
    if experiment not in ids:
        raise UnknownNameError("experiment", experiment, None)
    at = ids.index(experiment)
    return Neighbours(ids[at - 1], ids[at + 1])


def _near(problems: list[str]) -> list[str]:
    """The first of these problems and its neighbours: the others can have thousands of experiments."""
    in_order = sorted(set(problems), key=natural)
    at = in_order.index(problems[0]) if problems else 0
    return in_order[max(0, at - 1) : at + 2]


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

MOST_CACHED = 4  # benchmarks; 50,000 experiments take some 50 MB


def experiments(
    index: Index,
    benchmark: str | None = None,
    problem: str | None = None,
    outcome: Outcome | None = None,
    limit: int | None = None,
    among: Collection[str] | None = None,
) -> list[ExperimentRow]:
    """As ``Results.experiments``."""
    ids = None if among is None else list(among)
    parameters = {"benchmark": benchmark, "problem": problem, "outcome": outcome, "limit": limit, "among": ids}
    held = in_effect(index.con)
    return [index.writers.shown(row, held) for row in _read(index.con, _MATCHING, parameters)]


def experiment(con: DuckDBPyConnection, experiment: str) -> ExperimentRow:
    """The experiment of an id, without its writer. Raises UnknownNameError."""
    rows = _read(con, "where r.id = ?", [experiment])
    if not rows:
        raise UnknownNameError("experiment", experiment, None)
    return rows[0]


class ExperimentCache:
    """The experiments of watched benchmarks; it reads only changed ones again. Safe to use from several threads."""

    def __init__(self) -> None:
        self._guard = threading.Lock()  # guards _kept and what is in it
        self._cached: OrderedDict[str, _CachedRows] = OrderedDict()

    def of(self, con: DuckDBPyConnection, benchmark: BenchmarkRow) -> tuple[ExperimentRow, ...]:
        """All current experiments of a benchmark, in order."""
        with self._guard:
            plan = (benchmark.opened_at, benchmark.planned, benchmark.configurations, benchmark.isolation)
            source = (build_of(con), *plan)
            cached = self._cached.pop(benchmark.id, None)
            if cached is None or cached.source != source:
                cached = _CachedRows(source)
            cached.read(con, benchmark.id)
            self._cached[benchmark.id] = cached
            while len(self._cached) > MOST_CACHED:
                self._cached.popitem(last=False)
            return tuple(cached.rows)


@dataclass(slots=True)
class _CachedRows:
    """``position``: read so far.

    ``source``: the build of the index, and the values in the rows that can change without an entry of their
    experiments.
    """

    source: tuple[object, ...]
    position: int = 0
    rows: list[ExperimentRow] = field(default_factory=list)
    places: dict[str, int] = field(default_factory=dict)

    def read(self, con: DuckDBPyConnection, benchmark: str) -> None:
        """Read the rows that have changed."""
        if self.rows:
            self._put(_read(con, _CHANGED, {"benchmark": benchmark, "position": self.position}))
        else:
            self._order(_read(con, _ALL, {"benchmark": benchmark}))
        (self.position,) = con.execute(_LAST, [benchmark]).fetchone() or (0,)

    def _put(self, changed: Iterable[ExperimentRow]) -> None:
        new = []
        for row in changed:
            if row.id in self.places:
                self.rows[self.places[row.id]] = row
            else:
                new.append(row)
        if new:
            self._order([*self.rows, *new])

    def _order(self, rows: Iterable[ExperimentRow]) -> None:
        self.rows = list(ordered(rows))
        self.places = {row.id: place for place, row in enumerate(self.rows)}


@dataclass(frozen=True, slots=True)
class _Shared:
    """The values that all experiments of a configuration share, in the order of a row's fields."""

    configured: tuple[str, str, Mapping[str, tuple[str, ...]]]
    judged: tuple[str, str]
    origin: tuple[str, str, str]
    marks: tuple[bool, bool]


def _read(con: DuckDBPyConnection, which: str, values: Values) -> list[ExperimentRow]:
    """Read experiments. Plain columns into the plain constructor: the fastest way to thousands of records."""
    rows = con.execute(f"select {_COLUMNS} from experiment_results r {which}", values).fetchall()  # noqa: S608 (ours)
    of = _shared(con, {row[1] for row in rows})
    return [_row(of, *row) for row in rows]


def _row(
    of: Mapping[tuple[str, str], _Shared],
    experiment: str,
    benchmark: str,
    configuration: str,
    shared: bool | None,
    cached: int,
    *columns: Any,  # those of the SQL
) -> ExperimentRow:
    common = of[benchmark, configuration]
    values: tuple[Any, ...] = (
        *common.configured,
        *columns,
        *common.judged,
        shared,
        *common.origin,
        *common.marks,
        cached,
    )
    return ExperimentRow(experiment, benchmark, configuration, *values)


def _shared(con: DuckDBPyConnection, benchmarks: Collection[str]) -> dict[tuple[str, str], _Shared]:
    rows = con.execute(_SHARED, [list(benchmarks)]).fetchall()
    return {
        (benchmark, configuration): _Shared(
            (label, strategy, msgspec.json.decode(models, type=dict[str, tuple[str, ...]])),
            (isolation, self_test),
            (dataset, sha256, licence),
            (saw, searched),
        )
        for benchmark, configuration, label, strategy, models, isolation, self_test, *origin in rows
        for dataset, sha256, licence, saw, searched in (origin,)
    }


_SHARED_COLUMNS = (
    *("label", "strategy", "models", "isolation", "self_test"),
    *("dataset", "dataset_sha256", "licence", "saw_base_tests", "searched"),
)
_FIRST = ("id", "benchmark", "configuration", "shared", "cached")
_OWN = (column.name for column in fields(ExperimentRow) if column.name not in (*_FIRST, *_SHARED_COLUMNS))
_COLUMNS = ", ".join(f"r.{name}" for name in (*_FIRST, *_OWN))
_SHARED = f"""
select f.benchmark, f.id, f.label, f.strategy, f.models, b.isolation, b.self_test, b.dataset, b.dataset_sha256,
    b.licence, {SAW_BASE_TESTS}, {SEARCHED}
from configurations f join benchmarks b on b.id = f.benchmark where f.benchmark in (select unnest($1::varchar[]))
"""  # noqa: S608 (ours)
_MATCHING = """
where r.id in (
    select id from experiments where ($benchmark is null or benchmark = $benchmark)
        and ($problem is null or problem = $problem) and ($outcome is null or outcome = $outcome)
        and ($among::varchar[] is null or id in (select unnest($among::varchar[])))
    order by coalesce(finished_at, started_at) desc nulls last, id limit $limit
)
order by coalesce(r.finished_at, r.started_at) desc nulls last, r.id
"""
# Sorted by name first, which makes sorting in natural order fast.
_ALL = "where r.benchmark = $benchmark order by r.problem, r.label, r.repeat"
_CHANGED = "where r.id in (select id from experiments where benchmark = $benchmark and position > $position)"
_LAST = "select coalesce(max(position), 0) from experiments where benchmark = ?"
