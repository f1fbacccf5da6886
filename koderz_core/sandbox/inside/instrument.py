"""Turns the asserts of a test's source into tests of their own: each is recorded, and the next one still runs.

``assert LEFT == RIGHT`` becomes ``with site(3) as s: s.compare("==", LEFT, RIGHT)``; see ``recorder`` for the site.
The host uses ``tests_in`` and ``asserts_in``; everything else runs inside the sandbox.
"""

from __future__ import annotations

import ast
from typing import Any, NamedTuple

SITE = "_koderz_site_"
_THIS = "_koderz_this_"
_OPERATORS: dict[type[ast.cmpop], str] = {
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Is: "is",
    ast.IsNot: "is not",
    ast.In: "in",
    ast.NotIn: "not in",
}


class Instrumented(NamedTuple):
    """Tests ready to run, and the source of each assert in them that counts, in order."""

    tree: ast.Module
    sources: tuple[str, ...]


def tests_in(tree: ast.Module) -> int:
    """How many tests a test set holds: its asserts that depend on something."""
    return sum(isinstance(node, ast.Assert) and not _is_constant(node) for node in ast.walk(tree))


def asserts_in(node: ast.AST) -> list[ast.Assert]:
    """The asserts that count, in the order in which ``instrument`` numbers them."""
    if isinstance(node, ast.Assert):
        return [] if _is_constant(node) else [node]
    return [found for part in ast.iter_child_nodes(node) for found in asserts_in(part)]


def instrument(source: str) -> Instrumented:
    """Raise SyntaxError (ValueError for a null byte) if it is not Python."""
    transformer = _Transformer(source)
    tree: ast.Module = transformer.visit(ast.parse(source))
    return Instrumented(tree, tuple(transformer.sources))


def _is_constant(node: ast.Assert) -> bool:
    """``assert True, "..."`` and the like: no name occurs in it, so it tests no program."""
    return not any(isinstance(part, ast.Name) for part in ast.walk(node.test))


class _Transformer(ast.NodeTransformer):
    def __init__(self, source: str) -> None:
        self.sources: list[str] = []
        self._lines = source.split("\n") if source.isascii() else []

    def visit_Assert(self, node: ast.Assert) -> ast.stmt:
        if _is_constant(node):
            return node
        index = len(self.sources)
        self.sources.append(f"assert {self._text(node.test)}")
        place = _place(node)
        site = ast.Call(ast.Name(SITE, ast.Load(), **place), [ast.Constant(index, **place)], [], **place)
        item = ast.withitem(site, ast.Name(_THIS, ast.Store(), **place))
        return ast.With([item], [ast.Expr(_recorded(node.test, place), **place)], **place)

    def _text(self, test: ast.expr) -> str:
        """As it is written, where that is on one line: writing it anew takes long."""
        if test.lineno == test.end_lineno and test.lineno <= len(self._lines):
            return self._lines[test.lineno - 1][test.col_offset : test.end_col_offset]
        return ast.unparse(test)


_Place = dict[str, Any]  # Any: line and column, as ast takes them


def _place(node: ast.stmt) -> _Place:
    return {"lineno": node.lineno, "col_offset": node.col_offset}


def _recorded(test: ast.expr, place: _Place) -> ast.Call:
    if isinstance(test, ast.Compare) and len(test.ops) == 1:
        operator = ast.Constant(_OPERATORS[type(test.ops[0])], **place)
        return _call(place, "compare", operator, test.left, test.comparators[0])
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return _call(place, "false", test.operand)
    if isinstance(test, ast.Call):
        return _call(place, "true", test)
    return _call(place, "holds", test)


def _call(place: _Place, method: str, *arguments: ast.expr) -> ast.Call:
    this = ast.Name(_THIS, ast.Load(), **place)
    return ast.Call(ast.Attribute(this, method, ast.Load(), **place), list(arguments), [], **place)
