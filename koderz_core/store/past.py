"""The past that a forecast is told from: what experiments took that came to a result."""

from __future__ import annotations

from collections.abc import Iterable

from duckdb import DuckDBPyConnection

from koderz_core.records.forecasts import Past
from koderz_core.store.benchmarks import RESULTS
from koderz_core.store.reading import records

MOST = 300  # of each configuration, the newest: enough for a mean, and quickly read


def past(con: DuckDBPyConnection, strategies: Iterable[str]) -> list[Past]:
    """The newest experiments of these strategies that were solved or unsolved."""
    return records(con, Past, _PAST, {"strategies": list(strategies), "most": MOST})


_PAST = f"""
select r.configuration, f.strategy, f.models, r.calls, r.cost_usd, r.seconds
from {RESULTS} r join configurations f on f.benchmark = r.benchmark and f.id = r.configuration
where r.outcome in ('solved', 'unsolved') and r.seconds is not null
    and list_contains($strategies::varchar[], f.strategy)
qualify row_number() over (partition by r.configuration order by r.finished_at desc) <= $most
order by r.finished_at desc, r.id
"""  # noqa: S608 (ours)
