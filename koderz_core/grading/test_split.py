"""Division of the asserts of a ``check(candidate)`` into two test sets, and the calls by which asserts are compared.

Both have the same source, each with a part of its asserts. A part is a statement of ``check`` that holds asserts: one
of them, or a loop over some. All other statements stay in both. Parts that make the same call of the candidate, and
those that share a name they set, stay together. Calls are the same if they pass the same values, however written.
"""

from __future__ import annotations

import ast
import hashlib
import operator
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import suppress
from copy import deepcopy
from dataclasses import dataclass
from functools import reduce
from operator import add

from koderz_core.prompts.programs import Reader
from koderz_core.python_parser import parse
from koderz_core.records import PublicProblem
from koderz_core.sandbox.inside.instrument import tests_in

_ARITHMETIC: Mapping[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Pow: operator.pow,
}
_MOST = 64  # of what is reckoned with: a text must not make us count for ever


@dataclass(frozen=True, slots=True)
class Parted:
    """Two sources of tests whose asserts are, together, those of the one that they were made from."""

    gate: str
    rest: str


def parted(source: str, fraction: float, lot: str, parameters: Sequence[str] = ()) -> Parted | str:
    """A ``fraction`` of the parts drawn by ``lot``, at least one, and the rest, at least one; or why there are none.

    The same ``lot`` always draws the same. ``parameters``: the function's, in their order. Raises SyntaxError,
    ValueError if the source is not Python.
    """
    groups = _groups_of(parse(source), parameters)
    if isinstance(groups, str):
        return groups
    if len(groups) < 2:
        one_part = sum(len(group.parts) for group in groups) < 2
        return "all its tests are one assert or one loop" if one_part else "its asserts cannot be told apart"
    drawn = sorted(range(len(groups)), key=lambda number: hashlib.sha256(f"{lot}/{number}".encode()).digest())
    size = min(max(1, round(fraction * len(groups))), len(groups) - 1)
    return _apart(source, [groups[number] for number in drawn[:size]], [groups[number] for number in drawn[size:]])


def parted_by_calls(
    source: str, calls: AbstractSet[str], parameters: Sequence[str] = (), entry_point: str = ""
) -> Parted:
    """What makes one of these ``calls`` (as ``calls_in`` tells them), with its kin, and the rest; "" for no test.

    Tests that cannot be told apart are all on one side. ``entry_point``: as of ``calls_of``. Raises as ``parted``.
    """
    tree = parse(source)
    groups = _groups_of(tree, parameters, entry_point)
    if not isinstance(groups, str):
        found = _apart(
            source,
            [group for group in groups if group.calls & calls],
            [group for group in groups if not group.calls & calls],
        )
        if isinstance(found, Parted):
            return Parted(*(one if tests_in(parse(one)) else "" for one in (found.gate, found.rest)))
    return Parted("", source) if calls.isdisjoint(_calls(tree, tree, parameters, entry_point)) else Parted(source, "")


def calls_of(source: str, parameters: Sequence[str] = (), entry_point: str = "") -> frozenset[str]:
    """The calls that a ``check(candidate)`` makes, as ``calls_in`` tells them.

    ``entry_point``: the function's own name, by which MBPP's asserts call it. Raises SyntaxError, ValueError.
    """
    tree = parse(source)
    return frozenset(_calls(tree, tree, parameters, entry_point))


@dataclass(frozen=True, slots=True)
class _Group:
    """Parts that stay together, by their places; ``calls``: what they, or what they read, pass to the candidate."""

    parts: tuple[ast.stmt, ...]
    calls: frozenset[str]
    names: frozenset[str]

    def is_kin(self, other: _Group) -> bool:
        return bool(self.calls & other.calls or self.names & other.names)

    def __add__(self, other: _Group) -> _Group:
        return _Group(self.parts + other.parts, self.calls | other.calls, self.names | other.names)


def _groups_of(tree: ast.Module, parameters: Sequence[str], entry_point: str = "") -> list[_Group] | str:
    """In the order of their first parts; or why there are none."""
    check = _check(tree)
    parts = [node for node in check.body if _tests(node)] if check else []
    if sum(map(_tests, parts)) < tests_in(tree) or any(_is_definition(node) for node in parts):
        return "its asserts stand in functions of their own, so they cannot be told apart"
    shared = {name for part in parts for name in _names(part, ast.Store)}
    groups: list[_Group] = []
    for part in parts:
        read = {*_names(part, ast.Store), *_names(part, ast.Load)}
        calls = frozenset(_calls(tree, part, parameters, entry_point)) or frozenset([ast.unparse(part)])
        group = _Group((part,), calls, frozenset(shared & read))
        kin = [one for one in groups if one.is_kin(group)]
        groups = [group for group in groups if group not in kin]
        groups.append(reduce(add, [*kin, group]))
    return sorted(groups, key=lambda group: min(part.lineno for part in group.parts))


