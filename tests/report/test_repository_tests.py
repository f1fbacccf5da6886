"""The tests of a repository before and after a patch: which are fixed, kept or broken, and in which order."""

from __future__ import annotations

from koderz_core.records import TestFailure, Verdict
from koderz_core.records.rows import IterationRow
from koderz_core.report.repository_tests import RepositoryTests, changes_of_tests, changes_table, figures, history_table

TESTS = RepositoryTests(
    failing=frozenset({"t/a.py::f1", "t/a.py::f2"}),
    gate=("t/a.py::f1", "t/b.py::p1", "t/b.py::p2"),
    rest=("t/a.py::f2", "t/c.py::p3"),
    base=("t/a.py::f1", "t/a.py::f2", "t/b.py::p1", "t/b.py::p2", "t/c.py::p3"),
)


def verdict(marks: str, *failures: TestFailure) -> Verdict:
    return Verdict(marks, failures, True, "assertion" if "F" in marks else None, "", 0.1, "strong")


def test_files_with_changed_tests_come_first_and_changed_tests_first_in_each() -> None:
    changes = changes_of_tests(TESTS, verdict("PPF"), verdict("F-"))
    assert [(change.id, change.signs, change.kind) for change in changes] == [
        ("t/a.py::f1", "✗ → ✓ fixed", "gate"),
        ("t/a.py::f2", "✗ → ✗ still fails", "held-out"),
        ("t/b.py::p2", "✓ → ✗ broken", "gate"),
        ("t/b.py::p1", "✓ → ✓", "gate"),
        ("t/c.py::p3", "✓ → · did not run", "held-out"),
    ]
    assert figures(changes) == {"failing tests fixed": "1 of 2", "passing tests kept": "1 of 3"}


def test_a_patch_that_no_loop_tested_is_scored_on_all_tests() -> None:
    changes = changes_of_tests(TESTS, None, verdict("PPPPP"))
    assert {change.kind for change in changes} == {"held-out"}
    assert figures(changes) == {"failing tests fixed": "2 of 2", "passing tests kept": "3 of 3"}


def test_a_verdict_on_other_tests_than_the_task_has_now_is_not_named() -> None:
    assert changes_of_tests(TESTS, verdict("PPFF"), None) == ()


def test_a_failure_is_in_the_line_of_its_test() -> None:
    changes = changes_of_tests(TESTS, verdict("PPF", TestFailure(2, "p2", "1", "2", "one\nline")), None)
    table = changes_table("Tests", changes)
    assert table.columns == ("start → now", "test", "file", "tests", "expected", "actual", "message")
    assert ("✓ → ✗ broken", "p2", "t/b.py", "gate", "1", "2", "one line") in table.rows


def test_the_course_of_gate_tests_leaves_out_tests_that_always_passed() -> None:
    tried = [iteration(1, "FPF"), iteration(2, "F-P"), iteration(3, "PPP")]
    table = history_table(TESTS, tried)
    assert table.columns == ("start → 1, 2, 3", "test")
    assert table.rows == (("✗ → ✗ ✗ ✓", "t/a.py::f1"), ("✓ → ✓ · ✓", "t/b.py::p1"), ("✓ → ✗ ✓ ✓", "t/b.py::p2"))
    assert not history_table(TESTS, [iteration(1, "PP")]).rows


def iteration(number: int, marks: str) -> IterationRow:
    passed = marks.count("P")
    found = ("exp", number, None, 0.0, "code", "diff", passed == len(marks), marks, passed, len(marks))
    return IterationRow(*found, None, "", 0.1, "strong", ())
