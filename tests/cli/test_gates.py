"""Gates and feedback on the command line: several make several configurations, and what they leave out is told."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from koderz_core.workspace import open_workspace

STRONG = ("--coder", "scripted/strong", "--max-iterations", "1", "--no-spec", "--no-checkpoints")


def test_several_gates_and_feedbacks_make_several_configurations_of_who_heeds_them(koderz: Any) -> None:
    options = ("--strategy", "direct,supervised", "--gate", "tests,split:0.5", "--feedback", "full,none")
    koderz("benchmark", "--problems", "0:1", *STRONG, *options, "--json")
    with open_workspace() as workspace:
        (one,) = workspace.results.benchmarks()
        plan = workspace.runs.recorded(one.id)
    assert [
        (configuration.strategy, configuration.gate, configuration.feedback) for configuration in plan.configurations
    ] == [
        ("direct", "tests", "full"),
        ("supervised", "tests", "full"),
        ("supervised", "tests", "none"),
        ("supervised", "split:0.5", "full"),
        ("supervised", "split:0.5", "none"),
    ]


def test_what_a_gate_leaves_out_is_told_before_while_and_after(koderz: Any) -> None:
    command = (
        "benchmark",
        "--problems",
        "HumanEval/47,67,68",
        "--strategy",
        "supervised",
        "--gate",
        "examples",
        "--no-baselines",
        *STRONG,
    )
    planned = koderz(*command, "--plan-only").out.replace("\n", " ")
    assert "1 problem, 1 experiment" in planned
    left_out = "Problems left out for all configurations: 2 of 3"
    assert left_out in planned
    assert "the text of the problem contains no example that koderz can read: HumanEval/68" in planned
    assert "HumanEval/47: candidate([-10, 4, 6, 1000, 10, 20]) == 15.0" in planned
    run = koderz(*command)
    assert left_out in run.err
    with open_workspace() as workspace:
        (one,) = workspace.results.benchmarks()
        assert set(workspace.runs.recorded(one.id).outside) == {"HumanEval/67", "HumanEval/68"}
        assert workspace.results.experiments(one.id)[0].score_kind == "held_out"
        assert [row.feedback for row in workspace.results.summaries(one.id)] == ["full"]
    assert left_out in koderz("analyze", one.id).out


def test_a_file_whose_plus_inputs_repeat_its_asserts_holds_nothing_out_from_a_loop(koderz: Any, tmp_path: Path) -> None:
    mine = {"prompt": "def double(a):\n", "entry_point": "double", "canonical_solution": "    return 2 * a\n"}
    mine |= {"asserts": ["assert double(1) == 2", "assert double(5) == 10"]}
    problems = [mine | {"task_id": f"mine/{item}", "plus_input": [[1], [item]]} for item in (5, 7)]
    file = tmp_path / "mine.jsonl"
    file.write_text("".join(f"{json.dumps(problem)}\n" for problem in problems))
    said = koderz("benchmark", "--dataset", str(file), *STRONG, "--strategy", "direct,supervised", "--no-baselines")
    assert "100 % [34, 100]*(1/2)" in said.out
    with open_workspace() as workspace:
        rows = workspace.results.summaries()
    assert {row.strategy: (row.score_kind, row.oracle_problems) for row in rows} == {
        "direct": ("held_out", 0),
        "supervised": ("mixed", 1),
    }


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--gate", "half"), "Unknown gate: 'half'"),
        (("--feedback", "much"), "Unknown feedback: 'much'"),
        (("--strategy", "direct", "--gate", "examples"), "None of the chosen strategies runs gate tests"),
        (("--gate", "split:1.5"), "between 0 and 1"),
        (
            ("--configuration", "supervised coder=scripted/weak", "--gate", "tests"),
            "--configuration cannot be combined with",
        ),
    ],
)
def test_what_means_nothing_is_wrong_usage(koderz: Any, options: tuple[str, ...], said: str) -> None:
    strategy = () if {"--strategy", "--configuration"} & set(options) else ("--strategy", "supervised")
    told = koderz("benchmark", *strategy, *options)
    assert told.code == 2
    assert said in told.err.replace("\n", " ")
