"""Finds the expectation of each test method that can be changed so that a correct program fails it, and other values.

The expectation is part of the last assertion of the method, as far as only assertions follow it: the effects of the
method on the program are then the same with another value, up to further assertions. Only assertions that no result
passes with two values are used: not ``assertGreater``, not ``assertRegex``, not a tolerance.
"""

from __future__ import annotations

import ast
import builtins
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from koderz_core.sandbox.inside.instrument import asserts_in, last_name, method_of

_OPPOSITES = {
    "assertTrue": "assertFalse",
    "assertIsNone": "assertIsNotNone",
    "assertIn": "assertNotIn",
}
OPPOSITES = _OPPOSITES | {other: name for name, other in _OPPOSITES.items()}
_EQUALITIES = frozenset({
    *("assertEqual", "assertIs", "assertAlmostEqual", "assertCountEqual", "assertMultiLineEqual", "assertDictEqual"),
    *("assertSequenceEqual", "assertListEqual", "assertTupleEqual", "assertSetEqual", "require_compared"),
})  # fmt: skip
_SURE = frozenset({"assertEqual", "assertIs", "assertTrue", "assertFalse"})
_SKIPS = frozenset({"skipTest", "SkipTest"})
_HARNESS = frozenset({"check", "outcome_of_case", "outcome_of_function", "set_up_class_of_cases"})
"""Functions that ``koderz_core.datasets.methods`` adds to the tests."""
_TRUTH = "truth of "
_RAISES = frozenset({"assertRaises", "assertRaisesRegex", "raises"})
_ERRORS = ("ChildProcessError", "FloatingPointError", "ProcessLookupError")
"""Exceptions that programs do not raise or derive their own from, so that no correct program raises both."""
_BUILT_IN = frozenset(dir(builtins))
_MAKERS = frozenset({"set", "frozenset", "bytes", "bytearray", "dict", "list", "tuple", "range", "date", "datetime"})
_APART = 0.2  # least difference of two floats that are exchanged, more than any tolerance in decimal places


@dataclass(frozen=True)
class Expectation:
    """A place in the tree of the tests: ``place`` counts the tests, ``owner`` has the node or name in ``field``.

    ``shape``: expectations of one shape can be exchanged. ``sure``: the source shows that a program that passes the
    test fails it with another value. ``others``: the other values, if they are not made from this one.
    """

    place: int
    owner: ast.AST
    field: str
    index: int | None
    shape: str
    sure: bool = False
    others: tuple[ast.expr, ...] = ()

    @property
    def value(self) -> ast.expr | str:
        found: ast.expr | str = getattr(self.owner, self.field)
        return found if self.index is None else found[self.index]  # type: ignore[index]  # a list of nodes

    @property
    def is_made(self) -> bool:
        """Whether the expected value has a name in it, such as ``Clock(8, 30)``: the program may make it as well."""
        value = self.value
        if isinstance(value, str) or self.shape.startswith((_TRUTH, "raises")):
            return False
        return bool(_names(value) - _MAKERS)

    @property
    def is_directed(self) -> bool:
        """Whether the test has only two directions, such as ``assertTrue`` and ``assertFalse``."""
        return isinstance(self.value, str) or self.shape == "bool" or self.shape.startswith((_TRUTH, "raises"))

    def put(self, value: ast.expr | str) -> None:
        if self.index is None:
            setattr(self.owner, self.field, value)
        else:
            getattr(self.owner, self.field)[self.index] = value

    def can_be_exchanged(self, other: Expectation) -> bool:
        """Whether no result meets both expectations, as far as the source shows."""
        match self.value, other.value:
            case ast.Constant(float(one)), ast.Constant(float(two)):
                return abs(one - two) > _APART
        return self.shape == other.shape != "raises" and _text(self.value) != _text(other.value)

    def other_value(self, lot: random.Random) -> ast.expr | str | None:
        """Another value that looks similar; None if there is none."""
        value = self.value
        if self.others:
            return lot.choice(self.others)
        if isinstance(value, str):
            return OPPOSITES[value]
        if self.shape.startswith(_TRUTH):
            return value.operand if isinstance(value, ast.UnaryOp) else ast.UnaryOp(ast.Not(), value)
        if self.shape == "raises":
            return ast.Name(lot.choice(_ERRORS), ast.Load())
        return mutated(value, lot)


