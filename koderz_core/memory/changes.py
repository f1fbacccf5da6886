"""What changed from a program that failed to the next, which passed: its kinds, in words of a fixed table."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable, Iterable, Mapping

from koderz_core.prompts.programs import Reader

MOST_CHARACTERS = 20_000  # of a program that is looked at
REWRITTEN = "most of the program was written anew"
_KEPT = 0.5  # of the statements, below which a program is a new one rather than a changed one

Features = Counter[str]


def changes(before: str | None, after: str | None) -> tuple[str, ...]:
    """Keys of ``KINDS``, or REWRITTEN alone; none where a program is missing, too long or does not parse."""
    trees = [_tree(code) for code in (before, after)]
    if None in trees:
        return ()
    old, new = ([*ast.walk(tree)] for tree in trees if tree is not None)
    try:
        if _shared(old, new) < _KEPT:
            return (REWRITTEN,)
        return tuple(name for name, (feature, more) in KINDS.items() if _changed(feature(old), feature(new), more))
    except RecursionError:  # an expression nested so deeply that it cannot be written out
        return ()


def _tree(code: str | None) -> ast.Module | None:
    program = None if code is None or len(code) > MOST_CHARACTERS else Reader().parse(code)
    return program.tree if program else None


def _changed(old: Features, new: Features, more: bool) -> bool:
    """``more``: only what is there now and was not counts."""
    return bool(new - old) if more else old != new


def _shared(old: Iterable[ast.AST], new: Iterable[ast.AST]) -> float:
    """The share of simple statements that stayed, of the program that has more of them."""
    one, other = (_written(nodes, ast.Return, ast.Assign, ast.AugAssign, ast.Expr) for nodes in (old, new))
    most = max(one.total(), other.total())
    return 1.0 if most < 4 else (one & other).total() / most  # of so few each change is most of it


def _written(nodes: Iterable[ast.AST], *kinds: type[ast.AST]) -> Features:
    return Counter(ast.dump(node) for node in nodes if isinstance(node, kinds))


def _of(*kinds: type[ast.AST]) -> Callable[[Iterable[ast.AST]], Features]:
    """The parts of these kinds, as they are written."""
    return lambda nodes: _written(nodes, *kinds)


def _counted(*kinds: type[ast.AST]) -> Callable[[Iterable[ast.AST]], Features]:
    """How many parts there are of these kinds."""
    return lambda nodes: Counter(type(node).__name__ for node in nodes if isinstance(node, kinds))


def _calls(*names: str) -> Callable[[Iterable[ast.AST]], Features]:
    def found(nodes: Iterable[ast.AST]) -> Features:
        called = (node for node in nodes if isinstance(node, ast.Call))
        return Counter(ast.dump(node) for node in called if _name(node.func) in names)

    return found


def _name(node: ast.expr) -> str:
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


def _empty(nodes: Iterable[ast.AST]) -> Features:
    """Conditions that ask whether something is empty: ``not x``, ``len(x) == 0``, ``x == []``."""
    tests = (node.test for node in nodes if isinstance(node, ast.If | ast.IfExp))
    return Counter("empty" for test in tests if _asks_empty(test))


def _asks_empty(test: ast.expr) -> bool:
    if isinstance(test, ast.UnaryOp):
        return isinstance(test.op, ast.Not) and isinstance(test.operand, ast.Name)
    if not (isinstance(test, ast.Compare) and isinstance(test.ops[0], ast.Eq)):
        return False
    right = test.comparators[0]
    none = isinstance(right, ast.List | ast.Tuple) and not right.elts
    of_length = isinstance(test.left, ast.Call) and _name(test.left.func) == "len"
    return none or (isinstance(right, ast.Constant) and (right.value == "" or (of_length and right.value == 0)))


KINDS: Mapping[str, tuple[Callable[[Iterable[ast.AST]], Features], bool]] = {
    "an import was added": (_of(ast.Import, ast.ImportFrom), True),
    "empty input was answered first": (_empty, True),
    "a case was added": (_counted(ast.If, ast.IfExp), True),
    "a comparison was changed": (_of(ast.Compare), False),
    "a range, index or slice was changed": (lambda nodes: _of(ast.Subscript)(nodes) + _calls("range")(nodes), False),
    "the arithmetic was changed": (_of(ast.BinOp, ast.AugAssign), False),
    "the order was changed": (_calls("sorted", "sort", "reverse", "reversed"), False),
    "a conversion was changed": (_calls("int", "str", "float", "list", "tuple", "set", "round"), False),
    "another loop was used": (_counted(ast.For, ast.While, ast.comprehension), False),
    "a function was added": (_counted(ast.FunctionDef, ast.Lambda), True),
    "what is returned was changed": (_of(ast.Return), False),
}
"""What can change, by its words: how it is seen, and whether only more of it counts."""
