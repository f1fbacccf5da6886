"""Own problems of each kind: the examples in the guide can be graded, and fields that do not fit are named."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from koderz_core import open_workspace
from koderz_core.datasets.own_problems import read_own

GUIDE = (Path(__file__).parents[2] / "docs" / "datasets.md").read_text()
EXAMPLES = {row.get("kind", "function"): row for row in map(json.loads, re.findall(r"```json\n(\{.*\})\n```", GUIDE))}
REPAIR, MODULE = EXAMPLES["repair"], EXAMPLES["module"]


@pytest.mark.parametrize("kind", EXAMPLES)
def test_the_example_of_the_guide_is_solved_by_its_solution_and_not_by_the_given_code(tmp_path, kind: str) -> None:
    row = EXAMPLES[kind]
    file = tmp_path / "mine.jsonl"
    file.write_text(json.dumps(row) + "\n")
    with open_workspace(home=tmp_path) as workspace:
        (problem,) = workspace.datasets.load(str(file)).problems
        (checked,) = workspace.grading.check_solutions([problem])
        given = workspace.grading.judge.check(problem, row.get("given", "pass"), problem.tests)
    assert (problem.public.kind, checked.passed, given.passed) == (kind, True, False)
    assert problem.public.given == row.get("given", "")
    assert problem.public.given in problem.public.prompt


def test_a_module_has_its_file_its_names_and_its_facts() -> None:
    row = MODULE | {
        "test": f"{MODULE['test']}\n\ndef test_size():\n    from stack import size\n    assert size() == 0\n"
    }
    row |= {"given": MODULE["given"] + "\ndef size():\n    pass\n", "canonical_solution": ""}
    (problem,) = read_own(json.dumps(row).encode()).problems
    assert (problem.public.file, problem.public.entry_point, problem.public.names) == ("stack.py", "Stack", ("size",))
    assert problem.facts.tags == ("classes",)


@pytest.mark.parametrize(
    ("row", "said"),
    [
        (EXAMPLES["function"] | {"given": "x"}, "field given: is not a field of the kind function; omit it"),
        (EXAMPLES["function"] | {"kind": "repair"}, "field given: is missing; write the faulty program"),
        (
            REPAIR | {"file": "a.py"},
            'field file: is not a field of the kind repair; omit it, or write "kind": "module"',
        ),
        (REPAIR | {"given": REPAIR["canonical_solution"]}, "field given: is the canonical solution"),
        (MODULE | {"asserts": ["assert 1"]}, "field asserts: is not a field of the kind module"),
        (MODULE | {"file": "../stack.py"}, "field file: is not the name of a Python file"),
        (MODULE | {"file": "heap.py"}, "field test: imports 'stack'"),
        (MODULE | {"given": "class Other:\n    pass\n", "prompt": "A stack."}, "field prompt: does not mention Stack"),
        (MODULE | {"given": "class Stack:"}, "field given: is not Python"),
        (MODULE | {"canonical_solution": "x = 1"}, "field canonical_solution: does not define Stack"),
        (MODULE | {"test": "x = 1"}, "field test: must define a function or a method whose name starts with 'test'"),
        (
            MODULE | {"kind": "class"},
            "field kind: is not a kind that koderz reads: 'class'; write one of function, repair",
        ),
    ],
)
def test_fields_that_do_not_fit_are_named(row: dict[str, object], said: str) -> None:
    faults = [fault.describe("my.jsonl") for fault in read_own(json.dumps(row).encode()).faults]
    assert any(fault.startswith(f"my.jsonl:1: {said}") for fault in faults), faults
