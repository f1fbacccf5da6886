"""Mutants of a program: copies with one small fault each, which good tests detect.

DeMillo, Lipton, Sayward, "Hints on Test Data Selection", Computer 11(4), 1978. The operators are those of Offutt et
al., "An Experimental Determination of Sufficient Mutant Operators", TOSEM 5(2), 1996, for Python as in mutmut and
cosmic-ray, with removed statements (Deng, Offutt, Li, ICST 2013) and removed calls (the operators "argument
propagation" and "naked receiver" of PIT). Programs are compiled here, but never run.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass
from random import Random
from types import CodeType
from typing import Any

from koderz_core.python_parser import parse
from koderz_core.records import Problem

MOST_MUTANTS = 30
"""Mutants of one problem, if its solution has more."""
_SHOWN = 60  # characters of code in a description

_COMPARISONS: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
}
_ARITHMETIC: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Add,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.FloorDiv,
    ast.Pow: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.BitXor: ast.BitAnd,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
}
_FUNCTIONS = {"min": "max", "max": "min", "any": "all", "all": "any"}
_SIMPLE = (ast.Expr, ast.Assign, ast.AugAssign, ast.Raise, ast.Assert, ast.Delete)
_UNCHANGED = frozenset({"annotation", "returns", "decorator_list", "format_spec"})  # fields


@dataclass(frozen=True, slots=True)
class Mutant:
    """A program with one fault. ``line`` is the line of the original; ``change`` quotes it, so it may be hostile."""

    code: str
    line: int
    change: str


def mutants(problem: Problem, most: int | None = MOST_MUTANTS, seed: int = 0) -> tuple[Mutant, ...]:
    """At most ``most`` mutants of the canonical solution in a random order, which differ once compiled. None: all.

    Code that the problem itself gives is not changed. Empty if the solution cannot be compiled.
    """
    try:
        tree = parse(problem.canonical_solution)
        seen = {fingerprint(ast.unparse(tree))}
        changes = list(changes_in(tree, _given(problem)))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ()
    Random(f"{seed}/{problem.id}").shuffle(changes)  # noqa: S311 (a sample)
    found: list[Mutant] = []
    for change in changes:
        if len(found) == most:
            break
        code = change.apply(tree)
        if (print_ := fingerprint(code)) is not None and print_ not in seen:
            seen.add(print_)
            found.append(Mutant(code, change.line, change.text))
    return tuple(found)


@dataclass(frozen=True, slots=True)
class Change:
    """``old``, which is in a field of ``parent``, or in the list there, becomes ``new``."""

    parent: ast.AST
    field: str
    old: ast.AST
    new: ast.AST

    @property
    def line(self) -> int:
        return int(getattr(self.old, "lineno", 0))

    @property
    def text(self) -> str:
        old, new = (" ".join(ast.unparse(node).split())[:_SHOWN] for node in (self.old, self.new))
        return f"removed: {old}" if isinstance(self.new, ast.Pass) else f"{old} -> {new}"

    def apply(self, tree: ast.AST) -> str:
        """The source of the changed tree, which is then restored."""
        self._put(self.old, self.new)
        try:
            return ast.unparse(tree)
        finally:
            self._put(self.new, self.old)

    def _put(self, out: ast.AST, into: ast.AST) -> None:
        content = getattr(self.parent, self.field)
        changed = [into if item is out else item for item in content] if isinstance(content, list) else into
        setattr(self.parent, self.field, changed)


def _given(problem: Problem) -> frozenset[str]:
    """The statements of the preamble, which every program contains, and the guard of a script that tests import."""
    statements = {ast.dump(node) for node in parse(problem.public.preamble).body}
    if problem.public.kind != "program":
        main = (node for node in parse(problem.canonical_solution).body if isinstance(node, ast.If))
        statements |= {ast.dump(node) for node in main if "__name__" in ast.unparse(node.test)}
    return frozenset(statements)


def changes_in(tree: ast.Module, given: frozenset[str] = frozenset()) -> Iterator[Change]:
    """All changes of a program with one fault each, without those of statements that are ``given`` (by their dump)."""
    for statement in tree.body:
        if ast.dump(statement) not in given:
            yield from _at(tree, "body", statement)


def _at(parent: ast.AST, field: str, node: ast.AST) -> Iterator[Change]:
    """The changes of a node and of all nodes in it."""
    if field in _UNCHANGED or _is_text(node):
        return
    for new in _replacements(node):
        yield Change(parent, field, node, new)
    for name, content in ast.iter_fields(node):
        for item in content if isinstance(content, list) else [content]:
            if isinstance(item, ast.AST):
                yield from _at(node, name, item)


def _is_text(node: ast.AST) -> bool:
    """Whether a statement is a docstring or another text without effect."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _replacements(node: ast.AST) -> Iterator[ast.AST]:
    for kind in type(node).__mro__:
        yield from _OPERATORS.get(kind, lambda _node: ())(node)


def _compare(node: Any) -> Iterator[ast.AST]:  # Any here and below: the node of that type
    for at, op in enumerate(node.ops):
        for other in _COMPARISONS[type(op)]:
            yield with_fields(node, ops=[*node.ops[:at], other(), *node.ops[at + 1 :]])


