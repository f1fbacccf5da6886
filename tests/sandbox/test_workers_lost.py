"""Workers that die, are stopped or are started in vain: nobody else pays for it, and nothing of them stays."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest
from small_problem import BWRAP, best_tier, judged

from koderz_core.errors import SandboxError
from koderz_core.sandbox.judge import BoxedJudge
from koderz_core.sandbox.workers import Workers

RIGHT = "def double(x): return 2 * x"


def workers_of_this_process() -> list[int]:
    children = Path(f"/proc/self/task/{os.getpid()}/children").parent.parent.glob("*/children")
    return [int(pid) for listed in children for pid in listed.read_text().split()]


def test_workers_that_died_while_idle_are_replaced_without_a_word():
    judge = BoxedJudge(best_tier(), BWRAP, workers=1)
    before = set(workers_of_this_process())
    assert judged(RIGHT, judge=judge).passed
    for pid in set(workers_of_this_process()) - before:
        os.kill(pid, signal.SIGKILL)
    assert judged(RIGHT, judge=judge).passed
    judge.close()


def test_who_is_interrupted_while_a_worker_answers_leaves_none_that_still_will(monkeypatch):
    judge = BoxedJudge(best_tier(), BWRAP, workers=1)
    with monkeypatch.context() as patched:
        patched.setattr("koderz_core.sandbox.workers.Worker._read", interrupted)
        with pytest.raises(KeyboardInterrupt):
            judged(RIGHT, judge=started(judge, patched))
    assert judged(RIGHT, judge=judge).passed
    judge.close()


def started(judge: BoxedJudge, patched: pytest.MonkeyPatch) -> BoxedJudge:
    """With a worker that runs already, so that the interruption meets its answer."""
    patched.undo()
    assert judged(RIGHT, judge=judge).passed
    patched.setattr("koderz_core.sandbox.workers.Worker._read", interrupted)
    return judge


def interrupted(*_: object) -> bytes:
    raise KeyboardInterrupt


def test_a_judge_that_is_stopped_is_ended_from_outside(monkeypatch):
    judge = BoxedJudge("limited", timeout_seconds=1.0)  # the others do not let a program signal it
    with monkeypatch.context() as patched:
        patched.setattr("koderz_core.sandbox.requests.GRACE_SECONDS", 1.0)
        patched.setattr("koderz_core.sandbox.requests.CROWDED_TIMES", 1.0)
        with pytest.raises(SandboxError, match="Two worker processes, one after the other, failed"):
            judged("import os\nos.killpg(os.getpgid(os.getppid()), 19)", judge=judge)
    assert judged(RIGHT, judge=judge).passed
    judge.close()


def test_files_of_a_program_are_removed(tmp_path, monkeypatch):
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    judge = BoxedJudge("limited")  # the others do not let a program write
    code = "import os\nos.makedirs('a/b')\nopen('a/b/c', 'w').write('left')\n" + RIGHT
    assert judged(code, judge=judge).passed
    assert not list(folder.iterdir())


def test_a_worker_that_nobody_waits_for_any_more_is_discarded():
    discarded: list[bool] = []

    class Started:
        alive = True

        def discard(self) -> None:
            discarded.append(True)

        kill = discard

    workers = Workers(Started, 1, used_once=False)  # type: ignore[arg-type]  # as much of a worker as is used here
    start = workers._starter.submit
    workers._starter.submit = lambda make: Interrupting(start(make))  # type: ignore[method-assign, return-value, arg-type, misc, assignment]
    with pytest.raises(KeyboardInterrupt), workers.worker("family"):
        pass
    workers.close()
    assert discarded == [True]


class Interrupting:
    """A start whose wait is interrupted."""

    def __init__(self, start: object) -> None:
        self._start = start

    def __getattr__(self, name: str) -> object:
        return interrupted if name == "result" else getattr(self._start, name)
