"""Own files with programs: the example of the guide works, and every fault is named with line, field and cure."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from small_problem import BWRAP, best_tier

from koderz_core.datasets.own_problems import read_own
from koderz_core.records import Facts
from koderz_core.sandbox.judge import BoxedJudge

GUIDE = Path(__file__).parents[2] / "docs" / "datasets.md"
ROW = {
    "task_id": "mine/sum",
    "kind": "program",
    "prompt": "Read two numbers and print their sum.",
    "cases": [{"input": "1 2\n", "output": "3\n"}, {"input": "0 0\n", "output": "0\n"}],
    "canonical_solution": "print(sum(map(int, input().split())))\n",
}


@pytest.fixture(scope="module")
def judge() -> Iterator[BoxedJudge]:
    judge = BoxedJudge(best_tier(), BWRAP)
    yield judge
    judge.close()


def faults(**wrong: object) -> list[str]:
    row = {name: value for name, value in {**ROW, **wrong}.items() if value is not None}
    return [fault.describe("my.jsonl") for fault in read_own(json.dumps(row).encode()).faults]


def test_the_example_of_the_guide_is_a_dataset_whose_solutions_pass(judge: BoxedJudge) -> None:
    section = GUIDE.read_text().partition("## Programs that read standard input")[2].partition("\n## ")[0]
    (example,) = re.findall(r"```json\n(.*?)```", section, re.DOTALL)
    reading = read_own(example.encode())
    assert reading.faults == ()
    assert {problem.public.kind for problem in reading.problems} == {"program"}
    for problem in reading.problems:
        assert judge.check(problem, problem.canonical_solution, problem.tests).passed
        assert not judge.check(problem, "print(0)", problem.tests).passed


def test_a_row_may_state_samples_a_limit_a_checker_and_facts() -> None:
    more = {"samples": ROW["cases"][:1], "time_limit": 2, "checker": "exact"}
    facts = {"difficulty": "easy", "topic": "sums", "date": "2024-05-31", "tags": ["a", "b"]}
    (problem,) = read_own(json.dumps(ROW | more | facts).encode()).problems
    assert problem.samples.cases is not None
    assert problem.tests.cases is not None
    assert (len(problem.samples.cases), problem.tests.cases.limits) == (1, "2\n2")
    assert "Comparison('exact', 0.0)" in problem.tests.source
    assert problem.facts == Facts("easy", "sums", "2024-05-31", ("a", "b"))


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"kind": "script"}, "kind: is not a kind that koderz reads: 'script'; write one of function, repair"),
        ({"cases": None}, "cases: is missing; write [{"),
        ({"cases": []}, "cases: should have at least 1 item"),
        ({"cases": [{"input": "1"}]}, "cases: item 1 field output is missing; write [{"),
        ({"cases": [{"input": "1", "output": 1}]}, "cases: item 1 field output should be a valid string"),
        ({"cases": [ROW["cases"][0], {"input": "1 2\n", "output": "4"}]}, "cases: item 2 repeats an earlier input"),
        (
            {"samples": [{"input": "1 2\n", "output": "4"}]},
            "samples: item 1 repeats an earlier input with a different output",
        ),
        ({"entry_point": "main"}, "entry_point: is not run: 'main'; omit the field"),
        ({"time_limit": -1}, "time_limit: should be greater than or equal to 0"),
        (
            {"checker": "close"},
            "checker: is not a checker that koderz knows: 'close'; write one of lines, tokens, exact",
        ),
        ({"checker": "exact", "tolerance": 0.1}, "tolerance: has no effect with the checker exact; omit it"),
        ({"canonical_solution": "print("}, "canonical_solution: is not Python"),
        ({"date": "May 2024"}, "date: is not a date: 'May 2024'; write the day"),
        ({"sample": []}, "sample: is not a field of this format; did you mean samples?"),
    ],
)
def test_a_fault_is_named_with_its_field_and_cure(wrong: dict[str, object], said: str) -> None:
    first, *_ = faults(**wrong)
    assert first.startswith(f"my.jsonl:1: field {said}")
