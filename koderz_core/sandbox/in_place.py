"""Finds the asserts that examine how a program changed its arguments in place, as far as their source shows it.

After ``sort(a)``, ``assert a == [1, 2]`` is such an assert and must fail without the change. ``assert candidate(a) ==
sorted(a)`` is not: it compares two values that the program influences, so a program that empties ``a`` and returns
``[]`` would pass. An assert that is not clearly of the first kind counts as one of the second.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import TypeVar

from koderz_core.python_parser import parse
from koderz_core.sandbox.inside.instrument import asserts_in

_BINDINGS: Mapping[type[ast.AST], tuple[str, str]] = {
    ast.Assign: ("targets", "value"),
    ast.AnnAssign: ("target", "value"),
    ast.AugAssign: ("target", "value"),
    ast.NamedExpr: ("target", "value"),
    ast.For: ("target", "iter"),
    ast.comprehension: ("target", "iter"),
    ast.withitem: ("optional_vars", "context_expr"),
}
"""The nodes that bind names: the field with the names, and the field with their value."""
_Names = frozenset[str]
_Kind = TypeVar("_Kind", bound=ast.AST)


@lru_cache(64)
def looks_at_changes(tests: str, entry_point: str) -> tuple[bool, ...]:
    """Whether each test examines changes, in order."""
    tree = parse(tests)
    returned, arguments = _influenced(tree, frozenset({entry_point, "candidate"}))
    return tuple(_looks(test.test, returned, arguments) for test in asserts_in(tree))


def _looks(test: ast.expr, returned: _Names, arguments: _Names) -> bool:
    """Whether a test names an argument and compares returned values only with values that the program cannot change."""
    if not _names(test) & arguments:
        return False
    influenced = returned | arguments
    sound = {
        id(part)
        for compared in _parts(test, ast.Compare)
        if not all(_names(side) & influenced for side in (compared.left, *compared.comparators))
        for part in ast.walk(compared)
    }
    return all(id(name) in sound for name in _parts(test, ast.Name) if name.id in returned)


def _influenced(tree: ast.Module, program: _Names) -> tuple[_Names, _Names]:
    """The names of values that the program may have returned, and those of its arguments and of values made of them."""
    returned, arguments, before = program, _Names(), (_Names(), _Names())
    while (returned, arguments) != before:
        before = returned, arguments
        for targets, value in _bindings(tree):
            if value & returned:
                returned |= targets
            elif value & arguments:
                arguments |= targets
        for call in _parts(tree, ast.Call):
            if _names(call) & returned:
                arguments |= _values(call) - returned
    return returned, arguments


def _bindings(tree: ast.Module) -> Iterator[tuple[_Names, _Names]]:
    """Names that are bound or whose value is extended, each with the names in the new value."""
    for kind, (target, value) in _BINDINGS.items():
        for node in _parts(tree, kind):
            yield _names(getattr(node, target)), _names(getattr(node, value))
    for call in _parts(tree, ast.Call):
        if isinstance(call.func, ast.Attribute):  # answers.append(candidate(a))
            yield _names(call.func), _names(call.args)
    for function in _parts(tree, ast.FunctionDef):
        if function.name != "check":
            yield frozenset({function.name}), _names(function)
    for parameters in _parts(tree, ast.arguments):
        names = frozenset(parameter.arg for parameter in _parts(parameters, ast.arg))
        yield names, frozenset({"candidate"})  # a function may be called with any value


def _values(call: ast.Call) -> _Names:
    """The names of values in the arguments of a call, without the functions that are called there."""
    arguments = [*call.args, *(keyword.value for keyword in call.keywords)]
    called = {id(inner.func) for part in arguments for inner in _parts(part, ast.Call)}
    return frozenset(name.id for part in arguments for name in _parts(part, ast.Name) if id(name) not in called)


def _names(node: ast.AST | Sequence[ast.AST] | None) -> _Names:
    nodes = node if isinstance(node, list) else [node] if isinstance(node, ast.AST) else []
    return frozenset(name.id for part in nodes for name in _parts(part, ast.Name))


def _parts(node: ast.AST, kind: type[_Kind]) -> Iterator[_Kind]:
    return (part for part in ast.walk(node) if isinstance(part, kind))
