"""Slices on the command line: facts come from the dataset, and the table exists in every form."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

from koderz_core import open_workspace
from koderz_core.workspace.datasets import facts_of


def problem(number: int, **facts: object) -> dict[str, object]:
    name = f"plus_{number}"
    return {
        "task_id": f"mine/{number}",
        "prompt": f'def {name}(n):\n    """Return n + {number}."""\n',
        "entry_point": name,
        "asserts": [f"assert {name}(1) == {1 + number}"],
        "canonical_solution": f"    return n + {number}\n",
        **facts,
    }


@pytest.fixture
def own(koderz: Any, tmp_path: Path) -> Path:
    rows = [
        problem(1, difficulty="easy", date="2023-05-01"),
        problem(2, difficulty="easy"),
        problem(3, tags=["a", "b"]),
    ]
    file = tmp_path / "mine.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    command = ("benchmark", "--dataset", file, "--problems", "all", "--name", "mine")
    ran = koderz(
        *command, "--configuration", "direct coder=scripted/weak", "--configuration", "direct coder=scripted/strong"
    )
    assert ran.code == 0, ran.err
    return file


def test_a_benchmark_is_divided_by_the_facts_of_its_dataset(koderz: Any, own: Path) -> None:
    rows = list(csv.DictReader(StringIO(koderz("compare", "mine", "--by", "difficulty", "--format", "csv").out)))
    assert [(row["slice"], row["problems"]) for row in rows] == [("easy", "2")] * 2 + [("unknown", "1")] * 2
    assert [row["n"] for row in rows if row["baseline"] != row["configuration"]] == ["2", "0"]
    told = koderz("compare", "mine", "--by", "tag", "--format", "json").json["slices"]
    assert ([row["slice"] for row in told["rows"][::2]], told["tests"]) == (["a", "b", "unknown"], 2)
    assert any("2 differences were tested in 2 slices." in remark for remark in told["remarks"])
    said = koderz("compare", "mine", "--by", "year").out
    assert "By year: difference from" in said
    assert "These slices have too few problems" in said
    assert koderz("compare", "mine", "--by", "kind", "--format", "csv-pairs").code == 2


def test_the_same_ids_in_two_versions_of_a_dataset_are_not_the_same_problems(koderz: Any, own: Path) -> None:
    own.write_text(own.read_text().replace("Return n", "Compute n"))
    command = ("benchmark", "--dataset", own, "--problems", "all", "--name", "changed")
    assert koderz(*command, "--configuration", "direct coder=scripted/strong").code == 0
    told = koderz("compare", "mine/A", "changed", "--by", "difficulty", "--format", "json").json
    rows = told["slices"]["rows"]
    assert [(row["slice"], row["problems"]) for row in rows] == [("easy", 2)] * 2 + [("unknown", 1)] * 2
    assert (told["pairs"][0]["n"], told["slices"]["tests"], {row["n"] for row in rows}) == (0, 0, {0})


def test_without_the_dataset_the_facts_are_unknown(koderz: Any, own: Path, tmp_path: Path) -> None:
    for copy in (tmp_path / "home" / "datasets").glob("own-*"):
        copy.unlink()
    told = koderz("compare", "mine", "--by", "kind", "--format", "json").json["slices"]
    assert {row["slice"] for row in told["rows"]} == {"unknown"}
    assert "is not on this machine" in told["remarks"][0]


def test_facts_of_another_version_of_a_dataset_are_unknown() -> None:
    with open_workspace() as workspace:
        here = workspace.datasets.load("humaneval").origin
        values, notes = facts_of(workspace.datasets, [replace(here, sha256="0" * 64)], "kind")
        known, _ = facts_of(workspace.datasets, [here], "kind")
    assert (values, known["HumanEval/0"]) == ({}, ("function",))
    assert "a different version" in notes[0]


def test_problems_are_listed_by_kind_and_tag_with_their_facts(koderz: Any, own: Path) -> None:
    listed = koderz("list-problems", "--dataset", own, "--tag", "a", "--json").json["problems"]
    assert [(row["id"], row["kind"], row["tags"]) for row in listed] == [("mine/3", "function", ["a", "b"])]
    assert koderz("list-problems", "--dataset", own).out.splitlines()[1].split() == [
        *("problem", "difficulty", "date", "entry", "point", "tests", "plus", "tests")
    ]
    said = koderz("list-problems", "--dataset", own, "--kind", "module")
    assert (said.code, "None of these problems has the kind module. Kinds: function." in said.err) == (2, True)
