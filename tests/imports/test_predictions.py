"""Patches of repository tasks: graded from a file, and as predictions for SWE-bench in and out. The judge is a fake."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from repository_sample import BROKEN, FAULT, GOLD, PATH, SOURCE, row, write

from koderz_core.config import Settings
from koderz_core.patches import PatchError, apply_patch
from koderz_core.records import Problem, TestSet, Verdict
from koderz_core.sandbox.judge import BoxedJudge


@pytest.fixture(autouse=True)
def _fake_judge(monkeypatch: pytest.MonkeyPatch) -> None:
    """A patch passes if it gives the correct tree."""
    real = BoxedJudge.check

    def check(judge: BoxedJudge, problem: Problem, code: str, tests: TestSet) -> Verdict:
        if problem.repository is None:  # the self-test of the sandbox
            return real(judge, problem, code, tests)
        try:
            passed = apply_patch(code, problem.public.files)[PATH] == SOURCE
        except PatchError as error:
            return Verdict("-" * len(tests.ids), (), False, "exception", str(error), 0.0, "hardened")
        marks = "".join("P" if passed or "Circle" in test else "F" for test in tests.ids)
        return Verdict(marks, (), True, None if passed else "assertion", "", 0.1, "hardened")

    monkeypatch.setattr(BoxedJudge, "check", check)


def _lines(folder: Path, *rows: dict[str, Any]) -> Path:
    file = folder / "predictions.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in rows))
    return file


NAMED = {"instance_id": "shapes-1.0/1", "model_name_or_path": "agent"}
GIT = f"diff --git a/{PATH} b/{PATH}\nindex 1111111..2222222 100644\n{GOLD}"


@pytest.mark.parametrize(
    ("sample", "passed"),
    [
        (NAMED | {"model_patch": GIT}, True),
        (NAMED | {"model_patch": ""}, False),
        (NAMED | {"model_patch": None}, False),
        (NAMED | {"model_patch": FAULT}, False),
        ({"task_id": "shapes-1.0/1", "solution": GOLD}, True),
    ],
)
def test_a_patch_is_graded(tmp_path: Path, settings: Settings, koderz: Any, sample: Any, passed: bool) -> None:
    dataset = write(tmp_path, settings)
    said = koderz("grade", _lines(tmp_path, sample), "--dataset", dataset, "--out", tmp_path / "out.jsonl")
    assert said.code == (0 if passed else 4), said.err
    graded = json.loads((tmp_path / "out.jsonl").read_text())
    assert (graded["passed"], graded["tests_total"]) == (passed, 4)


def test_a_patch_file_is_graded_with_its_own_line_ends(tmp_path: Path, settings: Settings, koderz: Any) -> None:
    file = tmp_path / "gold.diff"
    file.write_text(GOLD)
    dataset = write(tmp_path, settings)
    assert koderz("grade", file, "--problem", "shapes-1.0/1", "--dataset", dataset).code == 0
    assert "is one patch. Name the problem" in koderz("grade", file, "--dataset", dataset).err


@pytest.mark.parametrize(
    ("sample", "said"),
    [
        ({"instance_id": "other", "model_patch": GOLD}, "line 1: unknown instance_id 'other'"),
        ({"task_id": "shapes-1.0/1", "completion": "x"}, "asks for a patch, which cannot be a completion"),
        (NAMED | {"model_patch": 3}, "line 1: model_patch is not text"),
    ],
)
def test_a_wrong_sample_is_named(tmp_path: Path, settings: Settings, koderz: Any, sample: Any, said: str) -> None:
    assert said in koderz("grade", _lines(tmp_path, sample), "--dataset", write(tmp_path, settings)).err


def test_predictions_become_a_benchmark_and_come_back(tmp_path: Path, settings: Settings, koderz: Any) -> None:
    dataset = write(tmp_path, settings, row(settings), row(settings, task_id="shapes-1.0/2"))
    rows = [NAMED | {"model_patch": GOLD}, NAMED | {"instance_id": "shapes-1.0/2", "model_patch": ""}]
    file = _lines(tmp_path, *rows)
    said = koderz("import", file, "--dataset", dataset, "--name", "agents")
    assert said.code == 0, said.err
    rated = koderz("export", "agents", "--format", "json", "--columns", "outcome", "--out", "-").out
    assert sorted(json.loads(line)["outcome"] for line in rated.splitlines()) == ["solved", "unsolved"]
    out = koderz("export", "agents", "--format", "swebench", "--out", "-").out
    assert [json.loads(line) for line in out.splitlines()] == rows


def test_programs_are_no_predictions(tmp_path: Path, koderz: Any) -> None:
    sample = {"task_id": "HumanEval/0", "solution": BROKEN, "model": "m"}
    koderz("import", _lines(tmp_path, sample), "--dataset", "humaneval", "--name", "programs")
    said = koderz("export", "programs", "--format", "swebench", "--out", "-")
    assert said.code == 2
    assert "has problems of the kind function" in said.err
