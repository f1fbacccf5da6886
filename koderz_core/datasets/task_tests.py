"""Reads the tests of a person's own file: pytest functions, unittest classes, or asserts outside of functions.

The tests may import the file in the way of its project, such as ``from package.module import name`` or a relative
import. koderz tests the file alone, so each of these means the file.
"""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import replace
from itertools import chain, count
from pathlib import PurePath

from koderz_core.datasets.asserts import names_in, statements
from koderz_core.datasets.methods import ModuleTests, module_tests
from koderz_core.datasets.module_imports import bound_names
from koderz_core.errors import DataError
from koderz_core.python_parser import parse

FORMS = (
    "Write pytest functions, unittest classes or asserts. The tests must call functions or classes of the file to fix."
)
_DEFINITION = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_BUILTINS = frozenset(dir(builtins))


def task_tests(tests: str, name: str, file: PurePath, given: str) -> ModuleTests:
    """The tests of a file from the text of a test file called ``name``; they may use its names without an import.

    ``file``: the path of the file; ``given``: its text, which must be Python. Raises DataError if koderz cannot read
    the tests.
    """
    try:
        read = _Imports(file).visit(ast.Module(statements(tests, name), []))
        defined = _defined(given)
        tree = ast.fix_missing_locations(ast.Module(_as_functions(read.body, module_name(file), defined), []))
        found = module_tests(ast.unparse(tree), module_name(file), name, names=tuple(defined))
        return replace(found, names=_functions_first(found.names, defined))
    except DataError as fault:
        raise DataError(f"The tests cannot be read: {str(fault).removeprefix('field ')}. {FORMS}") from fault


def module_name(file: PurePath) -> str:
    """The name under which tests import a file."""
    return file.parent.name if file.stem == "__init__" else file.stem


def _functions_first(names: Sequence[str], defined: Mapping[str, bool]) -> tuple[str, ...]:
    """The names with a function or class first, as the judge needs one; a name that is not defined yet may become one.

    Raises DataError if neither the tests nor the file have one.
    """
    if all(name in defined and not defined[name] for name in names):
        names = [next((name for name, callable_ in defined.items() if callable_), ""), *names]
    if not names[0]:
        raise DataError("the file to fix defines no function or class that a test could call")
    return tuple(sorted(names, key=lambda name: not defined.get(name, True)))


def _defined(given: str) -> dict[str, bool]:
    """The names that a file defines outside of functions and classes, and whether each is a function or class."""
    return {name: isinstance(node, _DEFINITION) for node in statements(given, "of the file") for name in _names(node)}


def _names(node: ast.stmt) -> Iterator[str]:
    if isinstance(node, _DEFINITION):
        yield node.name
    elif isinstance(node, ast.Assign | ast.AnnAssign):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        yield from (part.id for target in targets for part in ast.walk(target) if isinstance(part, ast.Name))


def _as_functions(body: Sequence[ast.stmt], module: str, defined: Iterable[str]) -> list[ast.stmt]:
    """The statements, in which every statement with an assert is part of a test function of its own.

    Every statement runs once, in the order of the file, because the program and the tests may keep state. Definitions,
    and assignments that share no name with the file and with earlier tests, stay in the module, where decorators and
    classes may need them. All other statements are in the function of the next assert; those after the last assert are
    in its function if definitions may need them.
    """
    if not any(map(_asserts, body)):
        return list(body)
    uses = _uses(body)
    shared = {*defined, *_imported(body, module)}
    kept: list[ast.stmt] = []
    groups: list[list[ast.stmt]] = [[]]
    for node in body:
        names = names_in([node]) - _BUILTINS
        names = names.union(*(uses[name] for name in names & uses.keys()))
        may_stay = not groups[0] or isinstance(node, ast.Assign | ast.AnnAssign)
        if _is_kept(node) or (may_stay and shared.isdisjoint(names) and not _asserts(node)):
            kept.append(node)
            continue
        shared |= names
        groups[-1].append(node)
        if _asserts(node):
            groups.append([])
    rest = groups.pop()
    groups[-1] += rest if uses else []
    return [*_functions(groups, body), *kept]  # as in pytest, functions of the file run after its statements


def _uses(body: Sequence[ast.stmt]) -> Mapping[str, set[str]]:
    """The names that each definition uses, itself or in other definitions."""
    uses = {node.name: names_in([node]) - _BUILTINS for node in body if isinstance(node, _DEFINITION)}
    for _ in uses:
        uses = {name: used.union(*(uses[other] for other in used & uses.keys())) for name, used in uses.items()}
    return uses


