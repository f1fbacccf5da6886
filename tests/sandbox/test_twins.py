"""Twins look like real tests, cover every test in each pair of runs, and raise no false alarm on honest programs."""

from __future__ import annotations

import ast
import sys
from collections import Counter
from collections.abc import Iterator

import pytest
from attacks.judges import open_judge
from attacks.modules import HONEST, TESTS, problem

from koderz_core.datasets.methods import module_tests
from koderz_core.sandbox.judge import BoxedJudge
from koderz_core.sandbox.twins import PAIRS, Twins, runs_of

HEAD = "import unittest\nfrom stack import Stack\nclass StackTest(unittest.TestCase):\n"
COUNTING = """
import itertools
numbers = itertools.count(1)
seen = []
"""


@pytest.fixture(scope="module")
def judge() -> Iterator[BoxedJudge]:
    if sys.platform != "linux":
        pytest.skip("the tier is of Linux")
    opened = open_judge("strong")
    yield opened
    opened.close()


def twins_of(*methods: str) -> Twins:
    """The twins of tests with these bodies."""
    tests = "".join(f"    def test_{number}(self):\n        {body}\n" for number, body in enumerate(methods))
    return Twins(module_tests(HEAD + tests, "stack").source)


def changed(twins: Twins) -> list[str]:
    """The last lines of all tests with their twins."""
    tree = ast.parse(twins.source(twins.units))
    kind = next(node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == "StackTest")
    return [ast.unparse(method.body[-1]) for method in kind.body if isinstance(method, ast.FunctionDef)]


def test_expected_values_of_one_kind_are_exchanged_so_that_no_value_is_new() -> None:
    twins = twins_of(
        "self.assertEqual(Stack(1), 11)", "self.assertEqual(Stack(2), 22)", "self.assertEqual(Stack(3), 'c')"
    )
    first, second, third = changed(twins)
    assert (first, second) == ("self.assertEqual(Stack(1), 22)", "self.assertEqual(Stack(2), 11)")
    assert third != "self.assertEqual(Stack(3), 'c')"


@pytest.mark.parametrize(
    ("line", "twin"),
    [
        ("self.assertTrue(Stack(1))", "self.assertFalse(Stack(1))"),
        ("self.assertIsNone(Stack(1))", "self.assertIsNotNone(Stack(1))"),
        ("self.assertNotIn(1, Stack(1))", "self.assertIn(1, Stack(1))"),
        ("self.assertIs(Stack(1), False, 'no')", "self.assertIs(Stack(1), True, 'no')"),
        ("assert not Stack(1)", "require(Stack(1), 'not Stack(1)')"),
        ("assert Stack(1) == True", "require_compared(Stack(1), '==', False)"),
    ],
)
def test_a_truth_value_becomes_the_opposite(line: str, twin: str) -> None:
    assert changed(twins_of(line)) == [twin]


def test_where_an_exception_is_expected_the_call_becomes_one_of_another_test_that_raises_none() -> None:
    twins = twins_of("self.assertEqual(Stack(1), 11)", "with self.assertRaises(ValueError): Stack(-1)")
    assert changed(twins)[1].endswith("):\n    Stack(1)")
    alone = twins_of("with self.assertRaises(ValueError): Stack(-1)")
    assert changed(alone)[0].endswith("):\n    Stack(-1)")


def test_the_value_in_a_comparison_that_is_to_be_true_is_changed() -> None:
    (line,) = changed(twins_of("self.assertTrue(Stack(1) == Stack(3))"))
    assert line.startswith("self.assertTrue(Stack(1) == Stack(")
    assert line != "self.assertTrue(Stack(1) == Stack(3))"


