"""Modules are judged apart from their tests, with their own operators and exceptions, or else with twins."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest
from attacks.judges import open_judge

from koderz_core.datasets.methods import module_tests
from koderz_core.records import Problem, PublicProblem, TestSet, Verdict
from koderz_core.sandbox.judge import BoxedJudge

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the tier is of Linux")
MODULE = """import contextlib

LIMIT = 5


class AreaError(Exception):
    def __init__(self, text, size):
        super().__init__(text)
        self.size = size


class NegativeError(AreaError):
    pass


Alias = ValueError


class Area:
    unit = "m2"

    def __init__(self, size, names=()):
        if size < 0:
            raise NegativeError("negative area", size)
        self.size, self.names = size, list(names)

    def __add__(self, other):
        return Area(self.size + (other.size if isinstance(other, Area) else other))

    __radd__ = __add__

    def __iadd__(self, other):
        self.size += other
        return self

    def __eq__(self, other):
        return isinstance(other, Area) and self.size == other.size

    def __lt__(self, other):
        return self.size < other.size

    def __hash__(self):
        return hash(self.size)

    def __neg__(self):
        return Area(self.size + 1)

    def __float__(self):
        return float(self.size)

    def __contains__(self, name):
        return name in self.names

    def __getitem__(self, place):
        return self.names[place]

    def __delitem__(self, place):
        del self.names[place]

    def __reversed__(self):
        return reversed(self.names)

    def __enter__(self):
        self.names.append("entered")
        return self

    def __exit__(self, *error):
        self.names.append("left")

    def __repr__(self):
        return f"Area({self.size})"

    def __format__(self, form):
        return f"{self.size:{form}} m2"

    @property
    def double(self):
        return 2 * self.size


class Plot(Area):
    pass


def parsed(text):
    return Area(int(text))


def walk(area):
    yield from area.names


def refuse():
    raise Alias("no")
