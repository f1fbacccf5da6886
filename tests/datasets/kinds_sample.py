"""Tiny files in the published formats of problems to repair, of modules and of classes, for machines without them."""

from __future__ import annotations

import gzip
import io
import json
import tarfile
from collections.abc import Mapping
from pathlib import Path

from koderz_core.config import Settings
from koderz_core.datasets import load
from koderz_core.records import Dataset

FIX = {
    "task_id": "Python/3",
    "prompt": 'import math\n\n\ndef area(side: int) -> int:\n    """The area of a square.\n'
    '    >>> area(2)\n    4\n    """\n',
    "entry_point": "area",
    "canonical_solution": "    return side * side\n",
    "buggy_solution": "    return side + side\n",
    "test": "\n\n\ndef check(area):\n    assert area(2) == 4\n    assert area(3) == 9, 'Error'\n"
    "    assert area(0) == 0\n\ncheck(area)",
    "bug_type": "operator misuse",
    "failure_symptoms": "incorrect output",
}
PLUS = {
    "task_id": "HumanEval/3",
    "prompt": FIX["prompt"],
    "entry_point": "area",
    "canonical_solution": "    return side ** 2\n",
    "test": "def check(candidate):\n    assert candidate(2) == 4\n",
    "plus_input": [[5], [-7]],
    "atol": 0,
}
QUIXBUGS = {
    "python_programs/halve.py": 'def halve(xs):\n    return [x // 3 for x in xs]\n\n\n"""\nHalve\n"""\n',
    "python_programs/last.py": "def last(node):\n    while node.successor:\n        node = node\n    return node\n\n\n"
    '"""\nLast\n"""\n',
    "correct_python_programs/halve.py": "def halve(xs):\n    return [x // 2 for x in xs]\n",
    "correct_python_programs/last.py": "def last(node):\n    while node.successor:\n        node = node.successor\n"
    "    return node\n",
    "python_programs/last_test.py": "from .node import Node\n",
    "python_programs/node.py": "class Node: pass\n",
    "json_testcases/halve.json": "[[[2, 4]], [1, 2]]\n\n[[[6]], [3]]\n",
    "python_testcases/node.py": "class Node:\n    def __init__(self, value, successor=None):\n"
    "        self.value = value\n        self.successor = successor\n",
    "python_testcases/test_last.py": "import pytest\nfrom node import Node\n\nif pytest.use_correct:\n    pass\n\n"
    'first = Node(1)\n\n\ndef test1():\n    """One"""\n\n    found = last(first)\n    assert found.value == 1\n\n\n'
    "def test2():\n    second = Node(2, first)\n    found = last(second)\n    assert found is first\n",
}
EXERCISM = {
    "config.json": json.dumps(
        {
            "exercises": {
                "practice": [
                    {"slug": "two-sum", "difficulty": 3, "practices": ["lists", "loops"], "topics": None},
                    {"slug": "lamp", "difficulty": 1, "practices": []},
                ]
            }
        }
    ),
    "exercises/practice/two-sum/.docs/instructions.md": "# Instructions\n\nAdd two numbers.\n",
    "exercises/practice/two-sum/.docs/instructions.append.md": "# Instructions append\n\nUse `+`.\n",
    "exercises/practice/two-sum/.docs/introduction.md": "# Introduction\n\nSums are old.\n",
    "exercises/practice/two-sum/.docs/hints.md": "# Hints\n",
    "exercises/practice/two-sum/.meta/example.py": "def two_sum(a, b):\n    return a + b\n",
    "exercises/practice/two-sum/two_sum.py": "def two_sum(a, b):\n    pass\n",
    "exercises/practice/two-sum/two_sum_test.py": "import unittest\n\nfrom two_sum import two_sum\n\n\n"
    "class TwoSumTest(unittest.TestCase):\n    def test_small(self):\n        self.assertEqual(two_sum(1, 2), 3)\n\n"
    "    def test_zero(self):\n        self.assertEqual(two_sum(0, 0), 0)\n",
    "exercises/practice/lamp/.docs/instructions.md": "Write a lamp.\n",
    "exercises/practice/lamp/.meta/example.py": "class Lamp:\n    on = False\n\n    def press(self):\n"
    "        self.on = not self.on\n        return self.on\n",
    "exercises/practice/lamp/lamp.py": "class Lamp:\n    pass\n",
    "exercises/practice/lamp/lamp_test.py": "import unittest\nfrom lamp import Lamp\nfrom test_utils import TWICE\n\n\n"
    "class LampTest(unittest.TestCase):\n    def test_on_and_off(self):\n        lamp = Lamp()\n"
    "        self.assertEqual([lamp.press() for _ in range(TWICE)], [True, False])\n",
    "exercises/practice/lamp/test_utils.py": "TWICE = 2\n",
}
CLASSES = [
    {
        "task_id": "ClassEval_0",
        "skeleton": 'import math\n\n\nclass RoundShape:\n    """A circle."""\n\n'
        '    def area(self, r):\n        """Its area"""\n',
        "test": "import unittest\n\n\nclass RoundShapeTestArea(unittest.TestCase):\n    def test_area_1(self):\n"
        "        self.assertEqual(RoundShape().area(1), math.pi)\n\n    def test_area_2(self):\n"
        "        self.assertEqual(RoundShape().area(0), 0)\n\n\nclass RoundShapeTest(unittest.TestCase):\n"
        "    def test_main(self):\n        self.assertEqual(RoundShape().area(2), 4 * math.pi)\n",
        "solution_code": "import math\n\n\nclass RoundShape:\n    def area(self, r):\n        return math.pi * r * r\n",
        "import_statement": ["import math"],
        "class_name": "RoundShape",
    },
]


def packed(files: Mapping[str, str], folder: str = "") -> bytes:
    """An archive of these files, as GitHub makes one with a ``folder`` around them."""
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w:gz") as archive:
        for path, text in files.items():
            member = tarfile.TarInfo(folder + path)
            member.size = len(text.encode())
            archive.addfile(member, io.BytesIO(text.encode()))
    return content.getvalue()


def place(folder: Path) -> Path:
    """All files, under the names of the published ones."""
    (folder / "humanevalpack.jsonl").write_text(json.dumps(FIX) + "\n")
    (folder / "HumanEvalPlus.jsonl.gz").write_bytes(gzip.compress(json.dumps(PLUS).encode()))
    (folder / "QuixBugs-python.tar.gz").write_bytes(packed(QUIXBUGS, "QuixBugs-4257f44/"))
    (folder / "exercism-python.tar.gz").write_bytes(packed(EXERCISM))
    (folder / "ClassEval_data.json").write_text(json.dumps(CLASSES))
    return folder


def placed(folder: Path, name: str) -> Dataset:
    return load(name, Settings(datasets_dir=place(folder)))
