"""Strategies against a context that answers from a script: what they ask, when they stop, what they hand in."""

from __future__ import annotations

from dataclasses import fields

import pytest
from stage import Stage

from koderz_core.errors import PlanError, UnknownNameError
from koderz_core.events import CheckpointReviewed, SpecWritten
from koderz_core.prompts.review import guidance
from koderz_core.records.marks import SHOW_NO_ATTEMPTS
from koderz_core.records.plans import IMPORTED
from koderz_core.strategies import PRESETS, STRATEGIES, called, complete, create, facts_of, offered
from koderz_core.strategies.direct import Direct
from koderz_core.strategies.ladder import Ladder
from koderz_core.strategies.parameters import SHARED, meaning_of
from koderz_core.strategies.supervised import Supervised


def test_direct_asks_once_and_hands_in_the_program() -> None:
    stage = Stage()
    assert Direct().solve(stage) == "def f(x):\n    return 1"
    assert stage.roles == ["coder"]


def test_direct_with_spec_shows_it_to_the_coder() -> None:
    stage = Stage()
    Direct(spec=True).solve(stage)
    assert stage.roles == ["spec", "coder"]
    assert "Specification:\nspec says 0" in stage.asked[1][1]
    assert stage.notes == [SpecWritten("spec says 0")]


def test_supervised_stops_at_the_first_pass() -> None:
    stage = Stage(passes=[1, 3])
    assert Supervised(spec=False).solve(stage) == "def f(x):\n    return 2"
    assert stage.roles == ["coder", "coder"]


def test_the_next_prompt_shows_the_last_program_and_what_its_tests_saw() -> None:
    stage = Stage(passes=[2, 3])
    Supervised(spec=False).solve(stage)
    prompt = stage.asked[1][1]
    assert "def f(x):\n    return 1" in prompt
    assert "It passed 2 of 3 tests" in prompt
    assert "`candidate(2) == 2`: it gave 9, correct is 2" in prompt


def test_reviews_come_every_interval_but_never_after_the_last_iteration() -> None:
    stage = Stage(passes=[0] * 6)
    Supervised(max_iterations=6, checkpoint_interval=2).solve(stage)
    assert stage.roles == ["spec", *["coder"] * 2, "reviewer", *["coder"] * 2, "reviewer", *["coder"] * 2]
    reviews = [note for note in stage.notes if isinstance(note, CheckpointReviewed)]
    assert [(review.checkpoint, review.after_iteration) for review in reviews] == [(1, 2), (2, 4)]


def test_the_reviewer_sees_the_real_programs_with_their_real_counts() -> None:
    stage = Stage(passes=[0, 1, 2, 1, 0])
    Supervised(max_iterations=5, checkpoint_interval=2).solve(stage)
    second = [prompt for role, prompt, _ in stage.asked if role == "reviewer"][1]
    assert "Attempt 3:\n```python\ndef f(x):\n    return 3\n```\nIt passed 2 of 3" in second
    assert "Attempt 4:\n```python\ndef f(x):\n    return 4\n```\nIt passed 1 of 3" in second
    assert "Attempt 2" not in second
    assert "Your latest guidance, which did not suffice:\nreviewer says 2" in second


def test_guidance_goes_into_every_following_prompt_until_there_is_newer() -> None:
    stage = Stage(passes=[0] * 5)
    Supervised(max_iterations=5, checkpoint_interval=2).solve(stage)
    coder = [prompt for role, prompt, _ in stage.asked if role == "coder"]
    assert ["reviewer says 2" in prompt for prompt in coder] == [False, False, True, True, False]
    assert "reviewer says 4" in coder[4]


def test_the_best_program_is_handed_in_and_of_equals_the_latest() -> None:
    stage = Stage(passes=[1, 2, 2, 0])
    assert Supervised(max_iterations=4, checkpoints=False).solve(stage) == "def f(x):\n    return 3"


def test_retries_are_sampled_warmer_than_the_first_attempt() -> None:
    stage = Stage(passes=[0, 0])
    Supervised(max_iterations=2, spec=False, temperature=0.1, retry_temperature=0.7).solve(stage)
    assert [sampling.temperature for _, _, sampling in stage.asked if sampling] == [0.1, 0.7]


