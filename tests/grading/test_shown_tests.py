"""Base tests that the text of a problem shows count for the score and are never held out, with any gate."""

from __future__ import annotations

from dataclasses import replace

import pytest

from koderz_core.grading.testsets import Split, TestPolicy, split, unseen
from koderz_core.records import Problem, PublicProblem, TestSet

PROMPT = "def twice(x):\n    return x\n\n# The program fails this test:\n# assert twice(3) == 6\n"
ASSERTS = [f"    assert twice({x}) == {2 * x}\n" for x in range(6)]
SHOWN = ASSERTS[3]
PROBLEM = Problem(
    PublicProblem("p/0", PROMPT, "twice", kind="repair"),
    TestSet("def check(twice):\n" + "".join(ASSERTS)),
    "def twice(x):\n    return 2 * x\n",
    samples=TestSet("def check(twice):\n" + SHOWN),
)


def parted(gate: str, problem: Problem = PROBLEM, seed: int = 0) -> Split:
    tests = split(problem, TestPolicy(gate, seed))
    assert isinstance(tests, Split)
    return tests


def asserts(tests: TestSet) -> list[str]:
    return [line for line in ASSERTS if line in tests.source]


@pytest.mark.parametrize("gate", ["tests", "split:0.5", "examples"])
def test_a_strategy_that_runs_no_gate_is_scored_on_it_apart_from_held_out_tests(gate: str) -> None:
    tests = parted(gate)
    assert asserts(tests.in_text) == [SHOWN]
    assert asserts(unseen(tests, gate_was_seen=False).base) == [line for line in ASSERTS if line != SHOWN]


@pytest.mark.parametrize("seed", range(6))
def test_a_split_has_it_in_the_gate(seed: int) -> None:
    tests = parted("split:0.5", seed=seed)
    assert SHOWN in asserts(tests.gate)
    assert len(asserts(tests.gate)) == len(asserts(tests.rest)) == 3
    assert SHOWN not in asserts(unseen(tests, gate_was_seen=True).base)


def test_a_small_split_is_the_shown_test_alone() -> None:
    assert asserts(parted("split:0.1").gate) == [SHOWN]


@pytest.mark.parametrize("gate", ["tests", "split:0.5"])
def test_without_shown_tests_all_base_tests_are_held_out(gate: str) -> None:
    tests = parted(gate, replace(PROBLEM, samples=TestSet()))
    assert (tests.in_text, tests.hidden) == (TestSet(), None)
    assert unseen(tests, gate_was_seen=False).base == PROBLEM.tests