@pytest.mark.parametrize(
    ("method", "expected"),
    [
        ("expected = [1, 2]; self.assertEqual(Stack(1), expected)", "expected = [1, 2]"),
        ("self.assertEqual(Stack(1), 5); self.assertGreater(Stack(1), 2)", "self.assertEqual(Stack(1), 5)"),
        ("for n in Stack(1): self.assertEqual(n, 5)", "self.assertEqual(n, 5)"),
    ],
)
def test_a_value_in_a_variable_or_a_loop_or_before_further_assertions_is_changed_too(
    method: str, expected: str
) -> None:
    twins = twins_of(method)
    assert expected in twins.source()
    assert expected not in twins.source(twins.units)


@pytest.mark.parametrize(
    "line",
    [
        "self.assertGreater(Stack(1), 0)",
        "self.assertRegex(Stack(1), 'a')",
        "self.assertAlmostEqual(Stack(1), 3, delta=2)",
        "self.assertNotEqual(Stack(1), 3)",
        "self.assertEqual(Stack(1).pop(), Stack(2).pop())",
        "self.assertIsInstance(Stack(1), int)",
        "self.assertEqual(Stack(1), 5); Stack(2)",
        "Stack(1)",
    ],
)
def test_assertions_that_a_result_could_pass_with_two_values_have_no_twin(line: str) -> None:
    assert twins_of(line).units == ()


SURE = "    def test_sure(self):\n        self.assertEqual(Stack(1), 1)\n"
CLASS_SURE = """    @classmethod
    def setUpClass(cls):
        cls.stack = Stack(1)
    def test_sure(self):
        self.assertGreater(self.stack, 0)
"""
SKIPPING = "    def {}:\n        self.skipTest('later')\n        self.assertEqual(Stack(2), 'b')\n"
HELPER = "import unittest\ndef need():\n    raise unittest.SkipTest('later')\n"


def sure_tests(tests: str) -> int:
    """How many tests have a twin that a right program fails, as far as their source shows."""
    twins = Twins(module_tests(tests, "stack").source)
    return sum(len(unit.places) for unit in twins.units if all(expected.sure for expected, _ in unit.changes))


@pytest.mark.parametrize(
    ("tests", "sure"),
    [
        (f"{HEAD}{SURE}", 1),
        (f"{HEAD}{SURE}{SKIPPING.format('test_later(self)')}", 1),
        (f"{HEAD}{SURE}{SKIPPING.format('setUp(self)')}", 0),
        (f"{HEAD}{SURE}{SKIPPING.format('help(self)')}", 0),
        (f"{HEAD}{SKIPPING.format('setUp(self)')}class Other(StackTest):\n{SURE}", 0),
        (f"{HEAD}{SKIPPING.format('setUp(self)')}class Other(unittest.TestCase):\n{SURE}", 1),
        (f"{HEAD}{SURE}".replace("class", "@unittest.skipIf(True, 'later')\nclass"), 0),
        (f"{HELPER}{HEAD}    def setUp(self):\n        need()\n{SURE}", 0),
        (f"{HELPER}{HEAD}{SURE}", 1),
        (f"{HEAD}{SURE.replace('self.assert', 'check = 1; self.assert')}", 1),
    ],
)  # fmt: skip
def test_a_test_that_may_skip_itself_passes_its_twin_too(tests: str, sure: int) -> None:
    assert sure_tests(tests) == sure


@pytest.mark.parametrize("name", ["setUp(self)", "test_later(self)"])
def test_a_right_program_passes_tests_that_skip_themselves_although_there_is_no_solution(
    judge: BoxedJudge, name: str
) -> None:
    tried = problem(shared=True, tests=f"{HEAD}{SURE}{SKIPPING.format(name)}", solution="")
    code = "def Stack(number):\n    return number\n"
    assert judge.check(tried, code, tried.tests).passed
    wrong = code.replace("return number", "return 7")
    assert judge.check(tried, wrong, tried.tests).passed is (name == "setUp(self)")


