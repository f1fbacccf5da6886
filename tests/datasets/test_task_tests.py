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
        "import unittest\nimport project.gcd as it\n\nclass TestGcd(unittest.TestCase):\n"
        "    def test_zero(self):\n        self.assertEqual(it.gcd(17, 0), 17)\n\n"
        "    def test_same(self):\n        self.assertEqual(it.gcd(13, 13), 13)\n",
    ],
)
def test_tests_in_every_form_run_on_the_file_alone(settings: Settings, tests: str) -> None:
    nothing: Any = None  # datasets, which these tests do not need
    read = task_tests(tests, "test_gcd.py", FILE, PROGRAM)
    public = PublicProblem("fix/gcd.py", "", read.names[0], kind="module", names=read.names[1:], file="gcd.py")
    grading = Grading(settings, nothing)
    verdict = grading.grade(PROGRAM, Problem(public, TestSet(read.source), ""))
    grading.close()
    assert (verdict.passed, verdict.tests_total) == (True, 2)
