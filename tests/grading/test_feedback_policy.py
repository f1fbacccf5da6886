"""Feedback policies: what a verdict looks like to a strategy, and what a model is told of it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as some

from koderz_core.errors import UnknownNameError
from koderz_core.grading.gates import FEEDBACKS, visible
from koderz_core.prompts.attempts import failing_tests
from koderz_core.records import PublicProblem, TestFailure, Verdict

PROBLEM = PublicProblem("p/0", "", "f")
FAILURE = TestFailure(1, "assert candidate(77) == 88", "88", "99")
FAILED = Verdict("PF-", (FAILURE,), False, "assertion", "assert candidate(77) == 88 was not so: got 99", 1.5, "strong")
RAISED = Verdict("PF-", (FAILURE,), False, "type", "TypeError: no (line 3)", 1.5, "strong", test_seconds=(0.1, 0.2, 0))
NO_PROGRAM = Verdict("---", (), False, "truncated", "The reply was cut at its token limit.", 0.0, "none")
BROKEN = Verdict("---", (), False, "syntax", "SyntaxError: (line 2)", 0.0, "strong")

TOLD = {
    "full": (
        "It passed 1 of 3 tests. Failing (`candidate` stands for the function):\n"
        "- `assert candidate(77) == 88`: it gave 99, correct is 88",
        "It passed 1 of 3 tests. Failing (`candidate` stands for the function):\n"
        "- `assert candidate(77) == 88`: it gave 99, correct is 88",
        "It failed before any test could pass: SyntaxError: (line 2)",
    ),
    "error": (
        "It passed 1 of 3 tests. The first failure is of class assertion: a wrong result",
        "It passed 1 of 3 tests. The first failure is of class type: TypeError: no (line 3)",
        "It failed before any test could pass: SyntaxError: (line 2)",
    ),
    "count": ("It passed 1 of 3 tests.", "It passed 1 of 3 tests.", "It passed 0 of 3 tests."),
    "none": ("It failed the tests.",) * 3,
}


@pytest.mark.parametrize("feedback", FEEDBACKS)
def test_a_model_is_told_what_its_feedback_lets_through(feedback: str) -> None:
    said = tuple(failing_tests(visible(verdict, feedback), PROBLEM) for verdict in (FAILED, RAISED, BROKEN))
    assert said == TOLD[feedback]


@pytest.mark.parametrize("feedback", FEEDBACKS)
def test_a_reply_without_a_program_is_no_secret_of_the_tests(feedback: str) -> None:
    said = failing_tests(visible(NO_PROGRAM, feedback), PROBLEM)
    assert said == "It could not be tested: the reply was cut at its token limit, before the program was complete."


@given(some.text("PF-", max_size=5), some.booleans(), some.sampled_from(["assertion", "timeout", "extraction", None]))
def test_whether_it_passed_is_the_same_in_all(marks: str, completed: bool, error: str | None) -> None:
    verdict = Verdict(marks, (), completed, error, "", 0.0, "none")  # type: ignore[arg-type]
    assert {visible(verdict, policy).passed for policy in FEEDBACKS} == {verdict.passed}


def test_counts_do_not_tell_which() -> None:
    assert [visible(FAILED, policy).marks for policy in FEEDBACKS] == ["PF-", "PF-", "PFF", ""]


def test_an_unknown_feedback_is_named() -> None:
    with pytest.raises(UnknownNameError, match=r"feedback: 'much'.*count"):
        visible(FAILED, "much")
