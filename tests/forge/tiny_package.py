"""A package of one module with its tests, and a judge that runs them here, because they are ours."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from koderz_core.datasets.archives import contents_sha256
from koderz_core.patches import apply_patch
from koderz_core.records import Problem, Repository, SourceTree, TestFailure, TestSet, Verdict
from koderz_core.sandbox.repository.reports import Survey, TestResult

MODULE = '''"""Small sums."""


def total(numbers, start=0):
    """The sum of numbers."""
    result = start  # a comment that stays
    for number in numbers:
        if number is None:
            continue
        result = result + number
    return result


def largest(numbers):
    best = None
    for number in numbers:
        if best is None or number > best:
            best = number
    return best


def label(number):
    if number < 0:
        return "negative"
    elif number == 0:
        return "zero"
    else:
        return "positive"
'''
TESTS = """import sums


def test_total():
    assert sums.total([1, 2, 3]) == 6


def test_total_of_none():
    assert sums.total([]) == 0


def test_total_with_start():
    assert sums.total([1, None, 2], 10) == 13


def test_largest():
    assert sums.largest([1, 3, 2]) == 3


def test_largest_of_negative_numbers():
    assert sums.largest([-2, -1]) == -1


def test_largest_of_none():
    assert sums.largest([]) is None


def test_negative():
    assert sums.label(-1) == "negative"


def test_zero():
    assert sums.label(0) == "zero"


def test_positive():
    assert sums.label(1) == "positive"
"""
FILES = {
    "sums.py": MODULE.encode(),
    "tests/test_sums.py": TESTS.encode(),
    "PKG-INFO": b"Metadata-Version: 2.4\nName: sums\nVersion: 1.0\nLicense-Expression: MIT\n",
}
TREE = SourceTree(contents_sha256(FILES), "sums-1.0", "MIT", FILES)


class OwnJudge:
    """Runs the functions of ``TESTS`` in this process. ``calls``: how often it was asked.

    ``lacking``: the failing tests with a value that only the judge has, None for all.
    """

    def __init__(self, lacking: frozenset[str] | None = None) -> None:
        self.calls, self.lacking = 0, lacking

    def survey(self, repository: Repository, patch: str = "") -> Survey:
        self.calls += 1
        found = _outcomes(repository, patch)
        results = (TestResult(test, "failed" if fault else "passed", 0.0, fault, True) for test, fault in found.items())
        return Survey(tuple(results), True, 0.1)

    def close(self) -> None:
        """Do nothing: no process runs."""

    def check_unrepaired(self, problem: Problem, tests: TestSet) -> tuple[Verdict, frozenset[str]]:
        return self.check(problem, "", tests), frozenset(tests.ids) if self.lacking is None else self.lacking

    def check(self, problem: Problem, code: str, tests: TestSet) -> Verdict:
        self.calls += 1
        assert problem.repository
        found = _outcomes(problem.repository, code)
        marks = "".join("F" if found[test] else "P" for test in tests.ids)
        failures = tuple(
            TestFailure(place, f"assert {test.rpartition('::')[2]}", "1", "2", found[test])
            for place, test in enumerate(tests.ids)
            if found[test]
        )
        return Verdict(marks, failures, True, "assertion" if failures else None, "", 0.1, "limited")


def _outcomes(repository: Repository, patch: str) -> dict[str, str]:
    texts = apply_patch(patch, apply_patch(repository.fault, {"sums.py": MODULE}))
    module: dict[str, Any] = {"__name__": "sums"}
    exec(texts["sums.py"], module)
    tests: dict[str, Any] = {}
    exec(TESTS.replace("import sums", ""), tests | {"sums": type("Sums", (), {})}, tests)
    fake = type("Sums", (), {name: staticmethod(value) for name, value in module.items() if callable(value)})
    return {f"tests/test_sums.py::{name}": _fault(test, fake) for name, test in tests.items()}


def _fault(test: Callable[[], None], fake: type) -> str:
    test.__globals__["sums"] = fake
    try:
        test()
    except Exception as error:  # noqa: BLE001 (a fault may raise anything)
        return repr(error) or "failed"
    return ""
