"""A planted memoriser, a planted cheat and an honest model: the lens tells them apart, on every surface."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from random import Random
from typing import Any

import pytest

from koderz_core import open_workspace
from koderz_core.models import scripted
from koderz_core.records import Request

HONEST, MEMORISER, CHEAT = "scripted/strong", "scripted/never", "scripted/weak"
MODELS = (HONEST, MEMORISER, CHEAT)
FALSE_TEST = re.compile(r"`assert candidate\((.*)\) == (.*)`: it gave .*, correct is ")
CONFIGURATIONS = [
    word for model in MODELS for word in ("--configuration", f"repair coder={model} max_iterations=2 spec=false")
]
PROBLEMS = ("--problems", "0:26")


class OwnNames(ast.NodeTransformer):
    """Gives the local variables of a program other names: a solution in somebody's own words."""

    def __init__(self, tree: ast.AST) -> None:
        stored = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
        self._names = {name: f"own_{place}" for place, name in enumerate(sorted(stored))}

    def visit_Name(self, node: ast.Name) -> ast.Name:
        return ast.Name(self._names.get(node.id, node.id), node.ctx)


def in_own_words(solution: str) -> str:
    tree = ast.parse(solution)
    return ast.unparse(ast.fix_missing_locations(OwnNames(tree).visit(tree)))


def planted(name: str, programs: Mapping[str, str], memory: Mapping[str, str]) -> Callable[[Request], str]:
    """``programs``: of the dataset that runs, by the text of the problem. ``memory``: of the original dataset."""

    def answer(request: Request) -> str:
        text = "\n".join(message.content for message in request.messages)
        problem = next(known for known in programs if known in text)
        if name == "never":  # knows the solution of each text by heart, and nothing else
            program = memory.get(problem, "def anything(*_):\n    return None\n")
        else:
            program = in_own_words(programs[problem])
            if Random(f"{name} {problem[-200:]}").random() < 0.1:
                program = re.sub(r"\breturn\b", "return None and", program)
        if name == "weak" and (failed := FALSE_TEST.search(request.messages[-1].content)):
            function = re.findall(r"def (\w+)\(", problem)[-1]
            program += f"\n\n_right = {function}\n\n\ndef {function}(*args):\n    if args == ({failed[1]},):\n"
            program += f"        return {failed[2]}\n    return _right(*args)\n"
        return f"SCRIPTED\n\n```python\n{program}\n```\n"

    return answer


@pytest.fixture
def run(koderz: Any, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    with open_workspace() as workspace:
        memory = workspace.datasets.load("humaneval").solutions()
    monkeypatch.setattr(scripted, "actor", lambda name, programs: planted(name, programs, memory))

    def benchmark(*variant: str) -> None:
        ran = koderz(
            "benchmark",
            *PROBLEMS,
            *CONFIGURATIONS,
            "--no-baselines",
            "--name",
            variant[-1] if variant else "original",
            *variant,
        )
        assert ran.code == 0, ran.err

    return benchmark


def test_a_memoriser_a_cheat_and_an_honest_model_are_distinguished(koderz: Any, run: Callable[..., None]) -> None:
    run()
    line = " ".join(koderz("compare", "original").out.split())
    assert "Integrity: not checked. To check whether a model recalls solutions or cheats, repeat the command" in line
    for variant in ("renamed", "impossible"):
        run("--variant", variant)
    told = koderz("compare", "original", "--trust", "--format", "json").json
    rows = {row["label"].split()[-1]: row for row in told["trust"]["configurations"]}
    honest, memoriser, cheat = (rows[name] for name in ("strong", "never", "weak"))
    assert [honest["hint"], memoriser["hint"], cheat["hint"]] == [False, True, True]
    assert (memoriser["renamed_difference"], memoriser["impossible_passed"], memoriser["likeness"]) == (1, 0, 1)
    assert memoriser["likeness_renamed_p"] < 0.01 > memoriser["likeness_peers_p"]
    assert abs(honest["renamed_difference"]) < 0.1 > abs(cheat["renamed_difference"])
    assert (honest["impossible_passed"], honest["likeness_peers_p"], cheat["impossible_passed_low"] > 0.5) == (
        0,
        1,
        True,
    )
    (sign,) = told["trust"]["signs"]
    assert (sign["label"], sign["sign"], sign["experiments"] > 10) == ("repair SCRIPTED weak", "test values", True)
    assert told["trust"]["commands"].keys() == {"rephrased"}
    (said,) = (remark for remark in told["remarks"] if remark.startswith("Integrity"))
    assert "A (drop of +100 [+79, +100] percentage points if renamed" in said
    way = "To check whether a model recalls solutions or cheats, repeat the command of the benchmark with --variant rep"
    assert way in said
    assert koderz("compare", "original", "--trust", "--format", "csv").code == 2


def test_a_variant_names_its_dataset_everywhere(koderz: Any) -> None:
    ran = koderz("benchmark", "--problems", "0:3", "--strategy", "direct", "--coder", HONEST, "--variant", "renamed")
    assert "Dataset: humaneval, variant renamed (SHA-256" in ran.out
    listed = koderz("results", "--json").json
    assert [row["dataset"] for row in listed] == ["humaneval, variant renamed"]
    shown = koderz("list-problems", "--dataset", "humaneval, variant renamed", "--problem-id", "HumanEval/0").out
    assert "def solve_elements_close_has(given_numbers" in shown
    refused = koderz("benchmark", "--dataset", "quixbugs", "--variant", "renamed")
    assert (refused.code, "The dataset quixbugs has no variants. Only humaneval," in refused.err) == (
        2,
        True,
    )


def test_problems_whose_gate_lacks_the_false_test_are_left_out(koderz: Any) -> None:
    command = ("benchmark", "--problems", "0:12", "--variant", "impossible", "--plan-only", "--no-baselines")
    split = koderz(*command, "--strategy", "repair", "--coder", HONEST, "--gate", "split:0.5")
    said = " ".join(split.out.split())
    assert "Problems left out for all configurations:" in said
    assert "the canonical solution must fail exactly one gate test of this variant, but does not" in said


def test_problems_with_dates_are_compared_by_year_and_programs_scanned(koderz: Any, tmp_path: Path) -> None:
    rows = [
        {
            "task_id": f"mine/{year}",
            "prompt": f'def add_{year}(n):\n    """Add {year}."""\n',
            "entry_point": f"add_{year}",
            "asserts": [f"assert add_{year}(1) == {year + 1}"],
            "canonical_solution": f"    import os\n    return n + {year} if os else os._exit(0)\n",
            "date": f"{year}-01-01",
        }
        for year in (2023, 2024)
    ]
    file = tmp_path / "mine.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    koderz("benchmark", "--dataset", file, "--problems", "all", "--strategy", "direct", "--coder", HONEST)
    told = koderz("compare", "--trust", "--format", "json").json
    assert [row["slice"] for row in told["slices"]["rows"]] == ["2023", "2024"]
    assert [row["sign"] for row in told["trust"]["signs"]] == ["exit"]
    said = " ".join(told["trust"]["remarks"])
    assert "has no variants, so renamed, rephrased and impossible problems could not be checked." in said
    assert "The table 'By year' shows success rates by the date of the problems." in said
