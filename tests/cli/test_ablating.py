"""Ablations, modes and parameters of supervised on the command line."""

from __future__ import annotations

import shlex
from typing import Any

import pytest

from koderz_core import Wanted
from koderz_core.cli.benchmark import benchmark
from koderz_core.cli.order import order
from koderz_core.errors import PlanError, UnknownNameError, UsageError


def ordered(words: str) -> list[Wanted]:
    options = benchmark.make_context("benchmark", shlex.split(words)).params
    return list(order(options, "0:1").configurations)


@pytest.mark.parametrize(
    ("words", "parameters"),
    [
        ("--spec-prompt detailed", {"spec_prompt": "detailed"}),
        ("--reuse-spec", {"reuse_spec": True}),
        ("--lessons --examples", {"lessons": True, "examples": True}),
        ("--no-previous-error", {"previous_error": False}),
        ("--history-tokens 0", {"history_tokens": 0}),
        ("--escape-after 3", {"escape_after": 3}),
        ("--checkpoint-when adaptive --no-disclosure", {"checkpoint_when": "adaptive", "disclosure": False}),
        ("--no-checkpoints --no-cot --no-spec", {"checkpoints": False, "chain_of_thought": False, "spec": False}),
        ("--temperature 0.5", {"temperature": 0.5, "retry_temperature": 0.5}),
    ],
)
def test_an_option_sets_its_parameter_for_who_has_it(words: str, parameters: dict[str, object]) -> None:
    (one,) = ordered(f"--strategy supervised {words}")
    assert one.parameters == parameters
    with pytest.raises(UsageError, match=r"^--configuration cannot be combined with --"):
        ordered(f"--configuration 'direct coder=a' {words}")


@pytest.mark.parametrize("option", ["--reuse-spec", "--no-previous-error", "--history-tokens 9", "--no-disclosure"])
def test_an_option_that_no_strategy_has_is_refused(option: str) -> None:
    with pytest.raises(UnknownNameError, match="parameter of direct, retry"):
        ordered(f"--strategy direct,retry {option}")


def test_an_unknown_spec_prompt_is_told_with_those_there_are(koderz: Any) -> None:
    said = koderz("benchmark", "--strategy", "supervised", "--coder", "scripted/weak", "--spec-prompt", "long")
    assert said.code == 2
    assert "detailed" in said.err


@pytest.mark.parametrize(
    ("mode", "strategies"),
    [("zero-shot", ["direct"]), ("iterative", ["supervised"]), ("comparative", ["direct", "supervised"])],
)
def test_a_mode_stands_for_strategies_and_takes_their_options(mode: str, strategies: list[str]) -> None:
    found = ordered(f"--mode {mode} --max-tokens 99")
    assert [(item.strategy, item.parameters) for item in found] == [(name, {"max_tokens": 99}) for name in strategies]


@pytest.mark.parametrize("other", ["--strategy repair", "--configuration 'direct coder=a'"])
def test_a_mode_beside_what_it_stands_for_is_refused(other: str) -> None:
    with pytest.raises(PlanError, match="--mode"):
        ordered(f"--mode iterative {other}")


def test_ablations_stand_behind_their_whole_and_leave_other_strategies_alone() -> None:
    found = ordered("--mode comparative --coder a,b --ablate no-spec,no-cot")
    grid = [("direct", {}), ("supervised", {}), ("supervised", {"spec": False})]
    grid += [("supervised", {"chain_of_thought": False})]
    assert [(item.strategy, dict(item.parameters)) for item in found] == grid * 2
    described = ordered("--configuration 'supervised coder=a max_iterations=3' --ablate no-spec")
    assert [dict(item.parameters) for item in described] == [
        {"max_iterations": 3},
        {"max_iterations": 3, "spec": False},
    ]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("--mode iterative --ablate everything", "ablation: 'everything'.*no-spec.*temperature"),
        ("--mode zero-shot --ablate all", "--ablate all has no effect"),
        ("--strategy repair --ablate no-spec", "--ablate no-spec has no effect"),
    ],
)
def test_an_ablation_of_nothing_is_refused(words: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        ordered(words)


def test_a_grid_runs_and_each_label_says_what_differs(koderz: Any) -> None:
    words = "benchmark --problems 0:1 --mode iterative --max-iterations 2 --coder scripted/strong --no-baselines"
    said = koderz(*words.split(), "--ablate", "no-spec,no-previous-error", "--json")
    assert said.code == 0
    assert {row["label"]: row["errors"] for row in said.json} == {
        "supervised SCRIPTED strong": 0,
        "supervised SCRIPTED strong (spec=False)": 0,
        "supervised SCRIPTED strong (previous_error=False)": 0,
    }
