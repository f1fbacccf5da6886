"""The response cache and other prices on the command line, as a person uses them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from zipfile import ZipFile

ONE = ("benchmark", "--problems", "0:1", "--coder", "scripted/weak", "--no-baselines", "--quiet", "--cache", "--name")


def test_a_second_benchmark_reuses_answers_says_so_beside_the_money_and_is_sound(koderz: Any) -> None:
    assert "cached)" not in koderz(*ONE, "first").out
    second = koderz(*ONE, "second")
    assert "$0.00 (1 cached)" in second.out
    assert "Answers from the cache are copies of answers in earlier benchmarks" in second.out
    assert koderz("verify", "second").code == 0
    counted = koderz("compare", "second", "--format", "json", "--count-cached").json
    assert counted["findings"][0].startswith("Re-priced with recorded prices.")
    assert "Deleted the response cache with 1 answer" in koderz("prune", "--cache", "--yes").out
    assert "with 0 answers" in koderz("prune", "--cache").out


def test_a_limit_per_experiment_cannot_be_combined_with_the_cache(koderz: Any) -> None:
    said = koderz(*ONE, "limited", "--max-cost-per-experiment", "1")
    assert said.code != 0
    assert "--max-cost-per-experiment cannot be combined with the response cache" in said.err


def test_a_baseline_whose_cost_was_measured_comes_before_one_with_cached_answers(koderz: Any) -> None:
    koderz(*ONE, "first", "--strategy", "direct")
    koderz(*ONE, "second", "--strategy", "direct")
    costs = koderz("frontier-costs", "--all", "--scripted", "--json").json
    assert [cost["usd_per_problem"] is None for cost in costs] == [False, True]


def test_a_log_for_another_tool_states_no_cost_and_no_time_of_a_cached_answer(koderz: Any, tmp_path: Path) -> None:
    koderz(*ONE, "first")
    koderz(*ONE, "second")
    for name, known in (("first", True), ("second", False)):
        assert koderz("export", name, "--format", "eee", "--out", tmp_path / f"{name}.zip").code == 0
        with ZipFile(tmp_path / f"{name}.zip") as packed:
            (samples,) = [packed.read(entry) for entry in packed.namelist() if entry.endswith("_samples.jsonl")]
        sample = json.loads(samples)
        assert ("cost_usd" in sample["metadata"]) is known
        assert [value is not None for value in (sample["performance"] or {}).values()].count(True) == (
            3 if known else 0
        )


def test_the_figures_of_a_bundle_count_the_cached_answers_and_name_the_effort(koderz: Any, tmp_path: Path) -> None:
    figures = []
    for name in ("first", "second"):
        koderz(*ONE, name, "--effort", "low")
        path = tmp_path / f"{name}.zip"
        assert koderz("bundle", name, "--out", path).code == koderz("verify", path).code == 0
        with ZipFile(path) as packed:
            figures.append(json.loads(packed.read(next(it for it in packed.namelist() if it.endswith("kpi.json")))))
    assert [of["totals"].get("cached") for of in figures] == [None, 1]
    assert [of["experiments"][0].get("cached") for of in figures] == [None, 1]
    assert figures[0]["experiments"][0]["sampling"]["effort"] == "low"


def test_a_csv_says_on_standard_error_that_it_is_repriced_and_a_report_is_refused(koderz: Any) -> None:
    koderz("example")
    assert "Re-priced with 130 W." in koderz("export", "--table", "experiments", "--out", "-", "--watts", "130").err
    assert koderz("export", "--format", "html", "--watts", "130").code == 2
