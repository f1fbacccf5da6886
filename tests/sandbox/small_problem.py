"""A problem small enough to see through, and its judgement, for the tests of this folder."""

from koderz_core.records import Problem, PublicProblem, TestSet, Verdict
from koderz_core.sandbox.judge import ProcessJudge

DOUBLING = """
def check(candidate):
    assert True, "candidate takes one argument"
    assert candidate(1) == 2
    assert candidate(2) == 4
    assert candidate(21) == 42
"""


def judged(code: str, tests: str = DOUBLING, preamble: str = "", judge: ProcessJudge | None = None) -> Verdict:
    """The verdict on a program that should define ``double``."""
    public = PublicProblem("small/1", "", "double", preamble)
    return (judge or ProcessJudge()).check(Problem(public, TestSet(tests), ""), code, TestSet(tests))


def checks(*lines: str) -> str:
    """Tests made of these lines, the body of ``check``."""
    return "def check(candidate):\n" + "".join(f"    {line}\n" for line in lines)