def expectations(tree: ast.Module) -> list[Expectation]:
    """The expectations in the tests of a ``check(candidate)`` that ``koderz_core.datasets.methods`` wrote."""
    definitions = _definitions(tree)
    tests = [method_of(test) for test in asserts_in(tree)]
    nodes = [definitions.get(test) if test else None for test in tests]
    skipping = _skipping(tree)
    found = [
        _Search(node, may_skip=test[0] in skipping or _uses(node, skipping)).last(place, node.body)
        for place, (test, node) in enumerate(zip(tests, nodes, strict=True))
        if test and node and sum(other is node for other in nodes) == 1
    ]
    known = [expectation for expectation in found if expectation]
    # One change of each test: a second one could hide what the first one shows.
    calm = {expectation.place: expectation for expectation in _calm(tree, known)}
    return [calm.get(expectation.place, expectation) for expectation in known]


def _calm(tree: ast.Module, found: Sequence[Expectation]) -> Iterator[Expectation]:
    """For tests that expect an exception, calls of other tests that raise none, in the place of the call that does.

    A program that replaces ``assertRaises`` can accept the expected exception by its name alone, but it cannot tell
    which calls raise it. The body must be a single call, so that nothing else in it is lost.
    """
    raising = [node for node in ast.walk(tree) if isinstance(node, ast.With) and _raised_by(node)]
    inside = {id(part) for node in raising for part in ast.walk(node)}
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and id(node) not in inside]
    fixed = {ast.unparse(call): call for call in calls if _is_fixed(call)}
    for expectation in found:
        body = next((node.body for node in raising if _raised_by(node) is expectation.owner), [])
        if len(body) == 1 and isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Call):
            name = last_name(body[0].value.func)
            alike = tuple(call for call in fixed.values() if last_name(call.func) == name)
            if others := alike or tuple(fixed.values()):
                yield Expectation(expectation.place, body[0], "value", None, "raises", others=others)


def _raised_by(node: ast.With) -> ast.Call | None:
    """The call that names the expected exception, if it is a block that expects one."""
    call = node.items[0].context_expr
    return call if isinstance(call, ast.Call) and last_name(call.func) in _RAISES and call.args else None


def _is_fixed(call: ast.Call) -> bool:
    """Whether it calls a function or class of the program with constants only."""
    parts = [*call.args, *(keyword.value for keyword in call.keywords)]
    is_own = isinstance(call.func, ast.Name) and call.func.id not in _BUILT_IN and not _is_assertion(call)
    return is_own and not any(map(_names, parts))


def _definitions(tree: ast.Module) -> dict[tuple[str, str], ast.FunctionDef]:
    found = {("", node.name): node for node in tree.body if isinstance(node, ast.FunctionDef)}
    for kind in (node for node in tree.body if isinstance(node, ast.ClassDef)):
        found |= {(kind.name, node.name): node for node in kind.body if isinstance(node, ast.FunctionDef)}
    return found


def _skipping(tree: ast.Module) -> set[str]:
    """The names of classes and functions that may skip a test, which then passes whatever it expects.

    A derived class with a decorator, such as ``unittest.skipIf``, may skip its tests. So may a class or a function that
    uses one of these names.
    """
    nodes = [node for node in tree.body if isinstance(node, ast.ClassDef | ast.FunctionDef)]
    derived = (node for node in nodes if isinstance(node, ast.ClassDef) and node.bases)
    found = {*_SKIPS, *(node.name for node in derived if node.decorator_list)}
    while more := {node.name for node in nodes if _uses(node, found)} - found:
        found |= more
    return found - _HARNESS


def _uses(node: ast.ClassDef | ast.FunctionDef, names: set[str]) -> bool:
    """Whether a function, or a class apart from its tests, uses one of these names or skips a test itself."""
    parts: list[ast.AST] = [node]
    if isinstance(node, ast.ClassDef):
        tests = [part for part in node.body if isinstance(part, ast.FunctionDef) and part.name.startswith("test")]
        parts = [part for part in ast.iter_child_nodes(node) if part not in tests]
    inside = [inner for part in parts for inner in ast.walk(part)]
    skips = any(isinstance(inner, ast.Attribute) and inner.attr in _SKIPS for inner in inside)
    return skips or any(isinstance(inner, ast.Name) and inner.id in names for inner in inside)


