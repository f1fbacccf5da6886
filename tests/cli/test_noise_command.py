"""Sources of uncertainty on the command line, with and without repeats."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

CONFIGURATIONS = ("--configuration", "direct coder=scripted/weak", "--configuration", "direct coder=scripted/strong")


@pytest.mark.parametrize("repeats", [1, 3])
def test_the_parts_of_the_standard_error_need_repeats(koderz: Any, repeats: int) -> None:
    plan = ("--problems", "0:8", "--repeats", str(repeats), "--name", "noisy", "--no-baselines")
    assert koderz("benchmark", "--dataset", "humaneval", *plan, *CONFIGURATIONS).code == 0
    found = koderz("compare", "noisy", "--noise", "--format", "json").json["noise"]
    pair = found["sources"][-1]
    assert (pair["letter"], pair["problems"], found["dataset_problems"]) == ("B", 8, 164)
    assert (pair["data_error"] is None) == (repeats == 1)
    shown = koderz("compare", "noisy", "--noise").out
    assert "Sources of uncertainty (standard errors in percentage points)" in shown
    assert "Problems by their share of the variance of B - A" in shown
    assert ("run the benchmark with --repeats 2 or more" in " ".join(shown.split())) == (repeats == 1)
    assert "Item-rest correlations need at least 6 configurations" in shown


@pytest.mark.parametrize("problems", ["0:2", "all"])
def test_problems_without_gate_tests_are_not_further_problems(koderz: Any, tmp_path: Path, problems: str) -> None:
    rows = [
        {
            "task_id": f"mine/{number}",
            "prompt": f'def plus_{number}(n):\n    """Return n + {number}{example}."""\n',
            "entry_point": f"plus_{number}",
            "asserts": [f"assert plus_{number}(1) == {1 + number}"],
            "canonical_solution": f"    return n + {number}\n",
        }
        for number, example in enumerate((*(f" (plus_{number}(9) == {9 + number})" for number in range(3)), ""))
    ]
    file = tmp_path / "mine.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    retry = ("--configuration", "retry coder=scripted/strong gate=examples", "--no-baselines")
    assert koderz("benchmark", "--dataset", file, "--problems", problems, *retry).code == 0
    found = koderz("compare", "--noise", "--format", "json").json
    assert found["configurations"][0]["planned"] == (2 if problems == "0:2" else 3)
    assert found["noise"]["dataset_problems"] == 3


def test_the_tables_are_not_available_as_csv(koderz: Any) -> None:
    refused = koderz("compare", "--noise", "--format", "csv")
    assert (refused.code, "--noise is not available as CSV" in refused.err) == (2, True)
