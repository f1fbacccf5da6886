"""What `koderz serve` answers: verdicts in its own and in SandboxFusion's shapes, results, and launched benchmarks."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from bad_fields import AUTHORIZED, LAUNCH, TOKEN
from served import ADDING, Served, serving

from koderz_core import open_workspace


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    with serving(open_workspace(home=tmp_path / "home")) as served:
        yield served


def test_programs_are_graded_in_the_order_of_the_request(served: Served) -> None:
    wrong = ADDING | {"solution": "def add(a, b): return a - b", "id": "second"}
    reply = ADDING | {"answer": "Here:\n```python\ndef add(a, b):\n    return a + b\n```", "id": "third"}
    del reply["solution"]
    completion = {"dataset": "humaneval", "problem": "HumanEval/2", "completion": "    return number % 1.0\n"}
    results = served.grade(ADDING, wrong, reply, completion)
    assert [result["passed"] for result in results] == [True, False, True, True]
    assert [result["id"] for result in results] == ["", "second", "third", ""]
    assert results[1]["message"] == "assert add(1, 2) == 3 was not so: got -1, expected 3"


def test_a_reply_is_submitted_in_the_shape_of_sandbox_fusion(served: Served) -> None:
    reply = "```python\ndef truncate_number(number: float) -> float:\n    return number % 1.0\n```"
    request = {"dataset": "humaneval_python", "id": 2, "completion": reply, "config": {"language": "python"}}
    answer = served.post("/submit", request).json
    assert (answer["id"], answer["accepted"], answer["extracted_type"]) == (2, True, "fenced")
    assert answer["tests"][0]["exec_info"]["run_result"]["return_code"] == 0
    refused = served.post("/submit", request | {"completion": "I cannot."}).json
    assert (refused["accepted"], refused["extracted_type"], refused["extra"]["passed"]) == (False, "empty", False)


@pytest.mark.parametrize(
    ("code", "status", "result"),
    [
        ("print(input() * 2)", "Success", ("Finished", 0, "abab\n")),
        ("import sys\nprint('x')\nsys.exit(3)", "Failed", ("Finished", 3, "x\n")),
        ("print('x')\n1 / 0", "Failed", ("Finished", 1, "x\n")),
        ("import os\nos._exit(0)", "Failed", ("Finished", 1, "")),
        ("while True: pass", "Failed", ("TimeLimitExceeded", 1, "")),
        ("open('/etc/passwd')", "Failed", ("Finished", 1, "")),
    ],
)
def test_a_program_runs_in_the_shape_of_sandbox_fusion(
    served: Served, code: str, status: str, result: tuple[str, int, str]
) -> None:
    request = {"code": code, "language": "python", "stdin": "ab", "run_timeout": 1, "memory_limit_MB": 1024}
    answer = served.post("/run_code", request).json
    ran = answer["run_result"]
    assert (answer["status"], ran["status"], ran["return_code"], ran["stdout"]) == (status, *result[:1], *result[1:])
    assert bool(ran["stderr"]) is (status == "Failed")


def test_a_benchmark_is_launched_and_its_results_are_those_of_the_commands(koderz: Callable[..., Any]) -> None:
    with serving(open_workspace(serve_token=TOKEN)) as served:
        launched = served.post("/v1/benchmarks", LAUNCH | {"problems": "0:2", "name": "sent"}, **AUTHORIZED)
        assert launched.status == 202, launched.text
        assert launched.json["experiments"] == 2
        benchmark = launched.json["benchmark"]
        while served.get("/v1/benchmarks", **AUTHORIZED).json[0]["holder"]:
            time.sleep(0.05)
        found = {
            path: served.get(f"/v1/{path}", **AUTHORIZED)
            for path in (
                f"benchmarks/{benchmark}", "benchmarks/sent/experiments", "comparison", "tables/experiments?of=sent",
            )
        }  # fmt: skip
        answers = list(found.values())
    assert answers[0].json == koderz("results", benchmark, "--json").json
    assert answers[1].json == koderz("results", benchmark, "--experiments", "--json").json
    assert answers[2].json == koderz("compare", "--format", "json").json
    assert answers[3].text == koderz("export", "sent", "--format", "json", "--out", "-").out
