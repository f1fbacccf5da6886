"""The tests of a repository as gate tests and held-out tests, and what has no meaning for a repository."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as some

from koderz_core.grading.gates import EXAMPLES
from koderz_core.grading.mutation_score import MutationScores, sound_tests
from koderz_core.grading.problem_tests import Divider
from koderz_core.grading.testsets import Outside, Split, TestPolicy, score_kind, split, unseen
from koderz_core.memory.leak_guard import named_in_tests, same_problem
from koderz_core.records import Problem, PublicProblem, Repository, SourceTree, TestSet

SHOWN = "tests/test_a.py::test_failing_2"
TREE = SourceTree("0" * 64, "shapes-1.0", "MIT", {})


def task(failing: int, passing: int, name: str = "shapes-1.0/1") -> Problem:
    parts = [
        tuple(f"tests/test_a.py::test_{kind}_{at}" for at in range(number))
        for kind, number in (("failing", failing), ("passing", passing))
    ]
    public = PublicProblem(name, f"A task called {name} without words of others.", "", kind="repo", editable=("a.py",))
    repository = Repository(TREE, "", ("a.py",), *parts)
    return Problem(public, TestSet(ids=parts[0] + parts[1]), "--- a/a.py\n", repository=repository)


@given(some.integers(2, 9), some.integers(0, 9), some.floats(0.01, 0.99), some.integers(0, 99))
def test_each_part_of_a_split_has_failing_tests_and_the_seed_draws_it(
    failing: int, passing: int, fraction: float, seed: int
) -> None:
    problem, policy = task(failing, passing), TestPolicy(f"split:{fraction}", seed)
    parts = split(problem, policy)
    assert isinstance(parts, Split)
    assert parts == split(problem, policy)
    for part in (parts.gate, parts.rest):
        assert any("failing" in test for test in part.ids)
        assert list(part.ids) == [test for test in problem.tests.ids if test in part.ids]
        assert passing < 2 or any("passing" in test for test in part.ids)
    assert {*parts.gate.ids, *parts.rest.ids} == {*problem.tests.ids}
    assert not {*parts.gate.ids} & {*parts.rest.ids}
    assert score_kind(unseen(parts, gate_was_seen=True)) == "held_out"


def test_all_tests_are_the_gate_of_the_policy_tests() -> None:
    parts = split(task(1, 3), TestPolicy("tests"))
    assert isinstance(parts, Split)
    assert parts.gate == parts.base == task(1, 3).tests
    assert score_kind(unseen(parts, gate_was_seen=True)) == "oracle"


@pytest.mark.parametrize(
    ("gate", "reason"), [(EXAMPLES, "its text shows none of its tests"), ("split:0.5", "only one of its tests fails")]
)
def test_a_task_without_such_a_gate_is_left_out_with_the_reason(gate: str, reason: str) -> None:
    outside = split(task(1, 3), TestPolicy(gate))
    assert isinstance(outside, Outside)
    assert reason in outside.reason


def test_tests_that_the_text_shows_are_in_every_gate_and_are_never_held_out() -> None:
    problem = replace(task(4, 4), samples=TestSet(ids=(SHOWN,)))
    others = tuple(test for test in problem.tests.ids if test != SHOWN)
    examples = split(problem, TestPolicy(EXAMPLES))
    assert isinstance(examples, Split)
    assert (examples.gate.ids, unseen(examples, gate_was_seen=True).base.ids) == ((SHOWN,), others)
    for gate, seed in [("tests", 0), *(("split:0.3", seed) for seed in range(5))]:
        parts = split(problem, TestPolicy(gate, seed))
        assert isinstance(parts, Split)
        assert SHOWN in parts.gate.ids
        assert (parts.in_text.ids, unseen(parts, gate_was_seen=False).base.ids) == ((SHOWN,), others)
    assert isinstance(split(replace(problem, samples=problem.tests), TestPolicy("split:0.5")), Outside)


def test_the_judge_limits_the_time_unless_the_user_does() -> None:
    divider = Divider(None, None)  # type: ignore[arg-type]
    for policy, seconds in ((TestPolicy("split:0.5", by_canonical=True), None), (TestPolicy(seconds=9.0), 9.0)):
        parts = divider.divide(task(2, 2), policy)
        assert isinstance(parts, Split)
        assert {part.seconds for part in (parts.gate, parts.base)} == {seconds}


def test_patches_have_no_mutants(tmp_path) -> None:
    score = MutationScores(tmp_path, None, None).of(task(1, 1), TestPolicy())  # type: ignore[arg-type]
    assert score.mutants == 0
    assert "patch of a repository" in score.reason
    assert "patch of a repository" in str(sound_tests(task(1, 1), None, None, TestPolicy()))  # type: ignore[arg-type]


def test_tasks_without_a_function_are_not_the_same_problem() -> None:
    one, other = task(1, 1).public, replace(task(1, 1).public, id="tinydb-1.0/7", prompt="Something else entirely.")
    assert not same_problem(one, other)
    assert named_in_tests(task(1, 1)) == {"test_failing_0"}