"""
NAMES = "LIMIT, AreaError, NegativeError, Alias, Area, Plot, parsed, walk, refuse"


@pytest.fixture(scope="module")
def judge() -> Iterator[BoxedJudge]:
    opened = open_judge("strong")
    yield opened
    opened.close()


def judged(
    judge: BoxedJudge, *lines: str, code: str = MODULE, solution: str = MODULE, head: str = "", shared: bool = False
) -> Verdict:
    """The verdict on a module, of tests with one method with these lines."""
    body = "".join(f"        {line}\n" for line in lines)
    head = f"import unittest\nfrom area import {NAMES}\n{head}\n"
    tests = module_tests(f"{head}class AreaTest(unittest.TestCase):\n    def test_it(self):\n{body}", "area")
    public = PublicProblem("area/1", "", "Area", kind="module", names=tests.names, file="area.py")
    problem = Problem(public, TestSet(tests.source, shared=shared), solution)
    return judge.check(problem, code, problem.tests)


@pytest.mark.parametrize(
    "line",
    [
        "self.assertEqual(Area(1) + Area(2), Area(3))",
        "self.assertEqual(1 + Area(2) + 4, Area(7))",
        "a = Area(1); b = a; a += 5; self.assertEqual(b.size, 6)",
        "self.assertNotEqual(Area(1), Area(2))",
        "self.assertLess(Area(1), Area(2))",
        "self.assertEqual(sorted([Area(2), Area(1)])[0].size, 1)",
        "self.assertEqual(len({Area(1), Area(1), Area(2)}), 2)",
        "self.assertEqual((-Area(1)).size, 2)",
        "self.assertAlmostEqual(float(Area(1)), 1.0)",
        "self.assertIn('a', Area(1, ['a'])); self.assertNotIn('b', Area(1, ['a']))",
        "a = Area(1, ['a', 'b']); del a[0]; self.assertEqual(a[0], 'b')",
        "self.assertEqual(list(reversed(Area(1, ['a', 'b']))), ['b', 'a'])",
        "with Area(1) as a: pass",
        "with Area(1) as a: self.assertEqual(a.names, ['entered'])",
        "self.assertEqual(repr(Area(3)), 'Area(3)')",
        "self.assertEqual(f'{Area(3):>4}', '   3 m2')",
        "self.assertIsInstance(parsed('3'), Area); self.assertNotIsInstance(parsed('3'), Plot)",
        "self.assertTrue(issubclass(Plot, Area)); self.assertFalse(isinstance(3, Area))",
        "self.assertEqual(Plot(2).double, 4)",
        "self.assertEqual((Area.unit, Area.__name__, LIMIT), ('m2', 'Area', 5))",
        "self.assertEqual(list(walk(Area(1, 'ab'))), ['a', 'b'])",
        "self.assertRaises(AreaError, Area, -1)",
        "with self.assertRaises(NegativeError): Area(-1)",
        "with self.assertRaisesRegex(AreaError, '^negative area$'): Area(-1)",
        "with self.assertRaises(Alias): refuse()",
        "with self.assertRaises(ValueError): refuse()",
        "with self.assertRaises(ValueError): parsed('x')",
        "with self.assertRaises(AttributeError): Area(1).nothing",
    ],
)
def test_tests_use_objects_of_a_module_from_another_process(judge: BoxedJudge, line: str) -> None:
    verdict = judged(judge, line)
    assert (verdict.passed, verdict.shared) == (True, False), verdict.message


def test_an_exception_of_the_program_has_its_class_arguments_and_attributes(judge: BoxedJudge) -> None:
    verdict = judged(
        judge,
        "with self.assertRaises(AreaError) as caught: Area(-3)",
        "self.assertIs(type(caught.exception), NegativeError)",
        "self.assertEqual((caught.exception.args, caught.exception.size), (('negative area',), -3))",
    )
    assert (verdict.passed, verdict.shared) == (True, False), verdict.message


@pytest.mark.parametrize(
    ("line", "old", "new"),
    [
        ("self.assertEqual(parsed('3').double, 6)", "return 2 * self.size", "return Yes(0)"),
        ("self.assertEqual(6, parsed('3').double)", "return 2 * self.size", "return Yes(0)"),
        ("with self.assertRaises(NegativeError): Area(-1)", "raise NegativeError", "raise AreaError"),
        ("with self.assertRaises(NegativeError): Area(-1)", 'NegativeError("negative area", size)', "KeyError"),
        ("with self.assertRaises(Alias): refuse()", 'raise Alias("no")', "raise KeyError"),
    ],
)
def test_an_object_of_the_program_equals_no_plain_value_and_is_no_other_exception(
    judge: BoxedJudge, line: str, old: str, new: str
) -> None:
    lying = MODULE.replace(old, new) + "class Yes(Area):\n    __eq__ = lambda *_: True\n"
    apart, shared = (judged(judge, line, code=lying, solution=MODULE, shared=shared) for shared in (False, True))
    assert (apart.passed, apart.error == "faked") == (False, False)  # the judge compared itself
    assert not shared.passed


@pytest.mark.parametrize(
    ("head", "line"),
    [
        ("class Garden(Area): pass", "self.assertEqual(Garden(2).double, 4)"),
        ("import copy", "self.assertEqual(copy.copy(Area(2)).double, 4)"),
        (
            "import datetime",
            "self.assertEqual(list(walk(Area(1, [datetime.date(2000, 1, 1)]))), [datetime.date(2000, 1, 1)])",
        ),
        (
            "from unittest.mock import patch",
            "p = patch('area.LIMIT', 7)\n        with p: self.assertEqual(parsed('3').size, 3)",
        ),
        ("", "self.assertEqual(type(parsed('2')), Area)"),
    ],
)
def test_tests_that_need_the_programs_process_run_there(judge: BoxedJudge, head: str, line: str) -> None:
    verdict = judged(judge, line, head=head)
    assert (verdict.passed, verdict.shared) == (True, True), verdict.message


def test_the_canonical_solution_alone_decides_where_the_tests_run(judge: BoxedJudge) -> None:
    line = "self.assertEqual(parsed('2').size, 2)"
    closure = MODULE.replace("return Area(int(text))", "return (lambda: 2)")
    assert not judged(judge, line, code=closure).shared
    without = judged(judge, line, solution="")
    assert (without.passed, without.shared) == (True, True)


def test_without_a_solution_too_a_fake_must_fail_the_twins(judge: BoxedJudge) -> None:
    fake = "import unittest\nunittest.TestCase.assertEqual = lambda *_: None\n" + MODULE
    line = "self.assertEqual(parsed('2').size, 2)"
    assert judged(judge, line, code=fake, solution="").error == "faked"


def test_a_module_must_define_every_name_that_the_tests_import(judge: BoxedJudge) -> None:
    verdict = judged(judge, "Area(1)", code=MODULE.replace("def walk", "def wolk"))
    assert (verdict.marks, verdict.error) == ("-", "name")


@pytest.mark.parametrize("shared", [False, True], ids=["apart", "shared"])
def test_a_failed_method_is_shown_with_its_name_source_and_message(judge: BoxedJudge, shared: bool) -> None:
    verdict = judged(judge, "area = parsed('2')", "self.assertIs(area.size == 3, True)", shared=shared)
    (failure,) = verdict.failures
    assert failure.source == (
        "AreaTest.test_it:\ndef test_it(self):\n    area = parsed('2')\n    self.assertIs(area.size == 3, True)"
    )
    assert (failure.message, failure.expected, failure.actual) == ("AssertionError: False is not True", None, None)
    assert verdict.message == "AreaTest.test_it: AssertionError: False is not True"
