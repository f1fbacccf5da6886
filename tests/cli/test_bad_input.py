"""Bad input ends in one line that says what is wrong, in the exit code of its kind, soon, and costs nothing else.

2: the command line is wrong. 3: a file cannot be used.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

import pytest

import koderz_core
from koderz_core.config import Settings
from koderz_core.datasets import load

PLAN = ("benchmark", "--problems", "0:2", "--plan-only")
WEAK = ("--coder", "scripted/weak")
RIGHT = load("humaneval", Settings()).problems[1]
KODERZ = (sys.executable, "-c", "from koderz_core.cli import main; main()")
MOST_SECONDS = 30.0  # on a busy machine; unbounded reading and planning take for ever

WRONG_FILES = {
    "folder": "it is a folder",
    "missing": "No such file or directory",
    "device": "it is a device",
    "socket": "it is a socket|No such device or address",
    "fifo": "it is a named pipe",
}
TAKING_A_FILE: dict[str, tuple[object, ...]] = {
    "grade": ("grade", "FILE"),
    "grade one program": ("grade", "FILE", "--problem", "HumanEval/0"),
    "grade --dataset": ("grade", "FILE", "--dataset", "FILE"),
    "list-problems --file": ("list-problems", "--file", "FILE"),
    "list-problems --dataset": ("list-problems", "--dataset", "FILE"),
    "list-problems --humaneval-path": ("list-problems", "--humaneval-path", "FILE"),
    "benchmark --dataset": (*PLAN, *WEAK, "--dataset", "FILE"),
    "benchmark --humaneval-path": (*PLAN, *WEAK, "--humaneval-path", "FILE"),
    "run --dataset": ("run", "--problem-id", "0", *WEAK, "--dataset", "FILE"),
    "benchmark --strategy": (*PLAN, *WEAK, "--strategy", "FILE.py:Mine"),
    "benchmark --personas": (*PLAN, *WEAK, "--strategy", "debate", "--personas", "FILE.yaml"),
    "verify": ("verify", "FILE.zip"),
    "restore": ("restore", "FILE"),
    "ui --open": ("ui", "--open", "FILE"),
}
WRITING_A_FILE: dict[str, tuple[object, ...]] = {
    "backup": ("backup", "FILE"),
    "doctor --json": ("doctor", "--json", "FILE"),
    "export": ("export", "experiments", "--out", "FILE"),
    "grade --out": ("grade", "s.jsonl", "--out", "FILE"),
    "bundle --out": ("bundle", "any", "--out", "FILE"),
}
LISTS = (
    "--coder",
    "--strategy",
    "--reviewer",
    "--gate",
    "--feedback",
    "--problems",
    "--configuration",
    "--ablate",
)


def one_line_of_error(said: Any) -> str:
    """The one line, without click's lines on usage."""
    lines = [line for line in said.err.splitlines() if line and not line.startswith(("Usage: ", "Try '"))]
    assert [line.startswith("Error: ") for line in lines] == [True], said.err
    assert "Traceback" not in said.err + said.out
    return lines[0]


def made(kind: str, path: Path) -> Path:
    if kind == "folder":
        path.mkdir()
    elif kind == "device":
        path.symlink_to("/dev/zero")
    elif kind == "socket":
        import socket  # noqa: PLC0415 (for this only)

        with socket.socket(socket.AF_UNIX) as one:
            one.bind(path.name)  # a socket's path is short
    elif kind == "fifo":
        os.mkfifo(path)
    return path


@pytest.mark.parametrize("kind", WRONG_FILES)
@pytest.mark.parametrize("command", TAKING_A_FILE.values(), ids=TAKING_A_FILE)
def test_what_is_no_file_is_named_wherever_a_file_is_read(koderz: Any, command: tuple[str, ...], kind: str) -> None:
    path = made(kind, Path.cwd() / "it.jsonl")
    for suffix in (".py", ".yaml", ".zip"):
        if kind != "missing":
            path.with_name(path.name + suffix).symlink_to(path)
    began = time.monotonic()
    said = koderz(*(word.replace("FILE", str(path)) for word in command))
    line = one_line_of_error(said)
    assert (said.code, time.monotonic() - began < MOST_SECONDS) == (3, True), line
    assert re.search(rf"it\.jsonl\S* cannot be read \({WRONG_FILES[kind]}\)", line), line


@pytest.mark.parametrize("name", ["backup", "restore", "benchmark --strategy", "benchmark --personas", "merge"])
def test_the_home_folder_of_an_unknown_user_is_a_path_that_does_not_exist(koderz: Any, name: str) -> None:
    command = {**TAKING_A_FILE, **WRITING_A_FILE, "merge": ("merge", "FILE")}[name]
    said = koderz(*(str(word).replace("FILE", "~no-such-user/it") for word in command))
    assert said.code == (2 if name == "merge" else 3)
    assert "~no-such-user/it" in one_line_of_error(said)


