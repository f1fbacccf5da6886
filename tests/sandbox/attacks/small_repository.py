"""A small tree with tests in both styles, and a task with one fault in it."""

from __future__ import annotations

import hashlib

from koderz_core.patches import make_patch
from koderz_core.records import Problem, PublicProblem, Repository, SourceTree, TestSet

CORE = '''"""Shelves of boxes with sizes."""


class FullError(ValueError):
    """No box fits."""


class Shelf:
    """Boxes in order, up to a width."""

    def __init__(self, width):
        self.width = width
        self.boxes = []

    def add(self, name, size=1):
        """Put a box at the end; returns the number of boxes."""
        if size > self.free():
            raise FullError(f"{name} needs {size}, {self.free()} free")
        self.boxes.append((name, size))
        return len(self.boxes)

    def free(self):
        """The width that is left."""
        return self.width - sum(size for _, size in self.boxes)

    def names(self):
        """The names from left to right."""
        return [name for name, _ in self.boxes]

    def __contains__(self, name):
        return name in self.names()

    def __len__(self):
        return len(self.boxes)


def packed(sizes, width):
    """The sizes in groups of at most the width, in order."""
    groups = []
    for size in sizes:
        if groups and sum(groups[-1]) + size <= width:
            groups[-1].append(size)
        else:
            groups.append([size])
    return groups


def is_tight(shelf):
    """Whether nothing fits any more."""
    return shelf.free() == 0
'''
BROKEN = CORE.replace("return self.width - sum(size for _, size in self.boxes)", "return self.width - len(self.boxes)")
BROKEN = BROKEN.replace("sum(groups[-1]) + size <= width", "sum(groups[-1]) + size < width")
FUNCTIONS = """import pytest

from shelves import FullError, Shelf, is_tight, packed


@pytest.fixture
def shelf():
    made = Shelf(10)
    made.add("tea", 4)
    return made


def test_free(shelf):
    assert shelf.free() == 6


def test_names(shelf):
    shelf.add("salt")
    assert shelf.names() == ["tea", "salt"]


def test_contains(shelf):
    assert "tea" in shelf
    assert "salt" not in shelf


def test_tight(shelf):
    shelf.add("salt", 6)
    assert is_tight(shelf)
    assert shelf.free() == 0


def test_full(shelf):
    with pytest.raises(FullError, match="flour needs 7, 6 free"):
        shelf.add("flour", 7)


@pytest.mark.parametrize(
    ("sizes", "expected"), [([1, 2, 3], [[1, 2], [3]]), ([2, 2, 2], [[2, 2], [2]]), ([], []), ([4], [[4]])]
)
def test_packed(sizes, expected):
    assert packed(sizes, 4) == expected
"""
CLASSES = """import unittest

from shelves import FullError, Shelf, packed


class ShelfTest(unittest.TestCase):
    def setUp(self):
        self.shelf = Shelf(5)

    def test_empty(self):
        self.assertEqual(len(self.shelf), 0)
        self.assertEqual(self.shelf.free(), 5)

    def test_add(self):
        self.assertEqual(self.shelf.add("box", 2), 1)
        self.assertEqual(self.shelf.free(), 3)

    def test_too_wide(self):
        self.shelf.add("box", 3)
        with self.assertRaises(FullError):
            self.shelf.add("crate", 3)

    def test_fits(self):
        self.assertEqual(packed([3, 2], 5), [[3, 2]])
        self.assertIn("box", ["box"])
"""
FAILING = (
    *("test_free", "test_tight", "test_full"),
    *("test_packed[sizes1-expected1]",),
)
FAILING_METHODS = ("test_add", "test_too_wide", "test_fits")
PASSING = ("test_names", "test_contains", "test_packed[sizes0-expected0]", "test_packed[sizes2-expected2]")
INIT = '"""Shelves."""\n\nfrom .core import FullError, Shelf, is_tight, packed\n'
CONFIGURATION = '[project]\nname = "shelves"\nversion = "1.0"\n\n[tool.pytest.ini_options]\naddopts = ""\n'


def small_task() -> Problem:
    """The task: two faults of one function each; ten tests, seven of which fail."""
    texts = {
        "shelves/__init__.py": INIT,
        "shelves/core.py": CORE,
        "tests/__init__.py": "",
        "tests/test_functions.py": FUNCTIONS,
        "tests/test_classes.py": CLASSES,
        "pyproject.toml": CONFIGURATION,
    }
    files = {path: text.encode() for path, text in texts.items()}
    tree = SourceTree(hashlib.sha256(repr(sorted(files.items())).encode()).hexdigest(), "shelves-1.0", "MIT", files)
    methods = [f"tests/test_classes.py::ShelfTest::{name}" for name in FAILING_METHODS]
    failing = (*(f"tests/test_functions.py::{name}" for name in FAILING), *methods)
    passing = (
        *(f"tests/test_functions.py::{name}" for name in PASSING),
        "tests/test_classes.py::ShelfTest::test_empty",
    )
    editable = ("shelves/__init__.py", "shelves/core.py")
    broken = {"shelves/__init__.py": INIT, "shelves/core.py": BROKEN, "pyproject.toml": CONFIGURATION}
    fault = make_patch({"shelves/core.py": CORE}, {"shelves/core.py": BROKEN})
    solution = make_patch(broken, {**broken, "shelves/core.py": CORE})
    repository = Repository(tree, fault, editable, failing, passing)
    public = PublicProblem("shelves-1.0/1", "Correct the width.", "", kind="repo", files=broken, editable=editable)
    return Problem(public, TestSet("", ids=(*failing, *passing)), solution, repository=repository)
