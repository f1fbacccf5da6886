"""BigCodeBench is graded where it can be, by its own unittest classes, and refused with the reason where it cannot."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from bigcode_sample import NUMPY, ROW, WRITES, placed

from koderz_core.config import load_settings
from koderz_core.datasets.sources import lacking, require_libraries
from koderz_core.errors import DataError
from koderz_core.sandbox.judge import BoxedJudge
from koderz_core.sandbox.local_judge import Sandbox
from koderz_core.workspace.grading import require_gradable

RIGHT, NOT_SHUFFLED = (
    f"import random\ndef task_func(numbers, draw=False):\n    given = list(numbers)\n    {line}\n"
    "    return random.random() if draw else sum(given)\n"
    for line in ("random.shuffle(given)", "pass")
)


@pytest.fixture(scope="module")
def judge() -> Iterator[BoxedJudge]:
    settings = load_settings()
    sandbox = Sandbox(settings.sandbox, settings.bwrap, settings.test_timeout)
    yield sandbox.judge()
    sandbox.close()


@pytest.mark.parametrize(
    ("code", "marks"),
    [
        (RIGHT, "PPPPP"),
        (NOT_SHUFFLED, "PPPFP"),
        ("def task_func(numbers, draw=False):\n    return 1 / 0\n", "PFFFF"),
        ("import sys\ndef task_func(numbers, draw=False):\n    sys.exit(0)\n", "-----"),
    ],
)
def test_each_method_is_a_test_and_what_it_patches_and_seeds_is_the_programs(
    judge: BoxedJudge, tmp_path: Path, code: str, marks: str
) -> None:
    (problem,) = placed(tmp_path, ROW).problems
    verdict = judge.check(problem, code, problem.tests)
    assert (verdict.marks, verdict.passed, verdict.shared) == (marks, marks == "PPPPP", True)


def test_what_was_wrong_is_said_by_unittest(judge: BoxedJudge, tmp_path: Path) -> None:
    (problem,) = placed(tmp_path, ROW).problems
    assert "Called 0 times" in judge.check(problem, NOT_SHUFFLED, problem.tests).message


def test_problems_that_need_libraries_are_refused_with_the_list(tmp_path: Path) -> None:
    dataset = placed(tmp_path, ROW, NUMPY)
    assert [lacking(problem) for problem in dataset.problems] == [(), ("numpy",)]
    with pytest.raises(DataError, match=r"1 of the 2 selected problems.*: numpy \(1\).*omit.*: BigCodeBench/2\."):
        require_libraries(dataset.problems)
    require_libraries(dataset.problems[:1])


def test_what_a_program_imports_counts_though_it_is_not_listed(tmp_path: Path) -> None:
    (problem,) = placed(tmp_path, NUMPY | {"libs": "[]"}).problems
    assert lacking(problem) == ("numpy",)


def test_problems_whose_own_solution_fails_in_the_sandbox_are_refused(judge: BoxedJudge, tmp_path: Path) -> None:
    problems = placed(tmp_path, ROW, WRITES).problems
    check = lambda problem: judge.check(problem, problem.canonical_solution, problem.tests)  # noqa: E731
    with pytest.raises(DataError, match=r"fail: 1\. Failures: BigCodeBench/1 \(.*selection: BigCodeBench/1\."):
        require_gradable(problems, check)
    require_gradable(problems[:1], check)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"libs": "numpy"}, "field libs is not a list of library names"),
        ({"libs": "[1]"}, "field libs is not a list of library names"),
        (
            {"test": "class Other: pass"},
            "field test defines no class TestCases with a method whose name starts with 'test'",
        ),
        ({"test": "def ("}, "field test is not Python"),
        ({"entry_point": "other"}, "field complete_prompt does not define the entry point 'other'"),
    ],
)
def test_a_wrong_row_is_told_with_line_and_field(tmp_path: Path, wrong: dict[str, str], said: str) -> None:
    with pytest.raises(DataError, match=f"BigCodeBench.jsonl, line 1: {said}"):
        placed(tmp_path, ROW | wrong)
