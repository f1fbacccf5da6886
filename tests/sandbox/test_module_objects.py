"""Modules apart from their tests whose objects are plain data: constants do not pass, own kinds of plain types do."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest
from attacks.judges import open_judge

from koderz_core.datasets.methods import module_tests
from koderz_core.records import Problem, PublicProblem, TestSet
from koderz_core.sandbox.judge import BoxedJudge
from koderz_core.sandbox.modules import derives_plain

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the tier is of Linux")
SOLUTION = """class Point:
    def __init__(self, x, y):
        self.x, self.y = x, y

    def __eq__(self, other):
        return isinstance(other, Point) and (self.x, self.y) == (other.x, other.y)

    def __add__(self, other):
        return Point(self.x + other.x, self.y + other.y)


def path(steps):
    return [Point(step, 0) for step in range(steps + 1)]
"""
TESTS = """import unittest
from grid import Point, path


class GridTest(unittest.TestCase):
    def test_sum(self):
        self.assertEqual(Point(1, 2) + Point(3, 4), Point(4, 6))

    def test_short_path(self):
        self.assertEqual(path(1), [Point(0, 0), Point(1, 0)])

    def test_path(self):
        self.assertEqual(path(2), [Point(0, 0), Point(1, 0), Point(2, 0)])
"""
FAKES = {
    "every point is 0": "def Point(*_): return 0\ndef path(steps): return [0] * (steps + 1)\n",
    "every point is one object": (
        "class Point:\n    one = None\n    def __new__(kind, *_):\n"
        "        kind.one = kind.one or object.__new__(kind)\n        return kind.one\n"
        "    __add__ = lambda self, _: self\ndef path(steps): return [Point()] * (steps + 1)\n"
    ),
}
HONEST = {
    "named tuple": (
        "from typing import NamedTuple\nclass Point(NamedTuple):\n    x: int\n    y: int\n"
        "    def __add__(self, other): return Point(self.x + other.x, self.y + other.y)\n"
        "def path(steps): return [Point(step, 0) for step in range(steps + 1)]\n"
    ),
    "complex number": (
        "class Point(complex):\n    def __add__(self, other): return Point(complex(self) + complex(other))\n"
        "def path(steps): return [Point(step, 0) for step in range(steps + 1)]\n"
    ),
}


@pytest.fixture(scope="module")
def judge() -> Iterator[BoxedJudge]:
    opened = open_judge("strong")
    yield opened
    opened.close()


def tried(*, shared: bool = False) -> Problem:
    found = module_tests(TESTS, "grid")
    public = PublicProblem("grid/1", "", "Point", kind="module", names=found.names, file="grid.py")
    return Problem(public, TestSet(found.source, shared=shared), SOLUTION)


@pytest.mark.parametrize("shared", [False, True], ids=["apart", "shared"])
@pytest.mark.parametrize("code", FAKES.values(), ids=FAKES)
def test_one_value_for_every_object_does_not_pass(judge: BoxedJudge, code: str, shared: bool) -> None:
    problem = tried(shared=shared)
    verdict = judge.check(problem, code, problem.tests)
    assert (verdict.passed, verdict.error) == (False, "faked")


@pytest.mark.parametrize("code", HONEST.values(), ids=HONEST)
def test_a_class_that_derives_from_a_plain_type_passes_with_its_methods(judge: BoxedJudge, code: str) -> None:
    problem = tried()
    assert judge.check(problem, SOLUTION, problem.tests).shared is False
    assert judge.check(problem, code, problem.tests).passed
    wrong = code.replace("Point(step, 0)", "Point(step, 1)")
    assert not judge.check(problem, wrong, problem.tests).passed


def test_a_program_cannot_choose_the_process_of_tests_that_all_have_one_direction(judge: BoxedJudge) -> None:
    tests = "import unittest\nfrom grid import path\nclass T(unittest.TestCase):\n"
    tests += "    def test_a(self):\n        self.assertTrue(path(2)[0] == 4)\n"
    found = module_tests(tests, "grid")
    public = PublicProblem("grid/2", "", "path", kind="module", names=found.names, file="grid.py")
    problem = Problem(public, TestSet(found.source), "def path(steps): return [2 * steps]\n")
    fake = "import unittest\nunittest.TestCase.assertTrue = lambda *_: None\nclass Own(tuple): pass\n"
    fake += "def path(steps): return Own([0])\n"
    assert judge.check(problem, problem.canonical_solution, problem.tests).passed
    assert not judge.check(problem, fake, problem.tests).passed


def test_classes_that_derive_from_plain_types_are_found() -> None:
    assert derives_plain("import fractions\nclass A(fractions.Fraction): pass")
    assert derives_plain("class A(list[int]): pass")
    assert derives_plain("class A(int): pass\nlong = x" + ".replace(1, 2)" * 1000)  # deeper than Python's stack
    assert derives_plain("from collections import namedtuple\nA = namedtuple('A', 'x y')")
    assert not derives_plain("class A(Exception): pass\nlist(A.args)")
    assert not derives_plain("class A(")
