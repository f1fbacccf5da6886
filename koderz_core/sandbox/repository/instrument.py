"""Rewrites the test files of a repository for one verdict, so that expected values stay outside the process.

The published files are never shown to the process where it is possible: assertions become reports with random names
(``sites``), and tests that are *twinned* run as two copies with random names and opposite directions.
"""

from __future__ import annotations

import ast
import random
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from koderz_core.python_parser import parse
from koderz_core.sandbox.repository.controls import arguments_in, sources_of
from koderz_core.sandbox.repository.finder import ClassInfo, Definition, classes_of, definitions, own_asserts
from koderz_core.sandbox.repository.literal_values import shadowed_names
from koderz_core.sandbox.repository.rewriting import IMPORT, Edit, Lot, Passage, Text, Writer, passage
from koderz_core.sandbox.repository.sites import Site


@dataclass(frozen=True)
class Key:
    """What only the judge knows about rewritten tests.

    ``sites`` by their random names. ``names``: the published name of a test by the random name, with the number of the
    copy. ``runs``: the ids under which each test runs, two for twins. ``sources``: the published source of each test.
    ``single``: tests that cannot have twins, because their names are used elsewhere. ``definitions``: the id of the
    function that each test runs, which its class may inherit.
    """

    sites: Mapping[str, Site]
    names: Mapping[str, tuple[str, int]]
    runs: Mapping[str, tuple[str, ...]]
    sources: Mapping[str, str]
    single: frozenset[str]
    definitions: Mapping[str, str]

    def published(self, node_id: str) -> tuple[str, int]:
        """The published id of a test that ran, and the number of its copy: 0, or 1 for the second."""
        head, bracket, parameters = node_id.partition("[")
        scope, _, name = head.rpartition("::")
        own, copy = self.names.get(name, (name, 0))
        return f"{scope}::{own}{bracket}{parameters}", copy


@dataclass(frozen=True)
class Instrumented:
    """The rewritten test files by path, for the process, and the key to their reports, which stays outside."""

    files: dict[str, str]
    key: Key


def instrument(
    files: Mapping[str, str],
    ids: Sequence[str],
    lot: random.Random,
    plain: frozenset[str] = frozenset(),
    twinned: Sequence[str] = (),
    opaque: frozenset[str] = frozenset(),
) -> Instrumented:
    """Rewrite test files, by path, for a verdict on the tests ``ids``.

    ``plain``: ids of tests and helper functions, and paths of files, that stay as they are. ``twinned``: ids of tests
    that run as two copies. ``opaque``: places of sites whose correct values are not plain data (``Profile.opaque``).
    """
    suite = _suite(tuple((path, files[path]) for path in _test_files(files, ids)))
    by_definition: dict[str, list[str]] = {}
    for test in ids:
        if found := suite.definition(test):
            by_definition.setdefault(found.id, []).append(test)
    unchanged = {found.id for name in plain if (found := suite.definition(name))} | plain
    wanted = {found.id for test in twinned if (found := suite.definition(test))}
    single = {name for name in by_definition if not suite.can_be_renamed(name)}
    work = _Work(suite, Lot(lot), opaque, unchanged, wanted - single - unchanged)
    rewritten = {path: work.file(path) for path in suite.trees}
    copies = {name: tuple(random_names) for name, random_names in work.copies.items()}
    runs = {test: _runs(test, copies.get(name, ())) for name, tests in by_definition.items() for test in tests}
    sources = {test: suite.source(name) for name, tests in by_definition.items() for test in tests}
    lonely = frozenset(test for name in single for test in by_definition[name])
    defined = {test: name for name, tests in by_definition.items() for test in tests}
    key = Key(work.lot.sites, work.names, {test: runs.get(test, (test,)) for test in ids}, sources, lonely, defined)
    return Instrumented({path: text for path, text in rewritten.items() if text != files[path]}, key)


@lru_cache(maxsize=8)
def _suite(files: tuple[tuple[str, str], ...]) -> Suite:
    return Suite(dict(files))


def _runs(test: str, names: tuple[str, ...]) -> tuple[str, ...]:
    head, bracket, parameters = test.partition("[")
    scope = head.rpartition("::")[0]
    return tuple(f"{scope}::{name}{bracket}{parameters}" for name in names) or (test,)


