"""The tables of the index. An index with another schema is not migrated but rebuilt from the journals.

Times are seconds since 1970 (UTC) and durations are seconds, as in the events. Texts are in ``texts`` and are named by
SHA-256 elsewhere. Null means unknown, never zero.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from duckdb import DuckDBPyConnection

Value = str | int | float | bool | None
"""The type of a column's value."""

KEYS: Mapping[str, tuple[str, ...]] = {
    "benchmarks": ("id",),
    "configurations": ("benchmark", "id"),
    "experiments": ("id",),
    "forecasts": ("benchmark",),
    "controls": ("benchmark", "target", "what"),
    "recorded_plans": ("benchmark", "position"),
    "allowances": ("benchmark", "position"),
    "iterations": ("experiment", "iteration"),
    "calls": ("experiment", "ordinal", "attempt"),
    "notes": ("experiment", "ordinal"),
    "scores": ("experiment", "code"),
    "texts": ("sha256",),
    "prompts": ("benchmark", "text"),
    "journals": ("file",),
    "call_totals": ("experiment", "tier"),
}
"""Every table with its primary key."""

VERSION = 24
"""The version of the tables below; increase it with every change to them or to the rows that a journal gives."""

_TABLES = """
create table benchmarks (
    id varchar primary key, name varchar not null, koderz_version varchar not null, schema_version integer not null,
    dataset varchar not null, dataset_sha256 varchar not null, licence varchar not null, problems integer not null,
    repeats integer not null, seed hugeint not null, prompt_versions json not null, price_version varchar not null,
    isolation varchar not null, tiers json not null, energy json not null, plan json not null,
    opened_at double not null, closed_at double, closed_reason varchar, self_test varchar default '',
    budget_usd double, concurrency integer, imported varchar, decision varchar, decided_by integer
);
create table configurations (
    benchmark varchar not null, id varchar not null, strategy varchar not null, parameters json not null,
    models json not null, gate varchar not null, label varchar not null,
    feedback varchar default 'full', primary key (benchmark, id)
);
create table experiments (
    id varchar primary key, benchmark varchar not null, configuration varchar not null, problem varchar not null,
    repeat integer not null, seed hugeint not null, state varchar not null, outcome varchar, reason varchar,
    score_kind varchar, code varchar, seconds double, failure varchar, error varchar, started_at double,
    finished_at double, position bigint, calls bigint, unpriced bigint, input_tokens bigint, output_tokens bigint,
    cost_usd double, tries bigint, tried_at double, gate_passed boolean, gate_tests_passed integer,
    gate_tests_total integer, held_out_passed boolean, held_out_tests_passed integer, held_out_tests_total integer,
    shared boolean, cached bigint, reasoning_tokens bigint
);
create table iterations (
    experiment varchar not null, iteration integer not null, ordinal integer, "at" double not null, code varchar,
    how varchar not null, passed boolean not null, marks varchar not null, tests_passed integer not null,
    tests_total integer not null, error varchar, message varchar not null, seconds double not null,
    isolation varchar not null, failures json not null, shared boolean default false, test_seconds json default '[]',
    primary key (experiment, iteration)
);
create table calls (
    experiment varchar not null, ordinal integer not null, attempt integer not null, position bigint not null,
    "at" double not null, role varchar not null, member integer not null, model varchar not null, tier varchar,
    state varchar not null, input_tokens bigint, output_tokens bigint, cache_read_tokens bigint,
    cache_write_tokens bigint, cost_usd double, cost_source varchar, seconds double, first_token_seconds double,
    finish varchar, sampling json not null, honoured json, messages json not null, text varchar, message varchar,
    service_tier varchar, machine_seconds double, gpu_joules double, cpu_joules double, kwh double, energy_usd double,
    rental_usd double, status integer, wait_seconds double, arrived boolean, cached_from varchar, cached_usd double,
    reasoning_tokens bigint,
    primary key (experiment, ordinal, attempt)
);
create table notes (
    experiment varchar not null, ordinal integer not null, "at" double not null, kind varchar not null,
    iteration integer, text varchar not null, prompt varchar, origin varchar, why varchar, sections json default '{}',
    passed_on json default '[]', speaker varchar, round integer, primary key (experiment, ordinal)
);
create table scores (
    experiment varchar not null, code varchar not null, "at" double not null, returned boolean not null,
    gate_passed boolean, gate_tests_passed integer, gate_tests_total integer, held_out_passed boolean,
    held_out_tests_passed integer, held_out_tests_total integer, gate json, held_out json,
    shared boolean, primary key (experiment, code)
);
create table texts (sha256 varchar primary key, text varchar not null);
-- The texts that users and systems say to models, each where it was last used in a benchmark.
create table prompts (
    benchmark varchar not null, text varchar not null, experiment varchar not null, ordinal integer not null,
    "at" double not null, primary key (benchmark, text)
);
create table journals (
    file varchar primary key, benchmark varchar not null, "offset" bigint not null, entries bigint not null,
    last_at double not null, mark varchar not null, unanswered json, troubles json default '{}'
);
create table controls (
    benchmark varchar not null, target varchar not null, what varchar not null, position bigint not null,
    primary key (benchmark, target, what)
);
-- The number of experiments in each header, and the plan of registered benchmarks.
create table recorded_plans (
    benchmark varchar not null, position bigint not null, "at" double not null, experiments bigint not null, plan json,
    primary key (benchmark, position)
);
create table forecasts (
    benchmark varchar primary key, "at" double not null, position bigint not null, forecast json not null
);
create table allowances (
    benchmark varchar not null, position bigint not null, "at" double not null, "by" bigint not null, usd double,
    concurrency integer not null, changed boolean not null, usd_before double, concurrency_before integer,
    primary key (benchmark, position)
);
create table call_totals (
    experiment varchar not null, tier varchar not null, calls bigint not null, unpriced bigint not null, tokens bigint,
    cost_usd double, kwh double, energy_usd double, rental_usd double, primary key (experiment, tier)
);
create view experiment_results as
select e.id, e.benchmark, e.configuration, f.label, e.problem, e.repeat, e.state, e.outcome, e.reason, e.score_kind,
    e.code, e.gate_passed, e.gate_tests_passed, e.gate_tests_total, e.held_out_passed, e.held_out_tests_passed,
    e.held_out_tests_total, coalesce(e.tries, 0) as iterations,
    coalesce(e.calls, 0) as calls, if(e.calls is null, 0, e.input_tokens) as input_tokens,
    if(e.calls is null, 0, e.output_tokens) as output_tokens, if(e.calls is null, 0, e.cost_usd) as cost_usd,
    coalesce(e.unpriced, 0) as unpriced, e.seconds, e.started_at, e.finished_at, e.failure, e.error, b.isolation,
    b.self_test, e.shared, coalesce(e.cached, 0) as cached,
    if(e.calls is null, 0, e.reasoning_tokens) as reasoning_tokens
from experiments e
join benchmarks b on b.id = e.benchmark
join configurations f on f.benchmark = e.benchmark and f.id = e.configuration;
-- Without the earlier outcome while an experiment runs again.
create view results as
select * replace (if(state = 'finished', outcome, null) as outcome) from experiment_results;
-- ``records.plans.scripted``, for models as JSON.
create macro is_scripted(models) as coalesce(contains(models::varchar, '"scripted/'), false);
-- A sum is unknown if a part is. ``place``: the order of the parts, on which a sum of floating-point numbers depends.
create macro known_sum(part) as case when count(*) = count(part) then coalesce(sum(part), 0) end,
    (part, place) as case when count(*) = count(part) then coalesce(sum(part order by place), 0) end
"""


