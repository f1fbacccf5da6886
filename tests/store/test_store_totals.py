"""Kept totals equal what they are the sums of, however and in whatever pieces the journal was read."""

from __future__ import annotations

import tempfile
from pathlib import Path

import duckdb
from doings import DOINGS, ENERGY, do
from hypothesis import HealthCheck, given, settings

from koderz_core.store.refresh import load
from koderz_core.store.schema import create
from koderz_core.store.store import dump

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
