"""Datasets, as a person lists, fetches, checks and uses them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from koderz_core.datasets.sources import SOURCES

ADD = {
    "task_id": "mine/1",
    "prompt": 'def add(a, b):\n    """Add."""\n',
    "entry_point": "add",
    "asserts": ["assert add(1, 2) == 3", "assert add(0, 0) == 0"],
    "canonical_solution": "    return a + b\n",
    "plus_input": [[5, 6]],
    "licence": "CC0-1.0",
}
WRONG = ADD | {"task_id": "mine/2", "canonical_solution": "    return a - b\n"}


def own(path: Path, *rows: object) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_problems_are_listed_with_tests_licence_and_hash(koderz: Any) -> None:
    said = koderz("list-problems", "--problems", "0:2")
    head, _, first, second = said.out.splitlines()
    assert head == "humaneval: 2 problems, licence MIT, SHA-256 1d49078ba3e2"
    assert (first.split(), second.split()[0]) == (["HumanEval/0", "has_close_elements", "7"], "HumanEval/1")


def test_problems_of_a_period_are_listed_and_planned_and_those_left_out_are_counted(
    koderz: Any, tmp_path: Path
) -> None:
    rows = [ADD | {"task_id": f"mine/{day}", **({"date": f"2024-05-{day}"} if day else {})} for day in (0, 10, 20, 30)]
    file = own(tmp_path / "my.jsonl", *rows)
    said = koderz("list-problems", "--dataset", file, "--since", "2024-05-15")
    listed = [line.split()[0] for line in said.out.splitlines()[2:4]]
    assert (listed, said.out.splitlines()[-1]) == (
        ["mine/20", "mine/30"],
        "Number of problems left out because they have no date: 1.",
    )
    period = ("--since", "2024-05-01", "--until", "2024-05-20")
    planned = koderz("benchmark", "--dataset", file, *period, "--coder", "scripted/strong", "--plan-only")
    assert ": 2 problems, 2 experiments." in planned.out
    assert "Number of problems left out because they have no date: 1." in planned.out + planned.err
    assert koderz("list-problems", "--since", "2024").code == 2


def test_problems_that_cannot_be_graded_are_named_with_the_reason(koderz: Any) -> None:
    said = koderz("list-problems", "--dataset", "humaneval-stdin", "--limit", "1")
    assert said.out.splitlines()[0].startswith("humaneval-stdin: 148 problems, licence MIT")
    assert (
        "Problems left out, each because fewer than 2 of its tests have arguments and an expected value that JSON can "
        "represent: 16 (humaneval-stdin/2, humaneval-stdin/4, "
    ) in said.out.replace("\n", " ")


def test_every_fault_of_a_file_is_named_and_hostile_text_is_harmless(koderz: Any, tmp_path: Path) -> None:
    file = own(tmp_path / "my.jsonl", ADD | {"licence": "\x1b[31m", "atoll\n\x1b]0;x": 1}, [], WRONG | {"atol": "x"})
    said = koderz("list-problems", "--file", file)
    assert (said.code, len(said.out.splitlines()), "\x1b" in said.out) == (3, 3, False)
    assert [line[:11] for line in said.out.splitlines()] == ["my.jsonl:1:", "my.jsonl:2:", "my.jsonl:3:"]
    assert "field atol: should be a valid number" in said.out
    as_json = koderz("list-problems", "--file", file, "--json")
    assert (as_json.code, as_json.out, as_json.err) == (3, "", said.out)


def test_a_sound_file_is_listed_and_its_solutions_are_run(koderz: Any, tmp_path: Path) -> None:
    file = own(
        tmp_path / "my.jsonl", ADD, WRONG, {**ADD, "task_id": "mine/3", "canonical_solution": "", "plus_input": []}
    )
    listed = koderz("list-problems", "--file", file)
    assert (listed.code, listed.out.splitlines()[2].split()) == (0, ["mine/1", "add", "2", "1"])
    said = koderz("list-problems", "--file", file, "--check")
    assert (said.code, "Solutions that pass their tests: 1 of 2. Problems without a solution: 1." in said.out) == (
        4,
        True,
    )
    assert "my.jsonl:2: field canonical_solution: the canonical solution of mine/2 fails the tests: " in said.out
    assert "; fix the solution or the tests" in said.out
    assert not (tmp_path / "home" / "datasets").exists()


def test_what_a_benchmark_on_an_own_file_records_is_found_after_the_file_is_gone(koderz: Any, tmp_path: Path) -> None:
    file = own(tmp_path / "my.jsonl", ADD)
    order = ("--dataset", file, "--problems", "all", "--coder", "scripted/strong", "--strategy", "direct")
    assert koderz("benchmark", *order).code == 0
    file.unlink()
    (row,) = koderz("results", "--json").json
    assert (row["dataset"][:7], row["licence"], row["solved"]) == ("own-my-", "CC0-1.0", 1)
    assert koderz("list-problems", "--dataset", row["dataset"]).code == 0
    shown = koderz("results", row["benchmark"]).out
    assert f"Dataset: {row['dataset']} (SHA-256 {row['dataset_sha256'][:12]}, licence CC0-1.0)." in shown


def test_a_program_is_graded_on_an_own_file(koderz: Any, tmp_path: Path) -> None:
    file = own(tmp_path / "my.jsonl", ADD)
    (tmp_path / "try.py").write_text("def add(a, b):\n    return a + b\n")
    said = koderz("grade", tmp_path / "try.py", "--problem", "mine/1", "--dataset", file, "--tests", "plus")
    assert (said.code, "1 of 1 samples passed" in said.out) == (0, True)


def test_sources_are_listed_with_address_licence_and_hash(koderz: Any) -> None:
    said = koderz("download-data", "--list").out
    for source in SOURCES.values():
        assert f"{source.dataset}: {source.url} {source.sha256}".rstrip() in said
        assert source.licence in said


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("download-data", "nothing"), 2, "Unknown dataset to download: 'nothing'"),
        (("download-data", "bigcodebench-hard"), 3, "has no SHA-256"),
        (("list-problems", "--dataset", "mbpp"), 3, "Download it with: koderz download-data mbpp"),
        (("list-problems", "--dataset", "mpbb"), 2, "To use your own file, give its path"),
        (("list-problems", "--file", "x.jsonl", "--dataset", "mbpp"), 2, "--file replaces --dataset"),
        (("list-problems", "--file", "x.jsonl"), 3, "x.jsonl cannot be read"),
        (("list-problems", "--dataset", "x.jsonl"), 3, "x.jsonl cannot be read"),
    ],
)
def test_what_cannot_be_had_is_told_with_the_way_to_it(koderz: Any, arguments: Any, code: int, said: str) -> None:
    answer = koderz(*arguments)
    assert (answer.code, said in answer.err) == (code, True)


def test_offline_nothing_is_fetched(koderz: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KODERZ_OFFLINE", "1")
    answer = koderz("download-data")
    assert (answer.code, "KODERZ_OFFLINE is set" in answer.err) == (3, True)