def create(con: DuckDBPyConnection) -> None:
    """Create the tables in an empty database."""
    con.execute("create table schema_version as select ?::integer as version, uuid()::varchar as build", [VERSION])
    con.execute(_TABLES)


def version_of(con: DuckDBPyConnection) -> int:
    """The version of an index's tables. Raises duckdb.CatalogException if koderz did not create them."""
    row = con.execute("select version from schema_version").fetchone()
    return int(row[0]) if row else 0


def build_of(con: DuckDBPyConnection) -> str:
    """The id of an index, which is another after each rebuild."""
    row = con.execute("select build from schema_version").fetchone()
    return str(row[0]) if row else ""


_COLUMNS: dict[str, tuple[str, ...]] = {}


def columns_of(con: DuckDBPyConnection, table: str) -> tuple[str, ...]:
    """The columns of a table in order. They are asked for once: every index of this version has the same."""
    if table not in _COLUMNS:
        described = con.execute(f"select * from {table} limit 0").description  # noqa: S608 (ours)
        _COLUMNS[table] = tuple(column for column, *_ in described)
    return _COLUMNS[table]


_SUMMED = {"experiments": "id", "iterations": "experiment", "calls": "experiment", "scores": "experiment"}
"""The tables that are summed up, with their column for the experiment."""

