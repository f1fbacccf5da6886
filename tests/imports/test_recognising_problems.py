"""Which problems and datasets a file means, and whose results count: koderz' or those that the file states."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from koderz_core.config import load_settings
from koderz_core.datasets.humaneval import load_humaneval

MAP = ("--map", "problem=id,prompt=question,solution=code,passed=ok")
STATED = ("--map", "problem=id,passed=ok")


def table(path: Path, *rows: Mapping[str, Any]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def outcomes(koderz: Any, said: Any) -> dict[str, tuple[str, str]]:
    assert said.code == 0, said.err
    name = said.out.rpartition("compare ")[2].split()[0]
    found = koderz("export", name, "--format", "json", "--out", "-").out.splitlines()
    return {row["problem"]: (row["outcome"], row["score_kind"]) for row in map(json.loads, found)}


def asked(number: int, **changed: Any) -> dict[str, Any]:
    """A row about a problem of HumanEval as another tool would put it, with a wrong program that "passed"."""
    problem = load_humaneval(load_settings()).problems[number]
    row = {"id": f"q{number}", "question": f"Complete this.\n\n{problem.public.prompt}", "code": "x = 1", "ok": True}
    return row | changed


def test_a_problem_with_another_id_is_recognised_by_its_prompt_and_graded(koderz: Any, tmp_path: Path) -> None:
    solution = load_humaneval(load_settings()).problems[2].canonical_solution
    file = table(tmp_path / "t.jsonl", asked(1), asked(2, code=solution, ok=False))
    said = koderz("import", file, "--dataset", "humaneval", *MAP)
    assert outcomes(koderz, said) == {
        "HumanEval/1": ("unsolved", "held_out"),
        "HumanEval/2": ("solved", "held_out"),
    }


def test_results_count_as_stated_if_the_user_says_so(koderz: Any, tmp_path: Path) -> None:
    file = table(tmp_path / "t.jsonl", asked(1), asked(2, ok=False))
    said = koderz("import", file, "--dataset", "humaneval", "--as-stated", *MAP)
    assert outcomes(koderz, said) == {
        "HumanEval/1": ("solved", "reported"),
        "HumanEval/2": ("unsolved", "reported"),
    }


def test_another_prompt_under_a_known_id_is_refused_until_the_ids_are_trusted(koderz: Any, tmp_path: Path) -> None:
    file = table(tmp_path / "t.jsonl", asked(1, id="HumanEval/1", question="Return 1."), asked(2))
    command = ("import", file, "--dataset", "humaneval", *MAP)
    said = koderz(*command)
    assert said.code == 3
    assert "and humaneval have different prompts for 1 problem: 'HumanEval/1'" in said.err
    assert "--trust-ids" in said.err
    assert outcomes(koderz, koderz(*command, "--trust-ids")).keys() == {"HumanEval/1", "HumanEval/2"}


def test_an_unknown_prompt_under_an_unknown_id_is_refused(koderz: Any, tmp_path: Path) -> None:
    file = table(tmp_path / "t.jsonl", asked(1, question="Return 1."), asked(2))
    said = koderz("import", file, "--dataset", "humaneval", "--trust-ids", *MAP)
    assert said.code == 3
    assert "1 problem that humaneval does not have: 'q1'" in said.err


def test_a_dataset_that_koderz_lacks_is_a_name_for_stated_results(koderz: Any, tmp_path: Path) -> None:
    file = table(tmp_path / "t.jsonl", {"id": "a", "ok": 1}, {"id": "b", "ok": 0})
    assert outcomes(koderz, koderz("import", file, "--dataset", "gsm8k", *STATED)) == {
        "a": ("solved", "reported"),
        "b": ("unsolved", "reported"),
    }


@pytest.mark.parametrize("name", ["humaneval++", "human-eval", "mbpp +"])
def test_a_misspelt_dataset_is_not_taken_for_another_one(koderz: Any, tmp_path: Path, name: str) -> None:
    said = koderz("import", table(tmp_path / "t.jsonl", {"id": "a", "ok": 1}), "--dataset", name, *STATED)
    assert said.code == 2
    assert "dataset" in said.err
    assert name in said.err


def test_lines_with_neither_a_program_nor_a_result_are_refused(koderz: Any, tmp_path: Path) -> None:
    rows = ({"id": "HumanEval/0", "ok": 1}, {"id": "HumanEval/1", "code": "x = 1"})
    said = koderz("import", table(tmp_path / "t.jsonl", *rows), "--map", "problem=id,passed=ok,solution=code")
    assert said.code == 3
    assert "line 1, has no program to grade, and line 2 does not state whether" in said.err


def test_a_task_that_goes_on_after_the_prompt_is_another_task(koderz: Any, tmp_path: Path) -> None:
    prompt = load_humaneval(load_settings()).problems[1].public.prompt
    row = asked(1, question=f"{prompt}    return None\n\nFix the bug.")
    said = koderz("import", table(tmp_path / "t.jsonl", row), "--dataset", "humaneval", *MAP)
    assert said.code == 3
    assert "does not have: 'q1'" in said.err


def test_stated_results_of_ids_with_two_datasets_need_the_name(koderz: Any, tmp_path: Path) -> None:
    file = table(tmp_path / "t.jsonl", {"id": "HumanEval/0", "ok": 1})
    said = koderz("import", file, *STATED)
    assert said.code == 3
    assert "humaneval+ or humaneval" in said.err
    assert koderz("import", file, "--dataset", "humaneval", *STATED).code == 0


def test_answers_without_programs_are_not_graded_against_a_file_that_states_success(
    koderz: Any, tmp_path: Path
) -> None:
    rows = [{"id": f"HumanEval/{number}", "text": "I submitted it.", "ok": 1} for number in range(3)]
    said = koderz("import", table(tmp_path / "t.jsonl", *rows), "--map", "problem=id,answer=text,passed=ok")
    assert said.code == 3
    assert "Of 3 answers" in said.err
    assert "3 contain no program" in said.err
    assert "--as-stated" in said.err
