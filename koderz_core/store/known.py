"""What the store already holds that the next stretch of a journal may build on."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

import msgspec
from duckdb import DuckDBPyConnection

from koderz_core.events import BenchmarkOpened, Entry, ExperimentStarted, TextStored
from koderz_core.events.unanswered import Unanswered
from koderz_core.records import Tier
from koderz_core.store.benchmarks import in_effect
from koderz_core.store.changes import Value
from koderz_core.store.fold import Key, Known, Row
from koderz_core.store.lately import Standing, troubles
from koderz_core.store.schema import KEYS


def known(con: DuckDBPyConnection, entries: Sequence[Entry], benchmark: str, position: int) -> Known:
    """The rows that ``entries`` may alter. ``benchmark`` is empty before the header of a journal was read."""
    unanswered = _unanswered(con, benchmark)
    opened = [entry.event.benchmark for entry in entries if isinstance(entry.event, BenchmarkOpened)]
    experiments = sorted({*_experiments(entries), *unanswered.calls})
    texts = [entry.event.sha256 for entry in entries if isinstance(entry.event, TextStored)]
    benchmarks = _rows(con, "benchmarks", "select * from benchmarks where id = ?", [benchmark])
    calls = _rows(con, "calls", _BEGUN_LAST, [experiments])
    rows = {
        "benchmarks": benchmarks,
        "experiments": _rows(con, "experiments", f"{_EXPERIMENTS} id in (select unnest(?))", [experiments])
        | (_rows(con, "experiments", f"{_EXPERIMENTS} benchmark in (select unnest(?))", [opened]) if opened else {}),
        "calls": calls,
        "texts": _rows(con, "texts", "select sha256 from texts where sha256 in (select unnest(?))", [texts]),
    }
    attempts: dict[Key, Value] = {(experiment, ordinal): attempt for experiment, ordinal, attempt in calls}
    return Known(benchmark, _tiers(benchmarks), position, rows, attempts, unanswered, troubles(con, benchmark))


@dataclass(frozen=True, slots=True)
class Basis:
    """What a benchmark goes on from: its journal, read up to ``offset`` (bytes), and all rows of what is under way."""

    offset: int
    known: Known


def basis(con: DuckDBPyConnection, standing: Standing) -> Basis | None:
    """That of a benchmark that stands so; None where its journal alone does not tell how it goes on from there.

    So it is of what nobody runs, or somebody holds back.
    """
    row = standing.row
    journal = con.execute('select "offset" from journals where file = ?', [f"{row.id}.jsonl"]).fetchone()
    told = row.state == "running" and row.closed_reason is None
    if journal is None or not told or any(one.benchmark == row.id for one in in_effect(con)):
        return None
    under_way = [one.id for one in standing.experiments if one.state == "running"]
    return Basis(journal[0], _known_of(con, row.id, under_way))


def _known_of(con: DuckDBPyConnection, benchmark: str, experiments: Collection[str]) -> Known:
    """Every row that the totals of these experiments of a benchmark (by id) are made of, and what else they alter."""
    of = [list(experiments)]
    rows = {table: _rows(con, table, _OF.format(table=table), of) for table in ("calls", "iterations", "scores")}
    rows["experiments"] = _rows(con, "experiments", f"{_EXPERIMENTS} id in (select unnest(?))", of)
    rows["benchmarks"] = _rows(con, "benchmarks", "select * from benchmarks where id = ?", [benchmark])
    begun = sorted(rows["calls"].items(), key=lambda call: int(call[1]["position"] or 0))
    attempts: dict[Key, Value] = {(experiment, ordinal): attempt for (experiment, ordinal, attempt), _ in begun}
    folded = _unanswered(con, benchmark), troubles(con, benchmark)
    return Known(benchmark, _tiers(rows["benchmarks"]), 0, rows, attempts, *folded)


def _tiers(benchmarks: Mapping[Key, Row]) -> Mapping[str, Tier]:
    tiers: dict[str, Tier] = {}
    for row in benchmarks.values():
        tiers = msgspec.json.decode(str(row["tiers"]), type=dict[str, Tier])
    return tiers


def _unanswered(con: DuckDBPyConnection, benchmark: str) -> Unanswered:
    """As it stood when the journal of a benchmark was read last."""
    found = con.execute("select unanswered from journals where benchmark = ?", [benchmark]).fetchone()
    return msgspec.json.decode(found[0], type=Unanswered) if found else Unanswered()


_EXPERIMENTS = "select * from experiments where"

# Rows are found by the few columns that tell them, and only those found are read whole: others may be a million.
_BEGUN_LAST = """
select * from calls where rowid in (
    select rowid from calls where experiment in (select unnest(?))
    qualify row_number() over (partition by experiment, ordinal order by position desc) = 1
)
"""
_OF = "select * from {table} where rowid in (select rowid from {table} where experiment in (select unnest(?)))"


def _experiments(entries: Iterable[Entry]) -> Iterable[str]:
    for entry in entries:
        if isinstance(entry.event, ExperimentStarted):
            yield entry.event.experiment.id
        if entry.experiment is not None:
            yield entry.experiment


def _rows(con: DuckDBPyConnection, table: str, sql: str, values: Sequence[object]) -> dict[Key, Row]:
    found = con.execute(sql, values)
    columns = [column for column, *_ in found.description or ()]
    rows = [dict(zip(columns, row, strict=True)) for row in found.fetchall()]
    return {tuple(row[column] for column in KEYS[table]): row for row in rows}
