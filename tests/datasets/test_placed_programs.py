"""Files of contest problems in their publishers' formats, made by hand: tests, dates, limits, and what is left out."""

from __future__ import annotations

import base64
import json
import pickle
import shutil
import zlib
from collections.abc import Iterator
from pathlib import Path

import pytest
from small_problem import BWRAP, best_tier

from koderz_core.config import Settings
from koderz_core.datasets import load
from koderz_core.datasets.livecodebench import _pickled_text, _unpacked
from koderz_core.errors import DataError
from koderz_core.records import Dataset, Facts
from koderz_core.sandbox.judge import BoxedJudge

FILES = Path(__file__).parent / "programs"


@pytest.fixture(scope="module")
def judge() -> Iterator[BoxedJudge]:
    judge = BoxedJudge(best_tier(), BWRAP)
    yield judge
    judge.close()


def placed(name: str, folder: Path) -> Dataset:
    shutil.copy(FILES / f"{name}.jsonl", folder)
    return load(name, Settings(datasets_dir=folder))


def passes(judge: BoxedJudge, dataset: Dataset, place: int, program: str) -> str:
    problem = dataset.problems[place]
    return judge.check(problem, program, problem.tests).marks


def test_livecodebench(tmp_path: Path, judge: BoxedJudge) -> None:
    dataset = placed("livecodebench", tmp_path)
    total, pairs = dataset.problems
    assert (total.id, total.facts) == ("livecodebench/own100_a", Facts("easy", "", "2024-05-31", ("atcoder",)))
    assert total.samples.cases is not None
    assert total.tests.cases is not None
    assert (len(total.samples.cases), len(total.tests.cases), total.tests.cases.limits) == (1, 3, "6\n6\n6")
    assert passes(judge, dataset, 0, "input()\nprint(sum(map(int, input().split())))") == "PPP"
    assert passes(judge, dataset, 0, "print(3)") == "PFP"
    assert (pairs.public.kind, pairs.public.entry_point) == ("function", "pairs")
    assert "def pairs(nums: List[int], k: int) -> List[List[int]]:\n" in pairs.public.prompt
    right = "def pairs(nums: List[int], k): return tuple([a, b] for a, b in zip(nums, nums[1:]) if a + b == k)"
    assert passes(judge, dataset, 1, right) == "PP"  # a tuple counts as a list, as in the publisher's harness
    assert passes(judge, dataset, 1, "def pairs(nums, k): return []") == "FP"
    assert dataset.origin.licence == "cc (problems scraped)"


def test_a_function_may_be_a_method_of_the_publisher_s_class(tmp_path: Path, judge: BoxedJudge) -> None:
    dataset = placed("livecodebench", tmp_path)
    method = "def pairs(self, nums: List[int], k): return [[a, b] for a, b in zip(nums, nums[1:]) if a + b == k]"
    assert passes(judge, dataset, 1, f"class Solution:\n    {method}") == "PP"
    problem = dataset.problems[1]
    without = judge.check(problem, "def other(): pass", problem.tests)
    assert without.message.endswith("NameError: the program defines no function 'pairs'")


def test_programs_for_livecodebench_may_recurse_as_deep_as_in_the_publisher_s_harness(
    tmp_path: Path, judge: BoxedJudge
) -> None:
    dataset = placed("livecodebench", tmp_path)
    deep = "def depth(n): return n and 1 + depth(n - 1)\nassert depth(20_000) == 20_000\n"
    assert passes(judge, dataset, 0, f"{deep}input()\nprint(sum(map(int, input().split())))") == "PPP"
    pairs = "def pairs(nums, k): return tuple([a, b] for a, b in zip(nums, nums[1:]) if a + b == k)"
    assert passes(judge, dataset, 1, deep + pairs) == "PP"


def test_apps(tmp_path: Path, judge: BoxedJudge) -> None:
    dataset = placed("apps", tmp_path)
    half, largest = dataset.problems
    assert [(omitted.id, omitted.reason) for omitted in dataset.left_out] == [
        ("apps/2", "the file contains no test for this problem")
    ]
    assert (half.facts, largest.public.kind) == (Facts("introductory", tags=("example.org",)), "function")
    assert passes(judge, dataset, 0, half.canonical_solution) == "PP"  # the first that is Python 3, within a tolerance
    assert passes(judge, dataset, 0, "print(int(input()) // 2)") == "FP"
    assert passes(judge, dataset, 1, "def largest(numbers): return max(numbers)") == "PP"
    assert passes(judge, dataset, 1, "def largest(numbers): return numbers[0]") == "FP"


