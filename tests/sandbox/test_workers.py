"""A judge that is closed: what it was judging is gone, and it starts nothing more."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import pytest
from small_problem import judged

from koderz_core.errors import SandboxError
from koderz_core.sandbox.judge import BoxedJudge


def inside(scratch: Path) -> list[Path]:
    """Processes whose current folder is in there."""
    return [link for link in Path("/proc").glob("[0-9]*/cwd") if folder_of(link).startswith(str(scratch))]


def folder_of(link: Path) -> str:
    """Nothing for another user's process, and for one that has ended since it was listed."""
    try:
        return str(link.readlink())
    except OSError:
        return ""


def test_closing_ends_the_program_that_is_being_judged_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(scratch))
    judge, errors = BoxedJudge("limited", timeout_seconds=60), list[SandboxError]()

    def judge_endless() -> None:
        with pytest.raises(SandboxError) as error:
            judged("while True:\n    pass", judge=judge)
        errors.append(error.value)

    thread = threading.Thread(target=judge_endless)
    thread.start()
    deadline = time.monotonic() + 20
    while len(inside(scratch)) < 2 and time.monotonic() < deadline:
        time.sleep(0.01)
    assert len(inside(scratch)) >= 2
    judge.close()
    thread.join(5)
    assert "is closed" in str(errors[0])
    deadline = time.monotonic() + 2
    while inside(scratch) and time.monotonic() < deadline:
        time.sleep(0.01)  # a killed process takes a moment to be gone
    assert not inside(scratch)
    assert not list(scratch.iterdir())


def test_a_closed_judge_judges_nothing_more() -> None:
    judge = BoxedJudge("limited")
    judge.close()
    with pytest.raises(SandboxError, match="is closed"):
        judged("def f(): return 1", judge=judge)
