"""The parts of ``supervised`` that can be chosen: spec, history, escapes, checkpoints, disclosure."""

from __future__ import annotations

import pytest
from stage import Stage

from koderz_core.errors import PlanError
from koderz_core.events import SpecWritten
from koderz_core.prompts.coding import LESSONS_LIMIT
from koderz_core.records import Memory, Query
from koderz_core.strategies import create
from koderz_core.strategies.supervised import Supervised

SAME = "def f(x):\n    return 0"


def test_a_spec_that_was_written_before_is_taken_where_reuse_is_wanted() -> None:
    stage = Stage([3], remembered=[Memory("<think>hm</think>Twice x.", "exp_a")])
    Supervised(reuse_spec=True, spec_prompt="detailed").solve(stage)
    assert stage.queries == [Query("spec", {"prompt": "detailed"}, limit=1)]
    assert stage.roles == ["coder"]
    assert stage.notes == [SpecWritten("Twice x.", "detailed", "exp_a")]
    assert "Specification:\nTwice x." in stage.prompts("coder")[0]


@pytest.mark.parametrize("remembered", [[], [Memory("<think>hm</think>", "exp_a")]])
def test_a_spec_is_written_where_none_is_remembered(remembered: list[Memory]) -> None:
    stage = Stage([3], remembered=remembered)
    Supervised(reuse_spec=True).solve(stage)
    assert stage.roles == ["spec", "coder"]
    assert stage.notes == [SpecWritten("spec says 0", "minimal", None)]


def test_nothing_is_recalled_unasked() -> None:
    stage = Stage([3], remembered=[Memory("Twice x.", "exp_a")])
    Supervised().solve(stage)
    assert (stage.queries, stage.roles) == ([], ["spec", "coder"])


def test_versions_of_the_spec_differ_in_how_much_they_ask_for() -> None:
    asked = []
    for prompt in ("minimal", "detailed"):
        stage = Stage([3])
        Supervised(spec_prompt=prompt).solve(stage)
        asked.append(stage.prompts("spec")[0])
    assert ["edge cases" in text for text in asked] == [False, True]


def test_without_previous_errors_the_coder_sees_its_program_but_not_what_the_tests_said() -> None:
    stage = Stage([2, 1, 3])
    Supervised(spec=False, previous_error=False, history_tokens=500).solve(stage)
    last = stage.prompts("coder")[-1]
    assert "return 1" in last
    assert "return 2" in last
    assert not any(told in last for told in ("of 3 tests", "candidate(", "correct is"))


def test_a_coder_that_repeats_itself_is_told_so_and_then_shown_none_of_its_programs() -> None:
    stage = Stage([1] * 6, ["def f(x):\n    return 1", SAME, SAME + "  # now", SAME, SAME])
    Supervised(max_iterations=6, spec=False, checkpoint_interval=3, escape_after=2).solve(stage)
    prompts = stage.prompts("coder")
    assert ["it is attempt 2 again" in prompt for prompt in prompts] == [False, False, False, True, False, False]
    assert ["```python\n" + SAME in prompt for prompt in prompts] == [False, False, True, True, False, False]
    assert "reviewer says 3" in prompts[4]
    assert [sampling.temperature for role, _, sampling in stage.asked if sampling and role == "coder"] == [
        0.0,
        *[0.8] * 5,
    ]


def test_a_new_program_ends_the_escape() -> None:
    stage = Stage([1] * 6, [SAME, SAME, SAME, "def f(x):\n    return 9"])
    Supervised(max_iterations=6, spec=False, checkpoints=False).solve(stage)
    assert ["Your previous attempt" in prompt for prompt in stage.prompts("coder")] == [
        False,
        True,
        True,
        False,
        True,
        True,
    ]


def test_replies_without_a_program_are_no_repetition() -> None:
    stage = Stage([0] * 4, [None] * 4)
    Supervised(max_iterations=4, spec=False, checkpoints=False).solve(stage)
    assert not any("same program" in prompt for prompt in stage.prompts("coder"))
    assert "could not be tested" in stage.prompts("coder")[3]


def test_adaptive_reviews_come_early_and_say_why() -> None:
    stage = Stage([0, 2, 2, 2, 1, 0, 1, 2, 0, 1, 2])
    Supervised(max_iterations=11, checkpoint_when="adaptive").solve(stage)
    assert [(item.checkpoint, item.after_iteration, item.why) for item in stage.reviewed()] == [
        (1, 4, "repeated_error"),
        (2, 9, "interval"),
    ]


def test_half_of_the_dollars_makes_the_first_review_due_and_then_nobody_asks_for_them() -> None:
    stage = Stage([0, 1, 2, 0, 1, 2, 0, 1], dollars=[1.0, 0.9, 0.6, 0.5])
    Supervised(max_iterations=8, checkpoint_when="adaptive").solve(stage)
    assert [(item.after_iteration, item.why) for item in stage.reviewed()] == [(3, "budget")]
    assert stage.times_left_was_asked == 4


