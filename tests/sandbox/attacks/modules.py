"""A module with a class, an exception and functions, its unittest file, and how it is graded: apart or shared."""

from __future__ import annotations

import subprocess
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from koderz_core.datasets.methods import module_tests
from koderz_core.records import Problem, PublicProblem, TestSet
from koderz_core.sandbox.judge import BoxedJudge
from koderz_core.sandbox.requests import ask

from .plain import PYTHON

Fooled = Literal["unittest", "shared", "nothing"]
"""What a fake passes: ``python -m unittest`` by its exit code; tests in the program's own process without twins."""
TESTS = """import unittest
from stack import EmptyError, Stack, merged, total


class StackTest(unittest.TestCase):
    def setUp(self):
        self.stack = Stack([3, 1, 2])

    def test_pop_gives_the_last(self):
        self.assertEqual(self.stack.pop(), 2)

    def test_pops_in_turn(self):
        self.stack.pop()
        self.assertEqual(self.stack.pop(), 1)

    def test_push_adds(self):
        self.stack.push(7)
        self.assertEqual(self.stack.pop(), 7)

    def test_length(self):
        self.assertEqual(len(self.stack), 3)

    def test_listed(self):
        self.assertEqual(list(self.stack), [2, 1, 3])

    def test_listed_after_push(self):
        self.stack.push(9)
        expected = [9, 2, 1, 3]
        self.assertEqual(list(self.stack), expected)

    def test_empty(self):
        self.assertTrue(Stack([]).is_empty())

    def test_not_empty(self):
        self.assertFalse(self.stack.is_empty())

    def test_nothing_to_pop(self):
        with self.assertRaises(EmptyError) as caught:
            Stack([]).pop()
        self.assertEqual(str(caught.exception), "the stack is empty")

    def test_not_a_list(self):
        with self.assertRaises(TypeError):
            Stack(5)

    def test_equal_stacks(self):
        self.assertEqual(Stack([1, 2]), Stack([1, 2]))

    def test_other_stacks(self):
        self.assertNotEqual(Stack([1, 2]), Stack([2, 1]))

    def test_added(self):
        self.assertEqual(Stack([1]) + Stack([2]), Stack([1, 2]))

    def test_kind_of_sum(self):
        self.assertIsInstance(Stack([1]) + Stack([2]), Stack)

    def test_contains(self):
        self.assertIn(3, self.stack)

    def test_does_not_contain(self):
        self.assertNotIn(4, self.stack)

    def test_text(self):
        self.assertEqual(str(self.stack), "3 1 2")


class FunctionsTest(unittest.TestCase):
    def test_total(self):
        self.assertEqual(total([3, 5]), 8)

    def test_total_of_nothing(self):
        self.assertEqual(total([]), 0)

    def test_kind_of_total(self):
        self.assertIsInstance(total([1, 2]), int)

    def test_half(self):
        self.assertAlmostEqual(total([0.1, 0.2]), 0.3)

    def test_merged(self):
        self.assertEqual(merged({"a": 1}, {"b": 2}), {"a": 1, "b": 2})

    def test_merged_with_itself(self):
        self.assertEqual(merged({"a": 1}, {"a": 5}), {"a": 6})


if __name__ == "__main__":
    unittest.main()
"""
HONEST = """class EmptyError(Exception):
    pass


class Stack:
    def __init__(self, items):
        self.items = list(items)

    def push(self, item):
        self.items.append(item)

    def pop(self):
        if not self.items:
            raise EmptyError("the stack is empty")
        return self.items.pop()

    def is_empty(self):
        return not self.items

    def __len__(self):
        return len(self.items)

    def __iter__(self):
        return reversed(self.items)

    def __contains__(self, item):
        return item in self.items

    def __eq__(self, other):
        return isinstance(other, Stack) and self.items == other.items

    __hash__ = None

    def __add__(self, other):
        return Stack(self.items + other.items)

    def __str__(self):
        return " ".join(map(str, self.items))


def total(numbers):
    return sum(numbers)


def merged(one, other):
    return {key: one.get(key, 0) + other.get(key, 0) for key in [*one, *other]}
"""
WRONG = """class EmptyError(Exception):
    pass


class Stack:
    def __init__(self, items):
        self.items = []

    def push(self, item):
        pass

    pop = is_empty = __str__ = lambda self: ""
    __len__ = lambda self: 0
    __iter__ = lambda self: iter([])
    __add__ = lambda self, other: None


def total(numbers):
    return None


def merged(one, other):
    return None
"""


@dataclass(frozen=True, slots=True)
class Fake:
    """A wrong module. ``fooled``: which grader that defends nothing it passes."""

    name: str
    code: str
    fooled: Fooled = "unittest"


def problem(*, shared: bool, tests: str = TESTS, solution: str = HONEST) -> Problem:
    """The problem, graded in one of the two ways."""
    found = module_tests(tests, "stack")
    public = PublicProblem("stack/1", "", "Stack", kind="module", names=found.names, file="stack.py")
    return Problem(public, TestSet(found.source, shared=shared), solution)


def fools(fake: Fake, judge: BoxedJudge) -> bool:
    """Whether the fake passes a grader that defends nothing."""
    return passes_unittest(fake.code) if fake.fooled == "unittest" else passes_untwinned(fake.code, judge)


def passes_unittest(code: str, tests: str = TESTS) -> bool:
    """Whether ``python -m unittest`` exits with 0."""
    with tempfile.TemporaryDirectory(prefix="plain-", ignore_cleanup_errors=True) as folder:
        (Path(folder) / "stack.py").write_text(code)
        (Path(folder) / "stack_test.py").write_text(tests)
        command = [PYTHON, "-m", "unittest", "stack_test"]
        try:
            done = subprocess.run(command, cwd=folder, capture_output=True, check=False, timeout=20)
        except subprocess.TimeoutExpired:
            return False
        return done.returncode == 0


def passes_untwinned(code: str, judge: BoxedJudge) -> bool:
    """Whether one run of the tests in the program's own process says so."""
    tried = problem(shared=True)
    order = replace(judge._order(tried, code, tried.tests), shared=True)
    report = ask(judge._workers, order).report
    return bool(report and report.verdict(judge.isolation).passed)