class _Search:
    """The search in one method."""

    def __init__(self, method: ast.FunctionDef, *, may_skip: bool) -> None:
        self._method = method
        names = [node for node in ast.walk(method) if isinstance(node, ast.Name)]
        self._stored = [name.id for name in names if isinstance(name.ctx, ast.Store)]
        self._loaded = [name.id for name in names if isinstance(name.ctx, ast.Load)]
        self._plain = (
            not may_skip
            and not method.decorator_list
            and not any(isinstance(part, ast.Return | ast.Raise | ast.If | ast.Try) for part in ast.walk(method))
        )
        self._own = {*self._stored, *(argument.arg for argument in ast.walk(method) if isinstance(argument, ast.arg))}

    def last(self, place: int, body: Sequence[ast.stmt]) -> Expectation | None:
        """The last expectation in a body, an expected exception only if there is no other."""
        raised: Expectation | None = None
        for node in reversed(body):
            if isinstance(node, ast.With) and (raises := self._raises(place, node)):
                raised = raised or raises
                continue
            if isinstance(node, ast.With | ast.For):
                return self.last(place, node.body) or raised
            if not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)):
                if isinstance(node, ast.Pass):
                    continue
                return raised
            if found := self._of_call(place, node.value):
                return found
            if not _is_assertion(node.value):
                return raised
        return raised

    def _raises(self, place: int, node: ast.With) -> Expectation | None:
        call = _raised_by(node)
        return Expectation(place, call, "args", 0, "raises") if call else None

    def _of_call(self, place: int, call: ast.Call) -> Expectation | None:
        name = last_name(call.func)
        if not _is_assertion(call) or name in _RAISES:
            return None
        if equal := self._equal(place, call):
            return equal
        if name in OPPOSITES and isinstance(call.func, ast.Attribute):
            shape = "/".join(sorted((name, OPPOSITES[name])))
            return Expectation(place, call.func, "attr", None, shape, sure=self._is_sure(call))
        if name == "require":
            return Expectation(place, call, "args", 0, f"{_TRUTH}{place}")
        places = _compared(call)
        literal = [index for index in places if not _names(call.args[index]) and shape_of(call.args[index])]
        if literal:
            shape = shape_of(call.args[literal[-1]])
            return Expectation(place, call, "args", literal[-1], shape, sure=self._is_sure(call))
        variables = (self._variable(place, call.args[index]) for index in reversed(places))
        return next((found for found in variables if found), None) or self._made(place, call, places[-1:])

    def _equal(self, place: int, call: ast.Call) -> Expectation | None:
        """The expectation in ``assertTrue(a == b)``: a program whose objects equal everything passes it."""
        compared = call.args[0] if last_name(call.func) == "assertTrue" and call.args else None
        if not isinstance(compared, ast.Compare) or [type(operator) for operator in compared.ops] != [ast.Eq]:
            return None
        shape = self._fixed_shape(compared.comparators[0])
        return Expectation(place, compared, "comparators", 0, shape) if shape else None

    def _made(self, place: int, call: ast.Call, places: Sequence[int]) -> Expectation | None:
        """The last argument if it is an instance that a class makes of constants."""
        for index in places:
            value = call.args[index]
            if _is_made(value) and self._is_closed(value):
                return Expectation(place, call, "args", index, shape_of(value))
        return None

    def _is_sure(self, call: ast.Call) -> bool:
        """Whether a call is reached whenever the test passes, and compares exactly."""
        is_top = any(isinstance(node, ast.Expr) and node.value is call for node in self._method.body)
        return self._plain and is_top and last_name(call.func) in _SURE

    def _variable(self, place: int, value: ast.expr) -> Expectation | None:
        """The expectation behind a variable that is set once and used only here."""
        if not isinstance(value, ast.Name) or (self._stored.count(value.id), self._loaded.count(value.id)) != (1, 1):
            return None
        for node in ast.walk(self._method):
            if isinstance(node, ast.Assign) and [_text(target) for target in node.targets] == [value.id]:
                shape = self._fixed_shape(node.value)
                return Expectation(place, node, "value", None, shape) if shape else None
        return None

    def _fixed_shape(self, value: ast.expr) -> str:
        """The shape of a value that is the same wherever it stands; "" if it is not."""
        is_fixed = not _names(value) or (_is_made(value) and self._is_closed(value))
        return shape_of(value) if is_fixed else ""

    def _is_closed(self, value: ast.expr) -> bool:
        """Whether no variable of the method is in it, so that it means the same in another method."""
        return not _names(value) & self._own


def _compared(call: ast.Call) -> list[int]:
    """The places of the arguments that an assertion compares exactly: not its message, not an operator."""
    name, count = last_name(call.func), len(call.args)
    if name == "require_compared":
        return [0, 2] if isinstance(call.args[1], ast.Constant) and call.args[1].value in {"==", "is"} else []
    if name == "assertAlmostEqual" and not (count == 2 and all(_is_small(keyword) for keyword in call.keywords)):
        return []
    if name in _EQUALITIES:
        return list(range(min(count, 2)))
    is_helper = name.startswith("assert") and ("equal" in name.lower() or "same" in name) and "Not" not in name
    return [count - 1] if is_helper and count else []


