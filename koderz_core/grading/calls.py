"""The calls of a function in Python text, told apart by what they pass rather than by how they are written."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from copy import deepcopy

from koderz_core.prompts.programs import Reader
from koderz_core.records import PublicProblem

_ARITHMETIC: Mapping[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Pow: operator.pow,
}
_MOST = 64  # of what is reckoned with: a text must not make us count for ever


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
            return tuple(one.arg for one in (*node.args.posonlyargs, *node.args.args))
    return ()


def _passed(call: ast.Call, parameters: Sequence[str]) -> str:
    by_place = [_written(one) for one in call.args]
    named = {one.arg or "**": _written(one.value) for one in call.keywords}
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
