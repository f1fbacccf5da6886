"""A program has its time, whatever else the machine is busy with, and no more than that."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator

import pytest
from cases_as_asserts import cases
from small_problem import BWRAP, best_tier, checks, judged

from koderz_core.records import Problem, PublicProblem
from koderz_core.sandbox.judge import BoxedJudge

COUNTING = "def double(x):\n    for _ in range({}): pass\n    return 2 * x"
TESTS = checks("assert candidate(1) == 2")


def rounds_of(seconds: float) -> int:
    """How often a program counts in this time of a processor."""
    scope: dict[str, object] = {}
    exec(COUNTING.format(1_000_000), scope)
    began = time.process_time()
    scope["double"](1)  # type: ignore[operator]
    return int(seconds / (time.process_time() - began) * 1_000_000)


@pytest.fixture(scope="module")
def judge() -> Iterator[BoxedJudge]:
    """A judge that stops a program after a fifth of a second; every core has more at work than it can take."""
    made = BoxedJudge(best_tier(), BWRAP, timeout_seconds=0.2, workers=1)
    judged("def double(x): return 2 * x", TESTS, judge=made)
    spin = [sys.executable, "-c", "while True: pass"]
    # In sessions of their own: Linux may share the processor out by session.
    others = [subprocess.Popen(spin, start_new_session=True) for _ in range(3 * (os.cpu_count() or 1))]
    yield made
    for process in others:
        process.kill()
        process.wait()
    made.close()


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere nobody can say how long a program has worked")
def test_who_is_kept_from_the_processor_goes_on_until_it_has_had_its_time(judge: BoxedJudge) -> None:
    verdicts = (judged(COUNTING.format(rounds_of(0.12)), TESTS, judge=judge) for _ in range(5))
    assert any(verdict.passed and verdict.seconds > 0.2 for verdict in verdicts)  # now and then it has a core at once


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere nobody can say how long a program has worked")
def test_a_test_that_is_kept_from_the_processor_goes_on_until_it_has_had_its_time(judge: BoxedJudge) -> None:
    tests = cases(*(([x], 2 * x) for x in range(3)), seconds=9.0, limit="0.2")
    code = COUNTING.format(rounds_of(0.12))
    verdicts = (judge.check(Problem(PublicProblem("small/1", "", "double"), tests, ""), code, tests) for _ in range(5))
    assert any(verdict.passed and max(verdict.test_seconds) > 0.2 for verdict in verdicts)


@pytest.mark.parametrize("body", ["while True: pass", "import time; time.sleep(60)"])
def test_who_works_or_sleeps_for_ever_is_stopped(judge: BoxedJudge, body: str) -> None:
    verdict = judged(f"def double(x):\n    {body}", TESTS, judge=judge)
    assert (verdict.error, verdict.message) == ("timeout", "stopped after 0.2 s")
    assert verdict.seconds <= 5 * 0.2 + 0.5
