"""Experiments with what they came to: those that fit a question, and those of a benchmark that somebody follows."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from functools import cache

import msgspec
from duckdb import DuckDBPyConnection

from koderz_core.records import Outcome
from koderz_core.records.rows import BenchmarkRow, ExperimentRow
from koderz_core.store.places import ordered
from koderz_core.store.reading import Values

MOST_FOLLOWED = 4  # benchmarks; 50,000 experiments take some 50 MB


@dataclass(frozen=True, slots=True)
class Asked:
    """What experiments have to fit, all that is given; ``limit``: only so many."""

    benchmark: str | None = None
    problem: str | None = None
    outcome: Outcome | None = None
    limit: int | None = None


def experiments(con: DuckDBPyConnection, asked: Asked) -> list[ExperimentRow]:
    """Experiments that fit, the one with the newest news first, those not begun last."""
    wanted = {one.name: getattr(asked, one.name) for one in fields(asked)}
    return _read(con, _FITTING, wanted)


def experiment(con: DuckDBPyConnection, experiment: str) -> ExperimentRow | None:
    """The experiment of an id."""
    found = _read(con, "where r.id = ?", [experiment])
    return found[0] if found else None


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
            self._put(_read(con, "where r.benchmark = $benchmark", {"benchmark": benchmark}))
        (self.position,) = con.execute(_LAST, [benchmark]).fetchone() or (0,)

    def _put(self, changed: Iterable[ExperimentRow]) -> None:
        for row in changed:
            if row.id in self.places:
                self.rows[self.places[row.id]] = row
            else:
                self.rows.append(row)
                self.places[row.id] = -1
        if -1 in self.places.values():
            self.rows = list(ordered(self.rows))
            self.places = {row.id: place for place, row in enumerate(self.rows)}


def _read(con: DuckDBPyConnection, which: str, values: Values) -> list[ExperimentRow]:
    """Plain columns into the plain constructor: of all ways to thousands of records, the quickest."""
    found = con.execute(f"select {_COLUMNS} {_FROM} {which}", values)
    decode = cache(_models)
    rows = [list(row) for row in found.fetchall()]
    for row in rows:
        row[_MODELS] = decode(row[_MODELS])
    return [ExperimentRow(*row) for row in rows]


def _models(text: str) -> Mapping[str, tuple[str, ...]]:
    return msgspec.json.decode(text, type=dict[str, tuple[str, ...]])


_NAMES = ExperimentRow.__struct_fields__
_MODELS = _NAMES.index("models")
_ELSEWHERE = {"strategy": "f", "models": "f", "dataset": "b", "dataset_sha256": "b", "licence": "b"}
_COLUMNS = ", ".join(f"{_ELSEWHERE.get(name, 'r')}.{name}" for name in _NAMES)
_FROM = """
from experiment_results r
join configurations f on f.benchmark = r.benchmark and f.id = r.configuration join benchmarks b on b.id = r.benchmark
"""
_FITTING = """
where r.id in (
    select id from experiments where ($benchmark is null or benchmark = $benchmark)
        and ($problem is null or problem = $problem) and ($outcome is null or outcome = $outcome)
    order by coalesce(finished_at, started_at) desc nulls last, id limit $limit
)
order by coalesce(r.finished_at, r.started_at) desc nulls last, r.id
"""
_CHANGED = "where r.id in (select id from experiments where benchmark = $benchmark and position > $position)"
_LAST = "select coalesce(max(position), 0) from experiments where benchmark = ?"
