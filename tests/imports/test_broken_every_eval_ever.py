"""Broken files of Every Eval Ever: each is refused with its name, the line and what is wrong, and nothing is stored."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from koderz_core import open_workspace
from koderz_core.config import load_settings
from koderz_core.errors import DataError
from koderz_core.workspace.imports import ImportOrder

GOOD: dict[str, Any] = {
    "evaluation_id": "a/b/1",
    "model_id": "org/model",
    "evaluation_name": "some benchmark",
    "sample_id": "1",
    "input": {"raw": "question", "reference": []},
    "output": {"raw": ["answer"]},
    "evaluation": {"score": 1.0, "is_correct": True},
    "answer_attribution": [],
}
NO_NAME: list[Any] = [0.5, True, [], {}, "", " ", "x" * 201, "a\nb", "\x00", "\x1b[2J", "\u202e", "\ud800"]
NO_PART: list[Any] = [5, True, "text", [], [{}]]
NO_TOKENS: list[Any] = ["many", [], {}, True, -1, 0.5, 1e400, float("nan")]
NO_NUMBER: list[Any] = ["many", [], {}, True, -1, 1e400, float("nan")]
WRONG: dict[str, list[Any]] = {
    "model_id": [None, *NO_NAME],
    "sample_id": [None, *NO_NAME],
    "evaluation_name": NO_NAME,
    "evaluation_result_id": NO_NAME,
    "input": [None, *NO_PART, {}, {"raw": None}, {"raw": 5}, {"raw": "\ud800"}],
    "output": [*NO_PART, {"raw": "text"}, {"raw": {}}, {"raw": [5]}, {"raw": [None]}, {"raw": ["\ud800"]}],
    "messages": [5, "text", {}, [5], [None], [{"role": "assistant", "content": 5}]],
    "evaluation": [None, *NO_PART, {}, {"is_correct": None}, {"is_correct": "maybe"}, {"is_correct": []}],
    "token_usage": [*NO_PART, *({"input_tokens": wrong} for wrong in NO_TOKENS)],
    "performance": [*NO_PART, *({"latency_ms": wrong} for wrong in NO_NUMBER)],
    "metadata": [*NO_PART, *({"cost_usd": wrong} for wrong in NO_NUMBER)],
    "error": [5, True, ["text"], {"a": 1}, "\ud800"],
}
OWN: list[dict[str, Any]] = [
    *({"metadata": {"koderz_configuration": name}} for name in NO_NAME),
    {"answer_attribution": 5},
    {"answer_attribution": {}},
    {"answer_attribution": [5]},
    *({"answer_attribution": [{"is_terminal": True, "extracted_value": text}]} for text in (None, 5, "\ud800")),
]
"""Fields that only lines of koderz itself have."""


def broken() -> Iterator[dict[str, Any]]:
    for field, values in WRONG.items():
        for value in values:
            yield GOOD | {field: value}
    for fields in OWN:
        yield GOOD | {"metadata": {"koderz_configuration": "direct m"}} | fields


def refusal(file: Path) -> str:
    """The message; the empty text if the file was read."""
    with open_workspace() as workspace:
        try:
            workspace.imports.read(ImportOrder(file))
        except DataError as error:
            return str(error)
    return ""


def test_more_than_100_kinds_of_broken_samples_are_refused_with_their_line(tmp_path: Path) -> None:
    file, accepted, number = tmp_path / "broken.jsonl", [], 0
    for row in broken():
        file.write_text(f"{json.dumps(GOOD)}\n{json.dumps(row)}\n")
        message = refusal(file)
        number += 1
        if not ("broken.jsonl" in message and "line 2: " in message):
            accepted.append(f"{row}: {message}")
    assert not accepted
    assert number > 100
    assert not list(load_settings().journals_dir.glob("*"))


@pytest.mark.parametrize(
    "details",
    [
        None,
        5,
        "text",
        [],
        {},
        {"file_path": None},
        {"file_path": 5},
        {"file_path": ""},
        {"file_path": "/"},
        {"file_path": ".."},
        {"file_path": "x" * 5000 + ".jsonl"},
        {"file_path": "\x00.jsonl"},
        {"file_path": "\ud800.jsonl"},
        {"file_path": "../secret.jsonl"},
        {"file_path": "data/a/../../../secret.jsonl"},
        {"file_path": "..\\secret.jsonl"},
    ],
)
def test_an_aggregate_that_names_no_file_beside_it_is_refused(tmp_path: Path, details: object) -> None:
    (tmp_path / "secret.jsonl").write_text(json.dumps(GOOD))
    file = tmp_path / "folder" / "broken.json"
    file.parent.mkdir()
    file.write_text(json.dumps({"model_info": {}, "evaluation_results": [], "detailed_evaluation_results": details}))
    assert "broken.json has no results for individual samples" in refusal(file)


RESULTS: list[Any] = [None, 5, "text", {}, [5], [None], [{}], [{"score_details": 5}]]
RESULTS += [[{"score_details": {"uncertainty": 5}}], [{"score_details": {"score": "x" * 5000}}], [[]] * 100]


@pytest.mark.parametrize("results", RESULTS)
def test_an_aggregate_with_broken_scores_is_refused(tmp_path: Path, results: object) -> None:
    file = tmp_path / "broken.json"
    file.write_text(json.dumps({"model_info": 5, "evaluation_results": results}))
    message = refusal(file)
    assert "broken.json has no results for individual samples" in message
    assert len(message) < 1000


@pytest.mark.parametrize("content", [b"", b"{", b"[" * 100_000, b"{}", b"[]", b"\xff\xfe", b"null", b"{\n}\n"])
def test_json_that_is_no_aggregate_is_refused(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "broken.json"
    file.write_bytes(content)
    assert "broken.json" in refusal(file)
