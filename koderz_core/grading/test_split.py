"""Splits the asserts of a ``check(candidate)`` into two test sets, and compares asserts by the calls that they make.

Both sets have the same source, each with a part of its asserts. A part is a statement of ``check`` that contains
asserts: one assert, or a loop over some. All other statements stay in both sets. Parts that make the same call of the
candidate stay together, and so do parts that share a name that one of them sets. Two calls are the same if they pass
equal values.
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
_MOST = 64  # largest operand that is evaluated, so that no text causes a huge computation
_INSEPARABLE = "koderz cannot divide the source text of the tests into single asserts"
ONE_PART = "the tests consist of only one assert or one loop"
_DEPENDENT = "the asserts share variables or calls, so they cannot be separated"


@dataclass(frozen=True, slots=True)
class SplitSource:
    """Two sources of tests that together have the asserts of the original one."""

    gate: str
    rest: str


def split_at_random(
    source: str,
    fraction: float,
    lot: str,
    parameters: Sequence[str] = (),
    shown: AbstractSet[str] = frozenset(),
) -> SplitSource | str:
    """A random ``fraction`` of the parts and the rest, each at least one part; or why a split is impossible.

    The same ``lot`` always draws the same parts. ``parameters``: those of the function, in order. ``shown``: calls
    (texts of ``calls_in``) whose parts are in the first source in any case. Raises SyntaxError, ValueError if the
    source is not Python.
    """
    groups = _groups_of(parse(source), parameters)
    if isinstance(groups, str):
        return groups
    if len(groups) < 2:
        one_part = sum(len(group.parts) for group in groups) < 2
        return ONE_PART if one_part else _DEPENDENT
    fixed = [number for number, group in enumerate(groups) if group.calls & shown]
    gate, rest = draw(len(groups), fraction, lot, fixed)
    return _split(source, [groups[number] for number in gate], [groups[number] for number in rest])


def draw(number: int, fraction: float, lot: str, fixed: Sequence[int] = ()) -> tuple[list[int], list[int]]:
    """A random ``fraction`` of this number of groups (at least two) and the rest, each at least one group.

    ``fixed``: groups that the fraction contains in any case.
    """
    free = [place for place in range(number) if place not in fixed]
    free.sort(key=lambda place: hashlib.sha256(f"{lot}/{place}".encode()).digest())
    size = min(max(1, round(fraction * number)), number - 1)
    drawn = [*fixed, *free[: max(0, size - len(fixed))]]
    return drawn, [place for place in range(number) if place not in drawn]


def split_by_calls(
    source: str, calls: AbstractSet[str], parameters: Sequence[str] = (), entry_point: str = ""
) -> SplitSource:
    """The groups of parts that make one of these ``calls`` (texts of ``calls_in``), and the rest; "" for no test.

    Tests that cannot be separated are all on one side. ``entry_point`` as in ``calls_of``. Raises as
    ``split_at_random``.
    """
    tree = parse(source)
    groups = _groups_of(tree, parameters, entry_point)
    if not isinstance(groups, str):
        sources = _split(
            source,
            [group for group in groups if group.calls & calls],
            [group for group in groups if not group.calls & calls],
        )
        if isinstance(sources, SplitSource):
            return SplitSource(*(side if tests_in(parse(side)) else "" for side in (sources.gate, sources.rest)))
    makes_none = calls.isdisjoint(_calls(tree, tree, parameters, entry_point))
    return SplitSource("", source) if makes_none else SplitSource(source, "")


def calls_of(source: str, parameters: Sequence[str] = (), entry_point: str = "") -> frozenset[str]:
    """The calls that a ``check(candidate)`` makes, as texts of ``calls_in``.

    ``entry_point``: the function's own name, which MBPP's asserts use. Raises SyntaxError, ValueError.
    """
    tree = parse(source)
    return frozenset(_calls(tree, tree, parameters, entry_point))


@dataclass(frozen=True, slots=True)
class _Group:
    """Parts that stay together. ``calls``: their calls of the candidate, and those behind the names that they read."""

    parts: tuple[ast.stmt, ...]
    calls: frozenset[str]
    names: frozenset[str]

    def is_kin(self, other: _Group) -> bool:
        return bool(self.calls & other.calls or self.names & other.names)

    def __add__(self, other: _Group) -> _Group:
        return _Group(self.parts + other.parts, self.calls | other.calls, self.names | other.names)


def _groups_of(tree: ast.Module, parameters: Sequence[str], entry_point: str = "") -> list[_Group] | str:
    """The groups in the order of their first parts; or why there are none."""
    check = _check(tree)
    parts = [node for node in check.body if _tests(node)] if check else []
    has_definition = any(isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) for node in parts)
    if has_definition or sum(map(_tests, parts)) < tests_in(tree):
        return "some asserts are not directly in the body of the function check, so they cannot be separated"
    shared = {name for part in parts for name in _names(part, ast.Store)}
    groups: list[_Group] = []
    for part in parts:
        read = {*_names(part, ast.Store), *_names(part, ast.Load)}
        calls = frozenset(_calls(tree, part, parameters, entry_point)) or frozenset([ast.unparse(part)])
        group = _Group((part,), calls, frozenset(shared & read))
        kin = [other for other in groups if other.is_kin(group)]
        groups = [group for group in groups if group not in kin]
        groups.append(reduce(add, [*kin, group]))
    return sorted(groups, key=lambda group: min(part.lineno for part in group.parts))


def _calls(tree: ast.Module, part: ast.AST, parameters: Sequence[str], entry_point: str) -> Iterator[str]:
    """The calls of the candidate in a part, and in earlier statements such as ``y = candidate(1)`` that it reads."""
    check = _check(tree)
    if check and check.args.args:
        read = set(_names(part, ast.Load))
        before = [node for node in check.body if not _tests(node) and not read.isdisjoint(_names(node, ast.Store))]
        for node in (part, *before):
            for name in {check.args.args[0].arg, entry_point}:
                yield from calls_in(node, name, parameters)


def _check(tree: ast.Module) -> ast.FunctionDef | None:
    checks = [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == "check"]
    return checks[-1] if checks else None


def _split(source: str, gate: Iterable[_Group], rest: Iterable[_Group]) -> SplitSource | str:
    sources = SplitSource(_without(source, rest), _without(source, gate))
    if tests_in(parse(sources.gate)) + tests_in(parse(sources.rest)) != tests_in(parse(source)):
        return _INSEPARABLE  # for example if lines end with a bare carriage return
    return sources


def _tests(node: ast.stmt) -> int:
    return tests_in(ast.Module([node], []))


def _names(node: ast.AST, context: type[ast.expr_context]) -> Iterator[str]:
    """The names that a statement sets or reads, except those that a comprehension sets."""
    if isinstance(node, ast.Name) and isinstance(node.ctx, context):
        yield node.id
    for child in ast.iter_child_nodes(node):
        if not (isinstance(child, ast.comprehension) and context is ast.Store):
            yield from _names(child, context)


def _without(source: str, groups: Iterable[_Group]) -> str:
    """The source with ``pass`` in place of these parts; everything else is unchanged."""
    text = source.encode()
    starts = [0]
    for line in text.split(b"\n"):
        starts.append(starts[-1] + len(line) + 1)
    taken = [node for group in groups for node in group.parts]
    for node in sorted(taken, key=lambda part: (part.lineno, part.col_offset), reverse=True):
        end_line, end_column = node.end_lineno or node.lineno, node.end_col_offset or 0
        begin, end = starts[node.lineno - 1] + node.col_offset, starts[end_line - 1] + end_column
        text = text[:begin] + b"pass" + text[end:]
    return text.decode()


def calls_in(node: ast.AST, name: str, parameters: Sequence[str] = ()) -> Iterator[str]:
    """One text per call of ``name``, the same for equal arguments: ``f(1, [1])`` and ``f(y=[1**0], x=1)``.

    ``parameters``: those of the function, in order. An argument that is not a literal is compared by its source, so
    ``f(x)`` in a loop over literals differs from each call that it makes. Calls by another name, ``g = f``, are missed.
    """
    for call in ast.walk(node):
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == name:
            yield _call_text(call, parameters)


def call_of(arguments: Iterable[object]) -> str:
    """The text that ``calls_in`` yields for a call with these positional arguments.

    1, 1.0 and True are different values.
    """
    return ", ".join(map(_value_text, arguments))


def parameters_of(problem: PublicProblem) -> tuple[str, ...]:
    """The positional parameters of the function in the prompt; empty if the prompt cannot be read."""
    program = Reader().parse(f"{problem.prompt.rstrip()}\n    pass\n")
    for node in program.tree.body if program else ():
        if isinstance(node, ast.FunctionDef) and node.name == problem.entry_point:
            return tuple(posonlyarg.arg for posonlyarg in (*node.args.posonlyargs, *node.args.args))
    return ()


def _call_text(call: ast.Call, parameters: Sequence[str]) -> str:
    by_place = [_argument_text(arg) for arg in call.args]
    named = {keyword.arg or "**": _argument_text(keyword.value) for keyword in call.keywords}
    for parameter in parameters[len(by_place) :]:
        if parameter not in named:
            break
        by_place.append(named.pop(parameter))
    return ", ".join([*by_place, *(f"{name}={value}" for name, value in sorted(named.items()))])


def _argument_text(node: ast.expr) -> str:
    with suppress(ValueError, TypeError, RecursionError, MemoryError):
        return _value_text(ast.literal_eval(_ConstantFolding().visit(deepcopy(node))))
    return ast.unparse(node)


def _value_text(value: object) -> str:
    """As ``repr``, but the same for equal sets and for equal dicts in any order."""
    match value:
        case list() | tuple():
            return f"{type(value).__name__}({', '.join(map(_value_text, value))})"
        case set():
            return f"set({', '.join(sorted(map(_value_text, value)))})"
        case dict():
            items = (f"{_value_text(key)}: {_value_text(item)}" for key, item in value.items())
            return f"dict({', '.join(sorted(items))})"
    return repr(value)


class _ConstantFolding(ast.NodeTransformer):
    """Evaluates integer arithmetic such as ``0 ** 0``, which some of HumanEval's tests contain."""

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        left, right = self.visit(node.left), self.visit(node.right)
        match left, right:
            case ast.Constant(value=int(a)), ast.Constant(value=int(b)) if max(abs(a), abs(b)) <= _MOST:
                operation = _ARITHMETIC.get(type(node.op))
                if operation and b >= 0:
                    return ast.Constant(operation(a, b))
        return ast.BinOp(left, node.op, right)