@pytest.mark.parametrize("command", WRITING_A_FILE.values(), ids=WRITING_A_FILE)
def test_a_folder_is_refused_wherever_a_file_is_written(koderz: Any, tmp_path: Path, command: tuple[str, ...]) -> None:
    said = koderz(*(word.replace("FILE", str(tmp_path)) for word in command))
    assert said.code == 3
    assert one_line_of_error(said) == f"Error: {tmp_path} is a folder and cannot be written. Give the path of a file."


@pytest.mark.parametrize("option", LISTS)
def test_an_empty_list_of_names_is_named(koderz: Any, option: str) -> None:
    said = koderz(*PLAN, *(WEAK if option != "--coder" else ()), option, "")
    line = one_line_of_error(said)
    about = {
        "--problems": "not a valid selection",
        "--configuration": "The configuration is",
        "--ablate": "The list of ablations is empty",
    }
    assert (said.code, about.get(option, f"{option} is empty") in line) == (2, True), line


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--max-tokens", "99999999999999"), "is not in the range 1<=x<=1000000000"),
        (("--configuration", "direct coder=scripted/weak max_tokens=99999999999999"), "from 1 to 1,000,000,000"),
        (("--configuration", "direct coder=scripted/weak coder.max_tokens=0"), "from 1 to 1,000,000,000"),
        (("--configuration", "direct coder=scripted/weak temperature=nan"), "from 0 to 2, not nan"),
        (("--repeats", "99999999999"), "One benchmark can have at most 1,000,000"),
        (("--repeats", "500001"), "The plan has 1,000,002 experiments"),
        (("--num-ctx", "99999999999999"), "num_ctx: the value must be at most 100,000,000"),
        (("--max-cost", "inf"), "inf is not a finite number"),
        (("--timeout", "nan"), "nan is not a finite number"),
        (("--fail-under", "nan"), "nan is not a finite number"),
        (("--seed", "one"), "'one' is not a valid integer"),
    ],
)
def test_a_number_out_of_bounds_is_told_its_bounds_before_anything_is_planned(
    koderz: Any, options: tuple[str, ...], said: str
) -> None:
    began = time.monotonic()
    ended = koderz(*PLAN, *(() if "--configuration" in options else WEAK), *options)
    assert (ended.code, said in one_line_of_error(ended)) == (2, True), ended.err
    assert time.monotonic() - began < MOST_SECONDS


@pytest.mark.parametrize(("option", "value"), [("--margin", "nan"), ("--cost-margin", "nan"), ("--cost-margin", "inf")])
def test_a_margin_is_a_finite_number(koderz: Any, option: str, value: str) -> None:
    said = koderz("compare", option, value)
    assert (said.code, f"{value} is not a finite number" in one_line_of_error(said)) == (2, True)


@pytest.mark.parametrize("days", ["nan", "inf", "1e300", "-1"])
def test_days_that_are_no_age_delete_nothing(koderz: Any, days: str) -> None:
    said = koderz("prune", "--days", days, "--yes")
    assert (said.code, "--days" in one_line_of_error(said)) == (2, True)


def test_an_id_of_a_memory_is_a_number(koderz: Any) -> None:
    said = koderz("cortex", "show", "nope")
    assert (said.code, one_line_of_error(said)) == (
        2,
        "Error: Invalid value for 'ID': 'nope' is not a valid integer.",
    )


def test_a_strategy_that_a_file_lacks_is_named_with_those_it_has(koderz: Any) -> None:
    kind = "    def roles(self): return ('coder',)\n    def solve(self, ctx): return None\n"
    head = "from dataclasses import dataclass\n"
    Path("mine.py").write_text(f"{head}@dataclass(frozen=True)\nclass Mine:\n{kind}class Plain:\n{kind}")
    said = koderz(*PLAN, *WEAK, "--strategy", "mine.py:Other")
    line = one_line_of_error(said)
    assert (said.code, "mine.py: 'Other'" in line, "Known: Mine." in line) == (2, True, True), line


def sample(number: int, program: str, kind: str = "solution") -> dict[str, str]:
    return {"task_id": f"HumanEval/{number}", kind: program}


LINE = json.dumps(sample(1, RIGHT.canonical_solution)).encode() + b"\n"


