"""The tables of the store, and how an older store is brought up to them.

Times are seconds since 1970 (UTC) and durations seconds, as in the events; texts stand in ``texts`` and are named by
SHA-256 elsewhere; null is unknown, never zero.
"""

from __future__ import annotations

from collections.abc import Mapping

from duckdb import DuckDBPyConnection

from koderz_core.errors import StoreError
from koderz_core.store.totals import FILL

KEYS: Mapping[str, tuple[str, ...]] = {
    "benchmarks": ("id",),
    "configurations": ("benchmark", "id"),
    "experiments": ("id",),
    "forecasts": ("benchmark",),
    "controls": ("benchmark", "target", "what"),
    "allowances": ("benchmark", "position"),
    "iterations": ("experiment", "iteration"),
    "calls": ("experiment", "ordinal", "attempt"),
    "notes": ("experiment", "ordinal"),
    "scores": ("experiment", "code"),
    "texts": ("sha256",),
    "journals": ("file",),
    "call_totals": ("experiment", "tier"),
}
"""Every table with its primary key."""

_FIRST = """
create table benchmarks (
    id varchar primary key, name varchar not null, koderz_version varchar not null, schema_version integer not null,
    dataset varchar not null, dataset_sha256 varchar not null, licence varchar not null, problems integer not null,
    repeats integer not null, seed hugeint not null, prompt_versions json not null, price_version varchar not null,
    isolation varchar not null, tiers json not null, energy json not null, plan json not null,
    opened_at double not null, closed_at double, closed_reason varchar
);
create table configurations (
    benchmark varchar not null, id varchar not null, strategy varchar not null, parameters json not null,
    models json not null, gate varchar not null, label varchar not null, primary key (benchmark, id)
);
create table experiments (
    id varchar primary key, benchmark varchar not null, configuration varchar not null, problem varchar not null,
    repeat integer not null, seed hugeint not null, state varchar not null, outcome varchar, reason varchar,
    score_kind varchar, code varchar, seconds double, failure varchar, error varchar, started_at double,
    finished_at double
);
create table iterations (
    experiment varchar not null, iteration integer not null, ordinal integer, "at" double not null, code varchar,
    how varchar not null, passed boolean not null, marks varchar not null, tests_passed integer not null,
    tests_total integer not null, error varchar, message varchar not null, seconds double not null,
    isolation varchar not null, failures json not null, primary key (experiment, iteration)
);
create table calls (
    experiment varchar not null, ordinal integer not null, attempt integer not null, position bigint not null,
    "at" double not null, role varchar not null, member integer not null, model varchar not null, tier varchar,
    state varchar not null, input_tokens bigint, output_tokens bigint, cache_read_tokens bigint,
    cache_write_tokens bigint, cost_usd double, cost_source varchar, seconds double, first_token_seconds double,
    finish varchar, sampling json not null, honoured json, messages json not null, text varchar, message varchar,
    primary key (experiment, ordinal, attempt)
);
create table notes (
    experiment varchar not null, ordinal integer not null, "at" double not null, kind varchar not null,
    iteration integer, text varchar not null, primary key (experiment, ordinal)
);
create table scores (
    experiment varchar not null, code varchar not null, "at" double not null, returned boolean not null,
    gate_passed boolean, gate_tests_passed integer, gate_tests_total integer, held_out_passed boolean,
    held_out_tests_passed integer, held_out_tests_total integer, gate json, held_out json,
    primary key (experiment, code)
);
create table texts (sha256 varchar primary key, text varchar not null);
create table journals (
    file varchar primary key, benchmark varchar not null, "offset" bigint not null, entries bigint not null,
    last_at double not null, mark varchar not null
);
create view experiment_results as
select e.id, e.benchmark, e.configuration, f.label, e.problem, e.repeat, e.state, e.outcome, e.reason, e.score_kind,
    e.code, s.gate_passed, s.gate_tests_passed, s.gate_tests_total, s.held_out_passed, s.held_out_tests_passed,
    s.held_out_tests_total, coalesce(i.iterations, if(e.outcome in ('solved', 'unsolved'), 1, 0)) as iterations,
    coalesce(c.calls, 0) as calls,
    case when c.calls is null then 0 else c.input_tokens end as input_tokens,
    case when c.calls is null then 0 else c.output_tokens end as output_tokens,
    case when c.calls is null then 0 else c.cost_usd end as cost_usd, coalesce(c.unpriced, 0) as unpriced,
    e.seconds, e.started_at, e.finished_at, e.failure, e.error
from experiments e
join configurations f on f.benchmark = e.benchmark and f.id = e.configuration
left join scores s on s.experiment = e.id and s.code = e.code
left join (select experiment, count(*) as iterations from iterations group by experiment) i on i.experiment = e.id
left join (
    select experiment, count(*) as calls,
        case when count(*) = count(input_tokens) then sum(input_tokens)::bigint end as input_tokens,
        case when count(*) = count(output_tokens) then sum(output_tokens)::bigint end as output_tokens,
        case when count(*) = count(cost_usd) then sum(cost_usd) end as cost_usd,
        count(*) - count(cost_usd) as unpriced
    from calls where state = 'finished' group by experiment
) c on c.experiment = e.id
"""

