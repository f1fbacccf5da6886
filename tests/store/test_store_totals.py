"""Kept totals equal what they are the sums of, however and in whatever pieces the journal was read."""

from __future__ import annotations

import tempfile
from pathlib import Path

import duckdb
from doings import DOINGS, ENERGY, MODELS, do
from hypothesis import HealthCheck, given, settings

from koderz_core.store.dump import dump
from koderz_core.store.loading import load
from koderz_core.store.schema import MIGRATIONS, create, migrate

KEPT = """
select id, tries, tried_at, calls, unpriced, input_tokens, output_tokens, cost_usd, gate_passed, gate_tests_passed,
    shared from experiments order by id
"""
FRESH = """
select e.id, nullif((select count(*) from iterations i where i.experiment = e.id), 0),
    (select max(i."at") from iterations i where i.experiment = e.id), c.calls, c.unpriced, c.input_tokens,
    c.output_tokens, if(c.unpriced = 0, c.usd, null), s.gate_passed, s.gate_tests_passed,
    (s.gate ->> 'shared')::boolean
from experiments e left join scores s on s.experiment = e.id and s.code = e.code
left join (
    select experiment, count(*) filter (where state = 'finished') as calls,
        count(*) filter (where state = 'finished' and cost_usd is null) as unpriced,
        coalesce(sum(input_tokens), 0) as input_tokens, coalesce(sum(output_tokens), 0) as output_tokens,
        coalesce(sum(cost_usd order by ordinal, attempt), 0) as usd
    from calls where state = 'finished' or cost_usd is not null group by experiment
) c on c.experiment = e.id order by e.id
"""
BY_TIER = "select experiment, tier, calls, unpriced, tokens, cost_usd from call_totals order by all"
FRESH_BY_TIER = """
select experiment, coalesce(tier, ''), count(*) filter (where state = 'finished'),
    count(*) filter (where state = 'finished' and cost_usd is null), coalesce(sum(input_tokens + output_tokens), 0),
    if(bool_or(cost_usd is null), null, sum(cost_usd order by ordinal, attempt))
from calls where state = 'finished' or cost_usd is not null group by experiment, coalesce(tier, '') order by all
"""


@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(DOINGS)
def test_totals_are_those_of_the_rows_after_anything_that_can_happen(plan, journal, doings):
    with tempfile.TemporaryDirectory() as folder, duckdb.connect() as con, duckdb.connect() as at_once:
        journal = type(journal)(Path(folder), plan, ENERGY)
        create(con)
        for at, ordinal, doing in doings:
            do(journal, at, ordinal, doing)
            if doing == "read":
                load(con, Path(folder))
        assert load(con, Path(folder)).faults == ()
        assert con.execute(KEPT).fetchall() == con.execute(FRESH).fetchall()
        assert con.execute(BY_TIER).fetchall() == con.execute(FRESH_BY_TIER).fetchall()
        create(at_once)
        load(at_once, Path(folder))
        assert list(dump(con)) == list(dump(at_once))


def test_a_store_of_before_there_were_totals_gets_those_that_reading_anew_gives(store, journal, plan):
    for number, experiment in enumerate(plan.experiments()):
        journal.tell(experiment, passed=number % 2 == 0, usd=None if number == 3 else 0.1, model=MODELS[number % 3])
    store.ingest()
    with store.open() as con:
        fresh, by_tier = con.execute(KEPT).fetchall(), con.execute(BY_TIER).fetchall()
    old = older(store)
    migrate(old)
    assert (old.execute(KEPT).fetchall(), old.execute(BY_TIER).fetchall()) == (fresh, by_tier)
    assert len(by_tier) == 6


def older(store):
    """The same rows in a store of the version before."""
    before = next(number for number, script in enumerate(MIGRATIONS) if "call_totals" in script)
    con = duckdb.connect()
    con.execute(f"create table schema_version (version integer not null); insert into schema_version values ({before})")
    for script in MIGRATIONS[:before]:
        con.execute(script)
    con.execute(f"attach '{store.path}' as today (read_only)")
    for table, columns in con.execute(
        "select table_name, string_agg('\"' || column_name || '\"') from duckdb_columns() "
        "where database_name = 'memory' and schema_name = 'main' and table_name in "
        "('benchmarks', 'configurations', 'experiments', 'calls', 'iterations', 'scores') group by all"
    ).fetchall():
        con.execute(f"insert into {table} ({columns}) select {columns} from today.{table}")
    con.execute("detach today")
    return con