def _binary(node: Any) -> Iterator[ast.AST]:
    if other := _ARITHMETIC.get(type(node.op)):
        yield with_fields(node, op=other())


def _augmented(node: Any) -> Iterator[ast.AST]:
    yield from _binary(node)
    yield ast.Assign([node.target], node.value, lineno=node.lineno)


def _if(node: Any) -> Iterator[ast.AST]:
    yield with_fields(node, test=ast.UnaryOp(ast.Not(), node.test))  # the same as swapped branches
    if not node.orelse:
        yield ast.Pass()


def _return(node: Any) -> Iterator[ast.AST]:
    if node.value is not None:
        is_none = isinstance(node.value, ast.Constant) and node.value.value is None
        constants = (*([] if is_none else [None]), *_of_same_type(node.value))
        yield from (with_fields(node, value=ast.Constant(constant)) for constant in constants)


def _slice(node: Any) -> Iterator[ast.AST]:
    if node.step is None:
        yield from (with_fields(node, lower=bound) for bound in _near(node.lower, 1))
        yield from (with_fields(node, upper=bound) for bound in _near(node.upper, -1))


def _call(node: Any) -> Iterator[ast.AST]:
    """The first argument or the object of a method instead of the call, other functions, and other bounds."""
    yield from (argument for argument in node.args[:1] if not isinstance(argument, ast.Starred | ast.GeneratorExp))
    if isinstance(node.func, ast.Attribute):
        yield node.func.value
    name = node.func.id if isinstance(node.func, ast.Name) else ""
    if name in _FUNCTIONS:
        yield with_fields(node, func=ast.Name(_FUNCTIONS[name], ast.Load()))
    for at, bound in enumerate(node.args[:2] if name == "range" else ()):
        yield from (with_fields(node, args=[*node.args[:at], other, *node.args[at + 1 :]]) for other in _near(bound, 0))


def _other_constants(value: object) -> tuple[bool | int | float | str, ...]:
    match value:
        case bool():
            return (not value,)
        case int() | float():
            return value + 1, value - 1
        case str():
            return (f"{value}x", "") if value else ("x",)
    return ()


def _of_same_type(value: ast.expr) -> tuple[bool | int | str, ...]:
    """Constants of the type that an expression obviously has."""
    match value:
        case ast.Compare() | ast.UnaryOp(op=ast.Not()):
            return True, False
        case ast.BinOp() | ast.UnaryOp():
            return (0,)
        case ast.JoinedStr() | ast.Call(func=ast.Attribute(attr="join")):
            return ("",)
    return ()


def _near(bound: ast.expr | None, missing: int) -> Sequence[ast.expr]:
    """A bound moved by one; constants are moved elsewhere. ``missing``: the other bound if there is none."""
    if bound is None:
        return [ast.Constant(missing)]
    if isinstance(bound, ast.Constant | ast.Starred):
        return []
    return [ast.BinOp(bound, op, ast.Constant(1)) for op in (ast.Add(), ast.Sub())]


_OPERATORS: dict[type, Callable[[Any], Iterable[ast.AST]]] = {
    ast.Compare: _compare,
    ast.BinOp: _binary,
    ast.AugAssign: _augmented,
    ast.BoolOp: lambda node: [with_fields(node, op=ast.Or() if isinstance(node.op, ast.And) else ast.And())],
    ast.UnaryOp: lambda node: [node.operand] if isinstance(node.op, ast.Not | ast.USub) else [],
    ast.Constant: lambda node: map(ast.Constant, _other_constants(node.value)),
    ast.IfExp: lambda node: [with_fields(node, body=node.orelse, orelse=node.body)],
    ast.comprehension: lambda node: [with_fields(node, ifs=[])] if node.ifs else [],
    ast.Slice: _slice,
    ast.Call: _call,
    ast.If: _if,
    ast.Return: _return,
    ast.Break: lambda _node: [ast.Continue()],
    ast.Continue: lambda _node: [ast.Break()],
    ast.stmt: lambda node: [ast.Pass()] if isinstance(node, _SIMPLE) else [],
}
"""The nodes that can replace a node, by its type."""


def with_fields(node: ast.AST, **fields: Any) -> ast.AST:  # Any: fields of that node
    """A shallow copy of a node with other fields."""
    changed = copy(node)
    for name, value in fields.items():
        setattr(changed, name, value)
    return changed


def fingerprint(code: str) -> object:
    """The same for sources that compile to the same instructions; None for a source that does not compile.

    Papadakis et al., "Trivial Compiler Equivalence", ICSE 2015: such mutants are equivalent or duplicates.
    """
    try:
        return _instructions(compile(code, "<mutant>", "exec", dont_inherit=True))
    except (SyntaxError, ValueError, RecursionError, MemoryError, OverflowError):
        return None


def _instructions(code: CodeType) -> object:
    constants = tuple(
        _instructions(part) if isinstance(part, CodeType) else (type(part), repr(part)) for part in code.co_consts
    )
    return code.co_code, code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars, constants
