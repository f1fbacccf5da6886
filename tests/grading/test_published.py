"""The publishers' own solutions, graded as any sample is: they pass base and plus tests, each apart from its tests."""

from __future__ import annotations

from pathlib import Path

import pytest
from sample import thinned

from koderz_core.grading.grader import Graded, Sample, TestKind
from koderz_core.grading.testsets import Split, TestPolicy
from koderz_core.records import Extracted, Problem
from koderz_core.workspace import Workspace, open_workspace

LARGE = ("Mbpp/630", "HumanEval/139")  # answers that only a digest stands for
EMPTY = ("Mbpp/793",)  # no plus input


def graded(workspace: Workspace, problems: list[Problem], tests: TestKind) -> list[Graded]:
    samples = [
        Sample(1, problem, Extracted(problem.canonical_solution, "solution"), {"task_id": problem.id})
        for problem in problems
    ]
    with workspace.grading.grader(2) as grader:
        return list(grader.grade(samples, dict(grader.tests(problems, tests))))


def wrong(found: list[Graded]) -> list[tuple[str, str]]:
    verdicts = [(sample.sample.problem.id, sample.verdict) for sample in found]
    return [
        (name, verdict.message if verdict else "")
        for name, verdict in verdicts
        if not (verdict and verdict.passed and not verdict.shared)
    ]


@pytest.mark.parametrize(("name", "number"), [("mbpp+", 378), ("humaneval+", 164)])
def test_all_pass_their_base_tests(test_data: Path, name: str, number: int) -> None:
    with open_workspace(datasets_dir=test_data) as workspace:
        problems = list(workspace.datasets.load(name).problems)
        tried = thinned(problems, f"published problems graded by base tests of {name}")
        found = graded(workspace, tried, "base")
    assert (len(problems), len(found), wrong(found)) == (number, len(tried), [])


@pytest.mark.parametrize("name", thinned(["mbpp+", "humaneval+"], "datasets with lenient plus tests"))
def test_those_that_need_more_than_equality_pass_their_plus_tests(test_data: Path, name: str) -> None:
    with open_workspace(datasets_dir=test_data) as workspace:
        every = workspace.datasets.load(name).problems
        special = [problem for problem in every if problem.id in LARGE + EMPTY]
        lenient = [problem for problem in every if problem.plus and (problem.plus.oracle or problem.plus.tolerance)]
        fewer = thinned(lenient, f"published problems graded by plus tests of {name}")
        tried = [*special, *thinned(fewer, f"more published problems graded by plus tests of {name}")]
        found = graded(workspace, tried, "plus")
    assert (len(special) + len(lenient) >= 4, len(found), wrong(found)) == (True, len(tried), [])


def test_floats_are_equal_in_base_asserts_as_written_and_for_plus_inputs_as_in_evalplus(test_data: Path) -> None:
    with open_workspace(datasets_dir=test_data) as workspace:
        problem = workspace.datasets.problem("HumanEval/137", "humaneval+")
        answer = "    a = exact(a, b)\n    return a * (1 + 5e-8) if isinstance(a, float) else a\n"
        program = f"{problem.canonical_solution}\n\nexact = compare_one\n\ndef compare_one(a, b):\n{answer}"
        tests = workspace.grading.divide(problem, TestPolicy(plus=True))
        assert isinstance(tests, Split)
        base, plus = (workspace.grading.judge.check(problem, program, part) for part in (tests.base, tests.plus))
    assert [failed.source for failed in base.failures] == ["assert candidate(1, 2.5) == 2.5"]
    assert plus.passed
