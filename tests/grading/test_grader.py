"""Samples graded side by side: which test sets are run, and what their verdicts come to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from cases_as_asserts import as_asserts

from koderz_core.errors import DataError, SandboxError
from koderz_core.grading.canonical import Canonical, Expectations
from koderz_core.grading.grader import Graded, Grader, Sample, TestKind
from koderz_core.grading.problem_tests import Divide, Divider
from koderz_core.grading.suites import joined
from koderz_core.grading.testsets import Split, TestPolicy
from koderz_core.records import Extracted, Observed, PlusTests, Problem, PublicProblem, TestFailure, TestSet, Verdict
from koderz_core.sandbox.reference import answers

BASE = "def check(candidate):\n    assert candidate(1) == 2\n"
DOUBLE = Problem(
    PublicProblem("p/0", "", "double"), TestSet(BASE), "def double(x): return 2 * x", PlusTests("[[3], [4]]")
)


class InProcess:
    """Judges by plain ``exec``; a program that says so cannot be judged."""

    def check(self, problem: Problem, code: str, tests: TestSet) -> Verdict:
        if code == "lost":
            raise SandboxError("The worker was lost.")
        scope: dict[str, object] = {}
        exec(code, scope)
        tests = as_asserts(tests)
        exec(tests.source, scope)
        marks = tests.source.count("    assert ") * "P"
        try:
            scope["check"](scope["double"])  # type: ignore[operator]
        except AssertionError:
            return Verdict(marks[1:] + "F", (), True, "assertion", "wrong", 0.1, "none")
        return Verdict(marks, (), True, None, "", 0.1, "none")

    def probe(self, problem: PublicProblem, code: str, calls: Sequence[str]) -> tuple[Observed, ...]:
        return tuple(Observed(call, None) for call in calls)


def dividing(folder: Path) -> Divide:
    return Divider(Canonical(folder, InProcess), lambda: Expectations(folder, answers)).divide


def graded(codes: Sequence[str | None], tests: TestKind, folder: Path) -> list[Graded]:
    samples = [Sample(line, DOUBLE, Extracted(code, "solution"), {"line": line}) for line, code in enumerate(codes)]
    with Grader(InProcess(), dividing(folder), 2, lambda verdict: verdict, TestPolicy()) as grader:
        divided = dict(grader.tests([DOUBLE], tests))
        return sorted(grader.grade(samples, divided), key=lambda graded_sample: graded_sample.sample.line)


RIGHT, WEAK, WRONG = (f"def double(x): return {body}" for body in ("x + x", "x + 1", "0"))


def test_a_plus_score_takes_base_and_plus_tests(tmp_path: Path) -> None:
    rows = [sample.row("plus") for sample in graded([RIGHT, WEAK, WRONG], "plus", tmp_path)]
    assert [(row["passed"], row["base_passed"]) for row in rows] == [(True, True), (False, True), (False, False)]
    assert [(row["tests_passed"], row["tests_total"]) for row in rows] == [(3, 3), (2, 3), (0, 3)]


def test_what_failed_the_base_tests_does_not_reach_the_others(tmp_path: Path) -> None:
    (one,) = graded([WRONG], "plus", tmp_path)
    assert one.verdict is not None
    assert (one.verdict.marks, one.error) == ("F--", "assertion")


def test_base_tests_are_all_there_is_to_a_base_score(tmp_path: Path) -> None:
    (row,) = (sample.row("base") for sample in graded([WEAK], "base", tmp_path))
    assert (row["passed"], row["tests_total"], "base_passed" in row) == (True, 1, False)


def test_a_reply_without_a_program_fails_and_a_lost_worker_is_nobodys_failure(tmp_path: Path) -> None:
    rows = [sample.row("base") for sample in graded([None, "lost"], "base", tmp_path)]
    assert [(row["passed"], row["error"]) for row in rows] == [(False, "extraction"), (None, "sandbox")]
    assert rows[1]["message"] == "The worker was lost."


def test_programs_that_may_take_long_are_graded_first() -> None:
    seconds = {"p/0": 4.0, "p/1": 9.0, "p/2": 5.0}
    problems = [replace(DOUBLE, public=PublicProblem(name, "", "double")) for name in seconds]
    tests = {
        problem.id: Split(DOUBLE.tests, replace(DOUBLE.tests, seconds=seconds[problem.id])) for problem in problems
    }
    samples = [Sample(0, problem, Extracted(RIGHT, "solution"), {}) for problem in problems]
    judged: list[str] = []

    class Noting(InProcess):
        def check(self, problem: Problem, code: str, tests: TestSet) -> Verdict:
            judged.append(problem.id)
            return super().check(problem, code, tests)

    with Grader(Noting(), lambda problem, _: tests[problem.id], 1, lambda verdict: verdict, TestPolicy()) as grader:
        list(grader.grade(samples, tests))
    assert judged == ["p/1", "p/2", "p/0"]


def test_a_variant_that_is_not_what_its_rule_promises_cannot_be_graded(tmp_path: Path) -> None:
    variant = replace(DOUBLE, variant="impossible")
    with (
        Grader(InProcess(), dividing(tmp_path), 1, lambda verdict: verdict, TestPolicy()) as grader,
        pytest.raises(DataError, match=r"p/0 cannot be graded: .* exactly one gate test .* Omit that problem"),
    ):
        grader.tests_of(variant, "base")


def test_the_keys_of_a_sample_are_kept(tmp_path: Path) -> None:
    assert [sample.row("base")["line"] for sample in graded([RIGHT, RIGHT], "base", tmp_path)] == [0, 1]


def test_joined_verdicts_count_tests_on_and_tell_the_first_failure() -> None:
    base = Verdict("PP", (), True, None, "", 1.0, "strong")
    plus = Verdict("PF", (TestFailure(1, "assert"),), False, "timeout", "late", 2.0, "strong", shared=True)
    total = joined([base, plus])
    assert (total.marks, total.failures[0].index, total.completed) == ("PPPF", 3, False)
    assert (total.error, total.message, total.seconds, total.shared) == ("timeout", "late", 3.0, True)


def test_broken_tests_end_the_grading(tmp_path: Path) -> None:
    sample = Sample(1, DOUBLE, Extracted(RIGHT, "solution"), {})
    grading = Grader(InProcess(), dividing(tmp_path), 1, lambda verdict: verdict, TestPolicy())
    with grading as grader, pytest.raises(SyntaxError):
        list(grader.grade([sample], {"p/0": Split(TestSet("def"), TestSet("def"))}))
