"""Answers that are meant for the judge's own process: to keep it busy, to fill it, to be taken for others."""

from collections.abc import Iterator

import pytest
from small_problem import BWRAP, best_tier, checks, judged

from koderz_core.sandbox.judge import BoxedJudge


@pytest.fixture
def judge(request: pytest.FixtureRequest) -> Iterator[BoxedJudge]:
    seconds = getattr(request, "param", 2.0)
    made = BoxedJudge(best_tier(), BWRAP, timeout_seconds=seconds, memory_bytes=200 << 20, workers=1)
    yield made
    made.close()


@pytest.mark.parametrize("judge", [1.0], indirect=True)  # the seconds that it is kept busy, twice
def test_what_keeps_the_judge_busy_for_ever_is_a_timeout_of_the_program(judge, monkeypatch):
    colliding = "def double(x): return [k * (2**61 - 1) for k in range(1, 50000)]"
    with monkeypatch.context() as patched:
        patched.setattr("koderz_core.sandbox.requests.GRACE_SECONDS", 0.5)
        patched.setattr("koderz_core.sandbox.requests.CROWDED_TIMES", 1.0)
        verdict = judged(colliding, checks("assert set(candidate(1)) == {1}"), judge=judge)
    assert (verdict.marks, verdict.error) == ("-", "timeout")
    assert judged("def double(x): return 2 * x", judge=judge).passed


def test_a_program_that_fills_the_judge_s_memory_harms_no_other(judge):
    large = "def double(x): return '\\U0001F600' + 'a' * 8_000_000"
    for _ in range(16):
        judged(large, checks("kept = candidate(1)", "def f(): return f", "assert kept == 2"), judge=judge)
    assert judged("def double(x): return 2 * x", judge=judge).passed
