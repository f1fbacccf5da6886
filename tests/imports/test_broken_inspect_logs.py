"""More than 60 kinds of broken logs of Inspect: each is refused with its name, and nothing is stored."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from io import BytesIO
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile

import pytest

from koderz_core import open_workspace
from koderz_core.errors import DataError
from koderz_core.imports import inspect_archive
from koderz_core.workspace.imports import ImportOrder

pytest.importorskip("inspect_ai", reason="the extra koderz[inspect] is not installed")
from test_inspect_logs import foreign

Row = dict[str, Any]  # Any: JSON
Wrong = Mapping[str, list[Any]]  # Any: JSON
SAMPLE = "samples/HumanEval/1_epoch_1.json"
HEADER: Wrong = {
    "eval": [None, 5, [], {}, "x"],
    "status": [None, 5, "started", "other"],
    "stats": [5, []],
    "version": ["x", []],
}
SPEC: Wrong = {
    "model": [None, 5, [], "", "a\nb", "x" * 201, "\u202e"],
    "dataset": [None, 5, {"name": 5}, {"name": "a\nb"}, {"name": ""}],
}
FIELDS: Wrong = {
    "id": [None, [], {}, "", "a\nb", "\x1b[2J", "other"],
    "epoch": [None, "x", 2, [], 1e400],
    "input": [None, 5, {}, "\ud800", [{"role": "user"}], [{"role": "king", "content": "x"}]],
    "output": [5, [], "x", {"choices": 5}, {"choices": [{"message": 5}]}],
    "scores": [5, {"verify": 5}, {"verify": {"value": "maybe"}}, {"verify": {"value": 0.5}}, {"verify": {"value": []}}],
    "model_usage": [
        5,
        {"m": 5},
        {"m": {"input_tokens": -9}},
        {"m": {"input_tokens": 10**20}},
        {"m": {"total_cost": -1}},
    ],
    "working_time": ["x", -1, float("nan"), []],
    "error": [5, {}, {"message": 5}],
    "attachments": [5],
}
BYTES = [b"", b"{}", b"PK\x03\x04", b"\x00" * 100, b"PK\x05\x06" + b"\x00" * 18, b'{"version": 2}', b"\x1f\x8b"]
TEXTS = [b"", b"null", b"[", b"[" * 100_000, b"\xff\xfe", b'{"a": ' * 50_000]


def members(file: Path) -> dict[str, bytes]:
    with ZipFile(file) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def packed(files: Mapping[str, bytes]) -> bytes:
    made = BytesIO()
    with ZipFile(made, "w", ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return made.getvalue()


def broken(good: dict[str, bytes]) -> Iterator[tuple[str, bytes]]:
    """What is wrong, and the content."""
    yield from ((f"bytes {content[:10]!r}", content) for content in BYTES)
    whole = packed(good)
    yield from ((f"{size} of {len(whole)} bytes", whole[:size]) for size in (30, len(whole) // 2, len(whole) - 10))
    for name in ("header.json", "summaries.json", SAMPLE):
        yield from ((f"{name} {text[:10]!r}", packed(good | {name: text})) for text in TEXTS)
    for name in ("header.json", SAMPLE):
        yield f"no {name}", packed({other: content for other, content in good.items() if other != name})
    header, sample = json.loads(good["header.json"]), json.loads(good[SAMPLE])
    yield from edited(good, "header.json", HEADER, lambda change: header | change)
    yield from edited(good, "header.json", SPEC, lambda change: header | {"eval": header["eval"] | change})
    yield from edited(good, SAMPLE, FIELDS, lambda change: sample | change)


def edited(good: dict[str, bytes], name: str, fields: Wrong, edit: Callable[[Row], Row]) -> Iterator[tuple[str, bytes]]:
    for field, values in fields.items():
        for value in values:
            yield f"{name} {field}={value!r:.40}", packed(good | {name: json.dumps(edit({field: value})).encode()})


def refusal(file: Path) -> str:
    """The message; the empty text if the file was read."""
    with open_workspace() as workspace:
        try:
            workspace.imports.read(ImportOrder(file, "humaneval"))
        except DataError as error:
            return str(error)
    return ""


def test_more_than_60_kinds_of_broken_logs_are_refused_with_their_name(tmp_path: Path) -> None:
    good = members(foreign(tmp_path / "good.eval"))
    file, accepted, nameless, number = tmp_path / "broken.eval", [], [], 0
    for what, content in broken(good):
        file.write_bytes(content)
        message = refusal(file)
        number += 1
        accepted += [] if message else [what]
        nameless += [] if "broken.eval" in message or not message else [f"{what}: {message}"]
    assert not accepted
    assert not nameless
    assert number > 60


@pytest.mark.parametrize("kind", ["one file", "many files", "a name twice"])
def test_a_log_that_would_fill_the_disk_or_the_memory_is_refused(
    tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inspect_archive, "MOST_BYTES", 1 << 20)
    monkeypatch.setattr(inspect_archive, "MOST_BYTES_TOGETHER", 16 << 20)
    file, zeros = tmp_path / "bomb.eval", b"0" + b" " * (800 << 10)
    with ZipFile(file, "w", ZIP_DEFLATED, compresslevel=1) as archive:
        if kind == "one file":
            archive.writestr("header.json", b" " * (2 << 20))
        elif kind == "many files":
            for number in range(21):
                archive.writestr(f"samples/{number}_epoch_1.json", zeros)
        else:
            archive.writestr("header.json", b"{}")
            with pytest.warns(UserWarning, match="Duplicate"):
                archive.writestr("header.json", b"{}")
    message = refusal(file)
    assert "bomb.eval was refused" in message
    assert ("the same name" if kind == "a name twice" else "too large") in message
