"""Names in a test function that are assigned from literals, so that the judge knows their values."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from koderz_core.sandbox.repository.literal_values import NotLiteralError, is_immutable, value_of

Function = ast.FunctionDef | ast.AsyncFunctionDef
_Assigned = ast.Assign | ast.AnnAssign
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)


class LocalLiterals:
    """The names of a function that hold known values where they are read.

    All assignments of such a name are in one block, so that the last one before a statement of the block is the one
    that counts there. Names with mutable values are known only if nothing but comparisons, in ``compared``, uses them.
    """

    def __init__(self, function: Function, compared: set[int], shadowed: frozenset[str]) -> None:
        self._values: dict[int, Any] = {}  # Any: plain data, by the id of a node that reads a name
        self._reads: dict[str, set[int]] = {}
        self._assigned: dict[str, list[_Assigned]] = {}
        stores, blocks = _assignments(function)
        for node in ast.walk(function):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
                self._reads.setdefault(node.id, set()).add(id(node))
        for name in set(stores) - _otherwise_bound(function, stores):
            self._learn(name, stores[name], blocks[name], compared, shadowed)

    def has(self, node: ast.expr) -> bool:
        """Whether the expression is a name whose value is known where it is read."""
        return id(node) in self._values

    def value(self, node: ast.expr) -> Any:
        return self._values[id(node)]

    def unused(self, left_out: set[int]) -> Iterator[_Assigned]:
        """The assignments that nothing uses once these reads are left out."""
        for name, assigned in self._assigned.items():
            if self._reads.get(name) and self._reads[name] <= left_out:
                yield from assigned

    def _learn(
        self,
        name: str,
        stores: list[tuple[int, _Assigned]],
        block: list[ast.stmt],
        compared: set[int],
        shadowed: frozenset[str],
    ) -> None:
        try:
            values = [(index, value_of(node.value, shadowed)) for index, node in stores if node.value]
        except NotLiteralError:
            return
        reads = self._reads.get(name, set())
        if not all(is_immutable(value) for _, value in values) and not reads <= compared:
            return
        for index, statement in enumerate(block):
            before = [value for place, value in values if place < index]
            for node in _reads_in(statement, name, nested=len(values) == 1) if before else ():
                self._values[id(node)] = before[-1]
        self._assigned[name] = [node for _, node in stores]


_Stores = dict[str, list[tuple[int, _Assigned]]]


def _assignments(function: Function) -> tuple[_Stores, dict[str, list[ast.stmt]]]:
    """The plain assignments of each name, with their places in its block. Names of several blocks are left out."""
    stores: _Stores = {}
    blocks: dict[str, list[ast.stmt]] = {}
    several: set[str] = set()
    for block in _blocks(function):
        for index, statement in enumerate(block):
            match statement:
                case ast.Assign([ast.Name(name)]) | ast.AnnAssign(ast.Name(name), _, ast.expr()):
                    if blocks.setdefault(name, block) is not block:
                        several.add(name)
                    stores.setdefault(name, []).append((index, statement))
                case _:
                    pass
    return {name: found for name, found in stores.items() if name not in several}, blocks


def _blocks(node: ast.AST) -> Iterator[list[ast.stmt]]:
    """The blocks of statements of a function, without those of scopes inside it."""
    for field in ("body", "orelse", "finalbody"):
        block = getattr(node, field, None)
        if isinstance(block, list):
            yield block
    for part in ast.iter_child_nodes(node):
        if not isinstance(part, _SCOPES):
            yield from _blocks(part)


def _otherwise_bound(function: Function, stores: _Stores) -> set[str]:
    """Names that are bound by more than plain assignments, or in more than one scope."""
    plain = {id(_target(node)) for found in stores.values() for _, node in found}
    bound: set[str] = set()
    for node in ast.walk(function):
        match node:
            case ast.Name(name, ast.Store() | ast.Del()) if id(node) not in plain:
                bound.add(name)
            case ast.arg(name) | ast.ExceptHandler(_, str(name)) | ast.MatchAs(_, str(name)) | ast.MatchStar(str(name)):
                bound.add(name)
            case ast.Global(names) | ast.Nonlocal(names):
                bound.update(names)
            case ast.FunctionDef(name) | ast.AsyncFunctionDef(name) | ast.ClassDef(name):
                bound.add(name)
            case ast.alias(name, other):
                bound.add(other or name.partition(".")[0])
            case ast.Call(ast.Name("locals" | "vars" | "eval" | "exec")):
                bound.update(stores)
            case _:
                pass
    return bound


def _target(node: _Assigned) -> ast.expr:
    return node.targets[0] if isinstance(node, ast.Assign) else node.target


def _reads_in(node: ast.AST, name: str, *, nested: bool) -> Iterator[ast.Name]:
    """The places that read a name; those in scopes that run later only if ``nested``."""
    if isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load):
        yield node
    if nested or not isinstance(node, _SCOPES):
        for part in ast.iter_child_nodes(node):
            yield from _reads_in(part, name, nested=nested)
