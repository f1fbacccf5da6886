"""Commands and options of the original koderz, as its scripts call them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

RUN = ("run", "--problem-id", "HumanEval/0", "--local-model", "scripted/strong")
BENCHMARK = ("benchmark", "--start", "0", "--end", "2", "--local-model", "scripted/weak")


def test_run_alone_asks_once_and_says_how_the_whole_flow_is_chosen(koderz: Any) -> None:
    said = koderz(*RUN)
    assert "direct SCRIPTED strong" in said.out
    assert "Strategy direct: the model answers once." in said.err
    assert "add --mode iterative" in said.err
    assert "Strategy direct:" not in koderz(*RUN, "--mode", "zero-shot").err


@pytest.mark.parametrize(
    "options",
    [("--reuse-spec",), ("--checkpoint-interval", "2"), ("--frontier-checkpoint-model", "scripted/strong")],
)
def test_an_option_of_the_iterative_mode_chooses_it(koderz: Any, options: tuple[str, ...]) -> None:
    said = koderz(*RUN, *options)
    assert "supervised SCRIPTED strong" in said.out
    assert "koderz uses the strategy supervised, because you gave --" in said.err


def test_an_option_that_no_chosen_strategy_has_is_still_refused(koderz: Any) -> None:
    said = koderz(*RUN, "--mode", "zero-shot", "--checkpoint-interval", "2")
    assert (said.code, "Unknown parameter of direct: 'checkpoint_interval'" in said.err) == (2, True)


def test_switching_off_what_a_strategy_does_not_have_is_no_error(koderz: Any) -> None:
    assert koderz(*BENCHMARK, "--mode", "zero-shot", "--no-spec", "--no-checkpoints").code == 0


def test_a_baseline_model_runs_directly_beside_the_others(koderz: Any) -> None:
    said = koderz(*BENCHMARK, "--mode", "zero-shot", "--baseline-model", "scripted/strong")
    assert "Baselines that koderz adds for the comparison: direct SCRIPTED strong." in said.err
    assert "--no-baselines" not in said.err
    labels = {row["label"] for row in koderz("results", "--json").json}
    assert labels == {"direct SCRIPTED weak", "direct SCRIPTED strong"}


def test_times_are_reported_and_written(koderz: Any, tmp_path: Path) -> None:
    path = tmp_path / "times.json"
    said = koderz(*BENCHMARK, "--mode", "zero-shot", "--timing-report", "--timing-export", path, "--max-retries", 3)
    assert "journal" in said.out
    assert json.loads(path.read_text())[0]["experiments"] == 2


def test_old_switches_of_the_memory_are_taken(koderz: Any, tmp_path: Path) -> None:
    said = koderz(*BENCHMARK, "--no-persistent-cortex", "--cortex-db", tmp_path / "memory.db", "--plan-only")
    assert (said.code, "--no-persistent-cortex has no effect" in said.err) == (0, True)


def test_a_speed_test_without_warm_up_is_written_to_a_file(koderz: Any, tmp_path: Path) -> None:
    path = tmp_path / "speeds.json"
    options = ("--no-warmup", "--timeout", "20", "--host", "127.0.0.1:1", "--export", path)
    assert koderz("speed-test", "scripted/strong", *options).code == 0
    (speed,) = json.loads(path.read_text())
    assert (speed["model"], speed["warm_up_seconds"], speed["fault"]) == ("scripted/strong", None, "")


def test_list_problems_can_show_whole_texts(koderz: Any) -> None:
    said = koderz("list-problems", "--full", "--limit", "1").out
    assert "HumanEval/0\n\nfrom typing import List" in said


def test_frontier_costs_are_shown_for_a_problem_and_pruned_only_if_confirmed(koderz: Any) -> None:
    koderz(*BENCHMARK, "--mode", "zero-shot")
    costs = ("frontier-costs", "--all", "--scripted")
    (cost,) = koderz(*costs, "--problem", "1", "--json").json
    assert (cost["n"], cost["problems"]) == (1, 1)
    assert "To delete, add --confirm." in koderz(*costs, "--prune-days", "0").out
    assert "Nothing to delete." in koderz(*costs, "--prune-days", "1", "--confirm").out
    assert koderz(*costs, "--json").json
    assert "Deleted bench_" in koderz(*costs, "--prune-days", "0", "--confirm").out
    assert koderz(*costs, "--json").json == []


def test_confirm_alone_is_refused(koderz: Any) -> None:
    assert koderz("frontier-costs", "--confirm").code == 2


def test_pruning_prints_no_json(koderz: Any) -> None:
    said = koderz("frontier-costs", "--prune-days", "0", "--json")
    assert (said.code, said.out, "Omit one of these two options." in said.err) == (2, "", True)
