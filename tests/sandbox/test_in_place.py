"""What a program changes in its arguments counts where the tests look at that, and nowhere else."""

import pytest
from small_problem import checks, judged

from koderz_core.records import Cases, ErrorClass, Problem, PublicProblem, TestSet
from koderz_core.sandbox.in_place import looks_at_changes
from koderz_core.sandbox.judge import BoxedJudge
from koderz_core.sandbox.requests import Answer, Order, Report

REVERSES = "def double(x):\n    x.reverse()\n    return len(x)"
LOOKS = {
    "at the argument": ["a = [1, 2]", "candidate(a)", "assert a == [2, 1]"],
    "at the argument in the same assert": ["a = [1, 2]", "assert candidate(a) == 2 and a == [2, 1]"],
    "at a property of it": ["a = [2, 1]", "candidate(a)", "assert a == sorted(a)"],
    "at a part that the answer tells": ["a = [1, 2]", "k = candidate(a)", "assert a[:k] == [2, 1]"],
    "in a loop": ["for a, want in [([1, 2], [2, 1]), ([3], [3])]:", "    candidate(a)", "    assert a == want"],
    "at what is made of it": ["a = [1, 2]", "candidate(a)", "first = a[0]", "assert first == 2"],
    "under another name": ["solve = candidate", "a = [1, 2]", "solve(a)", "assert a == [2, 1]"],
}  # fmt: skip


@pytest.mark.parametrize("lines", LOOKS.values(), ids=LOOKS)
def test_without_a_solution_tests_may_look_at_what_was_changed(lines):
    assert judged(REVERSES, checks(*lines)).passed


COMPARES = {
    "an answer with its argument": ["a = [1, 2]", "assert candidate(a) == a"],
    "answers that were gathered": ["out, a = [], [2, 1]", "out.append(candidate(a))", "assert out == [len(a)]"],
    "an answer in a function": ["def right(x, y): assert x == len(y)", "a = [2, 1]", "right(candidate(a), a)"],
    "an answer without an operator": ["a = [2, 1]", "assert (2).__eq__(candidate(a)) and a"],
    "an answer of a function": ["def run(x): return candidate(x)", "a = [1]", "assert run(a) == len(a)"],
}


@pytest.mark.parametrize("lines", COMPARES.values(), ids=COMPARES)
def test_tests_that_compare_two_values_of_the_program_do_not_look_at_changes(lines):
    assert looks_at_changes(checks(*lines), "double") == (False,)


def test_the_message_says_that_changes_did_not_count():
    verdict = judged(
        "def double(x):\n    x.clear()\n    return []", checks("a = [2, 1]", "assert candidate(a) == sorted(a)")
    )
    assert verdict.marks == "F"
    assert verdict.message == (
        "assert candidate(a) == sorted(a) was not so: got [], expected [1, 2] "
        "(judged with copies of the arguments; it passes only with the tests' own objects)"
    )


def test_a_solution_tells_for_each_test_whether_it_looks_at_changes():
    tests = checks("a = [2, 1]", "candidate(a)", "assert a[0] == 1", "b = [4, 3]", "assert candidate(b) == sorted(b)")
    sorts = "def double(x):\n    x.sort()\n    return list(x)"
    empties = "def double(x):\n    if 1 in x: return x.sort()\n    x.clear()\n    return []"
    assert judged(sorts, tests, canonical=sorts).passed
    assert judged(empties, tests, canonical=sorts).marks == "FF"


def answer(marks: str, error: ErrorClass | None = None) -> Answer:
    return Answer(report=Report(marks, (), error, "", (), True, 0.1, False, changed=True, stuck=False))


def verdicts(monkeypatch: pytest.MonkeyPatch, tests: TestSet, canonical: str, answers: list[Answer]) -> list[bool]:
    """Whether a program that passes only with the tests' own objects has passed, in three checks by one judge."""

    def ask(_workers: object, order: Order) -> Answer:
        return answers.pop(0) if order.code == canonical else answer("P" if order.mirrors else "F")

    monkeypatch.setattr("koderz_core.sandbox.judge.ask", ask)
    judge = BoxedJudge("limited", workers=1)
    problem = Problem(PublicProblem("small/1", "", "double"), tests, canonical)
    found = [judge.check(problem, "program", tests).passed for _ in range(3)]
    judge.close()
    return found


def test_a_solution_that_ran_out_of_time_is_run_again_for_the_next_program(monkeypatch):
    tests = TestSet(checks("assert candidate([2, 1]) == 2"))
    assert verdicts(monkeypatch, tests, "solution", [answer("-", "timeout"), answer("P")]) == [False, False, False]


def test_calls_with_expected_answers_do_not_look_at_changes(monkeypatch):
    tests = TestSet("def like(value): return value", Cases("[[1]]", "[1]"))
    assert verdicts(monkeypatch, tests, "", []) == [False, False, False]
