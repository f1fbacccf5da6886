"""A base test that the text shows counts in the score of a strategy that never runs a gate, and is not held out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

from koderz_core.events import CandidateScored, ExperimentFinished
from koderz_core.records import Observed, Problem, PublicProblem, TestSet, Verdict

SHOWN, HIDDEN = "    assert add(1, 2) == 3\n", "    assert add(0, 0) == 0\n"
PROBLEM = Problem(
    PublicProblem("tiny/0", "def add(a, b):\n    return a - b\n\n# assert add(1, 2) == 3\n", "add", kind="repair"),
    TestSet(f"def check(add):\n{SHOWN}{HIDDEN}"),
    "def add(a, b):\n    return a + b\n",
    samples=TestSet(f"def check(add):\n{SHOWN}"),
)


@dataclass
class Judge:
    """Passes every set of tests without ``fails``."""

    fails: str
    isolation: str = "none"
    asked: list[str] = field(default_factory=list)

    def check(self, problem: Problem, code: str, tests: TestSet) -> Verdict:
        self.asked.append(tests.source)
        passed = self.fails not in tests.source
        return Verdict("P" if passed else "F", (), True, None if passed else "assertion", "", 0.1, "none")

    def probe(self, problem: PublicProblem, code: str, calls: Any) -> tuple[Observed, ...]:
        return ()


@pytest.mark.parametrize(("fails", "outcome"), [(SHOWN, "unsolved"), (HIDDEN, "unsolved"), ("neither", "solved")])
def test_both_count_and_only_the_hidden_one_is_held_out(bench: Callable[..., Any], fails: str, outcome: str) -> None:
    made = bench(lambda _: "```python\ndef add(a, b):\n    return b\n```")
    made.judge, made.problems = Judge(fails), {"tiny/0": PROBLEM}
    made.go()
    events = [entry.event for entry in made.entries()]
    (end,) = (event for event in events if isinstance(event, ExperimentFinished))
    (scored,) = (event for event in events if isinstance(event, CandidateScored))
    assert (end.outcome, end.score_kind, scored.gate) == (outcome, "held_out", None)
    assert [(SHOWN in source, HIDDEN in source) for source in made.judge.asked] in (
        [(True, False), (False, True)],
        [(True, False)],
    )
