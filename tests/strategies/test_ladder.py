"""Ladders of steps_of and models: what is asked of whom, when they stop, how their steps are written."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as some
from stage import Stage

from koderz_core.errors import PlanError
from koderz_core.strategies import called, complete, create
from koderz_core.strategies.ladder import Ladder, canonical, steps_of


def asked(ladder: Ladder, passes: list[int], coders: int = 1) -> list[tuple[int, float | None]]:
    """Member and temperature of each call."""
    stage = Stage(passes=passes, coders=coders)
    ladder.solve(stage)
    assert len({prompt for _, prompt, _ in stage.asked}) == 1
    how = [sampling.temperature if sampling else None for _, _, sampling in stage.asked]
    return list(zip(stage.members_asked, how, strict=True))


def test_warming_is_greedy_first_and_then_warmer_until_a_program_passes() -> None:
    warming = create("warming", {})
    assert asked(warming, [0] * 9) == [(0, 0.0), (0, 0.3), (0, 0.3), (0, 0.5), (0, 0.5)]
    assert asked(warming, [1, 2, 3]) == [(0, 0.0), (0, 0.3), (0, 0.3)]


def test_escalation_asks_each_coder_once_from_the_first_to_the_last() -> None:
    assert asked(create("escalation", {}), [0] * 9, coders=3) == [(0, 0.0), (1, 0.0), (2, 0.0)]
    assert asked(create("escalation", {}), [0, 3], coders=3) == [(0, 0.0), (1, 0.0)]


def test_each_coder_goes_through_all_steps_before_the_next_within_the_iterations() -> None:
    ladder = Ladder(max_iterations=5, steps="0,0.8*2")
    assert asked(ladder, [0] * 9, coders=2) == [(0, 0.0), (0, 0.8), (0, 0.8), (1, 0.0), (1, 0.8)]


def test_without_steps_the_coders_share_the_iterations() -> None:
    assert [member for member, _ in asked(Ladder(max_iterations=5), [0] * 9, coders=3)] == [0, 0, 1, 1, 2]


@pytest.mark.parametrize("text", ["warm", "0.2;0.6", "-1", "2.1", "0.8*0", "0.8x3", "1,,1", "nan", "٣", "0*9999"])
def test_a_step_that_is_none_is_named_with_how_steps_are_written(text: str) -> None:
    with pytest.raises(PlanError, match="Write"):
        create("ladder", {"steps": text})


def test_steps_beside_a_temperature_are_refused_since_one_of_them_would_be_ignored() -> None:
    with pytest.raises(PlanError, match=r"Omit temperature=0.5"):
        create("warming", {"temperature": 0.5})


@given(some.lists(some.sampled_from([0.0, 0.2, 0.35, 1.0, 2.0]), max_size=9).map(tuple))
def test_steps_are_read_as_they_are_written(steps: tuple[float, ...]) -> None:
    assert steps_of(canonical(steps)) == steps


def test_however_steps_are_written_it_is_one_configuration_with_one_name() -> None:
    many = {str(complete("ladder", {"steps": text})) for text in ("0,0.3*2,0.5*2", " 0.0, .3,0.30, 0.5*1,0.5")}
    assert len(many) == 1
    assert called("ladder", complete("ladder", {"steps": "0.0,0.3,0.3,0.5,0.5"})) == "warming"
    assert called("ladder", complete("ladder", {"steps": "0.2"})) == "ladder"


def test_a_ladder_of_before_there_were_steps_is_still_called_retry() -> None:
    recorded = {"max_iterations": 50, "chain_of_thought": True, "temperature": 0.8, "max_tokens": 1024}
    assert called("ladder", recorded) == "retry"
    assert create("ladder", recorded) == Ladder()
