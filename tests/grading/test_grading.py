"""Which tests gate and which score, and problems made of typed tests."""

from __future__ import annotations

import pytest

from koderz_core.errors import DataError, UnknownNameError
from koderz_core.grading.own_tests import problem_of
from koderz_core.grading.testsets import TestPolicy, no_program, score_kind, split, unseen
from koderz_core.records import Problem, PublicProblem, TestSet
from koderz_core.workspace import open_workspace

TESTS = TestSet("def check(candidate):\n    assert True\n    assert candidate(1) == 2\n    assert candidate(2) == 3\n")
PROBLEM = Problem(PublicProblem("p/0", "def f(x): ...", "f"), TESTS, "")


def test_base_tests_gate_the_loop_and_then_nothing_is_left_to_score_on() -> None:
    tests = split(PROBLEM, TestPolicy("tests"))
    seen = unseen(tests, gate_was_seen=True)
    assert (tests.gate, bool(seen), score_kind(seen)) == (TESTS, False, "oracle")


def test_tests_that_nobody_ran_are_held_out() -> None:
    held_out = unseen(split(PROBLEM, TestPolicy("tests")), gate_was_seen=False)
    assert (held_out.base, score_kind(held_out)) == (TESTS, "held_out")


def test_an_unknown_gate_is_named() -> None:
    with pytest.raises(UnknownNameError, match="gate: 'half'"):
        split(PROBLEM, TestPolicy("half"))


def test_no_program_reaches_no_test_and_says_why() -> None:
    verdict = no_program(TESTS, "truncated")
    assert (verdict.marks, verdict.error, verdict.passed) == ("--", "truncated", False)
    assert "token limit" in verdict.message


@pytest.mark.parametrize(
    ("code", "tests", "passed"),
    [
        ("def add(a, b): return a + b", "assert add(1, 2) == 3", True),
        ("def add(a, b): return a - b", "assert add(1, 2) == 3", False),
        ("def f(x): return sorted(x)", "assert len(f([2, 1])) == 2\nassert f([2, 1]) == [1, 2]", True),
        ("def candidate(x): return x", "def check(candidate):\n    assert candidate(3) == 3", True),
        ("print('hi')", "assert add(1, 2) == 3", False),
    ],
)
def test_a_program_is_graded_on_typed_tests(code: str, tests: str, passed: bool) -> None:
    with open_workspace() as workspace:
        assert workspace.grading.grade(code, tests).passed is passed


@pytest.mark.parametrize("tests", ["", "x = 1", "assert True", "assert (", "assert len([]) == 0"])
def test_tests_that_are_none_are_refused(tests: str) -> None:
    with pytest.raises(DataError, match="assert"):
        problem_of(tests)
