"""What the journals say of what benchmarks may take, and of how it was changed."""

from __future__ import annotations

import pytest

from koderz_core.analysis.timing import seconds_left
from koderz_core.events import AllowanceSet
from koderz_core.records import Allowance
from koderz_core.store.results import Results

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
    for record in SAID:
        journal.say(record)
    row, progress = results.benchmark(plan.id), results.progress(plan.id)
    assert (row.budget_usd, row.concurrency) == (2.5, 1)
    assert [(change.by, change.before, change.after) for change in progress.changes] == [
        (3, Allowance(2.5, 4), Allowance(2.5, 1)),
        (2, Allowance(5.0, 4), Allowance(2.5, 4)),
    ]
    assert (progress.at, progress.news_at) == (NOW, journal.at)


def test_allowances_read_piece_by_piece_are_those_read_at_once(store, journal, reindexed):
    for record in SAID:
        journal.say(record)
        store.ingest()
    assert store.dump() == reindexed()
    assert b'"allowances"' in store.dump()
