"""``koderz grade``, as a person calls it."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from koderz_core.config import Settings
from koderz_core.datasets import load

PROBLEMS = {problem.id: problem for problem in load("humaneval", Settings()).problems[:3]}
KODERZ = (sys.executable, "-c", "from koderz_core.cli import main; main()")
WRONG = "def has_close_elements(numbers, threshold):\n    return True\n"


def samples(path: Path, *rows: object) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def right(number: int, **more: object) -> dict[str, object]:
    name = f"HumanEval/{number}"
    return {"task_id": name, "solution": PROBLEMS[name].canonical_solution, **more}


def rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


@pytest.mark.parametrize(
    ("code", "exit_code", "said"),
    [(PROBLEMS["HumanEval/0"].canonical_solution, 0, "1 of 1 samples passed"), (WRONG, 4, "assertion")],
)
def test_one_program_is_graded_on_its_problem(
    koderz: Any, tmp_path: Path, code: str, exit_code: int, said: str
) -> None:
    (tmp_path / "try.py").write_text(code)
    answer = koderz("grade", tmp_path / "try.py", "--problem", "HumanEval/0")
    assert (answer.code, said in answer.out) == (exit_code, True)


@pytest.mark.parametrize(("head", "encoding"), [("", "utf-8-sig"), ("# coding: latin-1\nNAME = 'Zoë'\n", "latin-1")])
def test_a_program_is_read_as_python_reads_it(koderz: Any, tmp_path: Path, head: str, encoding: str) -> None:
    code = head + PROBLEMS["HumanEval/0"].canonical_solution
    (tmp_path / "try.py").write_text(code, encoding=encoding)
    assert koderz("grade", tmp_path / "try.py", "--problem", "HumanEval/0").code == 0


def test_samples_are_graded_and_written_with_their_own_keys_in_their_order(koderz: Any, tmp_path: Path) -> None:
    file = samples(tmp_path / "s.jsonl", right(2, model="m"), {"task_id": "HumanEval/0", "answer": WRONG}, right(1))
    said = koderz("grade", file, "--out", tmp_path / "results.jsonl", "--workers", "2")
    written = rows(tmp_path / "results.jsonl")
    assert (said.code, [row["passed"] for row in written]) == (4, [True, False, True])
    assert written[0]["model"] == "m"
    assert {"tests_passed", "tests_total", "error", "message", "seconds", "tier"} <= written[1].keys()
    assert (written[1]["error"], written[1]["tests_total"]) == ("assertion", 7)
    assert "2 of 3 samples passed: 67 % [21, 94] (95 % interval)" in said.out


def test_a_key_that_a_program_gives_back_is_not_written_down(
    koderz: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-quokka-zebra")
    leaking = "def has_close_elements(*_):\n    return 'sk-quokka-' + 'zebra'\n"
    file = samples(tmp_path / "s.jsonl", {"task_id": "HumanEval/0", "solution": leaking})
    said = koderz("grade", file, "--out", tmp_path / "results.jsonl")
    (row,) = rows(tmp_path / "results.jsonl")
    assert "[secret]" in row["message"]
    assert "sk-quokka-zebra" not in said.out + row["message"]
    assert f"Isolation: {row['tier']}, self-test " in said.err


def test_programs_can_be_read_by_programs(koderz: Any, tmp_path: Path) -> None:
    said = koderz("grade", samples(tmp_path / "s.jsonl", right(0), right(0)), "--json")
    assert (said.json["passed"]["successes"], said.json["passed"]["n"], said.json["errors"]) == (2, 2, {})


def test_several_samples_of_one_problem_are_said_to_be_not_independent(koderz: Any, tmp_path: Path) -> None:
    said = koderz("grade", samples(tmp_path / "s.jsonl", right(0), right(0)))
    assert "not independent" in said.err


def test_nothing_is_graded_while_a_line_is_bad(koderz: Any, tmp_path: Path) -> None:
    file = samples(tmp_path / "s.jsonl", right(0), {"task_id": "HumanEval/999", "solution": "x"})
    said = koderz("grade", file, "--out", tmp_path / "results.jsonl")
    assert (said.code, (tmp_path / "results.jsonl").exists()) == (3, False)
    assert "line 2: unknown task_id 'HumanEval/999'" in said.err


def test_bad_lines_are_skipped_on_request_and_named(koderz: Any, tmp_path: Path) -> None:
    said = koderz("grade", samples(tmp_path / "s.jsonl", right(0), [1]), "--skip-bad")
    assert (said.code, "1 of 1 samples passed" in said.out) == (0, True)
    assert "line 2: not a JSON object" in said.err


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("try.py",), 2, "--problem HumanEval/0"),
        (("try.py", "--problem", "0:2"), 2, "names 2 problems"),
        (("none.py", "--problem", "0"), 3, "none.py cannot be read"),
        (("s.jsonl", "--tests", "plus"), 2, "HumanEval/0 has no plus tests"),
        (("s.jsonl", "--out", "none/results.jsonl"), 3, "results.jsonl cannot be written"),
        (("s.jsonl", "--dataset", "mbppp"), 2, "mbpp+"),
    ],
)
def test_what_cannot_be_graded_is_told_with_what_to_do(
    koderz: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], code: int, said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "try.py").write_text(WRONG)
    samples(tmp_path / "s.jsonl", right(0))
    answer = koderz("grade", *arguments)
    assert (answer.code, said in answer.err) == (code, True), answer.err


def test_what_was_there_stays_whole_if_grading_fails(koderz: Any, tmp_path: Path) -> None:
    out = samples(tmp_path / "results.jsonl", {"earlier": 1})
    koderz("grade", samples(tmp_path / "s.jsonl", right(0)), "--tests", "plus", "--out", out)
    assert rows(out) == [{"earlier": 1}]
    assert [path.name for path in tmp_path.glob(".*")] == []


def test_ctrl_c_ends_what_is_judged_and_writes_nothing(tmp_path: Path) -> None:
    rows = (right(0), *({"task_id": "HumanEval/0", "solution": "while True: pass"} for _ in range(20)))
    arguments = ["grade", samples(tmp_path / "s.jsonl", *rows), "--out", tmp_path / "results.jsonl", "--workers", "2"]
    koderz = subprocess.Popen([*KODERZ, *map(str, arguments)], stderr=subprocess.PIPE, text=True)
    assert koderz.stderr is not None
    koderz.stderr.readline()  # it has begun
    time.sleep(0.3)
    koderz.send_signal(signal.SIGINT)
    said = koderz.communicate(timeout=20)[1]
    assert (koderz.returncode, "Nothing was written" in said) == (130, True)
    assert [path.name for path in tmp_path.glob("*results*")] == []


def test_plus_tests_of_a_placed_dataset_are_run_after_its_base_tests(
    koderz: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    row = {
        "task_id": "Mbpp/1",
        "prompt": '"""Halve."""\n',
        "entry_point": "half",
        "atol": 0,
        "canonical_solution": "def half(x):\n    return x / 2\n",
        "assertion": "assert half(4) == 2",
        "plus_input": [[3], [4]],
    }
    samples(tmp_path / "MbppPlus.jsonl", row)
    monkeypatch.setenv("KODERZ_DATASETS_DIR", str(tmp_path))
    programs = ["return x / 2", "return x // 2"]
    file = samples(
        tmp_path / "s.jsonl", *({"task_id": "Mbpp/1", "solution": f"def half(x): {body}"} for body in programs)
    )
    koderz("grade", file, "--dataset", "mbpp+", "--tests", "plus", "--out", tmp_path / "results.jsonl")
    written = rows(tmp_path / "results.jsonl")
    assert [(entry["base_passed"], entry["passed"], entry["tests_passed"]) for entry in written] == [
        (True, True, 3),
        (True, False, 2),
    ]
