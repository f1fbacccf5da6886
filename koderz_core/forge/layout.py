"""What the files of a tree are: the modules that a fault may be in, the folders that tests import from, what they need.

koderz reads imports, and runs no code of the tree.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from koderz_core.datasets.repository_files import is_installed
from koderz_core.errors import DataError
from koderz_core.python_parser import parse
from koderz_core.records.trees import is_configuration, is_open, is_test

_COMPILED = re.compile(r".*\.(pyx|pxd|c|cc|cpp|rs|f90|so|pyd|dylib)")
_OF_PYTEST = frozenset({"pytest", "_pytest", "pluggy"})
_SHOWN = 5


@dataclass(frozen=True, slots=True)
class Layout:
    """Paths in a tree. ``editable``: the modules of the package that the tests import. ``roots``, ``needs``: as in
    ``records.Repository``."""

    editable: tuple[str, ...]
    roots: tuple[str, ...]
    needs: tuple[str, ...]


def layout_of(name: str, files: Mapping[str, bytes]) -> Layout:
    """The layout of a tree. Raises DataError with the reason why no tasks can be made from it."""
    if compiled := sorted(path for path in files if _COMPILED.fullmatch(path) and is_open(path)):
        raise _unfit(name, f"it has compiled extensions ({_some(compiled)})")
    tests = {path: content for path, content in files.items() if path.endswith(".py") and is_test(path)}
    if not tests:
        raise _unfit(name, "it has no tests (test_*.py, *_test.py, or files in a folder named tests)")
    imported = {module for content in tests.values() for module in _imports(content)}
    imported |= {_package_around(path) for path in tests} - {""}
    source = "src/" if any(path.startswith("src/") and path.endswith(".py") for path in files) else ""
    editable = tuple(sorted(path for path in files if _is_editable(path, source, imported)))
    if not editable:
        raise _unfit(name, "its tests import none of its modules")
    at_root = imported & {_top(path, "") for path in files if path.endswith(".py") and not path.startswith("src/")}
    roots = (source.rstrip("/"), *([""] if source and at_root else []))
    return Layout(editable, roots, _needs(name, files, tests, source))


def _is_editable(path: str, source: str, imported: set[str]) -> bool:
    fits = path.endswith(".py") and path.startswith(source) and not (is_test(path) or is_configuration(path))
    return fits and _top(path, source) in imported


def _top(path: str, source: str) -> str:
    """The name of the module or package at a root that contains a file."""
    return path.removeprefix(source).partition("/")[0].removesuffix(".py")


def _package_around(path: str) -> str:
    """The package that contains its own tests, "" for tests beside packages."""
    first, slash, _ = path.removeprefix("src/").partition("/")
    return first if slash and not is_test(first) and not is_test(f"{first}/x.txt") else ""


def _needs(name: str, files: Mapping[str, bytes], tests: Mapping[str, bytes], source: str) -> tuple[str, ...]:
    """The installed modules that the tests import, themselves or in modules of the tree. Raises DataError.

    A test file that needs a missing module is not run, so it only lowers the number of tests.
    """
    own = {part.removesuffix(".py") for path in files if path.endswith(".py") for part in path.split("/")}
    reached = set(_reached(files, tests, source))
    shared = {path for path in tests if path.endswith("conftest.py")}
    foreign = {
        path: {module for module in _imports(files[path]) if module not in own | sys.stdlib_module_names | _OF_PYTEST}
        for path in reached | tests.keys()
    }
    wanted = {module for modules in foreign.values() for module in modules}
    missing = {module for module in wanted if not is_installed(module)}
    required = {module for path in (reached - tests.keys()) | shared for module in foreign[path]}
    if lacking := sorted(missing & required):
        raise _unfit(
            name,
            f"it needs modules that are not installed: {_some(lacking)}",
            "Install them in the environment of koderz, or choose another package or folder.",
        )
    return tuple(sorted(wanted - missing))


def _reached(files: Mapping[str, bytes], tests: Iterable[str], source: str) -> Iterator[str]:
    """The modules of the tree that tests import, also through other modules."""
    waiting, seen = [*tests], set(tests)
    while waiting:
        path = waiting.pop()
        yield path
        for module in _modules(files[path], path):
            parts = module.split(".")
            for place in (f"{source}{'/'.join(parts[:number])}" for number in range(1, len(parts) + 1)):
                found = {f"{place}.py", f"{place}/__init__.py"} & files.keys() - seen
                seen |= found
                waiting += found


def _modules(content: bytes, path: str) -> Iterator[str]:
    """The whole names that a module imports; a name may be one in a module."""
    package = path.removeprefix("src/").split("/")[:-1]
    for node in _statements(content):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            outer = package[: len(package) - node.level + 1] if node.level else []
            start = ".".join([*outer, *([node.module] if node.module else [])])
            yield from (f"{start}.{alias.name}".strip(".") for alias in node.names)


def _imports(content: bytes) -> Iterator[str]:
    """The first part of each module that a module always imports, without relative imports."""
    for node in _statements(content):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level and node.module:
            yield node.module.partition(".")[0]


def _statements(content: bytes) -> list[ast.stmt]:
    try:
        return parse(content.decode("utf-8-sig")).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []


def _unfit(name: str, reason: str, cure: str = "Choose another package or folder.") -> DataError:
    return DataError(f"No tasks can be made from {name}: {reason}. {cure}")


def _some(names: list[str]) -> str:
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return ", ".join(name[:80] for name in names[:_SHOWN]) + more
