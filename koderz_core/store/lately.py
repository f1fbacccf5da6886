"""What came last in a benchmark: iterations, failures, changes of what it may take, news at all."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import msgspec
from duckdb import DuckDBPyConnection

from koderz_core.events.trouble import Troubles
from koderz_core.records import Allowance
from koderz_core.records.forecasts import Receipt
from koderz_core.records.progress import AllowanceChange, BenchmarkProgress, ModelTrouble, NewestIteration
from koderz_core.records.rows import BenchmarkRow, ExperimentRow
from koderz_core.store.benchmarks import newest
from koderz_core.store.receipts import receipt


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
