"""Source trees, and the repositories of tasks of the kind ``repo``: what is broken, what may change, which tests count.

All paths are relative to the root of the tree, with slashes. All texts come from others and may be hostile.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

_TEST_FOLDERS = {"test", "tests"}
_TEST_FILE = re.compile(r"test_.*\.py|.*_tests?\.py|tests?\.py|conftest\.py")
_CONFIGURATION = re.compile(
    r"setup\.(py|cfg)|pyproject\.toml|tox\.ini|\.?pytest\.(ini|toml)|noxfile\.py|MANIFEST\.in|.*\.pth|"
    r"(site|user)customize\.py|\..*"
)


@dataclass(frozen=True, slots=True)
class SourceTree:
    """The files of a tree by path, as published, with its tests; ``sha256``: ``datasets.archives.contents_sha256``.

    ``name`` is that of the package with its version, or of the folder. Several repositories share one tree.
    """

    sha256: str
    name: str = field(compare=False)
    licence: str = field(compare=False)
    files: Mapping[str, bytes] = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Repository:
    """What the tests of a task need: a tree, and the patch that puts it into the state in which the task begins.

    ``fault``: a unified diff for the tree; empty if the tree itself is the beginning. ``editable``: the files that an
    answer may change, which are never tests, ``conftest.py`` or configuration. ``failing``: ids of tests (as pytest
    names them, from the root of the tree) that fail at the beginning and pass with the correct patch (FAIL_TO_PASS);
    ``passing``: ids that pass before and after (PASS_TO_PASS). ``roots``: folders that tests import from, "" for the
    root. ``needs``: names of installed modules besides the standard library and pytest that the tests import.
    ``seconds``: how long the tests of the correct tree took.
    """

    tree: SourceTree
    fault: str
    editable: tuple[str, ...]
    failing: tuple[str, ...]
    passing: tuple[str, ...]
    roots: tuple[str, ...] = ("",)
    needs: tuple[str, ...] = ()
    seconds: float = 0.0


def is_plain_path(path: str) -> bool:
    """Whether a path is relative, with slashes, and names no folder above the tree and nothing of git."""
    parts = path.split("/")
    return all(parts) and path.isprintable() and "\\" not in path and not {".", "..", ".git"} & set(parts)


def is_test(path: str) -> bool:
    """Whether a file of a tree belongs to its tests."""
    *folders, name = path.split("/")
    return _TEST_FILE.fullmatch(name) is not None or not _TEST_FOLDERS.isdisjoint(folders)


def is_configuration(path: str) -> bool:
    """Whether a file decides how tests are found and run, or is a hidden file."""
    return any(_CONFIGURATION.fullmatch(part) for part in path.split("/"))


def is_open(path: str) -> bool:
    """Whether a model may see a file, and an answer may change it if the task says so."""
    return not (is_test(path) or is_configuration(path))
