"""Swarm: who is asked when, what each of them is shown, and that a tester's tests decide nothing."""

from __future__ import annotations

import pytest
from stage import Stage

from koderz_core.errors import PlanError
from koderz_core.strategies import create
from koderz_core.strategies.swarm import Swarm

TESTS = "```python\nassert f(2) == 4\nassert f(1) == 1\n```"


def on(passes: list[int], programs: list[str | None] | None = None, tests: str = TESTS) -> Stage:
    return Stage(passes, programs or [], says={"tester": tests, "critic": "<think>hm</think>Double it."})


def test_tests_come_first_then_a_program_then_critic_and_refiner_take_turns_until_it_passes() -> None:
    stage = on([0, 1, 3])
    assert Swarm().solve(stage) == "def f(x):\n    return 3"
    assert stage.roles == ["tester", "coder", "critic", "refiner", "critic", "refiner"]


def test_a_tester_and_the_first_coder_see_the_problem_alone() -> None:
    stage = on([0, 3])
    Swarm().solve(stage)
    assert "return 1" not in stage.prompts("tester")[0]
    assert stage.prompts("coder")[0].endswith("Write the function.")
    assert "f(2)" not in stage.prompts("coder")[0]


def test_the_critic_is_shown_the_program_its_gate_failures_and_which_of_the_testers_tests_it_fails() -> None:
    stage = on([2, 3])
    Swarm().solve(stage)
    prompt = stage.prompts("critic")[0]
    assert "Program:\n```python\ndef f(x):\n    return 1\n```" in prompt
    assert "It passed 2 of 3 tests" in prompt
    assert "The program passed 1 of 2 of these. Those it failed:\n- `f(2) == 4`: the call gives 1" in prompt
    assert "f(1)" not in prompt


def test_the_refiner_is_shown_the_latest_program_its_failures_and_the_critique_without_its_thinking() -> None:
    stage = on([2, 1, 3])
    Swarm().solve(stage)
    prompt = stage.prompts("refiner")[1]
    assert "Your previous attempt:\n```python\ndef f(x):\n    return 2\n```\n\nIt passed 1 of 3" in prompt
    assert "advises:\nDouble it." in prompt
    assert "hm" not in prompt.split("advises:")[1]


def test_no_program_is_preferred_or_accepted_for_the_testers_tests() -> None:
    right_by_tester, more_by_gate = "def f(x):\n    return x * x", "def f(x):\n    return 7"
    stage = on([1, 2, 1], [more_by_gate.replace("7", "8"), more_by_gate, right_by_tester])
    assert Swarm(max_iterations=3).solve(stage) == more_by_gate


def test_a_reply_without_a_program_is_not_criticised_but_tried_again() -> None:
    stage = on([0, 3], [None])
    assert Swarm().solve(stage) == "def f(x):\n    return 2"
    assert stage.roles == ["tester", "coder", "refiner"]
    assert "could not be tested" in stage.prompts("refiner")[0]


def test_without_any_tests_of_the_testers_nothing_is_run_beside_the_gate() -> None:
    stage = on([0, 3], tests="None come to mind.")
    Swarm().solve(stage)
    assert stage.probed == []
    assert "A tester" not in stage.prompts("critic")[0]


def test_programs_are_sampled_at_their_temperatures_and_advice_at_0_each_as_long_as_it_may_be() -> None:
    stage = on([0, 3])
    Swarm(max_tokens=900, review_tokens=300).solve(stage)
    asked = {role: (sampling.temperature, sampling.max_tokens) for role, _, sampling in stage.asked if sampling}
    assert asked == {"tester": (0.0, 300), "coder": (0.0, 900), "critic": (0.0, 300), "refiner": (0.8, 900)}


def test_tests_are_bounded() -> None:
    with pytest.raises(PlanError, match="`tests` must be at most 64"):
        create("swarm", {"tests": 65})
