"""Finds, in a test file, its functions and the assertions in them that can be rewritten."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field

from koderz_core.sandbox.inside.instrument import last_name
from koderz_core.sandbox.repository.checks import checks_of, checks_of_call, raising_of
from koderz_core.sandbox.repository.names import Function
from koderz_core.sandbox.repository.rewriting import Spot

_AROUND = frozenset({
    *("setUp", "tearDown", "setUpClass", "tearDownClass", "setUpModule", "tearDownModule", "setup", "teardown"),
    *("setup_method", "teardown_method", "setup_class", "teardown_class", "setup_module", "teardown_module"),
})  # fmt: skip
_CATCHING = frozenset({"AssertionError", "Exception", "BaseException"})
_UNITTEST_RAISES = ("assertRaises", "assertRaisesRegex", "assertRaisesRegexp")


@dataclass
class Definition:
    """A function of a test file, at its top or in a class: ``classes`` are the names around it, outermost first."""

    path: str
    classes: tuple[str, ...]
    node: Function
    spots: list[Spot] = field(default_factory=list)

    @property
    def name(self) -> str:
        return self.node.name

    @property
    def is_test(self) -> bool:
        return self.name.startswith("test") and not _is_around(self.node)

    @property
    def id(self) -> str:
        return "::".join([self.path, *self.classes, self.name])


@dataclass(frozen=True)
class ClassInfo:
    path: str
    name: str
    bases: tuple[str, ...]
    methods: frozenset[str]


def definitions(path: str, tree: ast.Module, own_asserts: frozenset[str]) -> list[Definition]:
    """The functions of a file. ``own_asserts``: methods ``assert...`` that tests define, which are not unittest's."""
    raisers = _pytest_raises(tree)
    found = []
    for classes, node in _functions(tree.body, ()):
        definition = Definition(path, classes, node)
        if not _is_around(node):
            finder = _Finder(definition.id, node, raisers, own_asserts)
            definition.spots = finder.spots
        found.append(definition)
    return found


def classes_of(path: str, tree: ast.Module) -> list[ClassInfo]:
    return [
        ClassInfo(
            path,
            node.name,
            tuple(filter(None, map(last_name, node.bases))),
            frozenset(part.name for part in node.body if isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef)),
        )
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef)
    ]


def own_asserts(tree: ast.Module) -> Iterator[str]:
    """Methods with the names of assertions that a file defines itself, except stubs."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            for part in node.body:
                if isinstance(part, ast.FunctionDef) and part.name.startswith("assert") and not _is_stub(part):
                    yield part.name


def _is_stub(node: ast.FunctionDef) -> bool:
    return all(
        isinstance(part, ast.Pass) or (isinstance(part, ast.Expr) and isinstance(part.value, ast.Constant))
        for part in node.body
    )


def _functions(body: list[ast.stmt], classes: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Function]]:
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield classes, node
        elif isinstance(node, ast.ClassDef):
            yield from _functions(node.body, (*classes, node.name))
        elif isinstance(node, ast.If | ast.Try | ast.With):
            for field_name in ("body", "orelse", "finalbody"):
                yield from _functions(getattr(node, field_name, []), classes)


def _is_around(node: Function) -> bool:
    """Whether a function runs before or after tests, so that its reports belong to none."""
    marks = [mark.func if isinstance(mark, ast.Call) else mark for mark in node.decorator_list]
    return node.name in _AROUND or any("fixture" in last_name(mark) for mark in marks)


def _pytest_raises(tree: ast.Module) -> frozenset[str]:
    """The names of ``raises`` that are pytest's when used alone."""
    return frozenset(
        alias.asname or alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module == "pytest"
        for alias in node.names
        if alias.name == "raises"
    )


class _Finder(ast.NodeVisitor):
    def __init__(self, owner: str, node: Function, raisers: frozenset[str], own: frozenset[str]) -> None:
        self.spots: list[Spot] = []
        self._owner, self._raisers, self._own = owner, raisers, own
        arguments = [*node.args.posonlyargs, *node.args.args][:1]
        self._receivers = {"self", *(argument.arg for argument in arguments)}
        for statement in node.body:
            self.visit(statement)

    def visit_Assert(self, node: ast.Assert) -> None:
        if checks := checks_of(node.test):
            self._add(Spot(node, checks))

    def visit_Expr(self, node: ast.Expr) -> None:
        if isinstance(node.value, ast.Call):
            raising = self._raising(node.value, looks=False)
            if raising and raising.raising and raising.raising.call:
                self._add(raising)
            elif self._is_own(node.value) and (checks := checks_of_call(node.value)):
                self._add(Spot(node.value, checks))

    def visit_With(self, node: ast.With) -> None:
        swallows = False
        for item in node.items:
            call = item.context_expr
            if isinstance(call, ast.Call) and (spot := self._raising(call, looks=item.optional_vars is not None)):
                names = spot.raising.names if spot.raising else ()
                swallows = swallows or not _CATCHING.isdisjoint(names)
                if spot.raising and not spot.raising.call:
                    self._add(spot)
            swallows = swallows or (isinstance(call, ast.Call) and last_name(call.func) == "suppress")
        if not swallows:
            for statement in node.body:
                self.visit(statement)

    def visit_Try(self, node: ast.Try) -> None:
        kinds = [handler.type for handler in node.handlers]
        parts = [part for kind in kinds for part in (kind.elts if isinstance(kind, ast.Tuple) else [kind])]
        if not any(part is None or last_name(part) in _CATCHING for part in parts):
            for statement in node.body:
                self.visit(statement)
        for part in (*node.handlers, *node.orelse, *node.finalbody):
            self.visit(part)

    def visit_Lambda(self, node: ast.Lambda) -> None:
        """No statement is in a lambda."""

    def _add(self, spot: Spot) -> None:
        spot.owner = self._owner
        self.spots.append(spot)

    def _is_own(self, call: ast.Call) -> bool:
        """Whether a call is one of a method of ``unittest.TestCase`` on the test itself."""
        match call.func:
            case ast.Attribute(ast.Name(receiver), name):
                return receiver in self._receivers and name not in self._own
            case _:
                return False

    def _raising(self, call: ast.Call, *, looks: bool) -> Spot | None:
        match call.func:
            case ast.Attribute(ast.Name("pytest"), "raises"):
                raising = raising_of(call, True, ("raises",), looks=looks)
            case ast.Name(name) if name in self._raisers:
                raising = raising_of(call, True, (name,), looks=looks)
            case ast.Attribute() if self._is_own(call):
                raising = raising_of(call, False, _UNITTEST_RAISES, looks=looks)
            case _:
                return None
        return Spot(call, raising=raising) if raising else None
