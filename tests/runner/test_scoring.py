"""Scoring what a strategy has tried is work like any other: it can be paused, stopped and taken up again."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from dataclasses import replace
from itertools import count
from typing import Any

import pytest

from koderz_core.events import BenchmarkClosed, CandidateScored, ExperimentFinished
from koderz_core.protocols import Judge
from koderz_core.records import Plan, Problem, Request, TestSet, Verdict

SECONDS = 5.0  # generous
ITERATIONS = 3
Make = Callable[..., Any]  # Any: Bench of conftest.py, which a test module cannot import


class HeldJudge:
    """Judges at once while the strategy solves; then a candidate each time it is let to."""

    isolation = "none"

    def __init__(self, judge: Judge) -> None:
        self.judge, self.checks = judge, count(1)
        self.asked, self.let = threading.Semaphore(0), threading.Semaphore(0)

    def check(self, problem: Problem, code: str, tests: TestSet) -> Verdict:
        if next(self.checks) > ITERATIONS:
            self.asked.release()
            assert self.let.acquire(timeout=SECONDS)
        return self.judge.check(problem, code, tests)

    def is_asked(self, seconds: float = SECONDS) -> bool:
        return self.asked.acquire(timeout=seconds)


def with_gate(plan: Plan, gate: str) -> Plan:
    return replace(
        plan, configurations=tuple(replace(configuration, gate=gate) for configuration in plan.configurations)
    )


@pytest.fixture
def made(bench: Make) -> Any:
    """Three wrong programs, each of which is to be scored on held-out tests."""
    numbers = count(1)

    def answer(_: Request) -> str:
        return f"```python\ndef add(a, b):\n    return a - b - {next(numbers)}\n```"

    made = bench(answer, "supervised", spec=False, checkpoints=False, max_iterations=ITERATIONS)
    made.judge = HeldJudge(made.judge)
    made.plan = with_gate(made.plan, "split:0.5")
    return made


def of(made: Any, kind: type) -> list[Any]:
    return [entry.event for entry in made.entries() if isinstance(entry.event, kind)]


def test_a_pause_holds_the_next_candidate_back(made: Any) -> None:
    with made.runner() as runner:
        runner.start()
        assert made.judge.is_asked()
        runner.controller.obey("pause", by=os.getpid())
        made.judge.let.release(ITERATIONS)
        assert not made.judge.is_asked(0.3)
        assert len(of(made, CandidateScored)) == 1
        runner.controller.obey("resume", by=os.getpid())
        assert runner.ended(SECONDS)
    (finished,) = of(made, ExperimentFinished)
    assert (finished.outcome, len(of(made, CandidateScored))) == ("unsolved", ITERATIONS)


def test_a_stop_between_candidates_cancels_and_they_are_scored_again_without_asking(made: Any) -> None:
    with made.runner() as runner:
        runner.start()
        assert made.judge.is_asked()
        runner.stop()
        made.judge.let.release()
        assert runner.ended(SECONDS)
    assert [end.outcome for end in of(made, ExperimentFinished)] == ["cancelled"]
    assert of(made, BenchmarkClosed) == [BenchmarkClosed("stopped")]
    made.judge.let.release(ITERATIONS)
    made.go()
    assert [end.outcome for end in of(made, ExperimentFinished)] == ["cancelled", "unsolved"]
    assert len(made.requests) == ITERATIONS
    assert len(of(made, CandidateScored)) == 1 + ITERATIONS