@pytest.mark.parametrize(("when", "times"), [("interval", 0), ("adaptive", 1)])
def test_what_is_left_is_asked_for_only_where_it_can_matter(when: str, times: int) -> None:
    stage = Stage([0, 1, 2, 0])
    Supervised(max_iterations=4, checkpoint_when=when).solve(stage)
    assert stage.times_left_was_asked == times


def test_each_review_is_told_what_came_of_those_before_it() -> None:
    stage = Stage([1, 0, 2, 1, 0, 0], reviews=["## 3. Fix\nMind\nzero.", "Mind one."])
    Supervised(max_iterations=6, checkpoint_interval=2, spec=False).solve(stage)
    second = stage.prompts("reviewer")[1]
    assert "- Review 1 after attempt 2: 1 of 3 before, 2 of 3 since. It advised: Mind zero." in second


def test_what_a_reviewer_says_is_kept_by_heading_with_what_was_passed_on() -> None:
    stage = Stage([0, 0], reviews=["## 1. Failing tests\nall\n## 3. Fix\nMind zero."])
    Supervised(max_iterations=2, checkpoint_interval=1, spec=False).solve(stage)
    (note,) = stage.reviewed()
    assert (note.sections, note.passed_on) == ({"failing tests": "all", "fix": "Mind zero."}, ("fix",))
    assert "advises:\nFix:\nMind zero." in stage.prompts("coder")[1]


@pytest.mark.parametrize(("disclosure", "strategy"), [(True, [True, False, False]), (False, [False] * 3)])
def test_the_first_review_is_asked_for_a_strategy_the_second_for_test_criteria(
    disclosure: bool, strategy: list[bool]
) -> None:
    stage = Stage([0] * 4)
    Supervised(max_iterations=4, checkpoint_interval=1, disclosure=disclosure).solve(stage)
    prompts = stage.prompts("reviewer")
    assert ["## 5. Strategy" in prompt for prompt in prompts] == strategy
    assert ["## 5. Test criteria" in prompt for prompt in prompts] == [strategy[1], strategy[0], False]


def test_a_reviewer_is_shown_a_bounded_number_of_programs_and_told_of_the_others() -> None:
    stage = Stage([0] * 21)
    Supervised(max_iterations=21, checkpoint_interval=20, spec=False).solve(stage)
    (prompt,) = stage.prompts("reviewer")
    assert "Attempts 1 to 12 are not shown." in prompt
    assert [f"Attempt {number}:" in prompt for number in (12, 13, 20)] == [False, True, True]


@pytest.mark.parametrize(
    ("parameter", "choices"), [("checkpoint_when", "interval, adaptive"), ("spec_prompt", "minimal, detailed")]
)
def test_a_value_that_is_none_of_the_choices_is_refused_with_them(parameter: str, choices: str) -> None:
    with pytest.raises(PlanError, match=f"{parameter} must be one of {choices}, not 'sometimes'"):
        create("supervised", {parameter: "sometimes"})


def test_no_room_for_history_can_be_said_but_not_no_iterations() -> None:
    assert create("supervised", {"history_tokens": 0}) == Supervised()
    for parameter in ("escape_after", "max_iterations"):
        with pytest.raises(PlanError, match=f"{parameter} must be a whole number from 1 to 1,000,000,000, not 0"):
            create("supervised", {parameter: 0})


def test_after_each_kind_of_error_lessons_are_recalled_once_and_shown_whenever_it_comes() -> None:
    stage = Stage(passes=[0, 1, 3], remembered=[Memory("Count the ends.", "3 other problems")])
    Supervised(spec=False, checkpoints=False, lessons=True).solve(stage)
    assert stage.queries == [Query("lesson", {"error": "assertion"}, limit=3)]
    first, *later = stage.prompts("coder")
    assert "Lessons" not in first
    assert all("Lessons from other problems:\n- Count the ends." in prompt for prompt in later)


@pytest.mark.parametrize("parameters", [{}, {"lessons": True, "previous_error": False}])
def test_who_is_not_told_of_errors_is_told_no_lessons(parameters: dict[str, bool]) -> None:
    stage = Stage(passes=[0, 3], remembered=[Memory("Count the ends.", "3 other problems")])
    Supervised(spec=False, checkpoints=False, **parameters).solve(stage)
    assert stage.queries == []
    assert "Lessons" not in stage.prompts("coder")[-1]


def test_lessons_take_no_more_of_a_prompt_than_is_theirs() -> None:
    stage = Stage(passes=[0, 3], remembered=[Memory("word " * 9000, "3 other problems")] * 3)
    Supervised(spec=False, checkpoints=False, lessons=True).solve(stage)
    without, *_ = stage.prompts("coder")
    assert stage.prompts("coder")[-1].count("word") <= LESSONS_LIMIT / len("word ")
    assert "word" not in without
