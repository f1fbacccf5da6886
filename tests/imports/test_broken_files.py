"""More than 200 kinds of broken files: each is refused with its name and what is wrong, and nothing is stored."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest

from koderz_core import open_workspace
from koderz_core.errors import DataError
from koderz_core.imports.results import read_results
from koderz_core.workspace.imports import ImportOrder, parse_mapping

SAMPLE = {"task_id": "HumanEval/0", "solution": "pass", "model": "m"}
ARENA = {"benchmark_id": "b", "model": "m", "example_id": "a/1", "pass1": 1, "count": 1, "correct": 1}
TABLE = {"p": "a/1", "m": "m", "d": "b", "ok": 1, "i": 1, "o": 1, "c": 0.5, "s": 2}
MAPPING = parse_mapping("problem=p,model=m,dataset=d,passed=ok,input_tokens=i,output_tokens=o,cost_usd=c,seconds=s")
NO_NAME: list[Any] = [0.5, True, [], {}, "", " ", "x" * 201, "a\nb", "a\tb", "\x00", "\x1b[2J", "\u202e", "\ud800"]
NO_NUMBER: list[Any] = ["many", [], {}, -1, 1e400, float("nan"), 1e16]
WRONG: list[tuple[str, dict[str, Any], dict[str, list[Any]]]] = [
    (
        "samples",
        SAMPLE,
        {"task_id": [None, *NO_NAME, "HumanEval/164"], "model": NO_NAME, "solution": [5, [], {}, "\ud800"]},
    ),
    (
        "eval-arena",
        ARENA,
        {
            "benchmark_id": NO_NAME,
            "model": [None, *NO_NAME],
            "example_id": [None, *NO_NAME],
            "pass1": [*NO_NUMBER, 1.5, 0.5],
            "count": [*NO_NUMBER, 0, 0.5, 20_000],
            "correct": [*NO_NUMBER, 2, 0.5, 0],
        },
    ),
    (
        "table",
        TABLE,
        {
            "p": [None, *NO_NAME],
            "m": NO_NAME,
            "d": NO_NAME,
            "ok": [None, "", "maybe", 2, -1, [], {}],
            "i": [*NO_NUMBER, 0.5],
            "o": [*NO_NUMBER, 0.5],
            "c": NO_NUMBER,
            "s": NO_NUMBER,
        },
    ),
]
NOT_LINES: list[bytes] = [
    b"",
    b"\n \n",
    b"\xef\xbb\xbf",
    b"\x00" * 100,
    b"\xff\xfe{\x00}\x00",
    b"PK\x03\x04",
    b"null",
    b"3",
    b'"text"',
    b"[" * 100_000,
    b"{" * 10_000,
    b'{"task_id": ' + b"[" * 50_000,
    b"<html><body>Sign in</body></html>",
    b"task_id,solution\nHumanEval/0,pass\n",
    b'{"task_id": "HumanEval/0" "solution": "pass"}',
    b"{'task_id': 'HumanEval/0', 'solution': 'pass'}",
    b'{"task_id": "HumanEval/0", "solution": "pass"',
    b'{"HumanEval/0": ["pass"]}',
    b'{"eval": {"HumanEval/0": []}}',
    b'{"task_id": "HumanEval/0", "solution": null}',
    b'{"task_id": "HumanEval/0", "code": "pass"}',
]


def broken() -> Iterator[tuple[str, bytes, bool]]:
    """What is wrong, the content, and whether it is a table."""
    for form, good, fields in WRONG:
        line = json.dumps(good).encode()
        for field, values in fields.items():
            for value in values:
                wrong = json.dumps(good | {field: value}).encode()
                yield f"{form} {field}={value!r:.20}", line + b"\n" + wrong, form == "table"
    for content in NOT_LINES:
        yield repr(content[:40]), content, False
        yield f"table {content[:40]!r}", json.dumps(TABLE).encode() + b"\n" + (content.strip() or b"-"), True
        yield f"second line {content[:40]!r}", json.dumps(SAMPLE).encode() + b"\n" + (content.strip() or b"-"), False


def refusal(file: Path, *, table: bool) -> str:
    """The message; the empty text if the file was read."""
    with open_workspace() as workspace:
        dataset = "" if table or b"benchmark_id" in file.read_bytes() else "humaneval"
        try:
            workspace.imports.read(ImportOrder(file, dataset, mapping=MAPPING if table else None))
        except DataError as error:
            return str(error)
    return ""


def test_more_than_200_kinds_of_broken_files_are_refused_with_their_name(tmp_path: Path) -> None:
    file, accepted, nameless, number = tmp_path / "broken.jsonl", [], [], 0
    for what, content, table in broken():
        file.write_bytes(content)
        message = refusal(file, table=table)
        number += 1
        accepted += [] if message else [what]
        nameless += [] if "broken.jsonl" in message or not message else [f"{what}: {message}"]
    assert not accepted
    assert not nameless
    assert number > 200


@pytest.mark.parametrize("damage", ["truncated", "no gzip", "folder", "missing", "bomb"])
def test_a_file_that_cannot_be_read_is_refused(tmp_path: Path, damage: str) -> None:
    file, packed = tmp_path / "broken.jsonl.gz", gzip.compress(json.dumps(SAMPLE).encode() * 50)
    if damage == "folder":
        file.mkdir()
    elif damage != "missing":
        contents = {"truncated": packed[:-20], "no gzip": b"{}", "bomb": gzip.compress(b" " * (300 << 20), 1)}
        file.write_bytes(contents[damage])
    with open_workspace() as workspace, pytest.raises(DataError, match=r"broken\.jsonl\.gz"):
        workspace.imports.read(ImportOrder(file))


def test_a_parquet_table_whose_numbers_are_decimals_is_not_broken(tmp_path: Path) -> None:
    file, numbers = tmp_path / "t.parquet", "1.00 as ok, 7::decimal(9, 0) as i, 1 as o, 0.50 as c, 2.5 as s"
    duckdb.sql(f"copy (select 42::decimal(9, 0) as p, 'm' as m, 'b' as d, {numbers}) to '{file}' (format parquet)")
    (found,) = read_results(file, mapping=MAPPING).results
    assert (found.problem, found.passed, found.usage.input_tokens, found.seconds) == ("42", True, 7, 2.5)
    assert found.cost.usd == 0.5