def test_values_that_json_has_changed_are_restored_for_apps(tmp_path: Path, judge: BoxedJudge) -> None:
    row = json.loads((FILES / "apps.jsonl").read_text().split("\n")[1])
    tests = {"inputs": [[{"3": 1}], [{"b": 2}]], "outputs": [[[[3, 1]]], [[["b", 2]]]], "fn_name": "largest"}
    counts = {"inputs": [[[3, 3]], [["b"]]], "outputs": [[{"3": 2}], {"b": 1}], "fn_name": "largest"}
    rows = [row | {"problem_id": at, "input_output": json.dumps(part)} for at, part in enumerate((tests, counts))]
    (tmp_path / "apps.jsonl").write_text("\n".join(map(json.dumps, rows)))
    dataset = load("apps", Settings(datasets_dir=tmp_path))
    assert passes(judge, dataset, 0, "def largest(numbers): return [(k, v) for k, v in numbers.items()]") == "PP"
    assert passes(judge, dataset, 0, "def largest(numbers): return [(str(k), v) for k, v in numbers.items()]") == "FP"
    assert passes(judge, dataset, 1, "def largest(numbers): return {it: numbers.count(it) for it in numbers}") == "PP"


def test_codecontests(tmp_path: Path, judge: BoxedJudge) -> None:
    dataset = placed("codecontests", tmp_path)
    greeting, roots = dataset.problems
    assert [omitted.reason for omitted in dataset.left_out] == ["its programs read or write files"]
    assert (greeting.id, roots.id) == ("codecontests/codeforces-9_A.-Greeting", "codecontests/aizu-roots")
    assert greeting.facts == Facts("800", tags=("strings", "implementation", "codeforces"))
    limits = [problem.tests.cases.limits for problem in (greeting, roots) if problem.tests.cases]
    assert limits == ["2.5\n2.5\n2.5", "3"]
    assert passes(judge, dataset, 0, greeting.canonical_solution) == "PPP"
    assert passes(judge, dataset, 1, roots.canonical_solution) == "P"
    assert passes(judge, dataset, 0, "print('Hello Ann')") == "PFF"


class Hostile:
    def __reduce__(self) -> tuple[object, tuple[str]]:
        return eval, ("open('/tmp/unpickled', 'w')",)


@pytest.mark.parametrize("content", [Hostile(), ["[]", "[]"], {"a": 1}, b"[]"], ids=lambda it: type(it).__name__)
def test_a_pickle_of_anything_but_one_text_is_refused_without_unpickling_it(content: object) -> None:
    with pytest.raises(DataError, match="field private_test_cases contains"):
        _pickled_text(pickle.dumps(content))


def test_packed_tests_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    packed = base64.b64encode(zlib.compress(pickle.dumps("[" + " " * 10_000 + "]"))).decode()
    assert json.loads(_unpacked(packed)) == []
    monkeypatch.setattr("koderz_core.datasets.livecodebench.MOST_UNPACKED_BYTES", 5000)
    with pytest.raises(DataError, match="unpacks to more than"):
        _unpacked(packed)
    with pytest.raises(DataError, match="neither JSON nor packed JSON"):
        _unpacked("no base64!")


def test_a_fault_names_file_line_and_field(tmp_path: Path) -> None:
    row = json.loads((FILES / "livecodebench.jsonl").read_text().split("\n")[0])
    (tmp_path / "livecodebench.jsonl").write_text(json.dumps(row | {"contest_date": "May 2024"}))
    with pytest.raises(DataError, match=r"livecodebench\.jsonl, line 1: field contest_date is not a date"):
        load("livecodebench", Settings(datasets_dir=tmp_path))


def test_a_problem_with_too_many_tests_is_left_out_with_the_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("koderz_core.datasets.programs.MOST_TEST_BYTES", 60)
    dataset = placed("codecontests", tmp_path)
    assert dataset.left_out[0].id == "codecontests/codeforces-9_A.-Greeting"
    assert [problem.id for problem in dataset.problems] == ["codecontests/aizu-roots"]
