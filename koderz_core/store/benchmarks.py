"""Benchmarks: the progress of each, its writer, and its recent news."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import replace

import msgspec
from duckdb import DuckDBPyConnection

from koderz_core.errors import UnknownNameError
from koderz_core.events.outages import Troubles
from koderz_core.records import Allowance, Plan
from koderz_core.records.plans import scripted
from koderz_core.records.progress import AllowanceChange, BenchmarkProgress, NewestIteration, Receipt
from koderz_core.records.progress import Forecast as Estimate
from koderz_core.records.rows import BenchmarkRow, BenchmarkState, ExperimentRow
from koderz_core.store.experiments import ExperimentCache
from koderz_core.store.index import Hold, Index, in_effect, mappings, records
from koderz_core.store.lookup import benchmark_ids

NEWEST = 15
MESSAGE_CHARACTERS = 200


def benchmarks(index: Index, benchmark: str | None = None) -> list[BenchmarkRow]:
    """All benchmarks, or only the one of an id; the newest first. Raises UnknownNameError if the id is unknown."""
    parameters = {"benchmark": benchmark}
    models: dict[object, set[str]] = {}
    for row in mappings(index.con, _MODELS, parameters):
        models.setdefault(row["benchmark"], set()).add(str(row["model"]))
    held = in_effect(index.con)
    rows = []
    for row in mappings(index.con, _BENCHMARKS, parameters):
        names = sorted(models.get(row["id"], ()))
        pid = index.writers.of(str(row["id"]), closed=row["closed_at"] is not None)
        more = {"models": names, "scripted": scripted(names), "holder": pid, "state": _state(row, pid, held)}
        more["running"] = 0 if pid is None else row["running"]
        rows.append(msgspec.convert({**row, **more}, BenchmarkRow))
    if benchmark is not None and not rows:
        raise UnknownNameError("benchmark", benchmark, benchmark_ids(index.con))
    return rows


def plan(index: Index, benchmark: str) -> Plan:
    """The plan of a benchmark (by id), as it was last extended. Raises UnknownNameError."""
    row = index.con.execute("select plan from benchmarks where id = ?", [benchmark]).fetchone()
    if row is None:
        raise UnknownNameError("benchmark", benchmark, benchmark_ids(index.con))
    return msgspec.json.decode(str(row[0]), type=Plan)


def known_spending(index: Index, benchmark: str) -> float:
    """The known cost in dollars of the calls of a benchmark (by id), also beside calls without a price."""
    row = index.con.execute(_KNOWN_SPENDING, [benchmark]).fetchone()
    return float(row[0]) if row else 0.0


def newest(con: DuckDBPyConnection, benchmark: str) -> list[NewestIteration]:
    """The latest iterations of a benchmark, the newest first."""
    parameters = {"benchmark": benchmark, "most": NEWEST, "cut": MESSAGE_CHARACTERS}
    return records(con, NewestIteration, _NEWEST, parameters)


def _state(row: Mapping[str, object], pid: int | None, held: Set[Hold]) -> BenchmarkState:
    benchmark = str(row["id"])
    if pid is None and row["closed_at"] is None:
        return "interrupted"
    if pid is None:
        return "stopped" if row["closed_reason"] == "stopped" else "finished"
    if Hold(benchmark, "", "stop") in held:
        return "stopping"
    if Hold(benchmark, "", "pause") in held:
        return "paused"
    return "running" if row["started"] else "queued"


_MODELS = """
select distinct benchmark, unnest(from_json(models -> '$.*', '[["varchar"]]'), recursive := true) as model
from configurations where $benchmark is null or benchmark = $benchmark
"""
_BENCHMARKS = """
select b.* exclude (plan), c.configurations, e.* exclude (benchmark)
from benchmarks b
join (select benchmark, count(*) as configurations from configurations group by benchmark) c on c.benchmark = b.id
join (
    select benchmark, count(*) as planned, count(outcome) as finished, count(started_at) as started,
        count(*) filter (where state = 'running') as running,
        count(*) filter (where outcome = 'solved') as solved,
        count(*) filter (where outcome = 'unsolved') as unsolved,
        count(*) filter (where outcome = 'cancelled') as cancelled,
        count(*) filter (where outcome = 'error') as errors,
        count(*) filter (where outcome in ('solved', 'unsolved') and scripted) as scripted_results,
        count(*) filter (where outcome in ('cancelled', 'error') and scripted) as scripted_failures,
        sum(iterations)::bigint as iterations, sum(calls)::bigint as calls,
        known_sum(cost_usd) as cost_usd,
        sum(unpriced)::bigint as unpriced, sum(cached)::bigint as cached,
        known_sum(if(state = 'finished', seconds, coalesce(seconds, 0))) as seconds
    from (
        select *, (benchmark, configuration) in (
            select (f.benchmark, f.id) from configurations f where is_scripted(f.models)
        ) as scripted from results where $benchmark is null or benchmark = $benchmark
    ) group by benchmark
) e on e.benchmark = b.id
order by b.opened_at desc, b.id
"""
_KNOWN_SPENDING = """
select coalesce(sum(c.cost_usd order by c.experiment, c.ordinal, c.attempt), 0)
from calls c join experiments e on e.id = c.experiment where e.benchmark = ?
"""
# Each of the experiments that tested something last has an iteration from then, so older iterations need not be read.
# Those after a point in time are in few blocks of the table, even of a million rows.
_NEWEST = """
select i.experiment, e.problem, f.label, i.iteration, i."at", i.passed, i.tests_passed, i.tests_total, i.error,
    left(i.message, $cut) as message
