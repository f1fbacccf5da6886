"""Cascades: the tester's own tests decide whether the next coder is asked."""

from __future__ import annotations

import pytest
from stage import PROBLEM, Stage

from koderz_core.errors import PlanError
from koderz_core.strategies import create
from koderz_core.strategies.cascade import Cascade

RIGHT, WRONG, HALF = "def f(x):\n    return 2 * x", "def f(x):\n    return x", "def f(x):\n    return 4"
TESTS = "```python\nassert f(1) == 2\nassert f(2) == 4\n```"


def on(programs: list[str | None], tests: str = TESTS, coders: int = 2) -> Stage:
    return Stage(programs=programs, says={"tester": tests}, coders=coders)


def test_the_tester_is_asked_first_and_sees_the_problem_and_no_program() -> None:
    stage = on([RIGHT])
    Cascade(tests=7).solve(stage)
    assert stage.roles == ["tester", "coder"]
    assert PROBLEM.prompt.rstrip() in stage.asked[0][1]
    assert "Give 7 asserts" in stage.asked[0][1]


def test_a_program_that_agrees_with_the_tests_is_taken_from_the_first_coder() -> None:
    stage = on([RIGHT])
    assert Cascade().solve(stage) == RIGHT
    assert stage.probed == [(RIGHT, ["bool(f(1) == 2)", "bool(f(2) == 4)"])]
    assert stage.tested == 0


def test_else_the_next_coder_is_asked_the_same_and_the_last_is_not_held_against_the_tests() -> None:
    stage = on([WRONG, WRONG + " + 0"])
    assert Cascade().solve(stage) == WRONG + " + 0"
    assert stage.members_asked == [0, 0, 1]
    assert stage.asked[1] == stage.asked[2]
    assert len(stage.probed) == 1


@pytest.mark.parametrize(("threshold", "asked"), [(0.5, 1), (0.51, 2)])
def test_the_threshold_is_the_share_of_tests_that_must_agree(threshold: float, asked: int) -> None:
    stage = on([HALF, RIGHT])
    Cascade(threshold=threshold).solve(stage)
    assert len(stage.prompts("coder")) == asked


@pytest.mark.parametrize("threshold", [0.0, 0.9])
def test_without_tests_nothing_speaks_for_a_program_so_the_last_coder_is_asked(threshold: float) -> None:
    stage = on([RIGHT, WRONG], "I cannot.")
    assert Cascade(threshold=threshold).solve(stage) == WRONG
    assert stage.probed == []


def test_a_last_answer_without_a_program_leaves_the_one_that_agreed_most() -> None:
    assert Cascade().solve(on([HALF, WRONG, None], coders=3)) == HALF
    assert Cascade().solve(on([None, None])) is None


def test_tests_that_make_a_program_fail_count_against_it() -> None:
    stage = on(["def f(x):\n    raise ValueError(x)", RIGHT])
    assert Cascade().solve(stage) == RIGHT


@pytest.mark.parametrize(("name", "value"), [("threshold", 1.1), ("tests", 65)])
def test_a_threshold_is_a_share_and_tests_are_bounded(name: str, value: float) -> None:
    with pytest.raises(PlanError, match=f"parameter `{name}` .*at most"):
        create("cascade", {name: value})