@pytest.mark.parametrize(
    ("kind", "error", "message"),
    [
        ("solution", "syntax", "U+D800, a lone surrogate"),
        ("completion", "syntax", "U+D800, a lone surrogate"),
        ("answer", "extraction", ""),
    ],
)
def test_half_a_character_in_a_sample_fails_that_sample_only(koderz: Any, kind: str, error: str, message: str) -> None:
    rows = (sample(0, 'x = "\ud800"', kind), sample(1, RIGHT.canonical_solution))
    Path("s.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    said = koderz("grade", "s.jsonl", "--out", "o.jsonl", "--workers", "1")
    first, second = (json.loads(line) for line in Path("o.jsonl").read_text().splitlines())
    assert (said.code, first["passed"], second["passed"]) == (4, False, True)
    assert (first["error"], message in first["message"]) == (error, True)


def test_half_a_character_in_a_program_is_a_verdict_of_the_library() -> None:
    with koderz_core.open_workspace() as workspace:
        verdict = workspace.grading.grade('def f():\n    return "\udfff"\n', "assert f()")
        assert (verdict.passed, verdict.error) == (False, "syntax")
        with pytest.raises(koderz_core.errors.DataError):
            workspace.grading.grade("def f():\n    return 1\n", 'assert f() != "\udfff"')


def test_a_byte_order_mark_is_no_part_of_a_file(koderz: Any, tmp_path: Path) -> None:
    problem = {"task_id": "m/1", "prompt": "def f(x):\n", "entry_point": "f", "asserts": ["assert f(1) == 1"]}
    files = {
        "own.jsonl": json.dumps(problem),
        "s.jsonl": json.dumps(sample(1, RIGHT.canonical_solution)),
        "try.py": RIGHT.canonical_solution,
        ".env": "KODERZ_TIMEOUT=5",
        str(tmp_path / "home" / "settings.toml"): "test_timeout = 5",
        str(tmp_path / "home" / "models.toml"): '["openai"]\ntier = "frontier"',
    }
    (tmp_path / "home").mkdir()
    for name, text in files.items():
        Path(name).write_text(text, encoding="utf-8-sig")
    assert koderz("list-problems", "--file", "own.jsonl").code == 0
    assert koderz("grade", "s.jsonl").code == 0
    assert koderz("grade", "try.py", "--problem", "HumanEval/1").code == 0
    assert koderz(*PLAN, *WEAK).code == 0


@pytest.fixture
def pipe() -> Iterator[tuple[str, BinaryIO]]:
    """A pipe as a shell opens it for a command: its path there, and the end that is written to."""
    reads, writes = os.pipe()
    with os.fdopen(reads, "rb"), os.fdopen(writes, "wb") as end:
        yield f"/dev/fd/{reads}", end


def test_samples_may_come_from_what_a_shell_has_opened(koderz: Any, tmp_path: Path, pipe: tuple[str, BinaryIO]) -> None:
    path, end = pipe
    end.write(LINE)
    end.close()
    (tmp_path / "line").write_bytes(LINE)
    with (tmp_path / "line").open("rb") as file:
        for opened in (path, f"/dev/fd/{file.fileno()}"):
            said = koderz("grade", opened)
            assert (said.code, "1 of 1 samples passed" in said.out) == (0, True), said.err


def test_samples_may_come_from_a_pipe_of_the_shell() -> None:
    ended = subprocess.run([*KODERZ, "grade", "/dev/stdin"], input=LINE, capture_output=True, timeout=120, check=False)
    assert (ended.returncode, b"1 of 1 samples passed" in ended.stdout) == (0, True), ended.stderr


def test_a_pipe_whose_writer_wrote_nothing_is_empty(koderz: Any, pipe: tuple[str, BinaryIO]) -> None:
    path, end = pipe
    end.close()
    said = koderz("grade", path)
    assert (said.code, "has no samples" in said.err) == (3, True), said.err


def test_a_bundle_cannot_come_from_a_pipe(koderz: Any, pipe: tuple[str, BinaryIO]) -> None:
    path, _ = pipe
    said = koderz("verify", path)
    assert (said.code, "cannot be read (it is a pipe)" in said.err) == (3, True), said.err


@pytest.mark.parametrize("name", ["long.jsonl", "long.jsonl.gz"])
def test_a_file_that_is_too_long_is_not_read_to_its_end(koderz: Any, name: str) -> None:
    if name.endswith(".gz"):
        import gzip  # noqa: PLC0415 (for this only)

        Path(name).write_bytes(gzip.compress(b"\n" * (1 << 20), 1) * 300)
    else:
        with Path(name).open("wb") as file:
            file.truncate(1 << 40)
    said = koderz("grade", name)
    assert (said.code, "reads at most 256 MB" in one_line_of_error(said)) == (3, True)