_SECOND = """
create table controls (
    benchmark varchar not null, target varchar not null, what varchar not null, position bigint not null,
    primary key (benchmark, target, what)
)
"""

_THIRD = """
alter table benchmarks add column self_test varchar default '';
alter table iterations add column shared boolean default false;
alter table iterations add column test_seconds json default '[]';
create or replace view experiment_results as
select e.id, e.benchmark, e.configuration, f.label, e.problem, e.repeat, e.state, e.outcome, e.reason, e.score_kind,
    e.code, s.gate_passed, s.gate_tests_passed, s.gate_tests_total, s.held_out_passed, s.held_out_tests_passed,
    s.held_out_tests_total, coalesce(i.iterations, if(e.outcome in ('solved', 'unsolved'), 1, 0)) as iterations,
    coalesce(c.calls, 0) as calls,
    case when c.calls is null then 0 else c.input_tokens end as input_tokens,
    case when c.calls is null then 0 else c.output_tokens end as output_tokens,
    case when c.calls is null then 0 else c.cost_usd end as cost_usd, coalesce(c.unpriced, 0) as unpriced,
    e.seconds, e.started_at, e.finished_at, e.failure, e.error, b.isolation, b.self_test,
    case when s.code is not null then coalesce((s.held_out ->> 'shared')::boolean, false)
        or coalesce((s.gate ->> 'shared')::boolean, false) end as shared
from experiments e
join benchmarks b on b.id = e.benchmark
join configurations f on f.benchmark = e.benchmark and f.id = e.configuration
left join scores s on s.experiment = e.id and s.code = e.code
left join (select experiment, count(*) as iterations from iterations group by experiment) i on i.experiment = e.id
left join (
    select experiment, count(*) as calls,
        case when count(*) = count(input_tokens) then sum(input_tokens)::bigint end as input_tokens,
        case when count(*) = count(output_tokens) then sum(output_tokens)::bigint end as output_tokens,
        case when count(*) = count(cost_usd) then sum(cost_usd) end as cost_usd,
        count(*) - count(cost_usd) as unpriced
    from calls where state = 'finished' group by experiment
) c on c.experiment = e.id
"""

_FOURTH = """
alter table calls add column service_tier varchar;
alter table calls add column machine_seconds double;
alter table calls add column gpu_joules double;
alter table calls add column kwh double;
alter table calls add column energy_usd double;
alter table calls add column rental_usd double
"""

_FIFTH = """
create table forecasts (
    benchmark varchar primary key, "at" double not null, position bigint not null, forecast json not null
);
alter table calls add column status integer;
alter table calls add column wait_seconds double;
alter table calls add column arrived boolean
"""

_SIXTH = "alter table configurations add column feedback varchar default 'full'"

_SEVENTH = """
alter table notes add column prompt varchar;
alter table notes add column origin varchar;
alter table notes add column why varchar;
alter table notes add column sections json default '{}';
alter table notes add column passed_on json default '[]';
update notes set prompt = 'minimal' where kind = 'spec_written';
update notes set why = 'interval' where kind = 'checkpoint_reviewed'
"""

_EIGHTH = """
alter table notes add column speaker varchar;
alter table notes add column round integer
"""

_NINTH = """
create table allowances (
    benchmark varchar not null, position bigint not null, "at" double not null, "by" bigint not null, usd double,
    concurrency integer not null, changed boolean not null, usd_before double, concurrency_before integer,
    primary key (benchmark, position)
);
alter table benchmarks add column budget_usd double;
alter table benchmarks add column concurrency integer;
update benchmarks set budget_usd = (plan ->> '$.budget.usd')::double
"""