def _imported(body: Sequence[ast.stmt], module: str) -> Iterator[str]:
    """The names that imports of the file define."""
    for node in body:
        if isinstance(node, ast.Import | ast.ImportFrom):
            source = node.module if isinstance(node, ast.ImportFrom) else ""
            yield from (alias.asname or alias.name for alias in node.names if module in (source, alias.name))


def _functions(groups: Sequence[Sequence[ast.stmt]], body: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    taken = {name for node in body for part in ast.walk(node) for name in bound_names(part)}
    for group in groups:
        line = next(node.lineno for node in group if _asserts(node))
        names = chain([f"test_line_{line}"], (f"test_line_{line}_{number}" for number in count(2)))
        name = next(name for name in names if name not in taken)
        taken.add(name)
        yield _function(name, group, _context(group, body))


def _context(group: Sequence[ast.stmt], body: Sequence[ast.stmt]) -> list[ast.stmt]:
    """The earlier statements with which a test shares variables, for the person or model that reads a failed test."""
    plain = [node for node in body if not _is_kept(node)]
    variables = {name for node in plain for part in ast.walk(node) for name in bound_names(part)}
    needed = names_in(group) & variables
    found: list[ast.stmt] = []
    for node in reversed(plain[: plain.index(group[0])]):
        if not needed.isdisjoint(names_in([node])):
            found.insert(0, node)
            needed |= names_in([node]) & variables
    return found


def _function(name: str, group: Sequence[ast.stmt], context: Sequence[ast.stmt]) -> ast.stmt:
    """A test function in which variables are those of the module. Its docstring has the context."""
    (function,) = parse(f"def {name}(): pass").body
    assert isinstance(function, ast.FunctionDef)
    variables = sorted({name for node in group for part in ast.walk(node) for name in bound_names(part)})
    lines = "\n".join(map(ast.unparse, context))
    function.body = [
        *([ast.Expr(ast.Constant(f"Earlier statements:\n{lines}\n"))] if context else []),
        *([ast.Global(variables)] if variables else []),
        *(_WithoutAnnotations().visit(deepcopy(node)) for node in group),
    ]
    return function


class _WithoutAnnotations(ast.NodeTransformer):
    """Removes annotations of variables, which Python does not allow for global names in a function."""

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.stmt:
        return ast.Assign([node.target], node.value) if node.value else ast.Pass()

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.stmt:
        return node


def _is_kept(node: ast.stmt) -> bool:
    return isinstance(node, (*_DEFINITION, ast.Import, ast.ImportFrom)) or _is_main(node)


def _asserts(node: ast.stmt) -> bool:
    """Whether a statement outside of functions and classes contains an assert that runs with it."""
    if isinstance(node, _DEFINITION) or _is_main(node):
        return False
    return any(isinstance(part, ast.Assert) for part in ast.walk(node))


def _is_main(node: ast.stmt) -> bool:
    return isinstance(node, ast.If) and "__name__" in ast.dump(node.test)


class _Imports(ast.NodeTransformer):
    """Replaces the names that a project has for the file by the file's own name."""

    def __init__(self, file: PurePath) -> None:
        self._name = module_name(file)
        folder = file.parent.parent if file.stem == "__init__" else file.parent
        self._parts = (*folder.parts, self._name)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> list[ast.stmt]:
        parts = tuple(filter(None, (node.module or "").split(".")))
        if parts and self._means_file(parts):
            return [ast.ImportFrom(self._name, node.names, 0)]
        mine = [alias for alias in node.names if self._means_file((*parts, alias.name)) and (parts or node.level)]
        others = [alias for alias in node.names if alias not in mine]
        found: list[ast.stmt] = [ast.Import([ast.alias(self._name, alias.asname)]) for alias in mine]
        return [*found, ast.ImportFrom(node.module, others, node.level)] if others else found

    def visit_Import(self, node: ast.Import) -> ast.stmt:
        return ast.Import([self._alias(alias) for alias in node.names])

    def _alias(self, alias: ast.alias) -> ast.alias:
        known = alias.asname and self._means_file(tuple(alias.name.split(".")))
        return ast.alias(self._name, alias.asname) if known else alias

    def _means_file(self, parts: tuple[str, ...]) -> bool:
        return self._parts[-len(parts) :] == parts


def problem_id(file: PurePath) -> str:
    """The id of a problem that is about a file: without blanks and commas."""
    return f"fix/{re.sub(r'[^A-Za-z0-9_.-]+', '-', file.name)[:100]}"
