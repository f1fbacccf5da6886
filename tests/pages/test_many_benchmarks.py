"""Pages with more benchmarks and experiments than a person can look through."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from reading import said

from koderz_core import Order, Wanted, open_workspace
from koderz_core.config import load_settings
from pages.ui import pickers
from pages.ui.tables import BENCHMARK_COLUMNS, benchmark_table


def test_many_benchmarks_are_shown_a_part_at_a_time_and_found_by_words(visit, recorded, monkeypatch):
    with open_workspace() as workspace:
        other = workspace.plans.plan(Order([Wanted("direct", {"coder": "scripted/weak"})], "0:1", name="the other one"))
        workspace.runs.run(other)
    monkeypatch.setattr(pickers, "BENCHMARKS_PER_PAGE", 1)
    app = visit("overview")
    assert list(app.dataframe[-1].value["benchmark"]) == [other.id]
    assert any("1 to 1 of 2" in element.value for element in app.caption)
    app.text_input(key="find benchmarks").set_value("strong").run()
    assert list(app.dataframe[-1].value["benchmark"]) == [recorded.id]
    app.text_input(key="find benchmarks").set_value("nothing like it").run()
    assert not any("benchmark" in table.value for table in app.dataframe)
    assert not app.exception


def test_the_sum_of_costs_says_how_many_benchmarks_of_unknown_cost_it_omits(visit, recorded):
    (journal,) = load_settings().journals_dir.glob("*.jsonl")
    journal.write_text(journal.read_text().replace('"usd":0.0', '"usd":null', 1))
    (label,) = (metric.label for metric in visit("overview").metric if metric.label.startswith("spent"))
    assert label == "spent (without 1 benchmark of unknown cost)"


def test_home_shows_a_benchmark_whose_journal_states_an_impossible_time(visit, recorded):
    (journal,) = load_settings().journals_dir.glob("*.jsonl")
    opened, *others = journal.read_text().splitlines()
    journal.write_text("\n".join([json.dumps({**json.loads(opened), "at": 1e15}), *others, ""]))
    app = visit("overview")
    assert list(app.dataframe[-1].value["benchmark"]) == [recorded.id]
    assert not app.error


@pytest.mark.parametrize("page", ["overview", "compare"])
def test_calls_that_have_not_been_made_are_not_free_of_charge(visit, recorded, page):
    (journal,) = load_settings().journals_dir.glob("*.jsonl")
    assert "ll calls were free of charge" in said(visit(page))
    journal.write_text(f"{journal.read_text().splitlines()[0]}\n")
    words = said(visit(page)).lower()
    assert "no finished call is recorded" in words
    assert "free of charge" not in words


def test_the_longest_state_of_a_benchmark_fits_into_its_column(recorded):
    with open_workspace() as workspace:
        (row,) = workspace.results.benchmarks()
    early = replace(row, state="finished", decision="falls short", errors=12, planned=40)
    (shown,) = benchmark_table([early])["state"]
    assert shown == "! finished early with 12 errors"
    assert 6 * len(shown) <= BENCHMARK_COLUMNS["state"]["width"]  # pixels of a letter


@pytest.mark.parametrize(("words", "found"), [("", 4), ("HumanEval/1", 2), ("nothing like it", 0)])
def test_many_experiments_are_shown_a_part_at_a_time_and_found_by_words(visit, recorded, monkeypatch, words, found):
    monkeypatch.setattr(pickers, "EXPERIMENTS_PER_PAGE", 4)
    app = visit("experiment", benchmark=recorded.id)
    app.text_input[0].set_value(words).run()
    assert sum(len(table.value) for table in app.dataframe) == found
    assert not app.exception
