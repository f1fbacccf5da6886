"""Replaces the imports of a test file: names of the tested module are given to the tests, pytest is a small shim."""

from __future__ import annotations

import ast
import builtins
import sys
from collections.abc import Collection, Mapping

from koderz_core.datasets.asserts import statements
from koderz_core.errors import DataError
from koderz_core.python_parser import parse

PYTEST = "pytest"
PROGRAM = "_koderz_program_"
"""The tested module itself, a name that tests have only in the program's own process (sandbox/inside/shared.py)."""
_NAMESPACE = f"""{{name}} = {PROGRAM} if {PROGRAM!r} in globals() else __import__('types').SimpleNamespace({{names}})"""
_REGISTERED = f"{PROGRAM!r} in globals() and __import__('sys').modules.setdefault({{module!r}}, {PROGRAM})"


class Imports(ast.NodeTransformer):
    """Replaces imports in a tree. ``names``: what the tests use of the module; ``pytest``: whether they import it.

    ``helpers``: sources of other modules that the tests may import names from. ``packages``: packages outside the
    standard library that they may import. Raises DataError naming the field.
    """

    def __init__(self, module: str, field: str, helpers: Mapping[str, str], packages: Collection[str] = ()) -> None:
        self.names: dict[str, None] = {}
        self.pytest = False
        self._module, self._field, self._helpers, self._packages = module, field, helpers, packages
        self._modules: set[str] = set()  # names that the tests give to the module
        self._stars = False
        self._inlined: set[str] = set()

    def replace(self, tree: ast.Module) -> ast.Module:
        """The tree with replaced imports, in which each name of the module is a global one."""
        tree = self.visit(tree)
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in self._modules:
                self.names[node.attr] = None
        if self._stars:
            self.names |= dict.fromkeys(free_names(tree))
        first = [self._namespace(name) for name in sorted(self._modules)]
        if self._modules or self._is_patched(tree):
            first = [*parse(_REGISTERED.format(module=self._module)).body, *first]
        return ast.Module([*first, *tree.body], [])

    def visit_ImportFrom(self, node: ast.ImportFrom) -> list[ast.stmt]:
        source = node.module or ""
        if source == self._module:
            return self._of_module(node)
        if source in self._helpers:
            return self._of_helper(node, source)
        if source.partition(".")[0] == PYTEST:
            self.pytest = True
            return [_assigned(alias.asname or alias.name, f"{PYTEST}.{alias.name}") for alias in node.names]
        self._require_known(source, relative=node.level > 0)
        return [node]

    def visit_Import(self, node: ast.Import) -> list[ast.stmt]:
        found: list[ast.stmt] = []
        for alias in node.names:
            name = alias.asname or alias.name
            if alias.name == self._module:
                self._modules.add(name)
            elif alias.name == PYTEST:
                self.pytest = True
                found += [_assigned(name, PYTEST)] if name != PYTEST else []
            else:
                self._require_known(alias.name, relative=False)
                found.append(ast.Import([alias]))
        return found or [ast.Pass()]

    def _of_module(self, node: ast.ImportFrom) -> list[ast.stmt]:
        found: list[ast.stmt] = []
        for alias in node.names:
            if alias.name == "*":
                self._stars = True
                continue
            self.names[alias.name] = None
            found += [_assigned(alias.asname, alias.name)] if alias.asname not in (None, alias.name) else []
        return found or [ast.Pass()]

    def _of_helper(self, node: ast.ImportFrom, name: str) -> list[ast.stmt]:
        """The helper's own statements, once, and the names that the tests give to its names."""
        found: list[ast.stmt] = []
        if name not in self._inlined:
            self._inlined.add(name)
            found += self.visit(ast.Module(statements(self._helpers[name], self._field), [])).body
        found += [_assigned(alias.asname, alias.name) for alias in node.names if alias.asname]
        return found or [ast.Pass()]

    def _require_known(self, name: str, *, relative: bool) -> None:
        root = name.partition(".")[0]
        if relative or not (root in sys.stdlib_module_names or root in self._packages):
            raise DataError(
                f"field {self._field} imports {name or '.'!r}, which is neither the tested module {self._module!r} nor "
                "part of Python's standard library; put the code of helper files into the tests"
            )

    def _namespace(self, name: str) -> ast.stmt:
        names = ", ".join(f"{attribute}={attribute}" for attribute in self.names)
        return parse(_NAMESPACE.format(name=name, names=names)).body[0]

    def _is_patched(self, tree: ast.Module) -> bool:
        """Whether the tests name the module in a text, as ``patch("module.name")`` does."""
        texts = (node.value for node in ast.walk(tree) if isinstance(node, ast.Constant))
        return any(isinstance(text, str) and text.startswith(f"{self._module}.") for text in texts)


def free_names(tree: ast.Module) -> list[str]:
    """The names that a module uses and does not define."""
    nodes = list(ast.walk(tree))
    used = [node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)]
    bound = {PYTEST, *dir(builtins), *(name for node in nodes for name in bound_names(node))}
    return [name for name in dict.fromkeys(used) if name not in bound]


def bound_names(node: ast.AST) -> list[str]:
    """The names that a node defines."""
    match node:
        case ast.Name(name, ast.Store() | ast.Del()) | ast.arg(name) | ast.alias(_, str(name)):
            return [name]
        case ast.ClassDef(name) | ast.FunctionDef(name) | ast.AsyncFunctionDef(name) | ast.ExceptHandler(_, str(name)):
            return [name]
        case ast.alias(name):
            return [name.partition(".")[0]]
    return []


def _assigned(name: str | None, value: str) -> ast.stmt:
    return parse(f"{name} = {value}").body[0]
