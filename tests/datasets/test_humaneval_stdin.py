"""HumanEval as programs: which problems there are, and that their own solutions pass while others fail."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from sample import thinned
from small_problem import BWRAP, best_tier

from koderz_core.config import Settings
from koderz_core.datasets import load
from koderz_core.records import Problem
from koderz_core.sandbox.judge import BoxedJudge

DATASET = load("humaneval-stdin", Settings(humaneval_path=None))


@pytest.fixture(scope="module")
def judge() -> Iterator[BoxedJudge]:
    judge = BoxedJudge(best_tier(), BWRAP)
    yield judge
    judge.close()


def test_148_problems_have_1024_cases_and_the_others_are_left_out() -> None:
    cases = [len(problem.tests.cases) for problem in DATASET.problems if problem.tests.cases]
    assert (len(cases), sum(cases), min(cases), len(DATASET.left_out)) == (148, 1024, 2, 16)
    names = [*(problem.id for problem in DATASET.problems), *(problem.id for problem in DATASET.left_out)]
    assert sorted(names) == sorted(f"humaneval-stdin/{number}" for number in range(164))


def test_the_text_shows_the_first_case_which_is_the_only_sample() -> None:
    problem = DATASET.problems[0]
    assert problem.samples.cases is not None
    assert problem.samples.cases.calls == r'["[1.0, 2.0, 3.9, 4.0, 5.0, 2.2]\n0.3\n"]'
    assert "\nInput:\n```\n[1.0, 2.0, 3.9, 4.0, 5.0, 2.2]\n0.3\n```\n" in problem.public.prompt


PROBLEMS = thinned(DATASET.problems, "problems of HumanEval as programs")


@pytest.mark.parametrize("problem", PROBLEMS, ids=lambda problem: problem.id)
def test_the_solution_passes_and_an_empty_program_fails(problem: Problem, judge: BoxedJudge) -> None:
    assert judge.check(problem, problem.canonical_solution, problem.tests).passed
    assert judge.check(problem, "", problem.tests).tests_passed == 0
