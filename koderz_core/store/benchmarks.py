"""Benchmarks as a whole: how far each is, who writes it, and what is new in it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from pathlib import Path

import msgspec
from duckdb import DuckDBPyConnection

from koderz_core.errors import JournalError
from koderz_core.events.trouble import Troubles
from koderz_core.journal import holder
from koderz_core.records import Allowance, Control
from koderz_core.records.forecasts import Receipt
from koderz_core.records.plans import scripted
from koderz_core.records.progress import AllowanceChange, BenchmarkProgress, ModelTrouble, NewestIteration
from koderz_core.records.rows import BenchmarkRow, BenchmarkState, ExperimentRow, State
from koderz_core.store.reading import mappings, records

RESULTS = "(select * replace (if(state = 'finished', outcome, null) as outcome) from experiment_results)"
"""Every experiment as ``experiment_results`` has it, but without the outcome of before while it runs again."""

NEWEST = 15
MESSAGE_CHARACTERS = 200


@dataclass(frozen=True, slots=True)
class Held:
    """A pause or a stop that is in effect while its benchmark is being run; ``target`` empty: of the whole of it."""

    benchmark: str
    target: str
    what: Control


class Writers:
    """Which process writes which journal. Make one before the journals are read.

    A writer that has let go by then has written all it had to say, so nobody who ends well looks interrupted.
    Where that cannot be told, nobody counts as the writer, and ``faults`` says why.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._faults: dict[str, str] = {}
        found = {journal.stem: self._holder(journal.stem) for journal in folder.glob("*.jsonl")}
        self._holders = {benchmark: pid for benchmark, pid in found.items() if pid is not None}

    @property
    def faults(self) -> tuple[str, ...]:
        """Whose writers could not be told so far, and the cure."""
        return tuple(self._faults.values())

    @property
    def present(self) -> frozenset[tuple[str, int]]:
        """The benchmarks whose journals were being written, each with the process that did."""
        return frozenset(self._holders.items())

    def of(self, benchmark: str, *, closed: bool) -> int | None:
        """The process that writes a benchmark's journal; unless ``closed`` it may have begun after ``self`` did."""
        pid = self._holders.get(benchmark)
        return self._holder(benchmark) if pid is None and not closed else pid

    def state(self, benchmark: str, state: State) -> State:
        """The state of an experiment with work that nobody does any more told from work that goes on."""
        left = state == "running" and self.of(benchmark, closed=False) is None
        return "interrupted" if left else state

    def told(self, row: ExperimentRow, held: Set[Held]) -> ExperimentRow:
        """The experiment with its ``state`` so told, and what waits because somebody holds it back as ``paused``."""
        if row.state == "finished" or (row.state == "planned" and not held):  # most are
            return row
        state = self.state(row.benchmark, row.state)
        held_back = any(Held(row.benchmark, one, "pause") in held for one in ("", row.configuration, row.id))
        if held_back and state in ("planned", "running") and self.of(row.benchmark, closed=False) is not None:
            state = "paused"
        return row if state == row.state else replace(row, state=state)

    def _holder(self, benchmark: str) -> int | None:
        try:
            return holder(self._folder / f"{benchmark}.jsonl")
        except JournalError as error:
            self._faults[benchmark] = str(error)
            return None


def in_effect(con: DuckDBPyConnection) -> frozenset[Held]:
    """What holds back something, as far as the journals tell."""
    return frozenset(records(con, Held, _HELD))


@dataclass(frozen=True, slots=True)
class Counted:
    """What the journals say of benchmarks, as rows by column; who writes them is another question."""

    rows: Sequence[Mapping[str, object]]
    models: Mapping[object, Set[str]]
    held: frozenset[Held]


def counted(con: DuckDBPyConnection, benchmark: str | None = None) -> Counted:
    """All benchmarks, or only the one given, by id; the newest first."""
    models: dict[object, set[str]] = {}
    for row in mappings(con, _MODELS, {"benchmark": benchmark}):
        models.setdefault(row["benchmark"], set()).add(str(row["model"]))
    return Counted(mappings(con, _BENCHMARKS, {"benchmark": benchmark}), models, in_effect(con))


def benchmarks(found: Counted, writers: Writers) -> list[BenchmarkRow]:
    """The benchmarks that were counted, with who writes them now."""
    rows = []
    for row in found.rows:
        names = sorted(found.models.get(row["id"], ()))
        pid = writers.of(str(row["id"]), closed=row["closed_at"] is not None)
        more = {"models": names, "scripted": scripted(names), "holder": pid, "state": _state(row, pid, found.held)}
        more["running"] = 0 if pid is None else row["running"]
        rows.append(msgspec.convert({**row, **more}, BenchmarkRow))
    return rows


def newest(con: DuckDBPyConnection, benchmark: str) -> list[NewestIteration]:
    """The latest iterations of a benchmark, the newest first."""
    asked = {"benchmark": benchmark, "most": NEWEST, "cut": MESSAGE_CHARACTERS}
    return records(con, NewestIteration, _NEWEST, asked)


def _state(row: Mapping[str, object], pid: int | None, held: Set[Held]) -> BenchmarkState:
    if pid is not None:
        return _at_work(str(row["id"]), held, begun=bool(row["begun"]))
    if row["closed_at"] is None:
        return "interrupted"
    return "stopped" if row["closed_reason"] == "stopped" else "finished"


def _at_work(benchmark: str, held: Set[Held], *, begun: bool) -> BenchmarkState:
    if Held(benchmark, "", "stop") in held:
        return "stopping"
    if Held(benchmark, "", "pause") in held:
        return "paused"
    return "running" if begun else "queued"


