"""Rewrites the source of tests: records each assert as a test, and marks calls that are expected to end an iteration.

``assert LEFT == RIGHT`` becomes ``with site(3) as s: s.compare("==", LEFT, RIGHT)``, so that later asserts still run;
see ``recorder`` for the site. The source of an assert that a method has passed (``method_of``) is that of the method.
For tests that run in the program's own process, ``try: f(1)`` with ``except StopIteration`` becomes ``try: expecting(f,
"StopIteration")(1)``. No iteration is between such a call and the handler, so none can mistake the exception for its
own end: comprehensions, lambdas and functions are not marked, and ``map(f, items)`` does not contain a call of ``f``.

The host uses ``tests_in`` and ``asserts_in``, and ``instrument`` to check the tests of your own problems; everything
else runs inside the sandbox.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple

SITE = "_koderz_site_"
_THIS = "_koderz_this_"
OPERATORS: dict[type[ast.cmpop], str] = {
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
    """The rewritten tests, and the source of each assert that counts, in order."""

    tree: ast.Module
    sources: tuple[str, ...]


def tests_in(tree: ast.Module) -> int:
    """The number of tests in a test set: its asserts that use a name."""
    return sum(isinstance(node, ast.Assert) and not _is_constant(node) for node in ast.walk(tree))


def asserts_in(node: ast.AST) -> list[ast.Assert]:
    """The asserts that count, in the order in which ``instrument`` numbers them."""
    if isinstance(node, ast.Assert):
        return [] if _is_constant(node) else [node]
    return [found for part in ast.iter_child_nodes(node) for found in asserts_in(part)]


def instrument(source: str, parse: Callable[[str], ast.Module] = ast.parse) -> Instrumented:
    """The rewritten tests. Raises SyntaxError (ValueError for a null byte) if the source is not Python.

    ``parse``: a parser for a process in which several threads parse.
    """
    tree = parse(source)
    transformer = _Transformer(source, _definitions(tree))
    tree = transformer.visit(tree)
    return Instrumented(tree, tuple(transformer.sources))


def method_of(node: ast.Assert) -> tuple[str, str] | None:
    """The class ("" for none) and name of the test that ``assert outcome_of_case(Class, "test_x") == "passed"`` runs.

    ``koderz_core.datasets.methods`` writes such asserts, also with ``outcome_of_function(test_x)``.
    """
    match node.test:
        case ast.Compare(ast.Call(ast.Name("outcome_of_case"), [ast.Name(kind), ast.Constant(str(name))]), [ast.Eq()]):
            return kind, name
        case ast.Compare(ast.Call(ast.Name("outcome_of_function"), [ast.Name(name)]), [ast.Eq()]):
            return "", name
    return None


def _is_constant(node: ast.Assert) -> bool:
    """Whether no name occurs in an assert, such as ``assert True, "..."``, so that it tests no program."""
    return not any(isinstance(part, ast.Name) for part in ast.walk(node.test))


class _Transformer(ast.NodeTransformer):
    def __init__(self, source: str, definitions: _Definitions) -> None:
        self.sources: list[str] = []
        self._source, self._definitions = source, definitions
        self._lines = source.split("\n") if source.isascii() else []

    def visit_Assert(self, node: ast.Assert) -> ast.stmt:
        if _is_constant(node):
            return node
        index = len(self.sources)
        method = method_of(node)
        self.sources.append(self._method(*method) if method else f"assert {self._text(node.test)}")
        place = _place(node)
        site = ast.Call(ast.Name(SITE, ast.Load(), **place), [ast.Constant(index, **place)], [], **place)
        item = ast.withitem(site, ast.Name(_THIS, ast.Store(), **place))
        return ast.With([item], [ast.Expr(_recorded(node.test, place, bool(method)), **place)], **place)

    def _method(self, kind: str, name: str) -> str:
        """The name and the source of a test method."""
        title = f"{kind}.{name}:" if kind else f"{name}:"
        node = self._definitions.get((kind, name))
        if not node:
            return title
        first = min([node.lineno, *(mark.lineno for mark in node.decorator_list)])
        lines = self._source.split("\n")[first - 1 : node.end_lineno]
        indent = node.col_offset
        return "\n".join([title, *(line[indent:] if line[:indent].isspace() else line for line in lines)])

    def _text(self, test: ast.expr) -> str:
        """The source of a test. If it is on one line, it is copied, because unparsing takes long."""
        if test.lineno == test.end_lineno and test.lineno <= len(self._lines):
            return self._lines[test.lineno - 1][test.col_offset : test.end_col_offset]
        return ast.unparse(test)


_Place = dict[str, Any]  # Any: line and column for ast


def _place(node: ast.stmt) -> _Place:
    return {"lineno": node.lineno, "col_offset": node.col_offset}


_Definitions = Mapping[tuple[str, str], ast.FunctionDef]


def _definitions(tree: ast.Module) -> _Definitions:
    """The functions of a module, and the methods of its classes with those that they inherit in the same module."""
    found = {("", node.name): node for node in tree.body if isinstance(node, ast.FunctionDef)}
    for kind in (node for node in tree.body if isinstance(node, ast.ClassDef)):
        names = [base.id for base in kind.bases if isinstance(base, ast.Name)]
        found |= {(kind.name, name): node for (base, name), node in list(found.items()) if base and base in names}
        found |= {(kind.name, node.name): node for node in kind.body if isinstance(node, ast.FunctionDef)}
    return found


def _recorded(test: ast.expr, place: _Place, is_method: bool) -> ast.Call:
    if is_method and isinstance(test, ast.Compare):
        return _call(place, "outcome", test.left)
    if isinstance(test, ast.Compare) and len(test.ops) == 1:
        operator = ast.Constant(OPERATORS[type(test.ops[0])], **place)
        return _call(place, "compare", operator, test.left, test.comparators[0])
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return _call(place, "false", test.operand)
    if isinstance(test, ast.Call):
        return _call(place, "true", test)
    return _call(place, "holds", test)


def _call(place: _Place, method: str, *arguments: ast.expr) -> ast.Call:
    this = ast.Name(_THIS, ast.Load(), **place)
    return ast.Call(ast.Attribute(this, method, ast.Load(), **place), list(arguments), [], **place)


EXPECTING = "_koderz_expecting_"
_ENDS = frozenset({"StopIteration", "StopAsyncIteration"})
_RAISES = frozenset({"assertRaises", "assertRaisesRegex", "raises"})


def marked(tree: ast.Module, source: str) -> ast.Module:
    """The tree with marked calls, changed in place; ``source`` is its source."""
    if any(name in source for name in _ENDS):
        _Marker().visit(tree)
        ast.fix_missing_locations(tree)
    return tree


class _Marker(ast.NodeTransformer):
    def __init__(self) -> None:
        self._caught: frozenset[str] = frozenset()  # exceptions that the test catches at the current node

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
        """Visit a scope that runs later or is an iteration of its own, so that no handler outside applies."""
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
    """The exceptions that end iterations among these: alone, in a tuple, or after ``builtins.``."""
    parts = kinds.elts if isinstance(kinds, ast.Tuple) else [kinds]
    return _ENDS.intersection(last_name(part) for part in parts)


def _expected(node: ast.expr) -> frozenset[str]:
    """The exceptions that end iterations for which ``assertRaises(...)`` or a similar call waits."""
    is_one = isinstance(node, ast.Call) and bool(node.args) and last_name(node.func) in _RAISES
    return _named(node.args[0]) if is_one and isinstance(node, ast.Call) else frozenset()


def last_name(node: ast.expr | None) -> str:
    """``raises`` for ``raises`` and for ``pytest.raises``; "" for other expressions."""
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


def _marked(function: ast.expr, kinds: frozenset[str]) -> ast.Call:
    return ast.Call(ast.Name(EXPECTING, ast.Load()), [function, *(ast.Constant(kind) for kind in sorted(kinds))], [])