from iterations i join experiments e on e.id = i.experiment
join configurations f on f.benchmark = e.benchmark and f.id = e.configuration
where e.benchmark = $benchmark and i."at" >= coalesce((
    select tried_at from experiments where benchmark = $benchmark and tries > 0
    order by tried_at desc limit 1 offset $most
), 0)
order by i."at" desc, i.experiment, i.iteration desc limit $most
"""


def receipt(index: Index, benchmark: str) -> Receipt | None:
    """The result of a benchmark (by id) next to its estimate; None before its end, and without an estimate."""
    return next(iter(records(index.con, Receipt, _RECEIPT, {"benchmark": benchmark})), None)


_RECEIPT = """
select f.forecast, (
    select known_sum(if(c.state = 'finished', c.cost_usd, coalesce(c.cost_usd, 0)))
    from calls c join experiments e on e.id = c.experiment
    where e.benchmark = f.benchmark and c.position > f.position
) as cost_usd, (
    select max(e.finished_at) - f."at" from experiments e where e.benchmark = f.benchmark and not exists (
        select 1 from controls r where r.benchmark = f.benchmark and r.what = 'resume' and r.position > f.position)
) as seconds
from forecasts f join benchmarks b on b.id = f.benchmark
where f.benchmark = $benchmark and b.closed_reason = 'finished' and b.closed_at >= f."at"
"""


Forecast = Callable[[Sequence[ExperimentRow], float], float | None]
"""Maps all experiments of a benchmark and the time (seconds since 1970) to the seconds until they have ended."""


def progress(index: Index, cache: ExperimentCache, benchmark: BenchmarkRow) -> BenchmarkProgress:
    """The progress of a benchmark without the values that depend on the time, which ``timed`` adds.

    Only those of its experiments that have changed since the last call are read.
    """
    con, name = index.con, benchmark.id
    held = frozenset(hold for hold in in_effect(con) if hold.benchmark == name)
    (news_at,) = con.execute("select max(last_at) from journals where benchmark = ?", [name]).fetchone() or (None,)
    return BenchmarkProgress(
        benchmark,
        tuple(index.writers.shown(experiment, held) for experiment in cache.of(con, benchmark)),
        tuple(newest(con, name)),
        seconds_left=None,
        receipt=receipt(index, name) if benchmark.closed_reason else None,  # none before, and the query takes time
        troubles=troubles(con, name).known(),
        news_at=news_at,
        changes=_changes(con, name),
        forecast=_estimate(con, name),
    )


def timed(progress: BenchmarkProgress, forecast: Forecast, now: float) -> BenchmarkProgress:
    """The progress at ``now`` (seconds since 1970), if nothing has happened since it was read."""
    left = forecast(progress.experiments, now) if progress.benchmark.state == "running" else None
    return replace(progress, seconds_left=left, at=now)


def _estimate(con: DuckDBPyConnection, benchmark: str) -> Estimate | None:
    """The newest estimate that was made for a benchmark."""
    row = con.execute("select forecast from forecasts where benchmark = ?", [benchmark]).fetchone()
    return msgspec.json.decode(row[0], type=Estimate) if row else None


def _changes(con: DuckDBPyConnection, benchmark: str) -> tuple[AllowanceChange, ...]:
    """The changes of a benchmark's limits while it ran, the newest first."""
    return tuple(
        AllowanceChange(at, by, Allowance(usd_before, concurrency_before), Allowance(usd, concurrency))
        for at, by, usd_before, concurrency_before, usd, concurrency in con.execute(_CHANGES, [benchmark]).fetchall()
    )


def troubles(con: DuckDBPyConnection, benchmark: str) -> Troubles:
    """The troubles of a benchmark's models, as of the last reading of its journal."""
    row = con.execute("select troubles from journals where benchmark = ?", [benchmark]).fetchone()
    return msgspec.json.decode(row[0], type=Troubles) if row else Troubles()


_CHANGES = """
select "at", "by", usd_before, concurrency_before, usd, concurrency from allowances
where benchmark = ? and changed order by position desc
"""