class Suite:
    """Test files: their functions and classes. Nothing in it changes, so that several verdicts share it."""

    def __init__(self, files: Mapping[str, str]) -> None:
        self.trees = {path: tree for path, source in files.items() if (tree := _parsed(source))}
        self.texts = {path: Text(files[path]) for path in self.trees}
        own = frozenset(name for tree in self.trees.values() for name in own_asserts(tree))
        self.by_path = {path: definitions(path, tree, own) for path, tree in self.trees.items()}
        self.by_id: dict[str, Definition] = {}
        self._defined: dict[str, int] = {}
        for found in (item for several in self.by_path.values() for item in several):
            self._defined[found.id] = self._defined.get(found.id, 0) + 1
            self.by_id[found.id] = found
        self._classes: dict[str, list[ClassInfo]] = {}
        for path, tree in self.trees.items():
            for info in classes_of(path, tree):
                self._classes.setdefault(info.name, []).append(info)
        self._used = _used_names(self.trees.values())
        self.shadowed = {path: shadowed_names(tree) for path, tree in self.trees.items()}
        self.pools = {path: self._pool(path) for path in self.trees}
        self.passages = {
            id(found): passage(found.id, found.node, found.spots, self.shadowed[path])
            for path, several in self.by_path.items()
            for found in several
            if found.spots or found.is_test
        }

    def _pool(self, path: str) -> list[tuple[str, object]]:
        """Values for controls: arguments of calls in a file, which the process has anyway."""
        functions = [found.node for found in self.by_path[path]]
        return sources_of([value for node in functions for value in arguments_in(node.body, self.shadowed[path])])

    def definition(self, test: str) -> Definition | None:
        """The function that a test runs, which its class may inherit."""
        path, *scopes = test.partition("[")[0].split("::")
        if not scopes:
            return None
        own = self.by_id.get("::".join([path, *scopes]))
        if own or len(scopes) == 1:
            return own
        return self._inherited(path, scopes[-2], scopes[-1], set())

    def can_be_renamed(self, name: str) -> bool:
        """Whether nothing else in the tests refers to a test function, and no related class has its name."""
        found = self.by_id[name]
        if found.name in self._used or self._defined[name] > 1:
            return False
        if not found.classes:
            return True
        own = found.classes[-1]
        return not any(
            info.name != own
            and found.name in info.methods
            and (self._derives(info.name, own) or self._derives(own, info.name))
            for several in self._classes.values()
            for info in several
        )

    def source(self, name: str) -> str:
        """The published source of a test function."""
        found, text = self.by_id[name], self.texts[self.by_id[name].path]
        start = text.top(found.node)
        return textwrap.dedent(text.data[start : text.end(found.node)].decode("utf-8", "replace"))

    def _inherited(self, path: str, kind: str, name: str, seen: set[str]) -> Definition | None:
        for info in sorted(self._classes.get(kind, []), key=lambda info: info.path != path):
            if name in info.methods:
                own = (info.name,)
                found = [item for item in self.by_path[info.path] if item.name == name and item.classes[-1:] == own]
                if found:
                    return found[-1]
            for base in info.bases:
                if base not in seen and (inherited := self._inherited(info.path, base, name, seen | {kind})):
                    return inherited
        return None

    def _derives(self, kind: str, base: str, depth: int = 20) -> bool:
        bases = {name for info in self._classes.get(kind, []) for name in info.bases}
        return base in bases or (depth > 0 and any(self._derives(name, base, depth - 1) for name in bases - {kind}))


@dataclass
class _Work:
    """The rewriting of all files of one verdict."""

    suite: Suite
    lot: Lot
    opaque: frozenset[str]
    unchanged: set[str] | frozenset[str]
    twinned: set[str]
    names: dict[str, tuple[str, int]] = field(default_factory=dict)
    copies: dict[str, list[str]] = field(default_factory=dict)

    def file(self, path: str) -> str:
        tree, text = self.suite.trees[path], self.suite.texts[path]
        writer = Writer(path, text, self.suite.shadowed[path], self.opaque, self.suite.pools[path])
        edits: list[Edit] = []
        for found in self.suite.by_path[path]:
            own = self.suite.passages.get(id(found))
            if path in self.unchanged or found.id in self.unchanged:
                continue
            if found.id in self.twinned:
                edits.append(self._twins(found, own, text, writer))
            elif own:
                edits += writer.edits(own, self.lot)
        if not edits:
            return text.data.decode("utf-8", "surrogatepass")
        place = _place_of_import(tree, text)
        return text.edited([Edit(place, place, IMPORT), *edits])

    def _twins(self, found: Definition, own: Passage | None, text: Text, writer: Writer) -> Edit:
        """Two copies of a test in the place of it."""
        start, end = text.top(found.node), text.end(found.node)
        copies = [0, 1]
        self.lot.lot.shuffle(copies)
        written, names = [], {}
        for copy in copies:
            name = f"test_{self.lot.lot.getrandbits(64):016x}"
            self.names[name] = (found.name, copy)
            names[copy] = name
            edits = [*(writer.edits(own, self.lot) if own else []), _renamed(found, text, name)]
            written.append(text.edited(edits, start, end))
        self.copies[found.id] = [names[0], names[1]]
        return Edit(start, end, "\n".join(written))


def _renamed(found: Definition, text: Text, name: str) -> Edit:
    start = text.start(found.node)
    place = text.data.index(found.name.encode(), text.data.index(b"def", start) + 3)
    return Edit(place, place + len(found.name.encode()), name)


def _place_of_import(tree: ast.Module, text: Text) -> int:
    """The start of the first statement after the docstring and imports from ``__future__``."""
    for node in tree.body:
        is_text = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        is_future = isinstance(node, ast.ImportFrom) and node.module == "__future__"
        if not is_text and not is_future:
            return text.top(node)
    return len(text.data)


def _test_files(files: Mapping[str, str], ids: Iterable[str]) -> list[str]:
    """The files of tests and those next to them, without ``conftest.py``."""
    own = {test.partition("::")[0] for test in ids} & files.keys()
    folders = {path.rpartition("/")[0] for path in own} - {""}
    near = {path for path in files if path.endswith(".py") and path.rpartition("/")[0] in folders}
    return sorted(path for path in own | near if path.rpartition("/")[2] != "conftest.py")


def _parsed(source: str) -> ast.Module | None:
    try:
        return parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _used_names(trees: Iterable[ast.Module]) -> frozenset[str]:
    """Names and texts that occur in test files other than as names of functions."""
    used: set[str] = set()
    for tree in trees:
        for node in ast.walk(tree):
            match node:
                case ast.Name(name) | ast.Attribute(_, name) | ast.Constant(str(name)) | ast.keyword(str(name)):
                    used.add(name)
                case ast.alias(name, other):
                    used.update((name, other or name))
                case _:
                    pass
    return frozenset(used)