_HELD = """
select benchmark, target, what from controls c
where what != 'resume' and position > coalesce((
    select max(r.position) from controls r
    where r.benchmark = c.benchmark and r.what = 'resume' and r.target in ('', c.target)
), -1)
"""
_MODELS = """
select distinct benchmark, unnest(from_json(models -> '$.*', '[["varchar"]]'), recursive := true) as model
from configurations where $benchmark is null or benchmark = $benchmark
"""
_BENCHMARKS = f"""
select b.* exclude (plan), c.configurations, e.* exclude (benchmark)
from benchmarks b
join (select benchmark, count(*) as configurations from configurations group by benchmark) c on c.benchmark = b.id
join (
    select benchmark, count(*) as planned, count(outcome) as finished, count(started_at) as begun,
        count(*) filter (where state = 'running') as running,
        count(*) filter (where outcome = 'solved') as solved,
        count(*) filter (where outcome = 'unsolved') as unsolved,
        count(*) filter (where outcome = 'cancelled') as cancelled,
        count(*) filter (where outcome = 'error') as errors,
        count(*) filter (where outcome in ('solved', 'unsolved') and scripted) as scripted_results,
        count(*) filter (where outcome in ('cancelled', 'error') and scripted) as scripted_failures,
        sum(iterations)::bigint as iterations, sum(calls)::bigint as calls,
        case when count(*) = count(cost_usd) then sum(cost_usd) end as cost_usd,
        sum(unpriced)::bigint as unpriced, coalesce(sum(seconds), 0) as seconds
    from (
        select *, (benchmark, configuration) in (
            select (f.benchmark, f.id) from configurations f where is_scripted(f.models)
        ) as scripted from {RESULTS} where $benchmark is null or benchmark = $benchmark
    ) group by benchmark
) e on e.benchmark = b.id
order by b.opened_at desc, b.id
"""  # noqa: S608 (ours)
# Each of the experiments that tried something last has an iteration of then: no older ones need be looked at, and from
# a time on these are few blocks of the table, even of a million.
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


def receipt(con: DuckDBPyConnection, benchmark: str) -> Receipt | None:
    """Of a benchmark (by id) that has come to its end; None for another, and where no forecast was written down."""
    found = records(con, Receipt, _RECEIPT, {"benchmark": benchmark})
    return found[0] if found else None


_RECEIPT = """
select f.forecast, (
    select case when count(*) filter (where c.state = 'finished' and c.cost_usd is null) = 0
        then coalesce(sum(c.cost_usd), 0) end
    from calls c join experiments e on e.id = c.experiment
    where e.benchmark = f.benchmark and c."at" >= f."at"
) as cost_usd, (
    select max(e.finished_at) - f."at" from experiments e where e.benchmark = f.benchmark and not exists (
        select 1 from controls r where r.benchmark = f.benchmark and r.what = 'resume' and r.position > f.position)
) as seconds
from forecasts f join benchmarks b on b.id = f.benchmark
where f.benchmark = $benchmark and b.closed_reason = 'finished' and b.closed_at >= f."at"
"""


@dataclass(frozen=True, slots=True)
class Lately:
    """As the fields of ``BenchmarkProgress``."""

    newest: tuple[NewestIteration, ...]
    receipt: Receipt | None
    troubles: tuple[ModelTrouble, ...]
    changes: tuple[AllowanceChange, ...]
    news_at: float | None


Forecast = Callable[[Sequence[ExperimentRow], float], float | None]
"""All experiments of a benchmark and the time now (seconds since 1970) to the seconds until they have ended."""


@dataclass(frozen=True, slots=True)
class Standing:
    """A benchmark with all that its journal says of how far it is; only time makes more of it."""

    row: BenchmarkRow
    experiments: tuple[ExperimentRow, ...]
    late: Lately

    def progress(self, forecast: Forecast, now: float) -> BenchmarkProgress:
        """How far it is at this moment (seconds since 1970), as nothing has happened since."""
        row, late = self.row, self.late
        left = forecast(self.experiments, now) if row.state == "running" else None
        return BenchmarkProgress(
            row, self.experiments, late.newest, left, late.receipt, late.troubles, now, late.news_at, late.changes
        )


def lately(con: DuckDBPyConnection, benchmark: BenchmarkRow) -> Lately:
    """What came last in a benchmark."""
    of = benchmark.id
    return Lately(
        tuple(newest(con, of)),
        receipt(con, of) if benchmark.closed_reason else None,  # none before, and looking for it takes its time
        troubles(con, of).known(),
        allowance_changes(con, of),
        _news_at(con, of),
    )


def allowance_changes(con: DuckDBPyConnection, benchmark: str) -> tuple[AllowanceChange, ...]:
    """What was changed of a benchmark (by id) while it ran, the newest first."""
    return tuple(
        AllowanceChange(at, by, Allowance(usd_before, concurrency_before), Allowance(usd, concurrency))
        for at, by, usd_before, concurrency_before, usd, concurrency in con.execute(_CHANGES, [benchmark]).fetchall()
    )


def troubles(con: DuckDBPyConnection, benchmark: str) -> Troubles:
    """As they stood when the journal of a benchmark was read last."""
    found = con.execute("select troubles from journals where benchmark = ?", [benchmark]).fetchone()
    return msgspec.json.decode(found[0], type=Troubles) if found else Troubles()


def _news_at(con: DuckDBPyConnection, benchmark: str) -> float | None:
    found = con.execute("select max(last_at) from journals where benchmark = ?", [benchmark]).fetchone()
    return None if found is None else found[0]


_CHANGES = """
select "at", "by", usd_before, concurrency_before, usd, concurrency from allowances
where benchmark = ? and changed order by position desc
"""
