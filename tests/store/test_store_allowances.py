"""What the journals say of what benchmarks may take, and of how it was changed."""

from __future__ import annotations

import duckdb
import pytest

from koderz_core.analysis.forecast import seconds_left
from koderz_core.events import AllowanceSet
from koderz_core.records import Allowance
from koderz_core.store.results import Results
from koderz_core.store.schema import MIGRATIONS, migrate

NOW = 1_700_000_100.0
SAID = (
    AllowanceSet(Allowance(5.0, 4), 1),
    AllowanceSet(Allowance(2.5, 4), 2, Allowance(5.0, 4)),
    AllowanceSet(Allowance(2.5, 1), 3, Allowance(2.5, 4)),
)


@pytest.fixture
def results(store) -> Results:
    return Results(store, seconds_left, clock=lambda: NOW)


def test_a_benchmark_may_take_what_was_set_last_and_its_changes_are_told_the_newest_first(results, journal, plan):
    assert (results.benchmark(plan.id).budget_usd, results.benchmark(plan.id).concurrency) == (None, None)
    for one in SAID:
        journal.say(one)
    row, progress = results.benchmark(plan.id), results.progress(plan.id)
    assert (row.budget_usd, row.concurrency) == (2.5, 1)
    assert [(one.by, one.before, one.after) for one in progress.changes] == [
        (3, Allowance(2.5, 4), Allowance(2.5, 1)),
        (2, Allowance(5.0, 4), Allowance(2.5, 4)),
    ]
    assert (progress.at, progress.news_at) == (NOW, journal.at)


def test_allowances_read_piece_by_piece_are_those_read_at_once(store, journal, reindexed):
    for one in SAID:
        journal.say(one)
        store.ingest()
    assert store.dump() == reindexed()
    assert b'"allowances"' in store.dump()


def test_a_store_of_before_knows_the_budget_from_the_plan(tmp_path):
    with duckdb.connect(tmp_path / "old.duckdb") as old:
        old.execute("create table schema_version (version integer not null)")
        old.execute("insert into schema_version values (0)")
        for script in MIGRATIONS[:8]:
            old.execute(script)
        old.execute("update schema_version set version = 8")
        values = "'b', '', '0', 1, 'd', '', '', 1, 1, 0, '{}', '', '', '{}', '{}', '{\"budget\": {\"usd\": 2.5}}', 0"
        old.execute(f"insert into benchmarks values ({values}, null, null, '')")
        migrate(old)
        assert old.execute("select budget_usd, concurrency from benchmarks").fetchall() == [(2.5, None)]
