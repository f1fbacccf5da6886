"""A small tree with tests, and a line of the kind ``repo`` whose fault is in one function of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from koderz_core.config import Settings
from koderz_core.datasets.own_problems import read_own
from koderz_core.datasets.trees import keep_tree
from koderz_core.patches import make_patch
from koderz_core.records import Problem

SOURCE = '''"""Areas."""


def square(side):
    """The area of a square."""
    return side * side


def circle(radius):
    return 3.14 * radius * radius
'''
BROKEN = SOURCE.replace("side * side", "side + side")
TESTS = """import pytest
from shapes import circle, square


@pytest.mark.parametrize("side", [3, 4])
def test_square(side):
    assert square(side) == side**2


class TestCircle:
    def test_unit(self):
        assert circle(1) == 3.14

    def test_none(self):
        assert circle(0) == 0
"""
FILES = {
    "src/shapes.py": SOURCE.encode(),
    "tests/test_shapes.py": TESTS.encode(),
    "tests/conftest.py": b"",
    "pyproject.toml": b"[project]\nname = 'shapes'\n",
    "README.md": b"Shapes.\n",
    "logo.png": b"\x89PNG\0",
}
PATH = "src/shapes.py"
FAULT, GOLD = (make_patch({PATH: item}, {PATH: other}) for item, other in ((SOURCE, BROKEN), (BROKEN, SOURCE)))
FAILING = ["tests/test_shapes.py::test_square[3]", "tests/test_shapes.py::test_square[4]"]
PASSING = ["tests/test_shapes.py::TestCircle::test_unit", "tests/test_shapes.py::TestCircle::test_none"]
ROW: dict[str, Any] = {
    "kind": "repo",
    "task_id": "shapes-1.0/1",
    "prompt": "square(3) returns 6. Fix it.",
    "name": "shapes-1.0",
    "licence": "MIT",
    "fault": FAULT,
    "canonical_solution": GOLD,
    "editable": [PATH],
    "FAIL_TO_PASS": FAILING,
    "PASS_TO_PASS": PASSING,
    "roots": ["src"],
    "seconds": 1.5,
}


def row(settings: Settings, **fields: object) -> dict[str, Any]:
    """A line of a file, whose tree is kept in the data folder."""
    return ROW | {"tree": keep_tree(FILES, "shapes-1.0", "MIT", settings).sha256} | fields


def problem(settings: Settings, **fields: object) -> Problem:
    (found,) = read_own(json.dumps(row(settings, **fields)).encode(), settings).problems
    return found


def write(folder: Path, settings: Settings, *rows: dict[str, Any]) -> Path:
    """A file of these lines, by default of one."""
    path = folder / "shapes.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in rows or [row(settings)]))
    return path
