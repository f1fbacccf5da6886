"""Specs and reviews: how they are asked for, when they are read, and what becomes of empty or cut answers."""

from __future__ import annotations

import pytest
from stage import Stage

from koderz_core.events import SpecWritten
from koderz_core.records import Finish, Remaining, Sampling
from koderz_core.strategies.direct import Direct
from koderz_core.strategies.supervised import Supervised

SAME = "def f(x):\n    return 0"
EMPTY = "<think>\nHm, the list"


def test_a_new_review_is_read_beside_the_program_that_it_is_about_once() -> None:
    stage = Stage([1] * 7, [SAME] * 7)
    Supervised(max_iterations=7, spec=False, checkpoint_interval=4).solve(stage)
    prompts = stage.prompts("coder")
    assert ["Your previous attempt" in prompt for prompt in prompts] == [False, True, True, False, True, False, False]
    assert ["reviewer says 4" in prompt for prompt in prompts] == [False] * 4 + [True] * 3


def test_an_empty_review_leaves_standing_what_was_advised_before() -> None:
    stage = Stage([0] * 6, reviews=["Mind zero.", EMPTY, "Mind one."])
    Supervised(max_iterations=6, spec=False, checkpoint_interval=2).solve(stage)
    assert ["advises:\nMind zero." in prompt for prompt in stage.prompts("coder")] == [False] * 2 + [True] * 4
    noted = [(item.checkpoint, item.after_iteration, item.guidance, item.passed_on) for item in stage.reviewed()]
    assert noted == [(1, 2, "Mind zero.", ("whole",)), (2, 4, "", ())]


def test_after_an_empty_review_the_next_one_is_asked_for_the_same_and_shown_all_since_the_last_that_advised() -> None:
    stage = Stage([0] * 7, reviews=["Mind zero.", EMPTY])
    Supervised(max_iterations=7, spec=False, checkpoint_interval=2).solve(stage)
    second, third = stage.prompts("reviewer")[1:]
    assert [number for number in range(1, 7) if f"Attempt {number}:" in third] == [3, 4, 5, 6]
    assert "Test criteria" in second
    assert "Test criteria" in third
    assert "Review 2" not in third


def test_specs_and_reviews_are_asked_for_alike_however_the_coder_samples() -> None:
    asked = []
    for temperature in (0.0, 0.8):
        stage = Stage([0, 0])
        Supervised(2, 1, temperature=temperature, retry_temperature=temperature, max_tokens=7).solve(stage)
        asked.append({role: sampling for role, _, sampling in stage.asked if role != "coder"})
    assert asked == [dict.fromkeys(("spec", "reviewer"), Sampling(0.0, max_tokens=2048))] * 2
    assert {role: item for role, _, item in stage.asked}["coder"] == Sampling(0.8, max_tokens=7)


def test_the_most_tokens_of_a_spec_or_a_review_can_be_chosen_and_direct_asks_for_the_same_spec() -> None:
    stage, plain = Stage([0, 0]), Stage()
    Supervised(2, 1, review_tokens=5000).solve(stage)
    assert [item.max_tokens for _, _, item in stage.asked if item] == [5000, 1024, 5000, 1024]
    Direct(spec=True, temperature=0.8).solve(plain)
    assert [item for _, _, item in plain.asked] == [Sampling(0.0, max_tokens=2048), Sampling(0.8, max_tokens=1024)]


@pytest.mark.parametrize(("said", "finish"), [("Twice", "length"), (EMPTY, "length"), ("", "empty")])
def test_a_spec_that_was_cut_or_is_empty_is_noted_as_such(said: str, finish: Finish) -> None:
    stage = Stage([3], spec=said, finishes={"spec": finish})
    Supervised().solve(stage)
    text = "" if said == EMPTY else said
    assert stage.notes == [SpecWritten(text, "minimal", None, finish)]
    assert ("Specification:" in stage.prompts("coder")[0]) == bool(text)


def test_half_of_the_dollars_is_half_of_what_there_was_before_the_spec_was_paid() -> None:
    asked: list[list[str]] = []

    class Paying(Stage):
        def remaining(self) -> Remaining:
            asked.append(self.roles)
            return super().remaining()

    Supervised(checkpoint_when="adaptive").solve(Paying([3], dollars=[1.0]))
    assert asked == [[]]


@pytest.mark.parametrize("previous_error", [True, False])
def test_a_coder_whose_reply_was_cut_is_told_so_and_nothing_of_the_parser(previous_error: bool) -> None:
    stage = Stage([0, 0, 0], finishes={"coder": "length"})
    Supervised(3, spec=False, checkpoints=False, previous_error=previous_error, history_tokens=500).solve(stage)
    told = stage.prompts("coder")[2]
    assert told.count("the reply was cut at its token limit") == 2
    assert "so that the reply is not cut again" in told
    assert "SyntaxError" not in told


def test_a_reviewer_is_shown_a_program_once_even_if_it_was_first_tried_before_the_last_review() -> None:
    stage = Stage([1] * 6, [SAME] * 6)
    Supervised(6, spec=False, checkpoint_interval=2).solve(stage)
    second = stage.prompts("reviewer")[1]
    assert second.count(SAME) == 1
    assert "Attempt 3:\n(the same program as attempt 1)\n" in second
    assert "Attempt 4: the same program as attempt 3." in second
