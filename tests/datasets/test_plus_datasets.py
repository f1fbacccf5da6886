"""EvalPlus' datasets as a person places them; the published files are tested where KODERZ_TEST_DATA names them."""

from __future__ import annotations

import ast
import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from koderz_core.config import Settings
from koderz_core.datasets import load
from koderz_core.datasets.evalplus import arguments_of
from koderz_core.errors import DataError
from koderz_core.prompts.coding import Brief, first_attempt
from koderz_core.records import Dataset, PlusTests, Problem

ROW = {
    "task_id": "Mbpp/1",
    "prompt": '"""\nWrite a function to halve.\nassert half(3) == 1.5\n"""\n',
    "entry_point": "half",
    "canonical_solution": "def half(x):\n    return x / 2\n",
    "atol": 0,
    "plus_input": [[1], [2]],
    "assertion": "\nimport math\nassert half(3) == 1.5\nassert half(4) == 2\nassert math.isclose(half(5), 2.5)\n",
}


def placed(path: Path, *rows: dict[str, object]) -> Dataset:
    (path / "MbppPlus.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return load("mbpp+", Settings(datasets_dir=path))


def published(folder: Path, name: str) -> Dataset:
    return load(name, Settings(datasets_dir=folder))


def only(dataset: Dataset) -> Problem:
    (problem,) = dataset.problems
    return problem


def test_a_placed_file_gives_prompt_solution_and_asserts(tmp_path: Path) -> None:
    problem = only(placed(tmp_path, ROW))
    assert (problem.public.prompt, problem.public.entry_point) == (ROW["prompt"], "half")
    assert problem.canonical_solution == f"{ROW['prompt']}{ROW['canonical_solution']}"
    assert "canonical" not in repr(problem.public)
    assert problem.tests.source.endswith(
        "def check(candidate):\n    assert half(3) == like(1.5)\n    assert half(4) == 2\n"
        "    assert math.isclose(half(5), 2.5)\n"
    )


def test_floats_are_compared_with_a_tolerance_and_whole_numbers_are_not(tmp_path: Path) -> None:
    source = only(placed(tmp_path, ROW)).tests.source
    scope: dict[str, object] = {"half": lambda x: x / 2 + 1e-9 * (x == 3)}
    exec(source, scope)
    scope["check"](None)  # type: ignore[operator]
    scope["half"] = lambda x: x / 2 + 1e-9 * (x == 4)
    with pytest.raises(AssertionError):
        scope["check"](None)  # type: ignore[operator]


def test_a_function_called_check_does_not_hide_the_tests(tmp_path: Path) -> None:
    row = ROW | {"entry_point": "check", "assertion": "assert check(1) == True"}
    assert only(placed(tmp_path, row)).tests.source == "def check(candidate):\n    assert candidate(1) == True\n"


def test_what_a_search_finds_counts_as_found(tmp_path: Path) -> None:
    row = ROW | {"entry_point": "check_str", "assertion": "assert check_str('a')\nassert not check_str('b')"}
    source = only(placed(tmp_path, row)).tests.source
    assert source.endswith("assert some(check_str('a'))\n    assert not some(check_str('b'))\n")


def test_infinity_is_read_as_python_writes_it(tmp_path: Path) -> None:
    plus = only(placed(tmp_path, ROW | {"plus_input": [[float("inf")], [-float("inf")], ["Infinity"]]})).plus
    assert plus is not None
    assert arguments_of(plus) == [(float("inf"),), (-float("inf"),), ("Infinity",)]


@pytest.mark.parametrize(
    ("types", "given", "restored"),
    [
        ("", [[1], 2], ([1], 2)),
        ("tuples", [[1], [2]], ((1,), (2,))),
        ("lists of tuples", [[[1], [2]]], ([(1,), (2,)],)),
        ("tuples of tuples", [[[1], 2]], (((1,), 2),)),
        ("tuples all through", [[[[1]]]], ((((1,),),),)),
        ("first a tuple", [[1], [2], 3], ((1,), [2], 3)),
        ("second a tuple", [[1], [2]], ([1], (2,))),
        ("first a list of tuples", [[[1]], [2]], ([(1,)], [2])),
        ("list of sets", [[[1], []]], ([{1}, {}],)),
        ("dict of tuples", [{"a": [1]}, 2], ({"a": (1,)}, 2)),
        ("complex", ["1j"], (1j,)),
        ("real and complex", ["1", "1j"], (1.0, 1j)),
    ],
)
def test_types_that_json_lost_are_restored(types: str, given: object, restored: object) -> None:
    (arguments,) = arguments_of(PlusTests(json.dumps([given]), types))
    assert repr(arguments) == repr(restored)


@pytest.mark.parametrize("name", ["mbpp+", "humaneval+"])
def test_a_missing_file_is_told_with_its_source_and_place(settings: Settings, name: str) -> None:
    with pytest.raises(DataError, match=r"Plus\.jsonl\.gz is not in .*datasets.*evalplus.*KODERZ_DATASETS_DIR"):
        load(name, settings)


@pytest.mark.parametrize(
    ("row", "said"),
    [
        (ROW | {"assertion": "assert ("}, "line 1: field assertion is not Python"),
        (ROW | {"atol": "0"}, r"line 1: not a valid problem: .*\$.atol"),
        ({key: ROW[key] for key in ROW if key != "plus_input"}, "line 1: not a valid problem: .*plus_input"),
        (ROW | {"prompt": " "}, "line 1: field prompt is empty"),
    ],
)
def test_a_wrong_row_is_told_with_file_line_and_field(tmp_path: Path, row: dict[str, object], said: str) -> None:
    with pytest.raises(DataError, match=said) as caught:
        placed(tmp_path, row)
    assert "MbppPlus.jsonl" in str(caught.value)
    assert "mbppplus_release" in str(caught.value)


@pytest.mark.parametrize(
    ("name", "problems", "inputs"), [("mbpp+", 378, 39841), ("humaneval+", 164, 122683), ("humaneval+mini", 164, 1107)]
)
def test_the_published_files_are_read_whole(test_data: Path, name: str, problems: int, inputs: int) -> None:
    dataset = published(test_data, name)
    assert len(dataset.problems) == problems
    assert sum(len(arguments_of(problem.plus)) for problem in dataset.problems if problem.plus) == inputs


def test_mini_has_the_same_problems_and_base_tests_with_fewer_inputs(test_data: Path) -> None:
    whole, mini = (published(test_data, name).problems for name in ("humaneval+", "humaneval+mini"))
    assert [replace(problem, plus=None) for problem in mini] == [replace(problem, plus=None) for problem in whole]
    assert [problem.plus.tolerance for problem in mini if problem.plus] == [
        problem.plus.tolerance for problem in whole if problem.plus
    ]


@pytest.mark.parametrize("name", ["mbpp+", "humaneval+"])
def test_what_a_model_is_asked_names_the_function_that_is_tested(test_data: Path, name: str) -> None:
    problems = [problem.public for problem in published(test_data, name).problems]
    asked = {
        problem.id: (rf"\b{problem.entry_point} ?\(", first_attempt(Brief(problem))[1].content) for problem in problems
    }
    assert [name for name, (call, text) in asked.items() if not re.search(call, text)] == []


def test_base_tests_of_the_published_mbpp_are_the_asserts_of_the_file(test_data: Path) -> None:
    sources = [problem.tests.source for problem in published(test_data, "mbpp+").problems]
    counts = [sum(isinstance(node, ast.Assert) for node in ast.walk(ast.parse(source))) for source in sources]
    assert (min(counts), sum(counts)) == (3, 1174)


@pytest.mark.filterwarnings("ignore:invalid escape sequence")
def test_solutions_of_the_published_mbpp_pass_their_base_tests(test_data: Path) -> None:
    def passes(problem: Problem) -> bool:
        scope: dict[str, object] = {}
        exec(problem.canonical_solution, scope)
        candidate = scope[problem.public.entry_point]
        exec(problem.tests.source, scope)
        return scope["check"](candidate) is None  # type: ignore[operator]

    assert all(passes(problem) for problem in published(test_data, "mbpp+").problems)