_TENTH = f"""
alter table scores add column shared boolean;
update scores set shared = coalesce((held_out ->> 'shared')::boolean, false)
    or coalesce((gate ->> 'shared')::boolean, false);
create table call_totals (
    experiment varchar not null, tier varchar not null, calls bigint not null, unpriced bigint not null, tokens bigint,
    cost_usd double, kwh double, energy_usd double, rental_usd double, primary key (experiment, tier)
);
alter table experiments add column position bigint;
alter table experiments add column calls bigint;
alter table experiments add column unpriced bigint;
alter table experiments add column input_tokens bigint;
alter table experiments add column output_tokens bigint;
alter table experiments add column cost_usd double;
alter table experiments add column tries bigint; alter table experiments add column tried_at double;
alter table experiments add column gate_passed boolean;
alter table experiments add column gate_tests_passed integer;
alter table experiments add column gate_tests_total integer;
alter table experiments add column held_out_passed boolean;
alter table experiments add column held_out_tests_passed integer;
alter table experiments add column held_out_tests_total integer;
alter table experiments add column shared boolean;
{";".join(FILL).format(changed="experiment is not null")};
create or replace view experiment_results as
select e.id, e.benchmark, e.configuration, f.label, e.problem, e.repeat, e.state, e.outcome, e.reason, e.score_kind,
    e.code, e.gate_passed, e.gate_tests_passed, e.gate_tests_total, e.held_out_passed, e.held_out_tests_passed,
    e.held_out_tests_total, coalesce(e.tries, if(e.outcome in ('solved', 'unsolved'), 1, 0)) as iterations,
    coalesce(e.calls, 0) as calls, if(e.calls is null, 0, e.input_tokens) as input_tokens,
    if(e.calls is null, 0, e.output_tokens) as output_tokens, if(e.calls is null, 0, e.cost_usd) as cost_usd,
    coalesce(e.unpriced, 0) as unpriced, e.seconds, e.started_at, e.finished_at, e.failure, e.error, b.isolation,
    b.self_test, e.shared
from experiments e
join benchmarks b on b.id = e.benchmark
join configurations f on f.benchmark = e.benchmark and f.id = e.configuration
"""  # noqa: S608 (ours)

# Null where an earlier version read the journal, without the costs of unanswered calls: ``outdated`` says so.
_ELEVENTH = "alter table journals add column unanswered json"

_TWELFTH = """
create or replace view experiment_results as
select e.id, e.benchmark, e.configuration, f.label, e.problem, e.repeat, e.state, e.outcome, e.reason, e.score_kind,
    e.code, e.gate_passed, e.gate_tests_passed, e.gate_tests_total, e.held_out_passed, e.held_out_tests_passed,
    e.held_out_tests_total, coalesce(e.tries, 0) as iterations,
    coalesce(e.calls, 0) as calls, if(e.calls is null, 0, e.input_tokens) as input_tokens,
    if(e.calls is null, 0, e.output_tokens) as output_tokens, if(e.calls is null, 0, e.cost_usd) as cost_usd,
    coalesce(e.unpriced, 0) as unpriced, e.seconds, e.started_at, e.finished_at, e.failure, e.error, b.isolation,
    b.self_test, e.shared
from experiments e
join benchmarks b on b.id = e.benchmark
join configurations f on f.benchmark = e.benchmark and f.id = e.configuration
"""

# ``is_scripted`` says of models as JSON what ``records.summaries.scripted`` says of their ids.
_THIRTEENTH = """
alter table journals add column troubles json default '{}';
create macro is_scripted(models) as coalesce(contains(models::varchar, '"scripted/'), false)
"""

MIGRATIONS: tuple[str, ...] = (
    *(_FIRST, _SECOND, _THIRD, _FOURTH, _FIFTH, _SIXTH, _SEVENTH, _EIGHTH, _NINTH, _TENTH),
    *(_ELEVENTH, _TWELFTH, _THIRTEENTH),
)
"""What makes each schema version of the one before; released ones never change. The first makes an empty store."""


def create(con: DuckDBPyConnection) -> None:
    """Make the tables in an empty database."""
    con.execute("create table schema_version (version integer not null)")
    con.execute("insert into schema_version values (0)")
    migrate(con)


def migrate(con: DuckDBPyConnection) -> None:
    """Bring an older store up to this koderz, each step in one transaction. Raises StoreError for a newer one."""
    version = _version(con)
    if version > len(MIGRATIONS):
        raise StoreError(
            f"The store was written by a later koderz (schema {version}, this one knows up to {len(MIGRATIONS)}). "
            f"Upgrade koderz, or run `koderz reindex` to build the store anew from the journals."
        )
    for number, script in enumerate(MIGRATIONS[version:], version + 1):
        con.begin()
        con.execute(script)
        con.execute("update schema_version set version = ?", [number])
        con.commit()


def _version(con: DuckDBPyConnection) -> int:
    found = con.execute("select version from schema_version").fetchone()
    return int(found[0]) if found else 0
