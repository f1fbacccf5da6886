"""Reads the assertions of pytest and unittest as comparisons, so that a judge outside the process can repeat them."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from dataclasses import dataclass

from koderz_core.sandbox.inside.instrument import OPERATORS, last_name
from koderz_core.sandbox.repository.literal_values import NotLiteralError, value_of

_METHODS = {
    "assertEqual": "==",
    "assertEquals": "==",
    "assertNotEqual": "!=",
    "assertNotEquals": "!=",
    "assertListEqual": "list ==",
    "assertTupleEqual": "tuple ==",
    "assertDictEqual": "dict ==",
    "assertMultiLineEqual": "str ==",
    "assertSetEqual": "==",
    "assertSequenceEqual": "sequence ==",
    "assertCountEqual": "items ==",
    "assertAlmostEqual": "about ==",
    "assertNotAlmostEqual": "about !=",
    "assertIs": "is",
    "assertIsNot": "is not",
    "assertIn": "in",
    "assertNotIn": "not in",
    "assertGreater": ">",
    "assertGreaterEqual": ">=",
    "assertLess": "<",
    "assertLessEqual": "<=",
}
_MORE_ARGUMENTS = {"about ==": ("places", "msg", "delta"), "about !=": ("places", "msg", "delta")}
_SAME = {"IOError": "OSError", "EnvironmentError": "OSError"}
_MOST_REPEATS = 1  # unbounded repeats in a pattern: with two, a hostile text can make a search slow
MAX_PATTERN = 1000


@dataclass(frozen=True)
class Check:
    """A comparison of ``left`` with ``right`` whose result must be ``holds``; ``truth`` has no right side.

    ``extra``: the decimal places and the delta of ``about``.
    """

    operation: str
    left: ast.expr
    right: ast.expr | None = None
    holds: bool = True
    extra: tuple[float | None, ...] = ()


@dataclass(frozen=True)
class Raising:
    """An exception that a block or a call must raise: one of the classes with these names.

    ``pattern``: of its text. ``call``: the function and its arguments. ``own``: the source of a context manager that
    catches everything, with which the test's own one is replaced if the test looks at the exception.
    """

    names: tuple[str, ...]
    pattern: str | None
    call: tuple[ast.expr, ...] | None
    words: tuple[ast.keyword, ...] = ()
    own: str = ""


def checks_of(test: ast.expr, *, holds: bool = True) -> list[Check]:
    """The checks of the condition of an assert, in the order of evaluation; empty if no name occurs in it."""
    match test:
        case ast.BoolOp(ast.And(), values) if holds:
            parts = [checks_of(value) for value in values]
            return [check for part in parts for check in part] if all(parts) else _single("truth", test, None)
        case ast.UnaryOp(ast.Not(), operand):
            return checks_of(operand, holds=not holds)
        case ast.Compare(left, [operation], [right]):
            return _single(OPERATORS[type(operation)], left, right, holds=holds)
        case ast.Call(ast.Name("isinstance"), [seen, kinds], []) if class_names(kinds):
            return _single("isinstance", seen, kinds, holds=holds)
        case _:
            return _single("truth", test, None, holds=holds)


def checks_of_call(call: ast.Call) -> list[Check]:
    """The checks of a call of a method of ``unittest.TestCase``; empty if it is another one or has other arguments."""
    name, arguments = last_name(call.func), call.args
    if any(isinstance(argument, ast.Starred) for argument in arguments) or not _is_quiet(call):
        return []
    if name in _METHODS and len(arguments) >= 2:
        return _compared(_METHODS[name], call)
    words = {word.arg for word in call.keywords}
    if words - {"msg"} or len(arguments) + len(words) > 2 + (name in _PAIRED):
        return []
    return _other_checks(name, arguments)


def _other_checks(name: str, arguments: Sequence[ast.expr]) -> list[Check]:
    match name, arguments:
        case (("assertTrue" | "assertFalse"), [seen, *_]):
            return checks_of(seen, holds=name == "assertTrue")
        case (("assertIsNone" | "assertIsNotNone"), [seen, *_]):
            return _single("is" if name == "assertIsNone" else "is not", seen, ast.Constant(None))
        case (("assertIsInstance" | "assertNotIsInstance"), [seen, kinds, *_]) if class_names(kinds):
            return _single("isinstance", seen, kinds, holds=name == "assertIsInstance")
        case (("assertRegex" | "assertNotRegex"), [seen, pattern, *_]) if pattern_of(pattern) is not None:
            return _single("matches", seen, pattern, holds=name == "assertRegex")
        case _:
            return []


_PAIRED = frozenset({"assertIsInstance", "assertNotIsInstance", "assertRegex", "assertNotRegex"})


def raising_of(call: ast.Call, is_pytest: bool, names: Sequence[str], *, looks: bool) -> Raising | None:
    """The exception that ``pytest.raises(...)`` or ``self.assertRaises(...)`` expects; None if it cannot be read.

    ``names``: of the functions. ``looks``: whether the test looks at the exception.
    """
    name, arguments = last_name(call.func), call.args
    if name not in names or not arguments or any(isinstance(part, ast.Starred) for part in arguments):
        return None
    kinds = class_names(arguments[0])
    given, words = arguments[1:], tuple(call.keywords)
    pattern: str | None = None
    if name.startswith("assertRaisesRegex"):
        pattern = pattern_of(given[0]) if given else None
        given = given[1:]
        if pattern is None:
            return None
    if is_pytest and not given and [word.arg for word in words] == ["match"]:
        pattern = pattern_of(words[0].value)
        words = ()
        if pattern is None:
            return None
    if not kinds or (not given and words):
        return None
    kinds = tuple(_SAME.get(kind, kind) for kind in kinds)
    own = f"{ast.unparse(call.func)}(BaseException)".replace("assertRaisesRegexp", "assertRaises")
    own = own.replace("assertRaisesRegex", "assertRaises")
    return Raising(kinds, pattern, tuple(given) or None, words, own if looks else "")


def class_names(kinds: ast.expr) -> tuple[str, ...]:
    """The last names of a class or of a tuple of classes; empty if they are not names."""
    parts = kinds.elts if isinstance(kinds, ast.Tuple) else [kinds]
    found = tuple(last_name(part) for part in parts)
    return found if all(found) else ()


def pattern_of(node: ast.expr) -> str | None:
    """A regular expression that is quick on any text; None if it is not a literal or could be slow."""
    try:
        match node:
            case ast.Call(ast.Attribute(ast.Name("re"), "escape"), [text], []):
                pattern = re.escape(value_of(text))
            case _:
                pattern = value_of(node)
        if not isinstance(pattern, str) or len(pattern) > MAX_PATTERN:
            return None
        re.compile(pattern)
    except (NotLiteralError, re.error, TypeError, RecursionError, OverflowError):
        return None
    bare = re.sub(r"\\.", "", pattern)
    is_quick = len(re.findall(r"[*+{]", bare)) <= _MOST_REPEATS and not re.search(r"\)[*+{]|\(\?P=", bare)
    return pattern if is_quick else None


def _single(operation: str, left: ast.expr, right: ast.expr | None, *, holds: bool = True) -> list[Check]:
    sides = [left] if right is None else [left, right]
    named = any(isinstance(part, ast.Name | ast.Attribute | ast.Call) for side in sides for part in ast.walk(side))
    return [Check(operation, left, right, holds)] if named else []


def _compared(operation: str, call: ast.Call) -> list[Check]:
    left, right, *more = call.args
    names = _MORE_ARGUMENTS.get(operation, ("msg",))
    given = {**dict(zip(names, more, strict=False)), **{str(word.arg): word.value for word in call.keywords}}
    if given.keys() - set(names) or len(more) > len(names):
        return []
    given.pop("msg", None)
    try:
        extra = tuple(value_of(given[name]) if name in given else None for name in names if name != "msg")
    except NotLiteralError:
        return []
    return [Check(check.operation, left, right, True, extra) for check in _single(operation, left, right)]


def _is_quiet(call: ast.Call) -> bool:
    """Whether the message of an assertion can be left out without changing what the test does."""
    words = [word.value for word in call.keywords if word.arg == "msg"]
    return not any(isinstance(part, ast.Await | ast.Yield | ast.NamedExpr) for word in words for part in ast.walk(word))