Rows = Mapping[str, Mapping[tuple[Value, ...], Mapping[str, Value]]]
"""Table -> key -> row."""


def renew(con: DuckDBPyConnection, changed: Rows, *, is_new: bool = False) -> None:
    """Recompute the totals of the experiments of these rows, which are already written.

    ``is_new``: the experiments have no totals yet.
    """
    experiments = {"changed": sorted(set(_experiments(changed)))}
    if not experiments["changed"]:
        return
    if not is_new:
        con.execute(f"delete from call_totals where {_CHANGED}", experiments)  # noqa: S608 (ours)
    for sql in FILL:
        con.execute(sql.format(changed=_CHANGED), experiments)


def _experiments(changed: Rows) -> Iterator[str]:
    """The experiments of rows, without those that are only planned: they may be thousands and have no totals."""
    for table, column in _SUMMED.items():
        yield from (str(row[column]) for row in changed.get(table, {}).values() if row.get("state") != "planned")


_CHANGED = "experiment in (select unnest($changed))"

# Calls without an answer count only if their cost is known. Costs are added in the order of the calls.
FILL = (
    """
insert into call_totals
select experiment, coalesce(tier, ''), count(*) filter (where answered),
    count(*) filter (where answered and cost_usd is null),
    known_sum(if(answered, input_tokens + output_tokens, 0))::bigint, known_sum(cost_usd, (ordinal, attempt)),
    known_sum(if(answered, kwh, coalesce(kwh, 0)), (ordinal, attempt)),
    known_sum(if(answered, energy_usd, coalesce(energy_usd, 0)), (ordinal, attempt)),
    known_sum(if(answered, rental_usd, coalesce(rental_usd, 0)), (ordinal, attempt))
from (select *, state = 'finished' as answered from calls where {changed})
where answered or cost_usd is not null group by experiment, coalesce(tier, '')
""",
    """
update experiments set calls = t.calls, unpriced = t.unpriced, input_tokens = t.input_tokens,
    output_tokens = t.output_tokens, cost_usd = t.cost_usd, tries = t.tries, tried_at = t.tried_at,
    gate_passed = t.gate_passed, gate_tests_passed = t.gate_tests_passed, gate_tests_total = t.gate_tests_total,
    held_out_passed = t.held_out_passed, held_out_tests_passed = t.held_out_tests_passed,
    held_out_tests_total = t.held_out_tests_total, shared = t.shared, cached = t.cached,
    reasoning_tokens = t.reasoning_tokens
from (
    select e.experiment as changed, c.*, i.*, s.*
    from (select id as experiment, code from experiments) e
    left join (
        select experiment, count(*) filter (where answered) as calls,
            count(*) filter (where answered and cost_usd is null) as unpriced,
            known_sum(if(answered, input_tokens, 0))::bigint as input_tokens,
            known_sum(if(answered, output_tokens, 0))::bigint as output_tokens,
            known_sum(if(answered, reasoning_tokens, 0))::bigint as reasoning_tokens,
            known_sum(cost_usd, (ordinal, attempt)) as cost_usd, count(cached_from) as cached
        from (select *, state = 'finished' as answered from calls where {changed})
        where answered or cost_usd is not null group by experiment
    ) c on c.experiment = e.experiment
    left join (
        select experiment, count(*) as tries, max("at") as tried_at from iterations where {changed} group by experiment
    ) i on i.experiment = e.experiment
    left join (
        select experiment, code, gate_passed, gate_tests_passed, gate_tests_total, held_out_passed,
            held_out_tests_passed, held_out_tests_total, shared
        from scores where {changed}
    ) s on s.experiment = e.experiment and s.code = e.code
    where e.{changed}
) t where experiments.id = t.changed
""",
)
"""Statements that compute the totals of the experiments that match ``changed``; the old totals of calls are deleted."""
