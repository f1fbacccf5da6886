"""Tasks in repositories with the strategies that can solve them: programs are changes, and replies may hold none."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from koderz_core.errors import PlanError
from koderz_core.events import CodeTested, ExperimentFinished
from koderz_core.grading.testsets import Split
from koderz_core.patches import apply_patch
from koderz_core.plan.requirements import check_kinds
from koderz_core.records import (
    Configuration,
    Observed,
    Problem,
    PublicProblem,
    Repository,
    SourceTree,
    TestFailure,
    TestSet,
    Verdict,
)
from koderz_core.strategies import offered

Make = Callable[..., Any]  # Any: Bench of conftest.py, which a test module cannot import
TREE = {"shop/price.py": "def total(prices):\n    return max(prices)\n", "shop/names.py": "def name():\n    return 1\n"}
IDS = ("tests/test_price.py::test_total", "tests/test_price.py::test_none")
TEST = "def test_total():\n    assert total([1, 2]) == 3"
PROBLEM = Problem(
    PublicProblem("shop/0", "The total is wrong.", "", kind="repo", files=TREE, editable=tuple(TREE)),
    TestSet(ids=IDS),
    "",
    repository=Repository(SourceTree("0" * 64, "shop-1", "MIT", {}), "", tuple(TREE), IDS[:1], IDS[1:]),
)
RIGHT = "shop/price.py\n<<<<<<< SEARCH\n    return max(prices)\n=======\n    return sum(prices)\n>>>>>>> REPLACE"
WRONG = RIGHT.replace("sum(", "min(")
LOST = RIGHT.replace("max(prices)", "max(costs)")
KINDS = ("direct", "ladder", "retry", "repair", "supervised", "escalation", "beam", "tree")


@dataclass
class TreeJudge:
    """Passes a change after which the total is the sum."""

    isolation: str = "none"
    checked: list[str] = field(default_factory=list)

    def check(self, problem: Problem, code: str, tests: TestSet) -> Verdict:
        self.checked.append(code)
        if "sum(" in apply_patch(code, problem.public.files)["shop/price.py"]:
            return Verdict("PP", (), True, None, "", 0.1, self.isolation)
        failure = TestFailure(0, TEST, "3", "1", 'File "shop/price.py", line 2, in total')
        return Verdict("FP", (failure,), True, "assertion", "a test failed", 0.1, self.isolation)

    def probe(self, problem: PublicProblem, code: str, calls: Sequence[str]) -> tuple[Observed, ...]:
        raise AssertionError("no function of a change can be called")


def run(make: Make, strategy: str, *replies: str) -> tuple[Any, TreeJudge]:
    """The benchmark of one experiment whose coder gives these replies in turn, the last one again and again."""
    left = list(replies)
    bench = make(lambda request: left.pop(0) if len(left) > 1 else left[0], strategy, ("shop/0",))
    bench.problems, bench.judge = {"shop/0": PROBLEM}, TreeJudge()
    bench.divide = lambda problem, policy: Split(problem.tests, problem.tests)
    bench.go()
    return bench, bench.judge


@pytest.mark.parametrize("strategy", KINDS)
def test_a_change_is_tested_and_scored_as_a_diff_of_the_given_files(bench: Make, strategy: str) -> None:
    done, judge = run(bench, strategy, RIGHT)
    (finished,) = (entry.event for entry in done.entries() if isinstance(entry.event, ExperimentFinished))
    assert finished.outcome == "solved"
    assert set(judge.checked) == {
        "--- a/shop/price.py\n+++ b/shop/price.py\n@@ -1,2 +1,2 @@\n def total(prices):\n"
        "-    return max(prices)\n+    return sum(prices)\n"
    }


def test_the_next_prompt_says_why_a_reply_held_no_change(bench: Make) -> None:
    done, _ = run(bench, "repair", LOST, "I do not know.", RIGHT)
    second, third = (request.messages[-1].content for request in done.requests[1:])
    assert "shop/price.py: the lines to replace, from 'return max(costs)' on, are not in the file as given" in second
    assert "it contains no SEARCH/REPLACE block" in third
    tested = (entry.event for entry in done.entries() if isinstance(entry.event, CodeTested))
    assert [event.how for event in tested] == ["not-applied", "none", "search-replace"]


def test_the_next_prompt_shows_the_last_change_with_the_failing_test(bench: Make) -> None:
    done, _ = run(bench, "repair", WRONG, RIGHT)
    prompt = done.requests[1].messages[-1].content
    assert "Your previous attempt:\n```diff\n--- a/shop/price.py" in prompt
    assert f"in the test:\n```python\n{TEST}\n```" in prompt


@pytest.mark.parametrize("strategy", offered())
def test_a_strategy_that_calls_functions_is_refused_when_it_is_planned(strategy: str) -> None:
    made = Configuration(strategy, {"coder": ("scripted/it",)}, {})
    if strategy in ("best_of", "cascade", "swarm"):
        with pytest.raises(PlanError, match=f"{strategy} calls the functions .* The answer to shop/0 is a change"):
            check_kinds([made], [PROBLEM])
    else:
        check_kinds([made], [PROBLEM])
