"""Test files of modules become ``check(candidate)``: unittest classes, functions for pytest, imports of every form."""

from __future__ import annotations

from typing import Any

import pytest

from koderz_core.datasets.methods import ModuleTests, module_tests
from koderz_core.errors import DataError
from koderz_core.sandbox.tiers import count_tests

CASE = "import unittest\n{}\nclass LeapTest(unittest.TestCase):\n    def test_one(self):\n        {}\n"
PYTEST = """import pytest
from leap import year, BadError

@pytest.mark.parametrize("number, right", [(2000, True), (1900, False)])
def test_years(number, right):
    assert year(number) is right, f"year {number}"

@pytest.mark.skip(reason="later")
def test_later():
    assert False

def test_raises():
    with pytest.raises(BadError, match="no year") as caught:
        year(None)
    assert "year" in str(caught.value)

def test_near():
    assert year(0.1) + 0.2 == pytest.approx(0.3)
    assert [0.1 + 0.2] == pytest.approx([0.3]) and 0.31 != pytest.approx(0.3)
    assert 1000000.5 != pytest.approx(1e6, rel=0, abs=0.01) and 1.0000005 != pytest.approx(1.0, rel=0)
    assert 1000000.5 == pytest.approx(1e6, rel=0, abs=1) and 1.0000005 == pytest.approx(1.0)
"""


class BadError(Exception):
    pass


def year(number: Any) -> Any:
    if number is None:
        raise BadError("no year")
    return number if isinstance(number, float) else number % 400 == 0


def outcomes(tests: ModuleTests, **given: object) -> list[bool]:
    """Whether each assert of ``check`` holds where nothing is isolated."""
    names: dict[str, Any] = dict(given)
    lines = tests.source.replace("    assert outcome_of", "    seen.append('passed' == outcome_of")
    lines = lines.replace(" == 'passed'\n", ")\n")
    names["seen"] = []
    exec(compile(lines, "<tests>", "exec"), names)
    names["check"](None)
    seen: list[bool] = names["seen"]
    return seen


@pytest.mark.parametrize(
    ("imports", "line", "names"),
    [
        ("from leap import year", "self.assertTrue(year(2000))", ("year",)),
        ("from leap import year as y, BadError", "self.assertTrue(y(2000))", ("year", "BadError")),
        ("import leap", "self.assertTrue(leap.year(2000))", ("year",)),
        ("import leap as jump", "self.assertTrue(jump.year(2000))", ("year",)),
        ("from leap import *", "self.assertTrue(year(2000))", ("year",)),
        ("from leap import (year)", "from leap import year; self.assertTrue(year(2000))", ("year",)),
    ],
)
def test_the_names_that_tests_use_of_a_module_are_given_to_them(
    imports: str, line: str, names: tuple[str, ...]
) -> None:
    tests = module_tests(CASE.format(imports, line), "leap")
    assert tests.names == names
    assert "import leap" not in tests.source
    assert outcomes(tests, year=year, BadError=BadError) == [True]


def test_functions_for_pytest_are_one_test_each_and_their_asserts_are_not() -> None:
    tests = module_tests(PYTEST, "leap")
    assert count_tests(tests.source) == 4
    assert outcomes(tests, year=year, BadError=BadError) == [True, True, True, True]
    assert outcomes(tests, year=lambda number: number, BadError=BadError) == [False, True, False, True]


def test_a_failed_bare_assert_shows_both_values_and_the_parameters() -> None:
    names: dict[str, Any] = {"year": lambda _: 5, "BadError": BadError}
    exec(module_tests(PYTEST, "leap").source, names)
    assert names["outcome_of_function"](names["test_years"]) == (
        "year 2000: assert 5 is True (with {'number': 2000, 'right': True})"
    )


@pytest.mark.parametrize(
    "text", [CASE.format("from leap import year", "year(1)"), "from leap import year\ndef test_a(): year(1)"]
)
def test_an_assertion_error_of_the_program_fails_the_test_whatever_it_says(text: str) -> None:
    def passed(_number: int) -> None:
        raise AssertionError("passed")

    assert outcomes(module_tests(text, "leap"), year=passed) == [False]


def test_bare_asserts_in_methods_are_not_tests_of_their_own() -> None:
    tests = module_tests(
        CASE.format("from leap import year", "assert year(2000) == True; assert not year(1900)"), "leap"
    )
    assert count_tests(tests.source) == 1
    assert outcomes(tests, year=year) == [True]


def test_a_class_inherits_tests_from_the_classes_above_it() -> None:
    mixin = "class Mixin(LeapTest):\n    def test_two(self):\n        self.assertFalse(year(1900))\n"
    again = "class LeapTest(Mixin):\n    def test_three(self):\n        self.assertTrue(year(1600))\n"
    text = f"{CASE.format('from leap import year', 'self.assertTrue(year(2000))')}{mixin}{again}"
    assert outcomes(module_tests(text, "leap"), year=year) == [True] * 5


def test_the_code_of_a_helper_file_is_part_of_the_tests() -> None:
    text = CASE.format("from leap import year\nfrom test_utils import CASES as cases", "assert year(cases[0])")
    tests = module_tests(text, "leap", helpers=(("test_utils", "import math\nCASES = [400 * int(math.pi)]\n"),))
    assert outcomes(tests, year=year) == [True]


