"""A small tree with tests, and tasks made of it."""

from __future__ import annotations

from dataclasses import replace
from hashlib import sha256

from koderz_core.patches import make_patch
from koderz_core.records import Problem, PublicProblem, Repository, SourceTree, TestSet

CODE = "src/shelf/__init__.py"
GOOD = '''"""Counts what is on a shelf."""


def total(numbers):
    result = 0
    for number in numbers:
        result += number
    return result


def largest(numbers):
    return max(numbers)


def first(names):
    return sorted(names)[0]
'''
BROKEN = GOOD.replace("result += number", "result -= number")
TESTS = """
import unittest

import pytest

from shelf import first, largest, total


def test_total():
    assert total([1, 2, 4]) == 7


def test_total_of_one():
    assert total([5]) == 5


@pytest.mark.parametrize("many", [2, 3])
def test_largest(many):
    assert largest(range(many)) == many - 1


class TestNames(unittest.TestCase):
    def test_first(self):
        self.assertEqual(first(["b", "a"]), "a")

    def test_order(self):
        self.assertTrue(first(["b", "a"]) < "b")

    def test_none(self):
        with self.assertRaises(IndexError):
            first([])
"""
FILES = {
    CODE: GOOD.encode(),
    "tests/test_shelf.py": TESTS.encode(),
    "tests/conftest.py": b"",
    "pyproject.toml": b'[tool.pytest.ini_options]\naddopts = "--no-such-option"\ntestpaths = ["tests"]\n',
    "README.md": b"A shelf.\n",
}
TREE = SourceTree("5e1f" * 16, "shelf-1.0", "MIT", FILES)
FAILING = ("tests/test_shelf.py::test_total", "tests/test_shelf.py::test_total_of_one")
PASSING = (
    "tests/test_shelf.py::TestNames::test_first",
    "tests/test_shelf.py::TestNames::test_none",
    "tests/test_shelf.py::TestNames::test_order",
    "tests/test_shelf.py::test_largest[2]",
    "tests/test_shelf.py::test_largest[3]",
)
REPOSITORY = Repository(TREE, make_patch({CODE: GOOD}, {CODE: BROKEN}), (CODE,), FAILING, PASSING, ("src",))
GOLD = make_patch({CODE: BROKEN}, {CODE: GOOD})
PROBLEM = Problem(
    PublicProblem("shelf/total", "Fix it.", "", kind="repo", files={CODE: BROKEN}, editable=(CODE,)),
    TestSet(ids=(*FAILING, *PASSING)),
    GOLD,
    repository=REPOSITORY,
)


def patch(code: str, **others: str) -> str:
    """A patch that makes ``code`` of the package, with further files by path."""
    return make_patch({CODE: BROKEN}, {CODE: code, **others})


def first_lines(code: str) -> str:
    """A patch of the correct program that runs ``code`` when it is imported."""
    return patch(f"{code}\n{GOOD}")


def of_tree(files: dict[str, bytes], **changes: object) -> Problem:
    """The problem with another tree."""
    tree = SourceTree(sha256(repr(sorted(files.items())).encode()).hexdigest(), "other-1.0", "MIT", files)
    repository = replace(REPOSITORY, tree=tree, **changes)  # type: ignore[arg-type]
    return replace(PROBLEM, repository=repository)
