"""Typed tests: which function they are about, and that each of them is run."""

from __future__ import annotations

from pathlib import Path

import pytest

from koderz_core.datasets import DATASETS
from koderz_core.errors import DataError
from koderz_core.grading.own_tests import problem_of, typed_row
from koderz_core.workspace import open_workspace

PROMPT, SOLUTION, ASSERT = "def add(a, b):\n", "    return a + b", "assert add(1, 2) == 3"


@pytest.mark.parametrize(
    "tests",
    [
        "for a, b in [(1, 2), (3, 4)]:\n    assert add(a, b) == a + b",
        "result = add(1, 2)\nassert result == 3",
        "def holds(a, b):\n    assert add(a, b) == 3\nholds(1, 2)",
        "def holds(function):\n    assert function(1, 2) == 3\nholds(add)",
        "from math import isclose\nassert isclose(add(1, 2), 3)",
        "def test_it():\n    assert add(1, 2) == 3",
        "def test_it():\n    assert add(1, 2) == 3\nif __name__ == '__main__':\n    test_it()",
        "def holds():\n    assert add(1, 2) == 3\ndef test_it():\n    holds()",
        "class Trial:\n    def __init__(self):\n        assert add(1, 2) == 3\nTrial()",
    ],
)
def test_every_way_to_call_the_function_is_graded(tests: str) -> None:
    with open_workspace() as workspace:
        assert workspace.grading.grade("def add(a, b): return a + b", tests).passed
        assert workspace.grading.grade("def add(a, b): return a - b", tests).marks == "F"
        workspace.grading.keep_problem(PROMPT, tests, SOLUTION)


@pytest.mark.parametrize(
    ("tests", "said"),
    [
        ("def test_it(fixture):\n    assert add(1, 2) == 3", "assert in line 2 of the tests never runs"),
        ("class TestAdd:\n    def test_it(self):\n        assert add(1, 2) == 3", "assert in line 3"),
        ("def one():\n    assert add(1, 2)\ndef two():\n    one()", "assert in line 2"),
        ("def again():\n    assert add(1, 2)\n    again()", "assert in line 2"),
        (f"if __name__ == '__main__':\n    {ASSERT}", "assert in line 2"),
        (f"if '__main__' == __name__:\n    {ASSERT}", "assert in line 2"),
        ("def check(candidate):\n    def test_it():\n        assert candidate(1, 2) == 3", "assert in line 3"),
        ("async def test_it():\n    assert add(1, 2) == 3", "define the async function test_it"),
        ("def check(candidate):\n    assert candidate(1, 2) == 3\n    yield", "contains yield"),
    ],
)
def test_a_test_that_nothing_runs_is_refused(tests: str, said: str) -> None:
    for read in (problem_of, lambda tests: typed_row(PROMPT, tests)):
        with pytest.raises(DataError, match=said):
            read(tests)


@pytest.mark.parametrize(
    "line",
    ["from math import *", "from __future__ import annotations", "await add(1, 2)", "break", "nonlocal x", "return"],
)
def test_a_line_that_cannot_run_where_tests_run_is_named(line: str) -> None:
    with pytest.raises(DataError, match=r"Line 2 of the tests cannot run inside a function"):
        typed_row(PROMPT, f"{ASSERT}\n{line}")


def test_tests_that_call_nothing_of_somebody_elses_say_so() -> None:
    with pytest.raises(DataError, match="call only built-in functions"):
        problem_of("from solution import add\nassert add(1, 2) == len('abc')")


def test_a_solution_that_fails_the_tests_is_refused_and_nothing_is_kept(tmp_path: Path) -> None:
    with open_workspace(home=tmp_path) as workspace:
        with pytest.raises(DataError, match=r"solution fails the tests: .* got -1, expected 3"):
            workspace.grading.keep_problem(PROMPT, ASSERT, "    return a - b")
        assert workspace.datasets.names() == tuple(DATASETS)
