"""Configurations and typed problems on the command line."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest

from koderz_core import Order, Wanted, command_of
from koderz_core.datasets import DATASETS
from koderz_core.errors import DataError
from koderz_core.records import Message, Request, Sampling
from koderz_core.strategies import offered
from koderz_core.workspace import open_workspace

PROMPT, TESTS, SOLUTION = "def add(a, b):\n", "assert add(1, 2) == 3", "    return a + b"
STRONG = "direct coder=scripted/strong"


def kept(solution: str = SOLUTION) -> str:
    with open_workspace() as workspace:
        return workspace.grading.keep_problem(PROMPT, TESTS, solution)


def test_configurations_in_words_are_what_is_compared(koderz: Any) -> None:
    said = koderz(
        *("benchmark", "--problems", "0:2", "--json", "--configuration", STRONG),
        *("--configuration", "supervised coder=scripted/strong max_iterations=2 spec=false"),
    )
    assert said.code == 0
    assert {row["strategy"]: row["solved"] + row["unsolved"] for row in said.json} == {"direct": 2, "supervised": 2}


@pytest.mark.parametrize(
    "option", [("--strategy", "direct"), ("--coder", "gpt-4o"), ("--no-cot",), ("--no-spec",), ("--temperature", "0")]
)
def test_what_a_configuration_says_is_not_said_again(koderz: Any, option: tuple[str, ...]) -> None:
    said = koderz("benchmark", "--configuration", STRONG, *option)
    assert said.code == 2
    flag = option[0].replace("--no-spec", "--spec")
    assert f"--configuration cannot be combined with {flag}" in said.err.replace("\n", " ")


def test_a_wrong_word_in_a_configuration_is_wrong_usage(koderz: Any) -> None:
    said = koderz("run", "--problem-id", "0", "--configuration", "direct coder=scripted/strong max_tokens=many")
    assert said.code == 2
    assert "max_tokens=many" in said.err


def test_a_typed_problem_is_listed_and_run_by_its_name(koderz: Any) -> None:
    name = kept()
    listed = koderz("list-problems", "--dataset", name)
    assert "your own" in listed.out
    assert f"{name}/0" in listed.out
    said = koderz(
        "benchmark", "--dataset", name, "--problems", "all", "--repeats", "9", "--configuration", STRONG, "--json"
    )
    assert said.code == 0
    assert [(row["solved"] >= 5, row["errors"]) for row in said.json] == [(True, 0)]


def test_without_a_solution_a_scripted_model_knows_no_such_problem(koderz: Any) -> None:
    name = kept("")
    said = koderz("run", "--dataset", name, "--problem-id", "0", "--configuration", STRONG, "--json")
    assert (said.code, [row["experiment"]["outcome"] for row in said.json]) == (4, ["unsolved"])
    request = Request((Message("system", "```python"), Message("user", PROMPT + "    ...")), Sampling(), seed=0)
    with open_workspace() as workspace:
        answer = workspace.models.get("scripted/strong", name).complete(request).text
    assert "this scripted model does not know the problem" in answer


def test_a_benchmark_of_a_typed_problem_goes_on_in_another_process(koderz: Any) -> None:
    arguments = ["benchmark", "--dataset", kept(), "--problems", "all", "--configuration", STRONG, "--json"]
    first = koderz(*arguments)
    command = [sys.executable, "-c", "from koderz_core.cli import main; main()", *arguments]
    again = subprocess.run(command, capture_output=True, text=True, check=True)
    assert json.loads(again.stdout)[0]["benchmark"] == first.json[0]["benchmark"]


def test_an_unknown_typed_problem_is_told_with_those_there_are(koderz: Any) -> None:
    name = kept()
    said = koderz("benchmark", "--dataset", "typed-0123456789ab", "--configuration", STRONG)
    assert said.code == 2
    assert name in said.err


def test_one_workspace_runs_a_scripted_model_on_several_datasets() -> None:
    with open_workspace() as workspace:
        name = workspace.grading.keep_problem(PROMPT, TESTS, SOLUTION)
        models = {workspace.models.get("scripted/strong", dataset) for dataset in ("humaneval", name, name)}
        assert len(models) == 2
        assert workspace.datasets.names() == (*DATASETS, name)


def test_what_a_page_needs_stands_in_the_workspace() -> None:
    order = Order([Wanted("direct", {"coder": "scripted/weak"})], "0:1")
    with open_workspace() as workspace:
        assert [form.name for form in workspace.plans.strategies()] == [*offered()]
        assert command_of(order).endswith("'direct coder=scripted/weak'")
        assert next(preset.name for preset in workspace.plans.presets([])) == "quick-look"
        with pytest.raises(DataError, match="prompt"):
            workspace.grading.keep_problem("", TESTS)


@pytest.mark.parametrize("command", [("run", "--problem-id", "0"), ("benchmark", "--problems", "0:1", "--plan-only")])
def test_a_model_that_is_left_to_be_chosen_is_told_once_with_the_reason(koderz: Any, command: tuple[str, ...]) -> None:
    said = koderz(*command, "--coder", "select:fixed:scripted/strong+scripted/weak")
    assert (said.out + said.err).count(
        "koderz selected the coder for the strategy direct with the policy fixed: "
        "scripted/strong (number 1 of 2 in the given order)."
    ) == 1
