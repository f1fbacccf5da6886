"""Marks the calls in a test's source whose StopIteration the test itself catches.

``try: f(1)`` with ``except StopIteration`` becomes ``try: expecting(f, "StopIteration")(1)``. No iteration stands
between such a call and the handler, so none can take the exception for its own end: comprehensions, lambdas and
functions are not looked into, and ``map(f, items)`` calls nothing in the source.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

EXPECTING = "_koderz_expecting_"
_ENDS = frozenset({"StopIteration", "StopAsyncIteration"})
_RAISES = frozenset({"assertRaises", "assertRaisesRegex", "raises"})


def marked(tree: ast.Module, source: str) -> ast.Module:
    """The tree, changed in place; ``source``: what it was parsed from."""
    if any(name in source for name in _ENDS):
        _Marker().visit(tree)
        ast.fix_missing_locations(tree)
    return tree


class _Marker(ast.NodeTransformer):
    def __init__(self) -> None:
        self._caught: frozenset[str] = frozenset()  # where the visit is now

    def visit_Try(self, node: ast.Try) -> ast.Try:
        handled = frozenset(name for handler in node.handlers for name in _named(handler.type))
        with self._catching(self._caught | handled):
            self._visit_all(node.body)
        self._visit_all([*node.handlers, *node.orelse, *node.finalbody])
        return node

    def visit_With(self, node: ast.With) -> ast.With:
        expected = frozenset(name for item in node.items for name in _expected(item.context_expr))
        self._visit_all(node.items)
        with self._catching(self._caught | expected):
            self._visit_all(node.body)
        return node

    def visit_Call(self, node: ast.Call) -> ast.Call:
        expected, function = _expected(node), node.args[1:2]
        self.generic_visit(node)
        if expected and function and isinstance(function[0], ast.Lambda):
            with self._catching(expected):
                self.visit(function[0].body)
        elif expected and function:  # the function itself, with its arguments after it
            node.args[1] = _marked(function[0], expected)
        node.func = _marked(node.func, self._caught) if self._caught else node.func
        return node

    def _visit_all(self, nodes: Iterable[ast.AST]) -> None:
        for node in nodes:
            self.visit(node)

    def _visit_scope(self, node: ast.AST) -> ast.AST:
        """It runs at another time, or as an iteration of its own."""
        with self._catching(frozenset()):
            return self.generic_visit(node)

    visit_FunctionDef = visit_AsyncFunctionDef = visit_Lambda = visit_ClassDef = _visit_scope  # noqa: N815 (ast's)
    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = _visit_scope  # noqa: N815 (ast's)

    @contextmanager
    def _catching(self, caught: frozenset[str]) -> Iterator[None]:
        before, self._caught = self._caught, caught
        yield
        self._caught = before


def _named(kinds: ast.expr | None) -> frozenset[str]:
    """Which exceptions that end iterations are named: alone, in a tuple, or behind ``builtins.``."""
    parts = kinds.elts if isinstance(kinds, ast.Tuple) else [kinds]
    return _ENDS.intersection(_name(part) for part in parts)


def _expected(node: ast.expr) -> frozenset[str]:
    """Which of them ``assertRaises(...)`` and its like wait for."""
    is_one = isinstance(node, ast.Call) and bool(node.args) and _name(node.func) in _RAISES
    return _named(node.args[0]) if is_one and isinstance(node, ast.Call) else frozenset()


def _name(node: ast.expr | None) -> str:
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


def _marked(function: ast.expr, kinds: frozenset[str]) -> ast.Call:
    return ast.Call(ast.Name(EXPECTING, ast.Load()), [function, *(ast.Constant(kind) for kind in sorted(kinds))], [])
