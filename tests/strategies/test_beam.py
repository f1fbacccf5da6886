"""Beam: who is mended how often, what goes on to the next level, and that no program is tested twice."""

from __future__ import annotations

import re

import pytest
from stage import Stage

from koderz_core.errors import PlanError
from koderz_core.strategies import create
from koderz_core.strategies.beam import Beam

SMALL = Beam(width=2, branches=2, depth=2)


def mended(stage: Stage) -> list[str | None]:
    """What each program returns that a prompt of the coder asks to mend; None: a fresh one is asked for."""
    shown = (
        re.search(r"previous attempt:\n```python\ndef f\(x\):\n    return (\S+)", item)
        for item in stage.prompts("coder")
    )
    return [item and item[1] for item in shown]


def test_the_first_level_are_fresh_programs_and_each_of_the_best_is_mended_in_several_ways() -> None:
    stage = Stage(passes=[2, 0, 1, 0, 0, 0, 0, 0])
    assert SMALL.solve(stage) == "def f(x):\n    return 1"
    assert mended(stage) == [None] * 4 + ["1", "1", "3", "3"]
    assert "It passed 2 of 3 tests" in stage.prompts("coder")[4]
    assert (stage.tested, SMALL.max_iterations) == (8, 8)
    assert {sampling.temperature for _, _, sampling in stage.asked if sampling} == {0.8}


def test_of_equals_the_latest_goes_on_and_a_better_one_stays_until_it_is_outdone() -> None:
    stage = Stage(passes=[1, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0])
    Beam(width=2, branches=2, depth=3).solve(stage)
    assert mended(stage)[4:] == ["2", "2", "1", "1", "6", "6", "2", "2"]


def test_what_says_the_same_in_another_layout_is_not_tested_again_and_takes_no_place() -> None:
    first, again, other = "def f(x):\n    return 1", "def f(x):\n\n    return (1)  # one", "def f(x):\n    return 2"
    stage = Stage([2, 1, 0, 0, 0, 0, 0], [first, again, other])
    SMALL.solve(stage)
    assert (len(stage.asked), stage.tested) == (8, 7)
    assert mended(stage)[4:] == ["1", "1", "2", "2"]


def test_it_ends_at_the_first_program_that_passes() -> None:
    stage = Stage(passes=[0, 3])
    assert SMALL.solve(stage) == "def f(x):\n    return 2"
    assert (len(stage.asked), stage.tested) == (4, 2)


def test_a_reply_without_a_program_is_an_iteration_and_nothing_to_mend() -> None:
    stage = Stage(passes=[0] * 8, programs=[None] * 4)
    assert SMALL.solve(stage) == "def f(x):\n    return 8"
    assert mended(stage) == [None] * 8


def test_a_beam_too_wide_is_refused() -> None:
    with pytest.raises(PlanError, match="at most 256 programs, not 300"):
        create("beam", {"width": 10, "branches": 10, "depth": 3})
