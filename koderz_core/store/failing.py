"""Which models keep failing just now, whoever asks them: as much of a breaker as the journals tell."""

from __future__ import annotations

from duckdb import DuckDBPyConnection

from koderz_core.records.progress import FailingModel
from koderz_core.store.reading import records

SAMPLES, LEAST, SHARE = 20, 10, 0.8  # of the newest tries; what a breaker opens at


def failing(con: DuckDBPyConnection, benchmark: str, since: float) -> list[FailingModel]:
    """The models of a benchmark of whose newest tries, begun ``since`` then (since 1970), nearly all failed."""
    asked = {"benchmark": benchmark, "since": since, "samples": SAMPLES, "least": LEAST, "share": SHARE}
    return records(con, FailingModel, _FAILING, asked)


_FAILING = """
select model, count(*) as tries, count(*) filter (where state = 'failed') as failed,
    arg_max(message, position) filter (where state = 'failed') as message
from (
    select c.model, c.state, c.message, c.position,
        row_number() over (partition by c.model order by c.position desc) as newest
    from calls c join experiments e on e.id = c.experiment
    where e.benchmark = $benchmark and c.state in ('finished', 'failed') and c."at" >= $since
)
where newest <= $samples
group by model having tries >= $least and failed >= $share * tries order by model
"""