def _calls(tree: ast.Module, part: ast.AST, parameters: Sequence[str], entry_point: str) -> Iterator[str]:
    """How a part calls the candidate, itself or by a name: ``y = candidate(1)`` stands before ``assert y == 2``."""
    check = _check(tree)
    if check and check.args.args:
        read = set(_names(part, ast.Load))
        before = [one for one in check.body if not _tests(one) and not read.isdisjoint(_names(one, ast.Store))]
        for node in (part, *before):
            for name in {check.args.args[0].arg, entry_point}:
                yield from calls_in(node, name, parameters)


def _check(tree: ast.Module) -> ast.FunctionDef | None:
    checks = [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == "check"]
    return checks[-1] if checks else None


def _apart(source: str, gate: Iterable[_Group], rest: Iterable[_Group]) -> Parted | str:
    found = Parted(_without(source, rest), _without(source, gate))
    if tests_in(parse(found.gate)) + tests_in(parse(found.rest)) != tests_in(parse(source)):
        return "its asserts cannot be told apart"  # as in lines that end with a bare carriage return
    return found


def _tests(node: ast.stmt) -> int:
    return tests_in(ast.Module([node], []))


def _is_definition(node: ast.stmt) -> bool:
    return isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)


def _names(node: ast.AST, context: type[ast.expr_context]) -> Iterator[str]:
    """The names that a statement sets or reads; what a comprehension sets is its own."""
    if isinstance(node, ast.Name) and isinstance(node.ctx, context):
        yield node.id
    for child in ast.iter_child_nodes(node):
        if not (isinstance(child, ast.comprehension) and context is ast.Store):
            yield from _names(child, context)


def _without(source: str, groups: Iterable[_Group]) -> str:
    """The source with ``pass`` where these parts stood; everything else stays as it is written."""
    text = source.encode()
    starts = [0]
    for line in text.split(b"\n"):
        starts.append(starts[-1] + len(line) + 1)
    taken = [node for group in groups for node in group.parts]
    for node in sorted(taken, key=lambda one: (one.lineno, one.col_offset), reverse=True):
        end_line, end_column = node.end_lineno or node.lineno, node.end_col_offset or 0
        begin, end = starts[node.lineno - 1] + node.col_offset, starts[end_line - 1] + end_column
        text = text[:begin] + b"pass" + text[end:]
    return text.decode()


def calls_in(node: ast.AST, name: str, parameters: Sequence[str] = ()) -> Iterator[str]:
    """One text per call of ``name``, the same for calls that pass the same: ``f(1, [1])`` and ``f(y=[1**0], x=1)``.

    ``parameters``: the function's, in their order. What is no literal counts as it is written, so ``f(x)`` in a loop
    over literals is another call than each that it makes; and calls by another name, ``g = f``, are not seen.
    """
    for call in ast.walk(node):
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == name:
            yield _passed(call, parameters)


def call_of(arguments: Iterable[object]) -> str:
    """The text that ``calls_in`` yields for a call that passes these values by place.

    Equal numbers of different types are different values: 1, 1.0 and True.
    """
    return ", ".join(map(_said, arguments))


def parameters_of(problem: PublicProblem) -> tuple[str, ...]:
    """What the function to write takes by place, as the problem's text has it; empty if that cannot be read."""
    read = Reader().parse(f"{problem.prompt.rstrip()}\n    pass\n")
    for node in read.tree.body if read else ():
        if isinstance(node, ast.FunctionDef) and node.name == problem.entry_point:
            return tuple(posonlyarg.arg for posonlyarg in (*node.args.posonlyargs, *node.args.args))
    return ()


def _passed(call: ast.Call, parameters: Sequence[str]) -> str:
    by_place = [_written(arg) for arg in call.args]
    named = {keyword.arg or "**": _written(keyword.value) for keyword in call.keywords}
    for parameter in parameters[len(by_place) :]:
        if parameter not in named:
            break
        by_place.append(named.pop(parameter))
    return ", ".join([*by_place, *(f"{name}={value}" for name, value in sorted(named.items()))])


def _written(node: ast.expr) -> str:
    with suppress(ValueError, TypeError, RecursionError, MemoryError):
        return _said(ast.literal_eval(_Reckoned().visit(deepcopy(node))))
    return ast.unparse(node)


def _said(value: object) -> str:
    """As ``repr``, but the same for equal sets and dicts in whatever order."""
    match value:
        case list() | tuple():
            return f"{type(value).__name__}({', '.join(map(_said, value))})"
        case set():
            return f"set({', '.join(sorted(map(_said, value)))})"
        case dict():
            return f"dict({', '.join(sorted(f'{_said(key)}: {_said(one)}' for key, one in value.items()))})"
    return repr(value)


class _Reckoned(ast.NodeTransformer):
    """``0 ** 0`` is 1: HumanEval's tests write some of their examples that way."""

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        left, right = self.visit(node.left), self.visit(node.right)
        match left, right:
            case ast.Constant(value=int(a)), ast.Constant(value=int(b)) if max(abs(a), abs(b)) <= _MOST:
                reckon = _ARITHMETIC.get(type(node.op))
                if reckon and b >= 0:
                    return ast.Constant(reckon(a, b))
        return ast.BinOp(left, node.op, right)
