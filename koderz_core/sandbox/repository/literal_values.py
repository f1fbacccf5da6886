"""Values of expressions that need no program: literals, and a few operations on them such as ``"\\n".join([...])``.

The expressions come from the tests of a tree and may be hostile: nothing is executed, and sizes are bounded.
"""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable, Mapping
from typing import Any

_MAX_SIZE = 100_000  # items or characters of a value
_MAX_BITS = 4096
_DEPTH = 60
_MAKERS: dict[str, Callable[..., Any]] = {  # Any: plain data
    **{kind.__name__: kind for kind in (list, tuple, set, frozenset, dict, range, str, bytes, int, float, bool)},
    **{function.__name__: function for function in (sorted, len, min, max, sum)},
}
_BINARY: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}
_UNARY: dict[type[ast.unaryop], Callable[[Any], Any]] = {
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
    ast.Not: operator.not_,
    ast.Invert: operator.invert,
}


class NotLiteralError(Exception):
    """The value of an expression depends on more than literals, or is too large."""


def value_of(node: ast.expr, shadowed: frozenset[str] = frozenset()) -> Any:  # Any: plain data
    """The value of an expression. ``shadowed``: names that are not those of Python. Raises NotLiteralError."""
    try:
        value = _value(node, shadowed, _DEPTH)
    except (ValueError, TypeError, LookupError, ArithmeticError, RecursionError, MemoryError) as error:
        raise NotLiteralError(type(error).__name__) from None
    return _bounded(value)


def is_immutable(value: object) -> bool:
    """Whether no program can change the value."""
    if isinstance(value, tuple | frozenset):
        return all(map(is_immutable, value))
    return not isinstance(value, list | dict | set | bytearray)


def shadowed_names(tree: ast.AST) -> frozenset[str]:
    """The names of Python that a file defines anew."""
    found: set[str] = set()
    for node in ast.walk(tree):
        match node:
            case ast.Name(name, ast.Store() | ast.Del()) | ast.arg(name) | ast.alias(_, str(name)):
                found.add(name)
            case ast.alias(name) | ast.FunctionDef(name) | ast.ClassDef(name) | ast.AsyncFunctionDef(name):
                found.add(name)
            case _:
                pass
    return frozenset(found & (_MAKERS.keys() | {"math", "inf", "nan", "*"})) - {"math"}


def _value(node: ast.expr, shadowed: frozenset[str], depth: int) -> Any:
    if depth < 0:
        raise NotLiteralError("nested too deeply")

    def inner(part: ast.expr) -> Any:
        return _value(part, shadowed, depth - 1)

    match node:
        case ast.Constant(value):
            return value
        case ast.List(items) | ast.Tuple(items) | ast.Set(items):
            kind = {ast.List: list, ast.Tuple: tuple, ast.Set: set}[type(node)]
            return kind([inner(item) for item in items])
        case ast.Dict(keys, values) if None not in keys:
            return {inner(key): inner(value) for key, value in zip(keys, values, strict=True) if key is not None}
        case ast.UnaryOp(operation, operand):
            return _UNARY[type(operation)](inner(operand))
        case ast.BinOp(left, operation, right):
            return _binary(operation, inner(left), inner(right))
        case ast.Attribute(ast.Name("math"), ("inf" | "pi" | "e") as name):
            return getattr(math, name)
        case ast.Call(function, arguments, keywords):
            given = {word.arg: inner(word.value) for word in keywords if word.arg}
            if len(given) != len(keywords):
                raise NotLiteralError("unpacked arguments")
            return _called(function, [inner(argument) for argument in arguments], given, shadowed, inner)
        case _:
            raise NotLiteralError(type(node).__name__)


def _binary(operation: ast.operator, left: Any, right: Any) -> Any:
    if isinstance(operation, ast.Pow):
        if not (isinstance(left, int) and isinstance(right, int) and 0 <= right < _MAX_BITS // 8 and abs(left) < 256):
            raise NotLiteralError("power")
        return left**right
    if isinstance(operation, ast.Mod) and not (_is_number(left) and _is_number(right)):
        raise NotLiteralError("formatted text")
    if isinstance(operation, ast.Mult):
        for size, sequence in ((left, right), (right, left)):
            if isinstance(size, int) and hasattr(sequence, "__len__") and size * len(sequence) > _MAX_SIZE:
                raise NotLiteralError("too large")
    return _bounded(_BINARY[type(operation)](left, right))


def _is_number(value: object) -> bool:
    return isinstance(value, int | float)


def _called(
    function: ast.expr,
    arguments: list[Any],
    words: Mapping[str, Any],
    shadowed: frozenset[str],
    inner: Callable[[ast.expr], Any],
) -> Any:
    match function:
        case ast.Name(name) if name in _MAKERS and name not in shadowed and "*" not in shadowed:
            if any(isinstance(argument, range) and len(argument) > _MAX_SIZE for argument in arguments):
                raise NotLiteralError("too large")
            if name == "bytes" and arguments and isinstance(arguments[0], int):
                raise NotLiteralError("bytes of a size")
            if name in {"sorted", "min", "max", "sum", "str"} and words:
                raise NotLiteralError("named arguments")
            return _bounded(_MAKERS[name](*arguments, **words))
        case ast.Attribute(text, "join") if not words and len(arguments) == 1:
            separator = inner(text)
            if not isinstance(separator, str | bytes) or len(separator) * len(arguments[0]) > _MAX_SIZE:
                raise NotLiteralError("join")
            return _bounded(separator.join(arguments[0]))
        case ast.Attribute(text, ("strip" | "lower" | "upper" | "encode") as name) if not words and not arguments:
            value = inner(text)
            if not isinstance(value, str):
                raise NotLiteralError(name)
            return getattr(value, name)()
        case _:
            raise NotLiteralError("call")


def _bounded(value: Any) -> Any:
    """The value itself. Raises NotLiteralError if it is too large or not plain data."""
    if isinstance(value, int) and value.bit_length() > _MAX_BITS:
        raise NotLiteralError("too large")
    if isinstance(value, str | bytes | list | tuple | dict | set | frozenset) and len(value) > _MAX_SIZE:
        raise NotLiteralError("too large")
    if value is Ellipsis:
        raise NotLiteralError("not plain data")
    return value
