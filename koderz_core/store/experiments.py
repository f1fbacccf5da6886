"""Experiments with what they came to: those that fit a question, and those of a benchmark that somebody follows."""

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
from koderz_core.store.index import Index, in_effect
from koderz_core.store.rows import SAW_BASE_TESTS, Values

Place = tuple[tuple[tuple[int, str], ...], str, int]


def ordered(experiments: Iterable[ExperimentRow]) -> tuple[ExperimentRow, ...]:
    """The experiments of a benchmark in order."""
    rows = list(experiments)
    # Few problems have many experiments: the names are compared once, and then numbers.
    place = {problem: at for at, problem in enumerate(sorted({row.problem for row in rows}, key=natural))}
    return tuple(sorted(rows, key=lambda row: (place[row.problem], row.label, row.repeat)))


def neighbours(index: Index, experiment: str) -> Neighbours:
    """The experiments before and after one in its benchmark, as ``progress`` orders them. Raises UnknownNameError."""
    problems = [problem for (problem,) in index.con.execute(_PROBLEMS, [experiment]).fetchall()]
    rows = index.con.execute(_PLACES, {"experiment": experiment, "problems": _near(problems)}).fetchall()
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

MOST_FOLLOWED = 4  # benchmarks; 50,000 experiments take some 50 MB


def experiments(
    index: Index,
    benchmark: str | None = None,
    problem: str | None = None,
    outcome: Outcome | None = None,
    limit: int | None = None,
) -> list[ExperimentRow]:
    """Experiments that fit all that is given, the one with the newest news first, those not begun last."""
    wanted = {"benchmark": benchmark, "problem": problem, "outcome": outcome, "limit": limit}
    held = in_effect(index.con)
    return [index.writers.told(row, held) for row in _read(index.con, _FITTING, wanted)]


def experiment(con: DuckDBPyConnection, experiment: str) -> ExperimentRow:
    """The experiment of an id, whoever is at it. Raises UnknownNameError."""
    found = _read(con, "where r.id = ?", [experiment])
    if not found:
        raise UnknownNameError("experiment", experiment, None)
    return found[0]


class Followed:
    """The experiments of benchmarks that are asked for again and again: only what has changed is read again.

    Safe to use from several threads.
    """

    def __init__(self) -> None:
        self._guard = threading.Lock()  # guards _kept and what is in it
        self._kept: OrderedDict[str, _Kept] = OrderedDict()

    def of(self, con: DuckDBPyConnection, benchmark: BenchmarkRow) -> tuple[ExperimentRow, ...]:
        """All experiments of a benchmark, in its order, as they are now."""
        with self._guard:
            plan = (benchmark.opened_at, benchmark.planned, benchmark.configurations, benchmark.isolation)
            kept = self._kept.pop(benchmark.id, None)
            if kept is None or kept.plan != plan:
                kept = _Kept(plan)
            kept.read(con, benchmark.id)
            self._kept[benchmark.id] = kept
            while len(self._kept) > MOST_FOLLOWED:
                self._kept.popitem(last=False)
            return tuple(kept.rows)


@dataclass(slots=True)
class _Kept:
    """``plan``: what stands in rows and can change without news of their experiments; ``position``: read so far."""

    plan: tuple[object, ...]
    position: int = 0
    rows: list[ExperimentRow] = field(default_factory=list)
    places: dict[str, int] = field(default_factory=dict)

    def read(self, con: DuckDBPyConnection, benchmark: str) -> None:
        """Replace what has changed."""
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
    """What the experiments of a configuration have in common, in the order of a row's fields."""

    asked: tuple[str, str, Mapping[str, tuple[str, ...]]]
    judged: tuple[str, str]
    origin: tuple[str, str, str]
    saw_base_tests: bool


def _read(con: DuckDBPyConnection, which: str, values: Values) -> list[ExperimentRow]:
    """Plain columns into the plain constructor, without those that all of a configuration share: of all ways to
    thousands of records, the quickest.
    """
    rows = con.execute(f"select {_COLUMNS} from experiment_results r {which}", values).fetchall()  # noqa: S608 (ours)
    of = _shared(con, {row[1] for row in rows})
    return [_row(of, *row) for row in rows]


def _row(
    of: Mapping[tuple[str, str], _Shared],
    experiment: str,
    benchmark: str,
    configuration: str,
    shared: bool | None,
    *told: Any,  # what the columns of the SQL hold
) -> ExperimentRow:
    one = of[benchmark, configuration]
    values: tuple[Any, ...] = (*one.asked, *told, *one.judged, shared, *one.origin, one.saw_base_tests)
    return ExperimentRow(experiment, benchmark, configuration, *values)


def _shared(con: DuckDBPyConnection, benchmarks: Collection[str]) -> dict[tuple[str, str], _Shared]:
    found = con.execute(_SHARED, [list(benchmarks)]).fetchall()
    return {
        (benchmark, configuration): _Shared(
            (label, strategy, _models(models)), (isolation, self_test), tuple(origin), saw_base_tests
        )
        for benchmark, configuration, label, strategy, models, isolation, self_test, *origin, saw_base_tests in found
    }


def _models(text: str) -> Mapping[str, tuple[str, ...]]:
    return msgspec.json.decode(text, type=dict[str, tuple[str, ...]])


_ELSEWHERE = (
    *("label", "strategy", "models", "isolation", "self_test"),
    *("dataset", "dataset_sha256", "licence", "saw_base_tests"),
)
_FIRST = ("id", "benchmark", "configuration", "shared")
_TOLD = (one.name for one in fields(ExperimentRow) if one.name not in (*_FIRST, *_ELSEWHERE))
_COLUMNS = ", ".join(f"r.{name}" for name in (*_FIRST, *_TOLD))
_SHARED = f"""
select f.benchmark, f.id, f.label, f.strategy, f.models, b.isolation, b.self_test, b.dataset, b.dataset_sha256,
    b.licence, {SAW_BASE_TESTS}
from configurations f join benchmarks b on b.id = f.benchmark where f.benchmark in (select unnest($1::varchar[]))
"""  # noqa: S608 (ours)
_FITTING = """
where r.id in (
    select id from experiments where ($benchmark is null or benchmark = $benchmark)
        and ($problem is null or problem = $problem) and ($outcome is null or outcome = $outcome)
    order by coalesce(finished_at, started_at) desc nulls last, id limit $limit
)
order by coalesce(r.finished_at, r.started_at) desc nulls last, r.id
"""
# By name first, so that little is left to do for putting them in order as people count.
_ALL = "where r.benchmark = $benchmark order by r.problem, r.label, r.repeat"
_CHANGED = "where r.id in (select id from experiments where benchmark = $benchmark and position > $position)"
_LAST = "select coalesce(max(position), 0) from experiments where benchmark = ?"
