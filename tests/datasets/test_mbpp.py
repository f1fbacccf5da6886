"""MBPP in both forms that it is published in; the whole file is tested where KODERZ_TEST_DATA names it."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from koderz_core.config import Settings
from koderz_core.datasets import load
from koderz_core.errors import DataError
from koderz_core.records import Problem

ROW = {
    "task_id": 7,
    "text": "Write a function to round a root up.",
    "code": "import math\r\nclass Box:\r\n  pass\r\ndef low(x):\r\n  pass\r\ndef up(x):\r\n  return math.ceil(x.side)",
    "test_list": ["assert up(box) == math.ceil(1.5)", "assert up(Box.of(2)) == 2"],
    "test_setup_code": "Box.of = lambda side: box\r\nbox = Box()\r\nbox.side = 1.5",
    "challenge_test_list": ["assert up(0) == 1"],
}


def only(path: Path, row: dict[str, object], name: str = "mbpp.jsonl") -> Problem:
    (path / name).write_bytes(json.dumps(row).encode() + b"\n")
    (problem,) = load("mbpp", Settings(datasets_dir=path)).problems
    return problem


def test_a_prompt_shows_the_task_and_the_first_assert_alone(tmp_path: Path) -> None:
    public = only(tmp_path, ROW).public
    assert public.prompt == f'"""\n{ROW["text"]}\nassert up(box) == math.ceil(1.5)\n"""\n'
    assert (public.id, public.entry_point, public.preamble) == ("mbpp/7", "up", "")


def test_tests_are_the_asserts_behind_their_setup_with_the_programs_imports(tmp_path: Path) -> None:
    problem = only(tmp_path, ROW)
    scope: dict[str, object] = {}
    exec(problem.canonical_solution, scope)
    exec(problem.tests.source, scope)
    assert scope["check"](scope["up"]) is None  # type: ignore[operator]
    assert problem.tests.source.startswith("import math\n\n\ndef check(candidate):\n    Box.of = ")
    assert "up(0)" not in problem.tests.source


def test_the_redistributed_form_has_the_same_problems(tmp_path: Path) -> None:
    passed_on = {key: value for key, value in ROW.items() if key != "challenge_test_list"} | {"task_id": "mbpp/7"}
    original = only(tmp_path, ROW)
    (tmp_path / "mbpp.jsonl").unlink()
    assert only(tmp_path, passed_on, "mbpp-hf.jsonl") == original


@pytest.mark.parametrize("text", ["A \\d in it.", 'Three """ in it.', "Plain."])
def test_a_prompt_is_python_whatever_its_text_holds(tmp_path: Path, text: str) -> None:
    prompt = only(tmp_path, ROW | {"text": text}).public.prompt
    compile(prompt, "prompt", "exec")
    assert text in prompt


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"test_list": ["assert up(1) =="]}, "field test_list is not Python"),
        ({"test_list": ["up(1)"]}, "field test_list contains text that is not an assert"),
        ({"test_list": []}, "field test_list is empty"),
        (
            {"test_list": ["assert other(1)"]},
            "the tests in field test_list call no function that is defined in field code",
        ),
        ({"code": "def ("}, "field code is not Python"),
        ({"task_id": None}, r"not a valid problem: .*\$.task_id"),
    ],
)
def test_a_wrong_row_is_told_with_file_line_and_field(tmp_path: Path, wrong: dict[str, object], said: str) -> None:
    with pytest.raises(DataError, match=f"mbpp.jsonl, line 1: {said}"):
        only(tmp_path, ROW | wrong)


@pytest.mark.filterwarnings("ignore::SyntaxWarning", "ignore::DeprecationWarning")
def test_solutions_of_the_published_file_pass_their_tests(test_data: Path) -> None:
    """Every tenth; `koderz list-problems --dataset mbpp --check` runs all of them."""
    dataset = load("mbpp", Settings(datasets_dir=test_data))
    assert (len(dataset.problems), dataset.origin.licence) == (964, "CC-BY-4.0")
    for problem in dataset.problems[::10]:
        scope: dict[str, object] = {}
        exec(problem.canonical_solution, scope)
        candidate = scope[problem.public.entry_point]
        exec(problem.tests.source, scope)
        assert scope["check"](candidate) is None, problem.id  # type: ignore[operator]


def test_a_packed_file_is_read_as_the_plain_one(tmp_path: Path) -> None:
    (tmp_path / "mbpp-hf.jsonl.gz").write_bytes(gzip.compress(json.dumps(ROW).encode()))
    assert load("mbpp", Settings(datasets_dir=tmp_path)).problems[0].id == "mbpp/7"
