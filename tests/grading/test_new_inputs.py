"""New inputs have every property that all given ones have, and the answers of a solution that takes them."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from koderz_core.errors import DataError
from koderz_core.grading.input_mutation import declared, new_inputs
from koderz_core.records import Problem, PublicProblem, TestSet
from koderz_core.sandbox.reference import trial_answers


def problem(solution: str = "def f(x):\n    return x\n") -> Problem:
    return Problem(PublicProblem("p/0", "", "f"), TestSet(), solution)


def made(*given: list[Any]) -> list[list[Any]]:
    return new_inputs(problem(), list(given), 50, 0)


def test_new_inputs_are_others_of_the_given_types_and_the_seed_repeats_them() -> None:
    given: list[Any] = [{"a": [1, -2]}, "x y", 0.5, True]
    found = made(given)
    assert len(found) == 50
    assert given not in found
    assert {tuple(type(value) for value in call) for call in found} == {(dict, str, float, bool)}
    assert {type(item) for call in found for items in call[0].values() for item in items} <= {int}
    assert found == made(given)
    json.dumps(found, allow_nan=False)


@pytest.mark.parametrize(
    ("given", "holds"),
    [
        ([[4], [9]], lambda n: n > 0),
        ([["(())"], ["()()"]], lambda text: text.count("(") == text.count(")") and text[0] == "("),
        ([["abc"], ["xy"], ["dd"]], str.islower),
        ([[[1, 2]], [[3, 5, 9]], [[0, 4]]], lambda items: all(item <= other for item, other in pairwise(items))),
        ([[[[1, 2], [3, 4]]], [[[0, 1, 5], [2, 2, 2]]]], lambda rows: len(set(map(len, rows))) == 1),
    ],
)
def test_what_all_given_inputs_have_in_common_new_ones_have_too(given: list[list[Any]], holds: Any) -> None:
    found = made(*given)
    assert found
    assert all(holds(call[0]) for call in found)


def test_arguments_keep_their_relation_if_enough_inputs_have_it() -> None:
    found = made([[1, 2], [3, 4]], [[5], [6]], [[7, 8, 9], [1, 2, 3]])
    assert found
    assert all(len(item) == len(other) for item, other in found)


def test_annotations_name_types_that_no_given_input_has() -> None:
    typed = problem("def f(a: list[float], b: 'x' = 1, c: Optional[str] = None):\n    return a\n")
    assert declared(typed) == {
        (0,): {"list"},
        (0, "*"): {"float"},
        (2,): {"str", "NoneType"},
    }
    found = new_inputs(typed, [[[], 1, "x"]], 50, 0)
    assert {type(item) for call in found for item in call[0]} == {float}
    assert {type(call[2]) for call in found} == {str, type(None)}


def test_a_call_that_raises_or_is_slow_has_no_answer_and_the_others_have_theirs() -> None:
    odd = problem("def f(x):\n    while x == 2: pass\n    return 1 / x if x else exit()\n")
    assert trial_answers(odd, ["[0]", "[2]", '["a"]', "[4]"], 0).outputs == (None, None, None, "0.25")


def test_a_solution_that_ends_its_process_or_forges_its_answers_has_none(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="cannot be run on new inputs: no answer"):
        trial_answers(problem("import os\ndef f(x):\n    os._exit(0)\n"), ["[1]"], 0)
    forging = """import os, json
def f(x):
    os.write(1, json.dumps({"outputs": ["1\\n2"], "seconds": [0]}).encode())
    os._exit(0)
"""
    with pytest.raises(DataError, match="no answer"):
        trial_answers(problem(forging), ["[1]"], 0)
