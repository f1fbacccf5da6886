"""Programs to repair, modules and classes: the published solutions pass, faulty programs, stubs and nothing do not."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest
from kinds_sample import place
from sample import thinned

from koderz_core.config import load_settings
from koderz_core.datasets import load
from koderz_core.datasets.exercism import STUB_PASSES
from koderz_core.datasets.sources import lacking
from koderz_core.records import Problem
from koderz_core.sandbox.judge import BoxedJudge
from koderz_core.sandbox.local_judge import Sandbox
from koderz_core.workspace import open_workspace

SIZES = {"humanevalfix": 164, "quixbugs": 40, "exercism": 139, "classeval": 76}  # that can be graded
SOON = 1.0  # seconds after which a faulty program is stopped: some never end


@pytest.fixture(scope="module")
def judge() -> Iterator[BoxedJudge]:
    settings = load_settings()
    sandbox = Sandbox(settings.sandbox, settings.bwrap, settings.test_timeout)
    yield sandbox.judge()
    sandbox.close()


def passing(judge: BoxedJudge, problems: Sequence[Problem], codes: Sequence[str], seconds: float = 30.0) -> list[str]:
    def passes(problem: Problem, code: str) -> bool:
        return judge.check(problem, code, replace(problem.tests, seconds=seconds)).passed

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        passed = pool.map(passes, problems, codes)
        return [problem.id for problem, right in zip(problems, passed, strict=True) if right]


def gradable(folder: Path, name: str) -> list[Problem]:
    problems = load(name, load_settings(datasets_dir=folder)).problems
    return [problem for problem in problems if not (lacking(problem) or problem.obstacle)]


@pytest.mark.parametrize("name", SIZES)
def test_solutions_pass_and_given_programs_and_nothing_fail(judge: BoxedJudge, tmp_path: Path, name: str) -> None:
    problems = gradable(place(tmp_path), name)
    assert problems
    assert passing(judge, problems, [problem.canonical_solution for problem in problems]) == [
        problem.id for problem in problems
    ]
    assert passing(judge, problems, [problem.public.given for problem in problems], SOON) == []
    assert passing(judge, problems, ["" for _ in problems], SOON) == []


@pytest.mark.parametrize("name", SIZES)
def test_published_solutions_pass_and_given_programs_fail(judge: BoxedJudge, test_data: Path, name: str) -> None:
    every = gradable(test_data, name)
    assert len(every) == SIZES[name]
    tried = thinned(thinned(every, f"published problems of {name}"), f"more published problems of {name}")
    assert passing(judge, tried, [problem.canonical_solution for problem in tried]) == [item.id for item in tried]
    complete = [problem for problem in tried if STUB_PASSES in problem.facts.tags]
    assert passing(judge, complete, [item.public.given for item in complete]) == [item.id for item in complete]
    faulty = [problem for problem in tried if problem not in complete]
    assert passing(judge, faulty, [problem.public.given for problem in faulty], SOON) == []
    assert passing(judge, tried, ["" for _ in tried], SOON) == []


def test_evalplus_solutions_pass_the_plus_tests_of_humanevalfix(test_data: Path) -> None:
    with open_workspace(datasets_dir=test_data) as workspace:
        every = workspace.datasets.load("humanevalfix+").problems
        tried = thinned(thinned(every, "plus tests of humanevalfix+"), "more plus tests of humanevalfix+")
        failed = [solution.problem for solution in workspace.grading.check_solutions(tried) if not solution.passed]
    assert failed == []


def test_the_faulty_program_fails_the_shown_test(judge: BoxedJudge, test_data: Path) -> None:
    every = load("humanevalfix+tests", load_settings(datasets_dir=test_data)).problems
    tried = thinned(thinned(every, "shown tests of humanevalfix+tests"), "more shown tests of humanevalfix+tests")
    shown = [replace(problem, tests=problem.samples) for problem in tried]
    assert passing(judge, shown, [problem.public.given for problem in tried], SOON) == []
