"""A problem small enough to see through, and its judgement, for the tests of this folder."""

import os
import shutil
from functools import cache

from sample import thinned

from koderz_core.records import Isolation, Problem, PublicProblem, TestSet, Verdict
from koderz_core.sandbox.judge import BoxedJudge
from koderz_core.sandbox.tiers import probe

DOUBLING = """
def check(candidate):
    assert True, "candidate takes one argument"
    assert candidate(1) == 2
    assert candidate(2) == 4
    assert candidate(21) == 42
"""
JUDGES: list[BoxedJudge] = []
BEST = "best"
BWRAP = shutil.which("bwrap")


@cache
def tiers() -> dict[Isolation, str]:
    """Why a tier does not hold here, empty if it does."""
    return {standing.isolation: standing.reason for standing in probe(BWRAP)}


def best_tier() -> Isolation:
    return next(tier for tier, reason in tiers().items() if not reason)


def some_tiers() -> list[str]:
    """For what happens alike behind the walls of every tier: the best one, and with ``--whole`` all that hold here."""
    return thinned([BEST, "strong", "limited"], "tiers of tests of what no tier changes")


@cache
def judge_of(tier: Isolation, seconds: float = 10.0) -> BoxedJudge:
    """One judge for all tests that do not need their own: it goes on serving after whatever they did."""
    judge = BoxedJudge(tier, BWRAP, timeout_seconds=seconds)
    JUDGES.append(judge)
    return judge


def judged(
    code: str, tests: str = DOUBLING, preamble: str = "", judge: BoxedJudge | None = None, canonical: str = ""
) -> Verdict:
    """The verdict on a program that should define ``double``."""
    public = PublicProblem("small/1", "", "double", preamble)
    judge = judge or judge_of(os.environ.get("TIER_UNDER_TEST") or best_tier())
    return judge.check(Problem(public, TestSet(tests), canonical), code, TestSet(tests))


def checks(*lines: str) -> str:
    """Tests made of these lines, the body of ``check``."""
    return "def check(candidate):\n" + "".join(f"    {line}\n" for line in lines)
