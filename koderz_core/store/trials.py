"""Experiments for statistics, with the cumulative cost and time at the end of each iteration."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator
from typing import Any

from duckdb import DuckDBPyConnection

from koderz_core.records.attempts import CoderCall
from koderz_core.records.completions import JOULES_PER_KWH
from koderz_core.records.rows import Span
from koderz_core.records.trials import Trial, Try
from koderz_core.store.index import Index, mappings, records

AT_A_TIME = 5000  # rows


def trials(index: Index, benchmarks: Collection[str], *, tries: bool = True) -> list[Trial]:
    """Every experiment of these benchmarks, by benchmark, configuration, problem and repeat.

    The cumulative values count calls and tests one after another in the order of the strategy's steps. The dollars
    include every call with a known cost, answered or not. The seconds include only answered calls, so lost time of
    providers and calls at the same time make no difference. Answers from the response cache measure neither dollars,
    seconds nor energy, so these are unknown from such an answer on. ``tries`` False: without iterations, which takes a
    fraction of the time.
    """
    parameters = {"benchmarks": list(benchmarks)}
    # Plain tuples into plain constructors are the fastest way to 20 000 records.
    tried: defaultdict[str, list[Try]] = defaultdict(list)
    for experiment, *columns in _rows(index.con.execute(_TRIES, parameters)) if tries else ():
        tried[experiment].append(Try(*columns))
    rows = _rows(index.con.execute(_TRIALS, parameters))
    return [Trial(*(*columns, tuple(tried.get(columns[2], ())), small, joules)) for *columns, small, joules in rows]


def energy_sources(index: Index, benchmarks: Collection[str]) -> dict[tuple[str, str], tuple[str, ...]]:
    """How the energy of each configuration's calls is known, by benchmark and configuration.

    ``65 W``: a stated power times the duration of the calls. ``65 W + GPUs as measured``: the same for the machine
    without its GPUs, whose energy was measured.
    """
    found: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
    for benchmark, configuration, source in index.con.execute(_ENERGY, {"benchmarks": list(benchmarks)}).fetchall():
        found[benchmark, configuration].append(source)
    return {key: tuple(sources) for key, sources in found.items()}


def _rows(result: DuckDBPyConnection) -> Iterator[tuple[Any, ...]]:  # Any: what the columns of the SQL hold
    """Rows in batches: other threads, such as those of pages, wait while rows are fetched."""
    while some := result.fetchmany(AT_A_TIME):
        yield from some


# The wanted rows are selected from each table first: the index may hold a hundred times as many.
_ASKED = """
with asked as materialized (select id from experiments where list_contains($benchmarks::varchar[], benchmark))
"""
_TRIALS = f"""
{_ASKED}
select r.benchmark, r.configuration, r.id, r.problem, r.repeat, r.outcome, r.reason, r.score_kind,
    case when e.tries > 0 then r.gate_passed end, r.code, r.iterations::integer, if(r.cached = 0, r.cost_usd, null),
    case when c.experiment is null then 0 when r.cached = 0 then c.usd end,
    case when c.experiment is null then 0 else c.tokens end,
    case when c.experiment is null then 0 else c.frontier_tokens end, if(r.cached = 0, r.seconds, null),
    case when c.experiment is null then 0 when r.cached = 0 then c.small_usd end, if(r.cached = 0, c.joules, null)
from results r
join experiments e on e.id = r.id
left join (
    select experiment, known_sum(tokens)::bigint as tokens, known_sum(if(stronger, cost_usd, 0), tier) as usd,
        known_sum(if(small, cost_usd, 0)) as small_usd, known_sum(kwh) * {JOULES_PER_KWH} as joules,
        known_sum(if(stronger, tokens, 0))::bigint as frontier_tokens
    from (select *, tier in ('frontier', 'small_frontier') as stronger, tier = 'small_frontier' as small
        from call_totals semi join asked on asked.id = experiment)
    group by experiment
) c on c.experiment = r.id
where list_contains($benchmarks::varchar[], r.benchmark)
order by list_position($benchmarks::varchar[], r.benchmark), r.configuration, r.problem, r.repeat
"""  # noqa: S608 (ours)
# The source of the price of a local call names its energy first: "65 W at 0.15 USD/kWh + ...".
_ENERGY = """
select distinct e.benchmark, e.configuration, split_part(coalesce(c.cost_source, 'unknown'), ' at ', 1) as source
from calls c join experiments e on e.id = c.experiment
where c.kwh is not null and c.cached_from is null and list_contains($benchmarks::varchar[], e.benchmark)
order by e.benchmark, e.configuration, source
"""
_TRIES = f"""
{_ASKED},
tried as materialized (
    select experiment, iteration, ordinal, code, passed, tests_passed, tests_total, error, seconds
    from iterations semi join asked on asked.id = experiment
),
steps as (
    select experiment, ordinal, null::integer as iteration, if(state = 'finished', seconds, 0) as seconds, cost_usd,
        state = 'finished' and cost_usd is null as unpriced, cached_from is not null as cached, 0 as reviews,
        if(state = 'finished', input_tokens + output_tokens, 0) as tokens,
        if(state = 'finished', kwh, coalesce(kwh, 0)) * {JOULES_PER_KWH} as joules
    from calls semi join asked on asked.id = experiment where state = 'finished' or cost_usd is not null
    union all
    select experiment, ordinal, iteration, seconds, 0, false, false, 0, 0, 0 from tried
    union all
    select experiment, ordinal, null, 0, 0, false, false, 1, 0, 0 from notes semi join asked on asked.id = experiment
    where kind = 'checkpoint_reviewed' and regexp_matches(text, '\\S')  -- without empty reviews
),
used as (
    select experiment, iteration, sum(reviews) over way as reviews,
        case when not bool_or(cached) over way then sum(seconds) over way end as seconds,
        case when not bool_or(unpriced or cached) over way then sum(cost_usd) over way end as usd,
        case when count(tokens) over way = count(*) over way then sum(tokens) over way end as tokens,
        case when count(joules) over way = count(*) over way and not bool_or(cached) over way
            then sum(joules) over way end as joules
    from steps window way as (partition by experiment order by ordinal rows unbounded preceding)
),
scored as (
    select experiment, code, held_out_passed from scores semi join asked on asked.id = experiment
)
select i.experiment, i.iteration, i.code, i.passed, i.tests_passed, i.tests_total, i.error, s.held_out_passed, u.usd,
    u.seconds, u.reviews::integer, u.tokens::bigint, u.joules
