"""Three problems of BigCodeBench's published shape: one that can be graded, one that writes a file, one with numpy."""

from __future__ import annotations

import json
from pathlib import Path

from koderz_core.config import Settings
from koderz_core.datasets import load
from koderz_core.records import Dataset

TESTS = """import unittest
from unittest.mock import patch
import random


class TestCases(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.given = [1, 2, 3]

    def setUp(self):
        random.seed(1)

    def test_sum(self):
        self.assertEqual(task_func(self.given), 6)

    @patch("random.shuffle")
    def test_shuffles(self, shuffle):
        task_func([1])
        shuffle.assert_called_once()

    def test_seeded(self):
        first = task_func([1, 2], draw=True)
        random.seed(1)
        self.assertEqual(task_func([1, 2], draw=True), first)

    def test_raises(self):
        with self.assertRaises(TypeError):
            task_func(3)

    @unittest.skip("not now")
    def test_later(self):
        self.fail("it was run")
"""
ROW = {
    "task_id": "BigCodeBench/0",
    "complete_prompt": 'import random\n\n\ndef task_func(numbers, draw=False):\n    """Sum of shuffled numbers."""\n',
    "instruct_prompt": "Sum numbers.",
    "canonical_solution": "    given = list(numbers)\n    random.shuffle(given)\n"
    "    return random.random() if draw else sum(given)\n",
    "code_prompt": "import random\ndef task_func(numbers, draw=False):\n",
    "test": TESTS,
    "entry_point": "task_func",
    "doc_struct": "{}",
    "libs": "['random']",
}


def _simple(number: int, module: str, body: str) -> dict[str, str]:
    return ROW | {
        "task_id": f"BigCodeBench/{number}",
        "complete_prompt": f'import {module}\n\ndef task_func(x):\n    """Do it."""\n',
        "canonical_solution": f"    return {body}\n",
        "test": "import unittest\nclass TestCases(unittest.TestCase):\n    def test_a(self):\n"
        "        self.assertEqual(task_func(2), 4)\n",
        "libs": f"['{module}']",
    }


WRITES = _simple(1, "tempfile", "tempfile.TemporaryFile().write(b'x' * 2 * x)")
NUMPY = _simple(2, "numpy", "numpy.array(x) * 2")


def placed(path: Path, *rows: dict[str, str]) -> Dataset:
    (path / "BigCodeBench.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return load("bigcodebench", Settings(datasets_dir=path))
