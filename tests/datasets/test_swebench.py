"""Rows in the format of SWE-bench become repository tasks. The repository is made here, and the judge is a fake."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest
from repository_sample import BROKEN, FILES, GOLD, PATH, SOURCE, TESTS

from koderz_core.config import Settings
from koderz_core.datasets import load
from koderz_core.datasets.swebench import Instance, with_tests
from koderz_core.errors import DataError
from koderz_core.patches import apply_patch, make_patch
from koderz_core.records import Problem, Repository, TestSet, Verdict
from koderz_core.repositories.git import files_at
from koderz_core.sandbox.judge import BoxedJudge
from koderz_core.sandbox.repository.reports import Survey, TestResult

TEST_FILE = "tests/test_shapes.py"
OLD_TESTS = TESTS.replace("[3, 4]", "[2]")
FAILING, PASSING = f"{TEST_FILE}::test_square[3]", f"{TEST_FILE}::TestCircle::test_unit"
ROW: dict[str, Any] = {
    "instance_id": "me__shapes-1",
    "repo": "me/shapes",
    "patch": GOLD,
    "test_patch": make_patch({TEST_FILE: OLD_TESTS}, {TEST_FILE: TESTS}),
    "problem_statement": "square(3) returns 6.",
    "FAIL_TO_PASS": json.dumps([FAILING]),
    "PASS_TO_PASS": json.dumps([PASSING, f"{TEST_FILE}::TestCircle::test_none"]),
    "created_at": "2024-05-31T12:00:00Z",
    "version": "1.0",
}


class _Judge:
    """``test_square`` passes on the correct source, ``test_unit`` always, ``test_none`` never."""

    def survey(self, repository: Repository, patch: str = "") -> Survey:
        before = {path: content.decode() for path, content in repository.tree.files.items() if path == PATH}
        right = apply_patch(patch, before)[PATH] == SOURCE
        outcomes = {FAILING: right, PASSING: True, f"{TEST_FILE}::TestCircle::test_none": False}
        results = [TestResult(test, "passed" if ok else "failed", 0.1, "6 == 9") for test, ok in outcomes.items()]
        return Survey(tuple(results), True, 1.25)

    def check(self, problem: Problem, code: str, tests: TestSet) -> Verdict:
        assert problem.repository
        passed = self.survey(problem.repository, code).passed()
        marks = "".join("P" if test in passed else "F" for test in tests.ids)
        return Verdict(marks, (), True, "assertion", "", 0.1, "hardened")


@pytest.fixture(autouse=True)
def _fake_judge(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    real = BoxedJudge.check
    monkeypatch.setattr(BoxedJudge, "repositories", _Judge(), raising=False)
    monkeypatch.setattr(
        BoxedJudge,
        "check",
        lambda judge, problem, *rest: (_Judge().check if problem.repository else real.__get__(judge))(problem, *rest),
    )
    return


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    folder = tmp_path / "shapes"
    for path, content in {**FILES, PATH: BROKEN.encode(), TEST_FILE: OLD_TESTS.encode()}.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(content)
    (folder / "link.py").symlink_to("/etc/hostname")
    _git(folder, "init", "--quiet")
    _git(folder, "add", ".")
    _git(folder, "-c", "user.name=a", "-c", "user.email=a@b.example", "commit", "--quiet", "--message=first")
    return folder


def _git(folder: Path, *arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=folder, check=True, capture_output=True, text=True).stdout.strip()


def _prepared(koderz: Any, clone: Path, *rows: dict[str, Any], file: str = "rows.jsonl") -> Any:
    path = clone.parent / file
    commit = _git(clone, "rev-parse", "HEAD")
    path.write_text("".join(json.dumps({"base_commit": commit} | ROW | row) + "\n" for row in rows))
    return koderz("prepare-swebench", path, "--clone", f"me/shapes={clone}", "--output", clone.parent / "out.jsonl")


def test_a_row_becomes_a_task_of_its_commit(koderz: Any, clone: Path, settings: Settings) -> None:
    said = _prepared(koderz, clone, {})
    assert said.code == 0, said.err
    (problem,) = load(str(clone.parent / "out.jsonl"), settings).problems
    assert dict(problem.public.files) == {PATH: BROKEN, "README.md": "Shapes.\n"}
    assert problem.tests.ids == (FAILING, PASSING)
    assert problem.repository is not None
    assert (problem.repository.roots, problem.repository.seconds) == (("src",), 1.25)
    assert problem.repository.tree.files[TEST_FILE].decode() == TESTS
    assert problem.repository.tree.name.startswith("me/shapes@")
    assert (problem.facts.date, problem.facts.topic) == ("2024-05-31", "me/shapes")
    assert "because they do not pass on this machine (number per task): me__shapes-1: 1" in said.out


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"repo": "me/other"}, "no clone of its repository was given: add --clone me/other=FOLDER"),
        ({"base_commit": "0" * 40}, "git cannot read the commit 000000000000"),
        ({"base_commit": "--output=x"}, "is not the id of a commit"),
        (
            {"patch": GOLD.replace("side + side", "side - side")},
            "its patch does not apply to the commit: src/shapes.py",
        ),
        ({"test_patch": make_patch({TEST_FILE: "x\n"}, {TEST_FILE: "y\n"})}, "its test_patch does not apply"),
        (
            {"patch": GOLD + make_patch({"pyproject.toml": ""}, {"pyproject.toml": "x\n"})},
            "its correct patch changes tests or configuration: pyproject.toml",
        ),
        ({"FAIL_TO_PASS": [f"{TEST_FILE}::TestCircle::test_none"], "PASS_TO_PASS": []}, "its correct patch fails"),
        ({"FAIL_TO_PASS": [PASSING], "PASS_TO_PASS": []}, "the tests pass without the correct patch"),
        ({"FAIL_TO_PASS": ["test_x (tests.test_shapes.Case)"]}, "FAIL_TO_PASS names tests that are not in the tree"),
    ],
)
def test_rows_that_cannot_be_used_are_listed_with_the_reason(
    koderz: Any, clone: Path, change: dict[str, Any], reason: str
) -> None:
    said = _prepared(koderz, clone, {}, {"instance_id": "me__shapes-2"} | change)
    assert said.code == 0, said.err
    assert reason in said.out
    assert "(me__shapes-2)" in said.out
    assert "1 task in" in said.out


def test_a_row_that_occurs_twice_is_refused_before_a_test_runs(
    koderz: Any, clone: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_Judge, "survey", lambda *_: pytest.fail("a test has run"))
    said = _prepared(koderz, clone, {}, {"instance_id": "me__shapes-2"}, {"problem_statement": "Other."})
    assert said.code == 3
    assert "row 3: an earlier row has the same instance_id, 'me__shapes-1'. Remove one of the two rows." in said.err
    assert not (clone.parent / "out.jsonl").exists()


def test_compiled_code_is_a_reason(koderz: Any, clone: Path) -> None:
    (clone / "fast.pyx").write_text("x = 1\n")
    _git(clone, "add", ".")
    _git(clone, "-c", "user.name=a", "-c", "user.email=a@b.example", "commit", "--quiet", "--message=second")
    said = _prepared(koderz, clone, {})
    assert said.code == 3
    assert "it has compiled extensions (fast.pyx)" in said.out
    assert not (clone.parent / "out.jsonl").exists()


def test_a_json_array_and_parquet_are_read_too(koderz: Any, clone: Path) -> None:
    row = {"base_commit": _git(clone, "rev-parse", "HEAD")} | ROW
    lines, array, parquet = (clone.parent / name for name in ("a.jsonl", "a.json", "a.parquet"))
    lines.write_text(json.dumps(row))
    array.write_text(json.dumps([row], indent=1))
    duckdb.sql(f"copy (select * from read_json('{lines}')) to '{parquet}' (format parquet)")
    for number, file in enumerate((array, parquet)):
        output = clone.parent / f"{number}.jsonl"
        assert koderz("prepare-swebench", file, "--clone", f"me/shapes={clone}", "--output", output).code == 0
        assert json.loads(output.read_text())["task_id"] == "me__shapes-1"


def test_a_clone_runs_none_of_its_programs_and_a_link_is_left_out(clone: Path, tmp_path: Path) -> None:
    mark = tmp_path / "ran"
    _git(clone, "config", "filter.bad.smudge", f"touch {mark}; cat")
    _git(clone, "config", "filter.bad.clean", "cat")
    _git(clone, "config", "tar.tar.command", f"touch {mark}; cat")
    (clone / ".gitattributes").write_text("*.py filter=bad\n")
    _git(clone, "add", ".")
    _git(clone, "-c", "user.name=a", "-c", "user.email=a@b.example", "commit", "--quiet", "--message=second")
    files = files_at(clone, _git(clone, "rev-parse", "HEAD"))
    assert (files[PATH], "link.py" in files, mark.exists()) == (BROKEN.encode(), False, False)


def test_a_folder_without_git_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="is not a git repository"):
        files_at(tmp_path, "0" * 40)


def test_a_test_file_that_the_patch_of_the_tests_moves_is_only_at_its_new_place() -> None:
    moved = make_patch({TEST_FILE: OLD_TESTS}, {"tests/test_new.py": TESTS})
    row = Instance("a", "me/a", "abc1234", GOLD, moved, "text", failing=(), passing=())
    files = with_tests(row, {TEST_FILE: OLD_TESTS.encode(), "a.py": b"1"})
    assert files == {"tests/test_new.py": TESTS.encode(), "a.py": b"1"}


def test_files_that_the_patch_of_the_tests_creates_empty_or_only_renames_are_in_the_tree() -> None:
    new = make_patch({}, {"tests/__init__.py": ""})
    renamed = "diff --git a/tests/a.png b/tests/b.png\nsimilarity index 100%\n"
    renamed += "rename from tests/a.png\nrename to tests/b.png\n"
    row = Instance("a", "me/a", "abc1234", GOLD, new + renamed, "text", failing=(), passing=())
    assert with_tests(row, {"tests/a.png": b"\x89\r\n\0"}) == {"tests/__init__.py": b"", "tests/b.png": b"\x89\r\n\0"}
