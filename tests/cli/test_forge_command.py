"""``koderz forge``: its output, its errors, and a dataset that other commands load."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from koderz_core.cli import main
from koderz_core.config import load_settings
from koderz_core.datasets import load

MODULE = """def total(numbers):
    result = 0
    for number in numbers:
        if number is None:
            continue
        result = result + number
    return result


def label(number):
    if number < 0:
        return "negative"
    if number == 0:
        return "zero"
    return "positive"
"""
TESTS = """import pytest
from sums import label, total


@pytest.mark.parametrize(("number", "name"), [(-2, "negative"), (-1, "negative"), (0, "zero"), (1, "positive")])
def test_label(number, name):
    assert label(number) == name


def test_total():
    assert total([1, 2]) == 3


def test_total_of_more():
    assert total([1, 2, None, 4]) == 7


def test_total_of_none():
    assert total([]) == 0


def test_total_of_one():
    assert total([5]) == 5
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "sums"
    place.mkdir()
    (place / "sums.py").write_text(MODULE)
    (place / "test_sums.py").write_text(TESTS)
    return place


def run(*arguments: object) -> int:
    with pytest.raises(SystemExit) as ended:
        main([str(argument) for argument in arguments])
    return int(ended.value.code or 0)


def test_a_folder_becomes_tasks_that_the_judge_accepts(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    home = tmp_path / "home"
    assert run("forge", folder, "--tasks", 1, "--least-failing", 1, "--workers", 1, "--json", "--data-dir", home) == 0
    made = json.loads(capsys.readouterr().out)
    assert (made["tasks"], made["sources"][0]["tests"]) == (1, 8)
    problems = load(made["dataset"], load_settings(home=home)).problems
    assert [problem.public.kind for problem in problems] == ["repo"]
    assert run("list-problems", "--dataset", made["dataset"], "--check", "--data-dir", home) == 0
    assert "Solutions that pass their tests: 1 of 1" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "code", "fault"),
    [
        (["nothing-there"], 2, "NAME==VERSION"),
        (["standard", "a==1"], 2, "is the name of a set"),
        (["a==1", "a==1"], 2, "given twice"),
        (["a==1", "--output", "tasks.txt"], 3, ".jsonl"),
        (["a==1", "--output", "no/folder/tasks.jsonl"], 3, "Create the folder"),
        (["a==1", "--index", "https://example.org/simple"], 3, "KODERZ_OFFLINE"),
        (["a==1", "--index", "ftp://example.org"], 3, "the scheme of the address is not http, https or file"),
    ],
)
def test_an_invalid_request_is_refused_with_what_to_do(
    arguments: list[str],
    code: int,
    fault: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("KODERZ_OFFLINE", "1")
    assert run("forge", *arguments) == code
    assert fault in capsys.readouterr().err
