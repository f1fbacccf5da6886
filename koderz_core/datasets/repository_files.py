"""The files of a repository's tree as texts: those that a model sees, and those that no answer may change.

Several hundred tasks share one tree, so its texts are decoded once. A task keeps only its patch: the files that the
fault changes are made when they are read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from importlib.util import find_spec

from koderz_core.patches import apply_patch, read_patch
from koderz_core.records import SourceTree
from koderz_core.records.trees import is_open

_DEFINED = re.compile(r"^[ \t]*(?:async[ \t]+)?(?:def|class)[ \t]+(\w+)", re.MULTILINE)


@lru_cache(1024)
def is_installed(module: str) -> bool:
    """Whether tests of a repository can import a module that is not in its tree."""
    try:
        return find_spec(module) is not None
    except (ImportError, ValueError):
        return False


@lru_cache(64)
def texts_of(tree: SourceTree) -> Mapping[str, str]:
    """The files of a tree that are UTF-8 texts, with their own line ends, by path."""
    return {path: text for path, content in tree.files.items() if (text := _text(content)) is not None}


@lru_cache(64)
def names_in_tests(tree: SourceTree) -> frozenset[str]:
    """The names of all functions and classes in the Python files of a tree's tests, also of classes to inherit from."""
    found = (_DEFINED.findall(text) for path, text in texts_of(tree).items() if path.endswith(".py"))
    return frozenset(name for names in found for name in names)


class PublicFiles(Mapping[str, str]):
    """The texts of a broken tree by path, without tests and configuration."""

    def __init__(self, tree: SourceTree, fault: str) -> None:
        """``fault`` must apply to the tree."""
        self._tree, self._fault = tree, fault

    def __getitem__(self, path: str) -> str:
        if path not in touched(self._fault):
            return _public(self._tree)[path]
        if not is_open(path):
            raise KeyError(path)
        return broken_files(self._tree, self._fault)[path]

    def __iter__(self) -> Iterator[str]:
        same = _public(self._tree).keys() - touched(self._fault)
        changed = (path for path in broken_files(self._tree, self._fault) if is_open(path))
        return iter(sorted([*same, *changed]))

    def __len__(self) -> int:
        return sum(1 for _ in self)


@lru_cache(64)
def _public(tree: SourceTree) -> Mapping[str, str]:
    return {path: text for path, text in texts_of(tree).items() if is_open(path)}


@lru_cache(256)
def broken_files(tree: SourceTree, fault: str) -> Mapping[str, str]:
    """The texts of the files that a patch of the tree changes, after it. Raises PatchError."""
    texts = texts_of(tree)
    return apply_patch(fault, {path: texts[path] for path in touched(fault) if path in texts})


@lru_cache(1024)
def touched(patch: str) -> frozenset[str]:
    """The paths that a patch reads or writes. Raises PatchError."""
    return frozenset(path for change in read_patch(patch) for path in (change.old, change.new) if path is not None)


def _text(content: bytes) -> str | None:
    try:
        return None if b"\0" in content else content.decode()
    except UnicodeDecodeError:
        return None
