"""Debate: who speaks when, what each of them sees, what the judge and the coder get of it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest
from stage import Stage

from koderz_core.errors import PlanError, UnknownNameError
from koderz_core.events import TurnSpoken
from koderz_core.prompts.debating import speakers
from koderz_core.records import Completion, Message, Sampling, Usage
from koderz_core.strategies import create
from koderz_core.strategies.debate import USUAL, Debate

CAST = ("architect", "coder", "reviewer")


@dataclass
class Hall(Stage):
    """A stage on which each speaker says who they are, and in which round."""

    speaking: int = 3
    heard: list[tuple[str, str]] = field(default_factory=list)

    def ask(
        self, role: str, messages: Sequence[Message], sampling: Sampling | None = None, member: int = 0
    ) -> Completion:
        answered = Stage.ask(self, role, messages, sampling, member)
        if role != "speaker":
            return answered
        found = re.search(r"You are the ([a-z ]+)\.", messages[0].content)
        assert found
        text = f"<think>hm</think>{found[1]}'s word {1 + len(self.heard) // self.speaking}"
        self.heard.append((found[1], messages[-1].content))
        return Completion(text, "stop", Usage(), 0.0, Sampling())

    def members(self, role: str) -> int:
        return 2 if role == "speaker" else 1


def test_everybody_speaks_in_every_round_then_the_judge_then_the_coder() -> None:
    stage = Hall(passes=[3])
    assert Debate(rounds=2).solve(stage) == "def f(x):\n    return 1"
    assert stage.roles == [*["speaker"] * 6, "judge", "coder"]
    assert [who for who, _ in stage.heard] == [*CAST, *CAST]
    turns = [TurnSpoken(who, number, f"{who}'s word {number}") for number in (1, 2) for who in CAST]
    assert stage.notes == [*turns, TurnSpoken("judge", 2, "judge says 0")]


def test_a_speaker_sees_the_others_whole_of_the_round_before_and_of_no_other() -> None:
    stage = Hall(passes=[3])
    Debate(rounds=3).solve(stage)
    first, second, third = stage.heard[0::3]
    assert "'s word" not in first[1]
    assert "### You:\narchitect's word 1\n\n### The coder:\ncoder's word 1\n\n### The reviewer:" in second[1]
    assert "word 1" not in third[1]
    assert all(f"{who}'s word 2" in third[1] for who in CAST)


def test_the_judge_sees_the_last_positions_and_the_coder_only_what_came_of_them() -> None:
    stage = Hall(passes=[3])
    Debate(rounds=2).solve(stage)
    (judged,), (coded,) = stage.prompts("judge"), stage.prompts("coder")
    assert all(f"### The {who}:\n{who}'s word 2" in judged for who in CAST)
    assert "Specification:\njudge says 0" in coded
    assert "word" not in coded


def test_a_program_that_fails_is_repaired_until_its_iterations_are_used_up() -> None:
    stage = Hall(passes=[1, 2, 2])
    assert Debate(max_iterations=3).solve(stage) == "def f(x):\n    return 3"
    prompts = stage.prompts("coder")
    assert ["It passed" in prompt for prompt in prompts] == [False, True, True]
    assert all("judge says 0" in prompt for prompt in prompts)
    assert [sampling.temperature for role, _, sampling in stage.asked if sampling and role == "coder"] == [
        0.0,
        0.8,
        0.8,
    ]


def test_several_models_take_turns_among_the_speakers() -> None:
    stage = Hall(passes=[3])
    Debate(rounds=1).solve(stage)
    assert stage.members_asked[:3] == [0, 1, 0]


def test_turns_are_as_long_as_they_may_be() -> None:
    stage = Hall(passes=[3])
    Debate(turn_tokens=100, max_tokens=900).solve(stage)
    longest = {role: sampling.max_tokens for role, _, sampling in stage.asked if sampling}
    assert longest == {"speaker": 100, "judge": 100, "coder": 900}
    assert "At most 50 words" in stage.heard[0][1]


def test_own_personas_are_added_to_those_that_come_with_koderz() -> None:
    own = "poet: {style: In verse., rules: [Rhyme.]}\ncoder: {style: In forms., rules: [Number every line.]}"
    stage = Hall(passes=[3], speaking=3)
    create("debate", {"agents": "architect, coder, poet", "personas": own, "rounds": 1}).solve(stage)
    assert [who for who, _ in stage.heard] == ["architect", "coder", "poet"]
    assert [speaker.persona.style for speaker in speakers("coder,poet", own)] == ["In forms.", "In verse."]


def test_own_personas_of_which_none_speaks_are_refused() -> None:
    with pytest.raises(PlanError, match=r"None of your personas speaks .* agents=poet\."):
        create("debate", {"personas": "poet: {style: In verse., rules: [Rhyme.]}"})


def test_a_cast_that_cannot_debate_is_refused_before_anything_is_asked() -> None:
    assert [speaker.role for speaker in speakers(USUAL)] == list(CAST)
    with pytest.raises(UnknownNameError, match="Did you mean: architect"):
        create("debate", {"agents": "architekt,coder"})
    for agents in ("coder", "coder,coder", ",".join(["coder"] * 9)):
        with pytest.raises(PlanError, match="Name 2 to 8 different personas"):
            create("debate", {"agents": agents})
    with pytest.raises(PlanError, match="`rounds` must be at most 10, not 11"):
        create("debate", {"rounds": 11})


def test_one_cast_is_one_configuration_however_it_is_written() -> None:
    assert create("debate", {"agents": " coder ,tester"}) == create("debate", {"agents": "coder,tester"})
