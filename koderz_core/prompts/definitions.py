"""The classes and functions that a Python file defines, with their lines, for the map of a repository and its parts."""

from __future__ import annotations

import ast

from koderz_core.records.repositories import Definition, DefinitionKind

_Function = ast.FunctionDef | ast.AsyncFunctionDef
_Scope = _Function | ast.ClassDef


def definitions_in(tree: ast.Module) -> tuple[Definition, ...]:
    """Classes and functions, also those inside others, in the order of their lines."""
    waiting: list[tuple[str, bool, ast.AST]] = [("", False, tree)]
    found = []
    while waiting:
        prefix, in_class, node = waiting.pop()
        for child in ast.iter_child_nodes(node):
            if isinstance(child, _Scope):
                found.append(_definition(prefix, child, in_class=in_class))
                waiting.append((f"{prefix}{child.name}.", isinstance(child, ast.ClassDef), child))
            else:
                waiting.append((prefix, in_class, child))
    return tuple(sorted(found, key=lambda it: (it.line, it.name)))


def _definition(prefix: str, node: _Scope, *, in_class: bool) -> Definition:
    typed = isinstance(node, _Function) and _is_typed(node, in_class=in_class)
    kind: DefinitionKind = "class" if isinstance(node, ast.ClassDef) else "function"
    end = node.end_lineno or node.lineno
    return Definition(f"{prefix}{node.name}", kind, node.lineno, end, typed, ast.get_docstring(node, False) is not None)


def _is_typed(node: _Function, *, in_class: bool) -> bool:
    arguments = node.args
    positional = [*arguments.posonlyargs, *arguments.args]
    if in_class and positional and positional[0].arg in ("self", "cls", "mcs"):
        positional = positional[1:]
    others = [it for it in (arguments.vararg, arguments.kwarg) if it]
    hinted = all(it.annotation for it in (*positional, *arguments.kwonlyargs, *others))
    return hinted and (node.returns is not None or node.name == "__init__")