def test_a_ladder_asks_the_same_again_until_a_program_passes_and_tells_nothing_of_those_before() -> None:
    stage = Stage(passes=[1, 0, 3, 3])
    assert Ladder().solve(stage) == "def f(x):\n    return 3"
    assert stage.roles == ["coder"] * 3
    assert len({prompt for _, prompt, _ in stage.asked}) == 1
    assert {sampling.temperature for _, _, sampling in stage.asked if sampling} == {0.8}


def test_a_ladder_ends_after_its_attempts_with_the_best_and_of_equals_the_latest() -> None:
    stage = Stage(passes=[1, 2, 2, 0, 3])
    assert Ladder(max_iterations=4).solve(stage) == "def f(x):\n    return 3"


def test_the_controls_have_as_many_iterations_as_what_they_control() -> None:
    limits = {name: complete(name, {})["max_iterations"] for name in ("supervised", "repair", "retry")}
    assert len(set(limits.values())) == 1
    assert (create("repair", {}).roles(), create("retry", {}).roles()) == (("coder",), ("coder",))
    assert create("retry", {}) == Ladder(temperature=0.8)


def test_a_preset_is_what_its_parameters_make_it_and_any_of_them_can_be_chosen_otherwise() -> None:
    assert create("repair", {"max_iterations": 3}) == Supervised(max_iterations=3, spec=False, checkpoints=False)
    assert create("repair", {"spec": True}).roles() == ("spec", "coder")
    assert [called(item.strategy, complete(name, {})) for name, item in PRESETS.items()] == list(PRESETS)
    assert called("supervised", complete("repair", {"spec": True})) == "supervised"
    assert called("ladder", complete("retry", {"temperature": 0.5})) == "ladder"


def test_nothing_is_offered_under_two_names() -> None:
    assert {*offered()} == {*STRATEGIES, *PRESETS} - {"ladder"}  # which is retry by default
    assert len({repr(create(name, {})) for name in offered()}) == len(offered())


@pytest.mark.parametrize("name", sorted(STRATEGIES))
def test_a_strategy_asks_only_the_roles_it_names(name: str) -> None:
    stage = Stage(passes=[0] * 50, selects=True)
    strategy = create(name, {})
    strategy.solve(stage)
    assert set(stage.roles) == set(strategy.roles())


def test_guidance_is_the_answer_without_its_thinking_and_bounded() -> None:
    assert guidance("<think>hm</think>\nMind zero.").text == "Mind zero."
    assert len(guidance("x" * 100_000).text) <= 3000


def test_unknown_strategies_and_parameters_are_named_with_what_there_is() -> None:
    with pytest.raises(UnknownNameError, match=r"Unknown strategy: 'supervise'\..*supervised"):
        create("supervise", {})
    with pytest.raises(UnknownNameError, match="max_iterations"):
        create("supervised", {"max_iteration": 3})


@pytest.mark.parametrize("value", [0, -1, 2.5, True, "3", None])
def test_a_parameter_out_of_place_is_refused(value: object) -> None:
    with pytest.raises(PlanError, match="max_iterations must be"):
        create("supervised", {"max_iterations": value})  # type: ignore[dict-item]


def test_numbers_that_are_equal_make_the_same_configuration() -> None:
    assert complete("direct", {"temperature": 0}) == complete("direct", {"temperature": -0.0}) == complete("direct", {})
    assert repr(complete("direct", {"temperature": -0.0})["temperature"]) == "0.0"
    with pytest.raises(PlanError, match="temperature must be a number"):
        complete("direct", {"temperature": True})


def test_a_configuration_records_every_parameter() -> None:
    assert complete("direct", {"spec": True}) == {
        "spec": True,
        "chain_of_thought": True,
        "temperature": 0.0,
        "max_tokens": 1024,
        "lessons": False,
        "examples": False,
        "search": "off",
        "turn_timeout": 0.0,
        "repository_tokens": 2000,
    }


def test_every_parameter_is_explained_in_one_line_and_nothing_else_is() -> None:
    said = {field.name: meaning_of(field).about for strategy in STRATEGIES.values() for field in fields(strategy)}
    assert SHARED.keys() <= said.keys()
    assert all(text.endswith(".") and "\n" not in text and len(text) < 140 for text in said.values())


def test_the_store_knows_which_strategies_show_no_attempts() -> None:
    assert {name for name in STRATEGIES if not facts_of(name).shows_attempts} == SHOW_NO_ATTEMPTS - {IMPORTED}
