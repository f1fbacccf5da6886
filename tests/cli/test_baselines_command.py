"""Baselines and controls on the command line."""

from __future__ import annotations

from typing import Any

import pytest

from koderz_core.cli import tables

SUPERVISED = ("benchmark", "--problems", "0:3", "--coder", "scripted/weak", "--max-iterations", "2")
STRONG = ("--reviewer", "scripted/strong", "--spec-model", "scripted/strong")


@pytest.fixture(autouse=True)
def _a_frontier_model(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KODERZ_TIERS", '{"scripted/strong": "frontier"}')


def labels(said: Any) -> list[str]:
    return [row["label"] for row in said.json]


def test_supervised_comes_with_its_baselines_says_so_and_leaves_them_out_if_told(koderz: Any) -> None:
    planned = koderz(*SUPERVISED, *STRONG, "--strategy", "supervised", "--plan-only").out.replace("\n", " ")
    assert "9 experiments" in planned
    assert "direct SCRIPTED strong, direct SCRIPTED weak. Cost of the baselines: at most $" in planned
    assert "To skip these baselines, add --no-baselines" in planned
    alone = koderz(*SUPERVISED, *STRONG, "--strategy", "supervised", "--plan-only", "--no-baselines").out
    assert "3 experiments" in alone
    assert "aselines" not in alone


def test_controls_are_strategies_with_names_and_parameters_of_their_own(koderz: Any) -> None:
    said = koderz(*SUPERVISED, "--strategy", "retry,repair", "--json")
    assert labels(said) == ["direct SCRIPTED weak", "repair SCRIPTED weak", "retry SCRIPTED weak"]
    strategies = {row["label"].split()[0]: (row["strategy"], row["parameters"]) for row in said.json}
    assert {name: strategy for name, (strategy, _) in strategies.items()} == {
        "direct": "direct",
        "repair": "supervised",
        "retry": "ladder",
    }
    assert {name: strategy["max_iterations"] for name, (_, strategy) in strategies.items() if name != "direct"} == {
        "repair": 2,
        "retry": 2,
    }


def test_the_registry_lists_what_was_measured_of_frontier_models(koderz: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "No frontier model has been measured with the strategy direct yet" in koderz("frontier-costs").out
    koderz(*SUPERVISED, *STRONG, "--strategy", "supervised", "--json")
    assert koderz("frontier-costs", "--all", "--json").json == []  # a script shows nothing about models
    (one,) = koderz("frontier-costs", "--scripted", "--json").json
    assert (one["model"], one["n"], one["usd_per_problem"]) == ("scripted/strong", 3, 0.0)
    assert one["rate_low"] < one["rate"] == one["solved"] / 3 <= one["rate_high"]
    assert one["prompts"] == {"coding": "1", "extraction": "1"}
    every = {row["model"] for row in koderz("frontier-costs", "--all", "--scripted", "--json").json}
    assert every == {"scripted/strong", "scripted/weak"}
    monkeypatch.setattr(tables, "PIPED_WIDTH", 70)
    shown = koderz("frontier-costs", "--scripted").out
    assert ("scripted/strong" in shown, "…" in shown) == (True, False)


def test_the_registry_is_asked_for_a_model_or_a_dataset(koderz: Any) -> None:
    koderz("benchmark", "--problems", "0:1", "--coder", "scripted/strong,scripted/weak", "--json")
    ours = ("frontier-costs", "--scripted")
    listed = koderz(*ours, "--all", "--model", "weak", "--dataset", "humaneval", "--json").json
    assert [row["model"] for row in listed] == ["scripted/weak"]
    assert koderz(*ours, "--dataset", "mbpp", "--json").json == []
    assert "No measurement matches these options." in koderz(*ours, "--dataset", "mbpp").out


def test_compare_takes_a_baseline_measured_elsewhere(koderz: Any) -> None:
    koderz("benchmark", "--problems", "0:3", "--coder", "scripted/strong", "--name", "measured")
    koderz(*SUPERVISED, *STRONG, "--strategy", "supervised", "--no-baselines", "--name", "mine")
    told = koderz("compare", "mine", "--format", "json").json
    assert [row["label"] for row in told["configurations"]][-1] == "direct SCRIPTED strong"
    assert told["baseline"].startswith(told["configurations"][-1]["benchmark"])
