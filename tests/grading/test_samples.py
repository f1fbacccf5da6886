"""Files of samples: what is read, and what is wrong with a line that is none."""

from __future__ import annotations

import gzip
import json
from dataclasses import replace
from pathlib import Path

import pytest

from koderz_core.errors import DataError
from koderz_core.grading.grader import Reading, read_samples, require_sound
from koderz_core.records import Kind, Problem, PublicProblem, TestSet

PROMPT = 'def double(x):\n    """Twice x."""\n'
PROBLEM = Problem(
    PublicProblem("p/0", PROMPT, "double"), TestSet("def check(candidate):\n    assert candidate(1) == 2"), ""
)


def read(path: Path, *lines: object) -> Reading:
    path.write_text("".join(f"{line if isinstance(line, str) else json.dumps(line)}\n" for line in lines))
    return read_samples(path, {"p/0": PROBLEM})


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ({"completion": "    return 2 * x\n"}, f"{PROMPT}    return 2 * x\n"),
        ({"solution": "def double(x): return 2 * x"}, "def double(x): return 2 * x"),
        ({"answer": "Sure:\n```python\ndef double(x):\n    return 2 * x\n```"}, "def double(x):\n    return 2 * x"),
        ({"answer": "I cannot."}, None),
    ],
)
def test_a_program_is_a_completion_a_solution_or_in_an_answer(
    tmp_path: Path, given: dict[str, str], code: str | None
) -> None:
    (sample,) = read(tmp_path / "s.jsonl", {"task_id": "p/0", **given, "temperature": 0.8}).samples
    assert (sample.program.code or "").strip() == (code or "").strip()
    assert (sample.line, sample.row["temperature"]) == (1, 0.8)


@pytest.mark.parametrize("kind", ["repair", "module", "program"])
def test_only_a_function_can_be_completed(tmp_path: Path, kind: Kind) -> None:
    problem = replace(PROBLEM, public=replace(PROBLEM.public, kind=kind))
    (tmp_path / "s.jsonl").write_text('{"task_id": "p/0", "completion": "x"}\n{"task_id": "p/0", "solution": "x"}')
    reading = read_samples(tmp_path / "s.jsonl", {"p/0": problem})
    assert [sample.program.code for sample in reading.samples] == ["x"]
    assert "asks for a whole program, which cannot be a completion" in reading.faults[0]


def test_a_packed_file_is_read_like_a_plain_one(tmp_path: Path) -> None:
    row = {"task_id": "p/0", "solution": "x"}
    (tmp_path / "s.jsonl.gz").write_bytes(gzip.compress(json.dumps(row).encode()))
    assert read_samples(tmp_path / "s.jsonl.gz", {"p/0": PROBLEM}) == read(tmp_path / "s.jsonl", row)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("{oops", "not JSON"),
        ("[" * 100_000, "not JSON"),
        ("[1]", "not a JSON object"),
        ({"solution": "x"}, "task_id is missing"),
        ({"task_id": 3, "solution": "x"}, "task_id is not text"),
        ({"task_id": "p/1", "solution": "x"}, "unknown task_id 'p/1'"),
        ({"task_id": "p/0"}, "has none of the fields completion, solution, answer"),
        ({"task_id": "p/0", "solution": "x", "answer": "y"}, "has the fields solution and answer, but only one"),
        ({"task_id": "p/0", "solution": None}, "solution is not text"),
    ],
)
def test_a_line_that_is_no_sample_is_named_and_the_others_are_read(tmp_path: Path, line: object, said: str) -> None:
    reading = read(tmp_path / "s.jsonl", "", {"task_id": "p/0", "solution": "x"}, line)
    assert len(reading.samples) == 1
    with pytest.raises(DataError, match=rf"(?s)nothing was graded:\n  line 3: {said}.*--skip-bad"):
        require_sound(reading, tmp_path / "s.jsonl")


@pytest.mark.parametrize(("name", "content"), [("s.jsonl", b"\n"), ("s.jsonl.gz", b"plain"), ("none/s.jsonl", None)])
def test_a_file_without_any_sample_is_refused(tmp_path: Path, name: str, content: bytes | None) -> None:
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(DataError, match=r"s\.jsonl"):
        read_samples(tmp_path / name, {})