def _is_made(value: ast.expr) -> bool:
    """Whether it is an instance of a class, such as ``Clock(8, 30)``, or has such parts: not the result of a call."""
    if isinstance(value, ast.List | ast.Tuple):
        return all(_is_made(part) or not _names(part) for part in value.elts)
    return isinstance(value, ast.Call) and (last_name(value.func)[:1].isupper() or last_name(value.func) in _MAKERS)


def _is_small(tolerance: ast.keyword) -> bool:
    """Whether it is a tolerance of at least one decimal place."""
    value = tolerance.value.value if isinstance(tolerance.value, ast.Constant) else None
    return tolerance.arg == "msg" or (tolerance.arg == "places" and isinstance(value, int) and value > 0)


def _is_assertion(call: ast.Call) -> bool:
    name = last_name(call.func)
    return name.lower().startswith(("assert", "require", "check", "refute"))


def _names(node: ast.AST) -> set[str]:
    return {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}


def _text(value: ast.expr | str) -> str:
    return value if isinstance(value, str) else ast.unparse(value)


def shape_of(node: ast.expr) -> str:
    """A name for the kind of an expected value; "" if it cannot be changed."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return shape_of(node.operand)
    if isinstance(node, ast.Constant):
        return type(node.value).__name__
    if isinstance(node, ast.List | ast.Tuple | ast.Set):
        # Instances of the program are exchanged only for as many, so that the number of them does not decide.
        number = f"{len(node.elts)} " if _names(node) else ""
        return f"{type(node).__name__} of {number}{shape_of(node.elts[0]) if node.elts else 'none'}"
    if isinstance(node, ast.Dict):
        return "Dict"
    if isinstance(node, ast.Call):
        return f"{ast.unparse(node.func)}()"
    return "Attribute" if isinstance(node, ast.Attribute) else ""


def mutated(node: ast.expr, lot: random.Random) -> ast.expr | None:
    """A similar value that is not equal; None if none is known."""
    if isinstance(node, ast.Constant):
        return _other_constant(node.value, lot)
    if isinstance(node, ast.UnaryOp):
        operand = mutated(node.operand, lot)
        return operand and ast.UnaryOp(node.op, operand)
    if isinstance(node, ast.List | ast.Tuple | ast.Set):
        return _with_other_part(node, "elts", lot) or _without_last(node)
    if isinstance(node, ast.Dict):
        return _with_other_part(node, "values", lot)
    return _with_other_part(node, "args", lot) if isinstance(node, ast.Call) else None


def _other_constant(value: object, lot: random.Random) -> ast.expr | None:
    if isinstance(value, bool):
        return ast.Constant(not value)
    if isinstance(value, int):
        return ast.Constant(value + lot.choice([1, 2, 3]) if value < 3 else value + lot.choice([-2, -1, 1, 2]))
    if isinstance(value, float):
        return ast.Constant(round(value + lot.choice([0.25, 0.5, 1.5]), 6))
    if isinstance(value, str | bytes):
        return ast.Constant(_other_text(value, lot))
    return ast.Constant(lot.randrange(1, 9)) if value is None else None


def _other_text(text: Any, lot: random.Random) -> Any:  # Any: str or bytes
    """The text with two characters exchanged, or with one more character."""
    places = [place for place in range(len(text) - 1) if text[place] != text[place + 1]]
    if not places:
        return text + (text[:1] or ("x" if isinstance(text, str) else b"x"))
    at = lot.choice(places)
    return text[:at] + text[at + 1 : at + 2] + text[at : at + 1] + text[at + 2 :]


def _with_other_part(node: ast.expr, field: str, lot: random.Random) -> ast.expr | None:
    parts = list(getattr(node, field))
    for place in lot.sample(range(len(parts)), len(parts)):
        if other := mutated(parts[place], lot):
            return type(node)(**{**dict(ast.iter_fields(node)), field: [*parts[:place], other, *parts[place + 1 :]]})
    return None


def _without_last(node: ast.List | ast.Tuple | ast.Set) -> ast.expr | None:
    if not node.elts:
        return ast.List([ast.Constant(0)], ast.Load()) if isinstance(node, ast.List) else None
    return type(node)(**{**dict(ast.iter_fields(node)), "elts": node.elts[:-1]})
