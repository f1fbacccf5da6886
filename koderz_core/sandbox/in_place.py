"""Which asserts look at what a program changed in place in its arguments, as far as their text shows it.

``sort(a)``, then ``assert a == [1, 2]``: without that change the assert must fail. ``assert candidate(a) == sorted(a)``
compares two values that the program made: one that empties ``a`` and returns ``[]`` would pass. What is not plainly of
the first kind is taken for the second.
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
"""Where names are bound: the fields that hold the names, and what they are bound to."""
_Names = frozenset[str]
_Kind = TypeVar("_Kind", bound=ast.AST)


@lru_cache(64)
def looks_at_changes(tests: str, entry_point: str) -> tuple[bool, ...]:
    """One for each test, in order."""
    tree = parse(tests)
    returned, arguments = _influenced(tree, frozenset({entry_point, "candidate"}))
    return tuple(_looks(test.test, returned, arguments) for test in asserts_in(tree))


def _looks(test: ast.expr, returned: _Names, arguments: _Names) -> bool:
    """It mentions an argument, and compares what was returned only with what the program has no influence on."""
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
    """Names of what the program returned or may have returned, and of what it was given or was made of that."""
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
    """Names that are bound or filled, and the names in what they are bound to or filled with."""
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
        given = frozenset(parameter.arg for parameter in _parts(parameters, ast.arg))
        yield given, frozenset({"candidate"})  # anything may be given to a function


def _values(call: ast.Call) -> _Names:
    """The names of values in the arguments of a call, not those of functions that are called there."""
    given = [*call.args, *(keyword.value for keyword in call.keywords)]
    called = {id(inner.func) for part in given for inner in _parts(part, ast.Call)}
    return frozenset(name.id for part in given for name in _parts(part, ast.Name) if id(name) not in called)


def _names(node: ast.AST | Sequence[ast.AST] | None) -> _Names:
    nodes = node if isinstance(node, list) else [node] if isinstance(node, ast.AST) else []
    return frozenset(name.id for part in nodes for name in _parts(part, ast.Name))


def _parts(node: ast.AST, kind: type[_Kind]) -> Iterator[_Kind]:
    return (part for part in ast.walk(node) if isinstance(part, kind))
