"""Values of expressions that need no program: literals, and a few operations on them such as ``"\\n".join([...])``.

The expressions come from the tests of a tree and may be hostile: nothing is executed, and sizes are bounded.
"""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable, Sequence
from typing import Any

_MAX_SIZE = 100_000  # items or characters of a value
_MAX_TOTAL = 1_000_000  # items and characters of a value with all of its parts, each time that they occur
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

    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.List | ast.Tuple | ast.Set | ast.Dict):
        return _container(node, inner)
    return _result(node, shadowed, inner)


def _container(node: ast.List | ast.Tuple | ast.Set | ast.Dict, inner: Callable[[ast.expr], Any]) -> Any:
    if isinstance(node, ast.Dict):
        keys = _several([key or ast.Starred(node) for key in node.keys], inner)  # ``**`` has no key
        return dict(zip(keys, _several(node.values, inner), strict=True))
    kind = {ast.List: list, ast.Tuple: tuple, ast.Set: set}[type(node)]
    return kind(_several(node.elts, inner))


def _several(parts: Sequence[ast.expr], inner: Callable[[ast.expr], Any]) -> list[Any]:
    """The values of several expressions. Raises NotLiteralError before they take too much memory together."""
    found, total = [], 0
    for part in parts:
        found.append(inner(part))
        total += _size(found[-1])
        if total > _MAX_TOTAL:
            raise NotLiteralError("too large")
    return found


def _size(value: object) -> int:
    """The number of items and characters in a value."""
    if isinstance(value, dict):
        return 1 + sum(_size(key) + _size(part) for key, part in value.items())
    if isinstance(value, list | tuple | set | frozenset):
        return 1 + sum(map(_size, value))
    return len(value) if isinstance(value, str | bytes) else 1


def _result(node: ast.expr, shadowed: frozenset[str], inner: Callable[[ast.expr], Any]) -> Any:
    match node:
        case ast.UnaryOp(operation, operand):
            return _UNARY[type(operation)](inner(operand))
        case ast.BinOp(left, operator_of, right):
            return _binary(operator_of, inner(left), inner(right))
        case ast.Attribute(ast.Name("math"), ("inf" | "pi" | "e") as name):
            return getattr(math, name)
        case ast.Call(ast.Name(name), arguments, words) if name not in shadowed and "*" not in shadowed:
            given = {word.arg: inner(word.value) for word in words if word.arg}
            if len(given) != len(words):
                raise NotLiteralError("unpacked arguments")
            return _made(name, _several(arguments, inner), given)
        case ast.Call(ast.Attribute(text, name), arguments, []):
            return _method(inner(text), name, [inner(argument) for argument in arguments])
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
            if isinstance(size, int) and hasattr(sequence, "__len__") and size * _size(sequence) > _MAX_TOTAL:
                raise NotLiteralError("too large")
    return _bounded(_BINARY[type(operation)](left, right))


def _is_number(value: object) -> bool:
    return isinstance(value, int | float)


def _made(name: str, arguments: list[Any], words: dict[str, Any]) -> Any:
    """The value of a call of one of Python's functions."""
    if any(isinstance(argument, range) and len(argument) > _MAX_SIZE for argument in arguments):
        raise NotLiteralError("too large")
    if (name == "bytes" and arguments and isinstance(arguments[0], int)) or (words and name != "dict"):
        raise NotLiteralError("bytes of a size")
    return _bounded(_MAKERS[name](*arguments, **words))


def _method(text: Any, name: str, arguments: list[Any]) -> Any:
    if not isinstance(text, str):
        raise NotLiteralError(name)
    if name == "join" and len(arguments) == 1 and len(text) * len(arguments[0]) + _size(arguments[0]) <= _MAX_TOTAL:
        return _bounded(text.join(arguments[0]))
    if name in {"strip", "lower", "upper", "encode"} and not arguments:
        return getattr(text, name)()
    raise NotLiteralError(name)


def _bounded(value: Any) -> Any:
    """The value itself. Raises NotLiteralError if it is too large or not plain data."""
    if isinstance(value, int) and value.bit_length() > _MAX_BITS:
        raise NotLiteralError("too large")
    if isinstance(value, str | bytes | list | tuple | dict | set | frozenset) and len(value) > _MAX_SIZE:
        raise NotLiteralError("too large")
    if value is Ellipsis:
        raise NotLiteralError("not plain data")
    return value
