"""Best of several: gate tests first, then votes by what programs do, then a judge."""

from __future__ import annotations

from dataclasses import replace

import pytest
from stage import PROBLEM, Stage

from koderz_core.errors import PlanError
from koderz_core.strategies import create
from koderz_core.strategies.best_of import BestOf

DOUBLE, SUM, SQUARE, SHIFT = (f"def f(x):\n    return {item}" for item in ("2 * x", "x + x", "x ** 2", "x << 1"))
TESTS = "```python\nassert f(2) == 4\nassert f(3) == 5\n```"  # what they expect does not matter to a vote


def on(
    programs: list[str | None], passes: list[int] | None = None, judge: str = "BEST: 2", tests: str = TESTS
) -> Stage:
    return Stage(passes or [1] * len(programs), programs, says={"tester": tests, "judge": judge})


def best(stage: Stage, **more: bool) -> str | None:
    return BestOf(samples=len(stage.programs), **more).solve(stage)


def test_all_samples_are_asked_the_same_at_one_temperature_and_each_is_tested_once() -> None:
    stage = on([DOUBLE] * 3)
    assert best(stage) == DOUBLE
    assert stage.roles == ["coder"] * 3
    assert len({prompt for _, prompt, _ in stage.asked}) == 1
    assert {sampling.temperature for _, _, sampling in stage.asked if sampling} == {0.8}
    assert (stage.tested, BestOf(samples=3).max_iterations) == (3, 3)


def test_most_gate_tests_win_whatever_the_others_would_vote() -> None:
    stage = on([SQUARE, DOUBLE, SQUARE], passes=[1, 2, 1])
    assert best(stage) == DOUBLE
    assert "tester" not in stage.roles


def test_of_equals_the_largest_group_that_does_the_same_wins_and_nobody_judges() -> None:
    stage = on([DOUBLE, SQUARE, SUM])
    assert best(stage) == SUM
    assert stage.roles[3:] == ["tester"]
    assert {tuple(calls) for _, calls in stage.probed} == {("f(2)", "f(3)")}


def test_the_same_program_in_other_words_votes_too_and_is_run_once() -> None:
    stage = on([SQUARE, DOUBLE, SQUARE + "  # again"])
    assert best(stage) == SQUARE + "  # again"
    assert len(stage.probed) == 2


@pytest.mark.parametrize(
    ("said", "chosen"), [("Well.\nBEST: 2", DOUBLE), ("BEST: 1", SQUARE), ("I cannot tell.", SQUARE)]
)
def test_a_judge_picks_among_the_largest_groups_and_else_the_latest_program_wins(said: str, chosen: str) -> None:
    stage = on([DOUBLE, SQUARE], judge=said)
    assert best(stage) == chosen
    prompt = stage.prompts("judge")[0]
    assert f"Program 1:\n```python\n{SQUARE}\n```" in prompt
    assert "- f(3): program 1 gives 9; program 2 gives 6" in prompt
    assert "f(2)" not in prompt


def test_without_a_judge_the_latest_program_of_the_largest_groups_wins() -> None:
    stage = on([DOUBLE, SQUARE, SHIFT, SQUARE])
    assert best(stage, judge=False) == SQUARE
    assert "judge" not in {*stage.roles, *BestOf(judge=False).roles()}


def test_without_any_calls_only_programs_that_say_the_same_vote_together() -> None:
    stage = on([SUM, DOUBLE, SUM, SQUARE], tests="None come to mind.")
    assert best(stage) == SUM
    assert stage.probed == []


def test_calls_in_the_text_of_the_problem_are_run_too() -> None:
    shown = replace(PROBLEM, prompt='def f(x):\n    """Double x.\n\n    >>> f(7)\n    14\n    """\n')
    stage = replace(on([DOUBLE, SQUARE]), problem=shown)
    best(stage)
    assert stage.probed[0][1] == ["f(7)", "f(2)", "f(3)"]


def test_answers_without_a_program_are_iterations_too_and_never_handed_in() -> None:
    stage = on([None, DOUBLE, None])
    assert (best(stage), stage.tested) == (DOUBLE, 3)
    assert best(on([None, None])) is None


@pytest.mark.parametrize(("name", "value"), [("samples", 257), ("tests", 65)])
def test_samples_and_tests_are_bounded(name: str, value: int) -> None:
    with pytest.raises(PlanError, match=f"`{name}` must be at most"):
        create("best_of", {name: value})
