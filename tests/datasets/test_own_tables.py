"""Tables with other names of columns are datasets, and koderz keeps them in its own format."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from pandas import DataFrame

from koderz_core import open_workspace
from koderz_core.datasets.own_problems import read_path
from koderz_core.errors import DataError, UsageError

ROWS = [
    {
        "name": 1,
        "text": 'def add(a, b):\n    """Add."""\n',
        "func": "add",
        "checks": ["assert add(1, 2) == 3"],
        "info": {"by": "    return a + b\n"},
        "inputs": [[1, 2]],
        "level": 1500,
        "tags": ["sums"],
    },
    {
        "name": 2,
        "text": 'def neg(a):\n    """Negate."""\n',
        "func": "neg",
        "checks": ["assert neg(1) == -1"],
        "info": {"by": "    return -a\n"},
        "inputs": None,
        "level": None,
        "tags": None,
    },
]
MAP = ("task_id=name", "prompt=text,entry_point=func", "asserts=checks", "plus_input=inputs", "difficulty=level")


def written(folder: Path, ending: str, rows: list[dict[str, Any]]) -> tuple[str, tuple[str, ...]]:
    """A file with these rows, and the mapping of its columns. In CSV, lists are texts and nothing is nested."""
    file, frame = folder / f"table.{ending}", DataFrame(rows).astype({"level": "Int64"})
    if ending == "csv":
        frame["info"] = [row["info"]["by"] for row in rows]
        frame.to_csv(file, index=False)
        return str(file), (*MAP, "canonical_solution=info")
    if ending == "parquet":
        frame.to_parquet(file)
    else:
        file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(file), (*MAP, "canonical_solution=info.by")


def test_the_same_table_in_three_formats_is_the_same_dataset(tmp_path: Path) -> None:
    with open_workspace(home=tmp_path) as workspace:
        found = [workspace.datasets.load(*written(tmp_path, end, ROWS)) for end in ("csv", "parquet", "jsonl")]
        kept = workspace.datasets.load(found[0].origin.name)
    assert found[0] == found[1] == found[2] == kept
    first, second = kept.problems
    assert (first.id, first.facts.difficulty, first.facts.tags, second.facts.difficulty) == ("1", "1500", ("sums",), "")
    assert first.plus is not None
    assert (first.plus.inputs, second.plus) == ("[[1, 2]]", None)


def test_a_constant_is_in_every_row_and_an_empty_one_leaves_a_field_out(tmp_path: Path) -> None:
    file, mapping = written(tmp_path, "csv", ROWS)
    reading = read_path(Path(file), ",".join([*mapping, "kind:=repair,given=text,tags:=,licence:=MIT"]))
    assert [(problem.public.kind, problem.facts.tags) for problem in reading.problems] == [("repair", ())] * 2
    assert reading.licences == ("MIT",)


def test_asserts_may_be_source_text(tmp_path: Path) -> None:
    source = "assert add(1, 2) == 3\nassert add(\n    0, 0\n) == 0\n"
    file, mapping = written(tmp_path, "jsonl", [ROWS[0] | {"checks": source}, ROWS[1] | {"checks": "assert ("}])
    reading = read_path(Path(file), ",".join(mapping))
    assert [problem.tests.source.count("== ") for problem in reading.problems] == [2]
    assert "field asserts (column checks): is not Python: 'assert ('" in reading.faults[0].describe("t")


def test_a_fault_names_line_field_and_column(tmp_path: Path) -> None:
    file, mapping = written(tmp_path, "jsonl", [ROWS[0], ROWS[1] | {"checks": "neg(1)", "inputs": "[{1: 2}]"}])
    with open_workspace(home=tmp_path) as workspace, pytest.raises(DataError, match="--map") as raised:
        workspace.datasets.load(file, mapping)
    assert "table.jsonl:2: field asserts (column checks): is not a list in JSON or Python: 'neg(1)'" in str(
        raised.value
    )
    said = read_path(Path(file), ",".join(mapping)).faults[1].describe("t")
    assert said.startswith(
        "t:2: field plus_input (column inputs): contains a value of the type dict, which JSON cannot"
    )


@pytest.mark.parametrize("inputs", ["[((1, 2),)]", "[[{1, 2}]]", "[[b'x']]"])
def test_an_argument_that_json_cannot_hold_is_refused(tmp_path: Path, inputs: str) -> None:
    file, mapping = written(tmp_path, "jsonl", [ROWS[0] | {"inputs": inputs}])
    (fault,) = read_path(Path(file), ",".join(mapping)).faults
    assert "which JSON cannot represent; write one list of arguments per call" in fault.describe("t")


@pytest.mark.parametrize(
    ("name", "mapping", "said"),
    [
        ("table.csv", "task_id=number", "has no column 'number'"),
        ("table.csv", "colour=text", "--map colour=text names no known field"),
        ("table.csv", "task_id", "does not have the form FIELD=COLUMN"),
        ("humaneval", "prompt=text", "--map needs a file of problems"),
    ],
)
def test_a_mapping_that_does_not_fit_is_refused(tmp_path: Path, name: str, mapping: str, said: str) -> None:
    written(tmp_path, "csv", ROWS)
    path = name if name == "humaneval" else str(tmp_path / name)
    with open_workspace(home=tmp_path) as workspace, pytest.raises((DataError, UsageError), match=said):
        workspace.datasets.load(path, (mapping,))


def test_a_benchmark_of_a_table_is_resumed_without_the_table(koderz: Any, tmp_path: Path) -> None:
    file, mapping = written(tmp_path, "csv", ROWS)
    options = [word for pair in mapping for word in ("--map", pair)]
    command = ("benchmark", "--dataset", file, *options, "--problems", "all", "--strategy", "direct", "--name", "mine")
    assert koderz(*command, "--coder", "scripted/strong", "--quiet").code == 0
    program = tmp_path / "add.py"
    program.write_text("def add(a, b):\n    return a + b\n")
    assert koderz("grade", program, "--problem", "1", "--dataset", file, *options, "--tests", "plus").code == 0
    Path(file).unlink()
    assert koderz("resume", "mine").code == 0
    name = koderz("results", "--json").json[0]["dataset"]
    assert name.startswith("own-table-")
    assert koderz("list-problems", "--dataset", name, "--json").json["problems"][0]["difficulty"] == "1500"
