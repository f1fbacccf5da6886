"""Parting the asserts of a ``check(candidate)`` in two: the same source twice, each with a part of its asserts.

A part is a statement of ``check`` that holds asserts: one of them, or a loop over some. All other statements stay in
both. Parts that make the same call of the candidate, and those that share a name they set, stay together.
"""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from koderz_core.parsing import parse
from koderz_core.sandbox.inside.instrument import tests_in


@dataclass(frozen=True, slots=True)
class Parted:
    """Two sources of tests whose asserts are, together, those of the one that they were made from."""

    gate: str
    rest: str


def parted(source: str, fraction: float, lot: str) -> Parted | str:
    """A ``fraction`` of the parts drawn by ``lot``, at least one, and the rest, at least one; or why there are none.

    The same ``lot`` always draws the same. Raises SyntaxError, ValueError if the source is not Python.
    """
    tree = parse(source)
    checks = [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == "check"]
    statements = checks[-1].body if checks else []
    parts = [node for node in statements if _tests(node)]
    if sum(map(_tests, parts)) < tests_in(tree) or any(_is_definition(node) for node in parts):
        return "its asserts stand in functions of their own, so they cannot be told apart"
    groups = _groups(parts, checks[-1].args.args[0].arg if checks and checks[-1].args.args else "")
    if len(groups) < 2:
        return "its asserts cannot be told apart" if len(parts) > 1 else "all its tests are one assert or one loop"
    drawn = sorted(range(len(groups)), key=lambda number: hashlib.sha256(f"{lot}/{number}".encode()).digest())
    size = min(max(1, round(fraction * len(groups))), len(groups) - 1)
    gate, rest = _without(source, groups, drawn[size:]), _without(source, groups, drawn[:size])
    if tests_in(parse(gate)) + tests_in(parse(rest)) != tests_in(tree):
        return "its asserts cannot be told apart"  # as in lines that end with a bare carriage return
    return Parted(gate, rest)


def _tests(node: ast.stmt) -> int:
    return tests_in(ast.Module([node], []))


def _is_definition(node: ast.stmt) -> bool:
    return isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)


def _groups(parts: Sequence[ast.stmt], candidate: str) -> list[list[ast.stmt]]:
    """The parts that belong together, in the order of their first."""
    shared = {name for part in parts for name in _names(part, ast.Store)}
    groups: list[tuple[frozenset[str], list[ast.stmt]]] = []
    for part in parts:
        named = shared & {*_names(part, ast.Store), *_names(part, ast.Load)}
        keys = frozenset([*_calls(part, candidate), *named]) or frozenset([ast.unparse(part)])
        kin = [group for group in groups if group[0] & keys]
        groups = [group for group in groups if group not in kin]
        groups.append((keys.union(*(group[0] for group in kin)), [*(one for _, some in kin for one in some), part]))
    return sorted((some for _, some in groups), key=lambda some: min(one.lineno for one in some))


def _calls(part: ast.stmt, candidate: str) -> Iterator[str]:
    """How a part calls the candidate, as text."""
    for node in ast.walk(part):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == candidate:
            yield ast.unparse(node)


def _names(node: ast.AST, context: type[ast.expr_context]) -> Iterator[str]:
    """The names that a statement sets or reads; what a comprehension sets is its own."""
    if isinstance(node, ast.Name) and isinstance(node.ctx, context):
        yield node.id
    for child in ast.iter_child_nodes(node):
        if not (isinstance(child, ast.comprehension) and context is ast.Store):
            yield from _names(child, context)


def _without(source: str, groups: Sequence[Sequence[ast.stmt]], numbers: Iterable[int]) -> str:
    """The source with ``pass`` where these parts stood; everything else stays as it is written."""
    text = source.encode()
    starts = [0]
    for line in text.split(b"\n"):
        starts.append(starts[-1] + len(line) + 1)
    taken = [node for number in numbers for node in groups[number]]
    for node in sorted(taken, key=lambda one: (one.lineno, one.col_offset), reverse=True):
        end_line, end_column = node.end_lineno or node.lineno, node.end_col_offset or 0
        begin, end = starts[node.lineno - 1] + node.col_offset, starts[end_line - 1] + end_column
        text = text[:begin] + b"pass" + text[end:]
    return text.decode()