UNITTEST = "class LeapTest(unittest.TestCase):\n"
WRONG = "    def test_one(self):\n        self.assertTrue(year(1900))\n"
FAILING = "    @classmethod\n    def {}(cls):\n        raise {}\n"


@pytest.mark.parametrize(
    "marked",
    [
        f"@unittest.skip('later')\n{UNITTEST}{FAILING.format('setUpClass', 'OSError')}{WRONG}",
        f"@unittest.skipIf(True, '')\n{UNITTEST}{FAILING.format('tearDownClass', 'OSError')}{WRONG}",
        f"@pytest.mark.skip(reason='later')\n{UNITTEST}{WRONG}",
        f"@unittest.skip('later')\nclass Base(unittest.TestCase):\n    pass\nclass LeapTest(Base):\n{WRONG}",
        f"{UNITTEST}{FAILING.format('setUpClass', 'unittest.SkipTest')}{WRONG}",
        f"{UNITTEST}    @unittest.skip('later')\n{WRONG}",
        f"{UNITTEST}    @pytest.mark.skip\n{WRONG}",
        "@unittest.skip('later')\ndef test_one():\n    assert year(1900)\n",
        f"{UNITTEST}    def setUp(self):\n        raise OSError\n    @unittest.skip('later')\n{WRONG}",
        "def test_one():\n    raise unittest.SkipTest('later')\n",
    ],
)
def test_a_skipped_test_passes_as_unittest_and_pytest_let_it(marked: str) -> None:
    tests = module_tests(f"import unittest\nimport pytest\nfrom leap import year\n{marked}", "leap")
    assert outcomes(tests, year=year) == [True]


@pytest.mark.parametrize("names", ["['number']", "('number',)", "'number,'"])
def test_a_single_name_in_a_list_takes_its_value_from_a_sequence(names: str) -> None:
    rows = "[2000, 400]" if names == "'number,'" else "[(2000,), (400,)]"
    test = f"@pytest.mark.parametrize({names}, {rows})\ndef test_one(number):\n    assert year(number)\n"
    tests = module_tests(f"import pytest\nfrom leap import year\n{test}", "leap")
    assert outcomes(tests, year=year) == [True]


def test_only_the_parameters_that_a_test_skips_pass_unseen() -> None:
    test = "def test_one(number):\n    if number < 1900: raise unittest.SkipTest\n    assert year(number)\n"
    for numbers, passed in (([1, 2000], True), ([1, 1900], False)):
        marked = f"@pytest.mark.parametrize('number', {numbers})\n{test}"
        tests = module_tests(f"import unittest\nimport pytest\nfrom leap import year\n{marked}", "leap")
        assert outcomes(tests, year=year) == [passed]


@pytest.mark.parametrize(("number", "passed"), [(1900, True), (2000, False)])
def test_a_test_that_is_expected_to_fail_passes_only_if_it_fails(number: int, passed: bool) -> None:
    for marked in (
        f"{UNITTEST}    @unittest.expectedFailure\n{WRONG}",
        f"@unittest.expectedFailure\n{UNITTEST}{WRONG}",
    ):
        tests = module_tests(f"import unittest\nfrom leap import year\n{marked.replace('1900', str(number))}", "leap")
        assert outcomes(tests, year=year) == [passed]


def test_a_class_that_does_not_skip_runs_beside_one_that_does() -> None:
    skipped = f"{UNITTEST}{FAILING.format('setUpClass', 'unittest.SkipTest')}{WRONG}"
    derived = "class Derived(LeapTest):\n    @classmethod\n    def setUpClass(cls):\n        pass\n"
    unmarked = "@unittest.skipIf(False, '')\nclass Other(Derived):\n    pass\n"
    text = f"import unittest\nfrom leap import year\n{skipped}{derived}{unmarked}"
    assert outcomes(module_tests(text, "leap"), year=year) == [True, False, False]


def test_tests_that_run_themselves_do_not() -> None:
    text = CASE.format("from leap import year", "year(2000)") + "\nif __name__ == '__main__':\n    unittest.main()\n"
    assert "unittest.main" not in module_tests(text, "leap").source


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (CASE.format("", "pass"), r"does not import anything with `from leap import \.\.\.`"),
        ("from leap import year\n", "must define a function or a method whose name starts with 'test'"),
        ("from leap import (", "field test is not Python"),
        (
            CASE.format("from leap import year\nimport helper", "pass"),
            "imports 'helper', which is neither .* helper files",
        ),
        (
            "from leap import year\ndef test_file(tmp_path):\n    year(1)\n",
            "parameter 'tmp_path'; koderz does not support pytest fixtures",
        ),
        (
            "import pytest\nfrom leap import year\n@pytest.fixture\ndef a(): pass\ndef test_a(): year(1)\n",
            "uses pytest.fixture, but koderz supports only these names of pytest: ",
        ),
        (
            "from leap import year\nclass TestLeap:\n    def test_a(self):\n        year(1)\n",
            "TestLeap is not a unittest.TestCase",
        ),
        (
            "from leap import year\nasync def test_a():\n    year(1)\ndef test_b():\n    pass\n",
            "test_a is an `async def`",
        ),
    ],
)
def test_what_cannot_be_tested_is_refused_with_what_to_do(text: str, said: str) -> None:
    with pytest.raises(DataError, match=said):
        module_tests(text, "leap")