@pytest.mark.parametrize("solution", ["", "def Stack(number):\n    return number\n"])
def test_a_program_cannot_skip_the_tests(judge: BoxedJudge, solution: str) -> None:
    program = "import unittest\ndef Stack(number):\n    raise unittest.SkipTest\n"
    function = "from stack import Stack\ndef test_a():\n    assert Stack(1) == 1\n"
    for tests in (f"{HEAD}{SURE}", f"{HEAD}{CLASS_SURE}", function):
        tried = problem(shared=True, tests=tests, solution=solution)
        assert not judge.check(tried, program, tried.tests).passed


def test_each_unit_is_a_twin_in_one_run_of_each_pair_and_one_run_is_real() -> None:
    units = Twins(problem(shared=True).tests.source).units
    runs = runs_of(units)
    assert len(runs) == 2 * PAIRS + 1
    assert Counter(id(unit) for run in runs for unit in run) == {id(unit): PAIRS for unit in units}
    assert () in runs
    assert len({tuple(map(id, run)) for run in runs}) > 2


def test_most_methods_of_a_suite_have_a_twin() -> None:
    units = Twins(problem(shared=True).tests.source).units
    assert sum(len(unit.changes) for unit in units) >= TESTS.count("def test_") - 3


@pytest.mark.parametrize(
    "code",
    [
        HONEST,
        COUNTING + HONEST.replace("self.items = list(items)", "self.items = [*items]; self.number = next(numbers)"),
        COUNTING + HONEST.replace("return self.items.pop()", "seen.append(1)\n        return self.items.pop()"),
        "import random\n" + HONEST.replace("return sum(numbers)", "return sum(random.sample(numbers, len(numbers)))"),
        "kept = {}\n" + HONEST.replace("return sum(numbers)", "return kept.setdefault(tuple(numbers), sum(numbers))"),
    ],
    ids=["plain", "numbered objects", "a growing list", "random", "remembered"],
)
@pytest.mark.parametrize("shared", [False, True], ids=["apart", "shared"])
def test_an_honest_program_with_state_of_its_own_passes(judge: BoxedJudge, code: str, shared: bool) -> None:
    tried = problem(shared=shared)
    for _ in range(3):
        verdict = judge.check(tried, code, tried.tests)
        assert verdict.passed, verdict.message


def test_tests_that_depend_on_each_other_raise_no_false_alarm(judge: BoxedJudge) -> None:
    solution = "class Stack:\n    n = 0\n    def __init__(self):\n        Stack.n += 1\n        self.number = Stack.n\n"
    tests = HEAD + (
        "    def test_1(self):\n        self.assertEqual(Stack().number, 1)\n        self.assertIsNotNone(Stack())\n"
        "    def test_2(self):\n        self.assertEqual(Stack().number, 3)\n"
        "        self.assertGreater(Stack().number, 3)\n"
        "    def test_3(self):\n        self.assertEqual(Stack().number, 5)\n"
    )
    tried = problem(shared=True, tests=tests, solution=solution)
    verdict = judge.check(tried, solution + "\n", tried.tests)
    assert verdict.passed, verdict.message


def test_a_program_whose_results_differ_between_runs_does_not_pass(judge: BoxedJudge) -> None:
    tried = problem(shared=True)
    unsteady = "import os\n" + HONEST.replace("return len(self.items)", "return 3 if os.urandom(1)[0] % 2 else 4")
    verdicts = [judge.check(tried, unsteady, tried.tests) for _ in range(16)]
    assert sum(verdict.passed for verdict in verdicts) <= 5  # without a second run about 8, with it at most 1 of 16
    assert all("test_length" in verdict.message for verdict in verdicts if not verdict.passed)


def test_a_failing_program_is_not_run_with_all_twins(judge: BoxedJudge) -> None:
    tried = problem(shared=True)
    wrong = HONEST.replace("return len(self.items)", "return 4")
    verdict = judge.check(tried, wrong, tried.tests)
    assert (verdict.marks.count("F"), verdict.error) == (1, "assertion")
