"""What programs failed with, counted by configuration."""

from __future__ import annotations

from duckdb import DuckDBPyConnection

from koderz_core.store.reading import mappings


def failures(con: DuckDBPyConnection, benchmark: str) -> dict[str, dict[str, int]]:
    """Configuration id -> error class -> how often: of iterations, or of a program handed in untested."""
    found: dict[str, dict[str, int]] = {}
    for row in mappings(con, _FAILURES, {"benchmark": benchmark}):
        found.setdefault(str(row["configuration"]), {})[str(row["failure"])] = int(str(row["times"]))
    return found


_FAILURES = """
select configuration, failure, count(*) as times from (
    select e.configuration, i.error as failure from iterations i join experiments e on e.id = i.experiment
    where e.benchmark = $benchmark
    union all
    select configuration, failure from experiments e
    where benchmark = $benchmark and not exists (select 1 from iterations i where i.experiment = e.id)
)
where failure is not null group by all order by configuration, times desc, failure
"""
