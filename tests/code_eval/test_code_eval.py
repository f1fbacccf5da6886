"""The metric and the rewards that other programs use."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from koderz_core import code_eval
from koderz_core.errors import DataError, UnknownNameError, UsageError
from koderz_core.grading.grader import Graded, Sample, as_program
from koderz_core.grading.testsets import no_program
from koderz_core.workspace import leave
from koderz_core.workspace.checks import Check

TESTS = "assert add(2, 3) == 5"
RIGHT, WRONG = "def add(a, b): return a + b", "def add(a, b): return a * b"
CHECK = "def check(candidate):\n    assert candidate(2, 3) == 5\n\ncheck(add)"


@pytest.fixture(autouse=True)
def _own_workspace() -> Iterator[None]:
    leave()
    yield
    leave()


def test_the_metric_gives_what_code_eval_gives_in_its_own_example() -> None:
    pass_at_k, results = code_eval.compute(references=[TESTS], predictions=[[WRONG, RIGHT]], k=[1, 2])
    assert pass_at_k == {"pass@1": 0.5, "pass@2": 1.0}
    assert [number for number, _ in results[0]] == [0, 1]
    assert results[0][1][1] == {"task_id": 0, "passed": True, "result": "passed", "completion_id": 1}
    assert results[0][0][1]["result"].startswith("failed: ")


@pytest.mark.parametrize(
    "tests",
    [
        "assert add(1, 2) == 3\nassert sub(3, 1) == 2",
        "def check(candidate):\n    assert candidate(1, 2) == 3\n    assert sub(3, 1) == 2\n\ncheck(add)",
    ],
)
def test_tests_may_use_several_names_of_a_program(tests: str) -> None:
    right = f"{RIGHT}\ndef sub(a, b): return a - b"
    candidates = [right, right.replace("a - b", "b - a"), RIGHT]
    assert code_eval.compute(references=[tests], predictions=[candidates], k=[1])[0] == {"pass@1": pytest.approx(1 / 3)}


def test_a_program_need_not_define_names_that_tests_import_with_a_star() -> None:
    tests = f"from math import *\n{CHECK.replace('== 5', '== sqrt(25)')}"
    assert code_eval.compute(references=[tests], predictions=[[RIGHT]], k=[1])[0] == {"pass@1": 1.0}


def test_pass_at_k_is_given_for_each_k_that_every_task_has_enough_candidates_for() -> None:
    pass_at_k, _ = code_eval.compute([[RIGHT, WRONG, WRONG], [RIGHT, RIGHT]], [TESTS, CHECK], k=[1, 2, 3])
    assert pass_at_k == {"pass@1": pytest.approx((1 / 3 + 1) / 2), "pass@2": pytest.approx((2 / 3 + 1) / 2)}
    assert code_eval.compute([[RIGHT], []], [TESTS, TESTS], k=[1])[0] == {}
    assert code_eval.compute([[RIGHT, WRONG]], [TESTS], k=1)[0] == {"pass@1": 0.5}  # one number, as code_eval takes it


def test_the_metric_warns_of_candidates_that_could_not_be_judged(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def grade(self: Check, kind: str, text: str) -> Graded:
        sample = Sample(1, self.problem, as_program(kind, text, self.problem), {})
        verdict = no_program(self.tests.base, "extraction") if text == WRONG else None
        return Graded(sample, verdict, trouble="" if verdict else "The worker was lost.")

    monkeypatch.setattr(Check, "grade", grade)
    assert code_eval.compute([[RIGHT, WRONG]], [TESTS], k=[1])[0] == {"pass@1": 0.0}
    assert "1 of 2 candidates could not be judged and count as failed" in caplog.text


def test_a_slow_program_times_out_and_a_program_that_ends_itself_does_not_pass() -> None:
    slow, ends = f"import time\n{RIGHT}\ntime.sleep(9)", f"{WRONG}\nimport os\nos._exit(0)"
    pass_at_k, results = code_eval.compute([[slow, ends]], [TESTS], k=[1], timeout=0.5)
    assert pass_at_k == {"pass@1": 0.0}
    assert results[0][0][1]["result"] == "timed out"


def test_references_without_tests_are_refused_with_their_place() -> None:
    with pytest.raises(DataError, match=r"references\[1\]: The tests contain no assert"):
        code_eval.compute([[RIGHT], [RIGHT]], [TESTS, "add(1, 2)"])
    with pytest.raises(DataError, match="No candidate of the task 0 could be judged"):
        code_eval.compute([[RIGHT]], [f"import no_such_module\n{TESTS}"])
    with pytest.raises(UsageError, match="1 predictions and 2 references"):
        code_eval.compute([[RIGHT]], [TESTS, TESTS])


def test_a_reward_takes_replies_and_conversations_with_a_column_of_tests() -> None:
    reply, talk = f"Here:\n```python\n{RIGHT}\n```", [{"role": "assistant", "content": WRONG}]
    assert code_eval.reward([reply, talk, "no program"], tests=[TESTS] * 3, prompts=["x"] * 3) == [1.0, 0.0, 0.0]
    with pytest.raises(UsageError, match="2 completions, but 1 values in the column tests"):
        code_eval.reward([reply, reply], tests=[TESTS])


def test_a_reward_for_a_dataset_reads_the_ids_of_problems() -> None:
    reward = code_eval.reward_for("humaneval", column="id")
    assert reward(["    return number % 1.0\n", "    return 0\n"], id=["HumanEval/2"] * 2) == [1.0, 0.0]
    with pytest.raises(UsageError, match="no column 'id'"):
        reward(["x"], task_id=["HumanEval/2"])


def test_a_reward_for_a_dataset_reads_ids_that_are_numbers_as_those_of_mbpp() -> None:
    reward = code_eval.reward_for("humaneval", column="id")
    assert reward(["    return number % 1.0\n", "    return 0\n"], id=[2, 2]) == [1.0, 0.0]
    with pytest.raises(UnknownNameError, match="Unknown problem: '999'"):
        reward(["x"], id=[999])


def test_a_number_that_ends_several_ids_names_none_of_their_problems(tmp_path: Path) -> None:
    problem = {"prompt": "def one():\n", "entry_point": "one", "canonical_solution": "    return 1\n"}
    problem |= {"asserts": ["assert one() == 1"]}
    file = tmp_path / "own.jsonl"
    file.write_text("\n".join(json.dumps({"task_id": name} | problem) for name in ("a/1", "b/1")))
    reward = code_eval.reward_for(str(file))
    assert reward(["def one(): return 1"], task_id=["b/1"]) == [1.0]
    with pytest.raises(UsageError, match="The ids of several problems end with '1': a/1, b/1"):
        reward(["def one(): return 1"], task_id=[1])
