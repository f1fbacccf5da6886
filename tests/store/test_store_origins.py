"""Every result says which dataset it is of, which file that was, and under which licence."""

from __future__ import annotations

import pytest

from koderz_core.report.findings import remarks
from koderz_core.store.results import Results

ORIGIN = ("humaneval", "a" * 64, "MIT")
SAID = f"humaneval (SHA-256 {'a' * 12}, licence MIT)"


@pytest.fixture
def results(store, journal, plan):
    journal.tell(plan.experiments()[0])
    return Results(store, lambda experiments, now: None)


@pytest.mark.parametrize("table", ["experiments", "iterations", "calls"])
def test_each_line_of_an_exported_table_says_it(results, table):
    found = results.frame(table)
    assert set(zip(found["dataset"], found["dataset_sha256"], found["licence"], strict=True)) == {ORIGIN}


def test_benchmarks_and_experiments_say_it(results, plan):
    details = results.experiment(plan.experiments()[0].id)
    assert results.benchmark(plan.id).origin == details.experiment.origin == plan.dataset
    assert plan.dataset.said == SAID


def test_what_is_compared_says_it_once(results):
    said = remarks(results.summaries())
    assert [record for record in said if "SHA-256" in record] == [f"Dataset: {SAID}."]
