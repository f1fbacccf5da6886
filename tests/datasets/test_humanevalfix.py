"""HumanEvalFix: the text is the faulty program; HumanEval's tests, EvalPlus' inputs, and a failed test on demand."""

from __future__ import annotations

import ast
import json
from dataclasses import replace
from pathlib import Path

import pytest
from kinds_sample import FIX, PLUS, place, placed

from koderz_core.config import Settings
from koderz_core.datasets import load
from koderz_core.datasets.humanevalfix import BEYOND, BEYOND_CORRECTION
from koderz_core.errors import DataError
from koderz_core.grading.examples import examples_in
from koderz_core.grading.test_split import parameters_of
from koderz_core.records import Facts, Problem
from koderz_core.records.marks import SHOW_BASE_TESTS

FAULTY = f"{FIX['prompt']}{FIX['buggy_solution']}"


def only(folder: Path, name: str) -> Problem:
    (problem,) = placed(folder, name).problems
    return problem


def test_the_text_is_a_program_with_the_bug_and_says_what_to_do(tmp_path: Path) -> None:
    problem = only(tmp_path, "humanevalfix")
    public = problem.public
    assert (public.id, public.kind, public.entry_point) == ("HumanEvalFix/3", "repair", "area")
    assert (public.given, public.preamble) == (FAULTY, "import math\n\n\n")
    assert public.prompt.endswith(FAULTY)
    assert public.prompt.startswith("# The function area contains a bug. Fix the bug")
    ast.parse(public.prompt)  # so that whatever reads a signature or an example reads this one too
    assert (parameters_of(public), len(examples_in(public))) == (("side",), 1)
    assert problem.facts == Facts(tags=("operator misuse", "incorrect output"))
    assert problem.canonical_solution == f"{FIX['prompt']}{FIX['canonical_solution']}"


def test_the_tests_are_the_published_ones_without_their_call(tmp_path: Path) -> None:
    source = only(tmp_path, "humanevalfix").tests.source
    assert source.startswith("def check(area):\n    assert area(2) == 4\n")
    assert source.endswith("    assert area(0) == 0\n")


def test_answers_to_plus_inputs_are_those_of_evalplus_solution(tmp_path: Path) -> None:
    fix, plus = only(tmp_path, "humanevalfix"), only(tmp_path, "humanevalfix+")
    assert plus.plus is not None
    assert json.loads(plus.plus.inputs) == PLUS["plus_input"]
    assert plus.canonical_solution == f"{PLUS['prompt']}{PLUS['canonical_solution']}"
    assert replace(plus, plus=None, canonical_solution=fix.canonical_solution) == fix
    assert placed(tmp_path, "humanevalfix+").origin.licence == "MIT, Apache-2.0"


def test_with_tests_the_text_shows_a_test_that_the_program_fails(tmp_path: Path) -> None:
    plus, shown = (only(tmp_path, name) for name in ("humanevalfix+", "humanevalfix+tests"))
    assert shown.public.prompt == f"{plus.public.prompt}\n# The program fails this test:\n# assert area(3) == 9\n"
    assert shown.samples.source == "def check(area):\n    assert area(3) == 9\n"
    assert replace(shown, public=plus.public, samples=plus.samples) == plus


def test_datasets_whose_text_shows_base_tests_are_marked(test_data: Path) -> None:
    names = ("humaneval+", "humanevalfix", "humanevalfix+", "humanevalfix+tests", "quixbugs", "exercism", "classeval")
    settings = Settings(datasets_dir=test_data)
    assert {
        name for name in names if any(problem.samples for problem in load(name, settings).problems)
    } == SHOW_BASE_TESTS


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"test": "assert area(2) == 4"}, "field test does not define check"),
        ({"entry_point": "volume"}, "field prompt does not define the entry point 'volume'"),
        ({"buggy_solution": ""}, "field buggy_solution is empty"),
    ],
)
def test_a_wrong_row_is_told_with_line_and_field(tmp_path: Path, wrong: dict[str, str], said: str) -> None:
    (place(tmp_path) / "humanevalpack.jsonl").write_text(json.dumps(FIX | wrong))
    with pytest.raises(DataError, match=rf"humanevalpack\.jsonl, line 1: {said}.*download it again"):
        load("humanevalfix", Settings(datasets_dir=tmp_path))


def test_a_problem_without_inputs_is_told(tmp_path: Path) -> None:
    row = {name: str(text).replace("area", "edge") for name, text in FIX.items()}
    (place(tmp_path) / "humanevalpack.jsonl").write_text(json.dumps(row))
    with pytest.raises(DataError, match="no inputs for HumanEvalFix/3"):
        load("humanevalfix+", Settings(datasets_dir=tmp_path))


def test_each_problem_has_the_inputs_and_the_solution_of_the_same_number(test_data: Path) -> None:
    settings = Settings(datasets_dir=test_data)
    fix, plus = (load(name, settings).problems for name in ("humanevalfix+", "humaneval+"))
    assert [problem.plus for problem in fix] == [problem.plus for problem in plus]
    assert [problem.canonical_solution for problem in fix] == [problem.canonical_solution for problem in plus]


def test_the_published_file_is_read_whole(test_data: Path) -> None:
    every = load("humanevalfix+tests", Settings(datasets_dir=test_data)).problems
    assert len(every) == 164
    assert all(problem.plus and problem.samples and len(problem.facts.tags) >= 2 for problem in every)
    assert sum(BEYOND in problem.facts.tags for problem in every) == len(BEYOND_CORRECTION) == 22