from tried i
join used u on u.experiment = i.experiment and u.iteration = i.iteration
left join scored s on s.experiment = i.experiment and s.code = i.code
order by i.experiment, i.iteration
"""  # noqa: S608 (ours)


def coder_calls(index: Index, benchmarks: Collection[str]) -> list[CoderCall]:
    """The answered calls of coders in these benchmarks, in the order of each experiment."""
    return [CoderCall(*row) for row in _rows(index.con.execute(_CODER_CALLS, {"benchmarks": list(benchmarks)}))]


# Attempts without an answer count only if their cost is known, as in ``trials``.
_CODER_CALLS = """
with asked as (select id from experiments where list_contains($benchmarks::varchar[], benchmark)),
turns as (
    select experiment, ordinal, any_value(role) as role, any_value(model) as model, any_value(sampling) as sampling,
        any_value(messages) as messages, bool_or(state = 'finished') as answered,
        bool_or(cached_from is not null) as cached,
        known_sum(cost_usd, attempt) as usd, known_sum(if(state = 'finished', seconds, 0)) as seconds,
        known_sum(if(state = 'finished', input_tokens + output_tokens, 0)) as tokens
    from calls semi join asked on asked.id = experiment
    where state = 'finished' or cost_usd is not null group by experiment, ordinal
)
select experiment, model, try_cast(sampling ->> '$.temperature' as double),
    md5(concat(messages, json_extract(sampling, ['$.top_p', '$.max_tokens', '$.effort'])::varchar)),
    not coalesce(bool_or(role != 'coder') over before, false), if(cached, null, usd), if(cached, null, seconds),
    tokens::bigint, cached
from turns
window before as (partition by experiment order by ordinal rows between unbounded preceding and 1 preceding)
qualify role = 'coder' and answered order by experiment, ordinal
"""


def failures(index: Index, benchmark: str) -> dict[str, dict[str, int]]:
    """Configuration id -> error class -> the number of iterations or untested programs that failed with it."""
    times: dict[str, dict[str, int]] = {}
    for row in mappings(index.con, _FAILURES, {"benchmark": benchmark}):
        times.setdefault(str(row["configuration"]), {})[str(row["failure"])] = int(str(row["times"]))
    return times


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


def spans(index: Index, benchmark: str) -> list[Span]:
    """Every span of time in the ended experiments of a benchmark, in the order of their beginnings."""
    return records(index.con, Span, _SPANS, {"benchmark": benchmark})


# Calls have the time of their start, tests and scores that of their end. The gate tests of an iteration's program do
# not run again for its score, so their seconds count once. The next attempt of a call may follow hours later, when the
# benchmark is resumed, so a wait counts at most for the time that was planned.
_SPANS = """
with ended as (
    select e.id, f.label, e.started_at, e.seconds from experiments e
    join configurations f on f.benchmark = e.benchmark and f.id = e.configuration
    where e.benchmark = $benchmark and e.state = 'finished' and e.seconds is not null
),
attempts as (
    select experiment, "at", seconds, wait_seconds, "at" + seconds as until,
        lead("at") over (partition by experiment, ordinal order by attempt) as next_at
    from calls where seconds is not null
),
parts as (
    select experiment, 'calls' as phase, "at", seconds from attempts
    union all
    select experiment, 'waiting', until, least(next_at - until, wait_seconds) from attempts
    where next_at > until and wait_seconds > 0
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
