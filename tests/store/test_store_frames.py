"""The first lines of a table, as a preview shows them."""

from __future__ import annotations

import pytest

from koderz_core.errors import UnknownNameError
from koderz_core.store.frames import Part
from koderz_core.store.results import Results


@pytest.fixture
def results(store):
    return Results(store, lambda experiments, now: None)


def excerpt(results, table, benchmarks, limit):
    with results.tables() as tables:
        return tables.excerpt(Part(table, benchmarks), limit)


@pytest.mark.parametrize("table", ["experiments", "iterations", "calls"])
def test_an_excerpt_is_the_beginning_of_its_table_and_says_how_long_that_is(results, journal, plan, table):
    for experiment in plan.experiments()[:3]:
        journal.tell(experiment)
    whole = results.frame(table, plan.id)
    first = excerpt(results, table, [plan.id], 2)
    assert first.frame.to_csv() == whole.head(2).to_csv()
    assert first.lines == len(whole) > 2


def test_an_excerpt_counts_only_the_benchmark_that_was_asked_for(results, journal, plan):
    assert excerpt(results, "experiments", [plan.id], 1).lines == 6
    assert excerpt(results, "experiments", None, 9).lines == 6
    assert excerpt(results, "experiments", ["bench_other"], 1).lines == 0


def test_an_excerpt_of_an_unknown_table_lists_the_known_ones(results, journal):
    with pytest.raises(UnknownNameError, match="iterations"):
        excerpt(results, "iteration; drop table texts", None, 1)
