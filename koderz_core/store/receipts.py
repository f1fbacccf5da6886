"""What a benchmark has come to since it was last begun, for a forecast to be held against."""

from __future__ import annotations

from duckdb import DuckDBPyConnection

from koderz_core.records.forecasts import Receipt
from koderz_core.store.reading import records


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
