"""When the parts of experiments went on, as far as events tell it."""

from __future__ import annotations

from duckdb import DuckDBPyConnection

from koderz_core.records.timing import Span
from koderz_core.store.reading import records


def spans(con: DuckDBPyConnection, benchmark: str) -> list[Span]:
    """Every stretch of time in the experiments of a benchmark that have ended, in the order in which they began."""
    return records(con, Span, _SPANS, {"benchmark": benchmark})


# Calls are stamped when they begin, tests and scores when they have ended. A gate verdict that an iteration has
# already brought is not run again for the score, so its seconds count once.
_SPANS = """
with ended as (
    select e.id, f.label, e.started_at, e.seconds from experiments e
    join configurations f on f.benchmark = e.benchmark and f.id = e.configuration
    where e.benchmark = $benchmark and e.state = 'finished' and e.seconds is not null
),
attempts as (
    select experiment, "at", seconds, "at" + seconds as until,
        lead("at") over (partition by experiment, ordinal order by attempt) as next_at
    from calls where seconds is not null
),
parts as (
    select experiment, 'calls' as phase, "at", seconds from attempts
    union all
    select experiment, 'waiting', until, next_at - until from attempts where next_at > until
    union all
    select experiment, 'tests', "at" - seconds, seconds from iterations
    union all
    select experiment, 'scoring', "at" - spent, spent from (
        select s.experiment, s."at", coalesce((s.held_out->>'$.seconds')::double, 0) + if(
            exists (select 1 from iterations i where i.experiment = s.experiment and i.code = s.code),
            0, coalesce((s.gate->>'$.seconds')::double, 0)) as spent
        from scores s
    )
)
select id as experiment, label, null as phase, started_at as "at", seconds from ended
union all
select e.id, e.label, p.phase, p."at", p.seconds from parts p join ended e on e.id = p.experiment
order by "at", experiment, phase nulls first
"""
