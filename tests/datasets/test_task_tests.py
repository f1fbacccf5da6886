"""Test files of a person's project, which koderz runs on one file alone."""

from __future__ import annotations

from pathlib import PurePath
from typing import Any

import pytest

from koderz_core.config import Settings
from koderz_core.datasets.task_tests import task_tests
from koderz_core.records import Problem, PublicProblem, TestSet
from koderz_core.workspace.grading import Grading

FILE = PurePath("/home/me/project/gcd.py")
PROGRAM = "LIMIT = 9\n\n\ndef gcd(a, b):\n    return a if b == 0 else gcd(b, a % b)\n"


@pytest.mark.parametrize(
    "tests",
    [
        "from project.gcd import gcd as of\n\nx = 13\nassert of(17, 0) == 17\nx = LIMIT\nassert of(x, 3) == 3\n",
        "for a in (4, 6):\n    assert gcd(a, 2) == 2\nassert gcd(1, 1) == 1\n",
        "from .gcd import gcd\n\ndef test_zero():\n    assert gcd(17, 0) == 17\n\ndef test_same():\n"
        "    assert gcd(13, 13) == 13\n",
        "from . import gcd\n\nassert gcd.gcd(17, 0) == 17\n\ndef test_same():\n    assert gcd.gcd(13, 13) == 13\n",
        "x = 9\nassert gcd(x, 3) == 3; assert gcd(x, 2) == 1\n",
        "it = iter([4, 6])\nassert gcd(next(it), 2) == 2\nassert gcd(next(it), 9) == 3\n",
        "found = []\nfor a in (4, 6):\n    found.append(a)\n    assert gcd(a, 2) == 2\nassert gcd(*found) == 2\n",
        "seen = b = []\nassert len(b) < gcd(1, 1)\nseen.append(1)\nassert len(b) == gcd(1, 1)\n",
        "CASES = [(4, 2)]\n\ndef test_cases():\n    for a, b in CASES:\n        assert gcd(a, b) == 2\n\n"
        "assert gcd(1, 1) == 1\n",
        "import pytest\nx: int = gcd(4, 2)\nassert x == 2\nCASES = [4]\ny = gcd(6, 2)\n\n"
        '@pytest.mark.parametrize("a", CASES)\ndef test_cases(a):\n    assert gcd(a, y) == 2\n',
        "import unittest\nimport project.gcd as it\n\nclass TestGcd(unittest.TestCase):\n"
        "    def test_zero(self):\n        self.assertEqual(it.gcd(17, 0), 17)\n\n"
        "    def test_same(self):\n        self.assertEqual(it.gcd(13, 13), 13)\n",
    ],
)
def test_tests_in_every_form_run_on_the_file_alone(settings: Settings, tests: str) -> None:
    assert marks(settings, PROGRAM, tests) == "PP"


def test_each_statement_runs_once_because_the_program_may_keep_state(settings: Settings) -> None:
    program = "total = [0]\n\n\ndef add(number):\n    total[0] += number\n    return total[0]\n"
    tests = "add(1)\nassert add(1) == 2\nadd(1)\nassert add(1) == 4\nadd(1)\n"
    assert marks(settings, program, tests) == "PP"


def test_the_second_of_two_asserts_on_one_line_is_a_test_of_its_own(settings: Settings) -> None:
    tests = "assert gcd(4, 2) == 2; assert gcd(4, 2) == 4\n\ndef test_line_1():\n    assert gcd(1, 1) == 1\n"
    assert marks(settings, PROGRAM, tests) == "PFP"


def test_a_failed_test_shows_the_statements_before_it() -> None:
    source = task_tests("x = 4\ny = 5\nassert gcd(x, 2) == 2\nx = LIMIT\nassert x == 9\n", "t.py", FILE, PROGRAM).source
    assert 'Earlier statements:\nx = 4\nassert gcd(x, 2) == 2\n"""' in source


def marks(settings: Settings, program: str, tests: str) -> str:
    """The marks of a program's tests."""
    nothing: Any = None  # datasets, which these tests do not need
    read = task_tests(tests, "test_gcd.py", FILE, program)
    public = PublicProblem("fix/gcd.py", "", read.names[0], kind="module", names=read.names[1:], file="gcd.py")
    grading = Grading(settings, nothing)
    try:
        return grading.grade(program, Problem(public, TestSet(read.source), "")).marks
    finally:
        grading.close()
