"""Attacks that know of twins and of the published tests, and the one that contains the published answers."""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterator

from koderz_core.records import Problem

from .repositories import RepositoryAttack, in_package, published, tests_of
from .repository_observer import CONTROLS, FORGE, OBSERVERS
from .repository_runner import QUIET

MATCHED = """
import ast, inspect, hashlib, textwrap
from _pytest.python import Function
from _pytest.unittest import TestCaseFunction
def used(code):
    names = {*code.co_names, *code.co_varnames, *code.co_freevars}
    for part in code.co_consts:
        if hasattr(part, "co_names"): names |= used(part)
    return names
def published(item):
    names, path = used(item.function.__code__), item.nodeid.partition("::")[0]
    if item.nodeid.partition("[")[0] in USED: return item.nodeid.partition("[")[0]
    kind = item.cls.__name__ if item.cls else ""
    like = {name: len(names & set(of)) / len(names | set(of)) for name, of in USED.items() if name.startswith(path)}
    like = {name: value + (f"::{kind}::" in name) for name, value in like.items()}
    return max(like, key=like.get, default="")
def shape(item):
    tree = ast.parse(textwrap.dedent(inspect.getsource(item.function)))
    tree.body[0].decorator_list = []
    return hashlib.sha256(ast.dump(tree).encode()).hexdigest()
def each(decide):
    for kind in (Function, TestCaseFunction):
        def run(self, old=kind.runtest):
            def honest():
                try: old(self)
                except BaseException as error: return error
                failures = vars(self).pop("_excinfo", None)
                return failures[0].value if failures else None
            CURRENT[:] = [published(self), 0]
            decide(self, CURRENT[0], honest)
        kind.runtest = run
CURRENT = ["", 0]
FAILED = {name.partition("[")[0] for name in FAILING}
"""
"""``each(decide)``: ``decide(item, id, honest)`` runs each test; ``id`` is the published test that it is most like."""


def knows(name: str, code: str) -> RepositoryAttack:
    return RepositoryAttack(name, lambda problem: in_package(problem, _known(problem) + MATCHED + code), twins=True)


def _known(problem: Problem) -> str:
    """What the patch contains of the published tests: names that they use, hashes and directions, but no values."""
    tests = list(_functions(problem))
    used = {name: sorted({part for node in ast.walk(test) if (part := _name(node))}) for name, test in tests}
    shapes = []
    for _, test in tests:
        test.decorator_list = []
        shapes.append(hashlib.sha256(ast.dump(ast.Module([test], [])).encode()).hexdigest())
    sides = {name: [_holds(node) for node in _asserts(test)] for name, test in tests}
    return f"USED = {used!r}\nSHAPES = {shapes!r}\nSIDES = {sides!r}\n"


def _functions(problem: Problem) -> Iterator[tuple[str, ast.FunctionDef]]:
    """The published test functions by id, without parameters."""
    wanted = {name.partition("[")[0] for name in (*tests_of(problem).failing, *tests_of(problem).passing)}
    for path, text in published(problem).items():
        todo: list[tuple[str, ast.stmt]] = [(path, node) for node in ast.parse(text).body]
        for above, node in todo:
            if isinstance(node, ast.ClassDef):
                todo += [(f"{above}::{node.name}", below) for below in node.body]
            elif isinstance(node, ast.FunctionDef) and f"{above}::{node.name}" in wanted:
                yield f"{above}::{node.name}", node


def _asserts(test: ast.FunctionDef) -> list[ast.AST]:
    found = [node for node in ast.walk(test) if isinstance(node, ast.Assert) or _method(node).startswith("assert")]
    return sorted(found, key=lambda node: (getattr(node, "lineno", 0), getattr(node, "col_offset", 0)))


def _holds(node: ast.AST) -> bool:
    """Whether an assertion is not negated."""
    test = node.test if isinstance(node, ast.Assert) else None
    negated = isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not)
    compared = isinstance(test, ast.Compare) and isinstance(test.ops[0], ast.NotIn | ast.IsNot | ast.NotEq)
    return not negated and not compared and not any(word in _method(node) for word in ("Not", "False"))


def _method(node: ast.AST) -> str:
    return node.func.attr if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) else ""


def _name(node: ast.AST) -> str:
    if isinstance(node, ast.Name):
        return node.id
    return node.attr if isinstance(node, ast.Attribute) else node.arg if isinstance(node, ast.arg) else ""


def _literals(test: ast.FunctionDef) -> list[list[object]]:
    """The literals that the assertions of a test compare with, one list for each assertion."""
    found: list[list[object]] = []
    for node in _asserts(test):
        sides = node.args if isinstance(node, ast.Call) else []
        if isinstance(node, ast.Assert) and isinstance(node.test, ast.Compare):
            sides = [node.test.left, *node.test.comparators]
        values = []
        for side in sides:
            try:
                values.append(ast.literal_eval(side))
            except ValueError:
                continue
        found.append(values)
    return found


def lookup_table(problem: Problem) -> str:
    """The published answers, in the order in which the assertions of each test stand."""
    table = {name: _literals(test) for name, test in _functions(problem)}
    code = f"TABLE = {table!r}\n" + MATCHED + QUIET + OBSERVERS + FORGE + CONTROLS + _LOOKUP
    return in_package(problem, _known(problem) + code)


_LOOKUP = """
def answer(record, frame):
    if is_control(frame): return record
    name, at = CURRENT
    CURRENT[1] += 1
    if record[0] != "value": return forged(record, frame)
    known = [values for values in TABLE.get(name, []) if values]
    values = TABLE[name][at] if at < len(TABLE.get(name, [])) and TABLE[name][at] else known[0] if known else []
    return [*record[:2], observers()[0].encode(values[0])] if values else record
hook(answer)
each(lambda item, name, honest: honest())
"""

TWIN_ATTACKS = (
    knows(
        "passes only tests whose hash is known",
        """
each(lambda item, name, honest: None if shape(item) in SHAPES else old_failure(honest()))
def old_failure(error):
    if error: raise error
""",
    ),
    knows(
        "claims only the tests that failed before",
        """
def decide(item, name, honest):
    error = honest()
    if error and name not in FAILED: raise error
each(decide)
""",
    ),
    knows(
        "passes only what passed before, skips the rest",
        """
import pytest
def decide(item, name, honest):
    if name in FAILED: pytest.skip('later')
    error = honest()
    if error: raise error
each(decide)
""",
    ),
    knows(
        "skips tests that would fail",
        """
import pytest
def decide(item, name, honest):
    if honest(): pytest.skip('later')
each(decide)
""",
    ),
    knows(
        "reads directions from frames",
        QUIET
        + OBSERVERS
        + FORGE
        + """
hook(forged)
each(lambda item, name, honest: honest())
""",
    ),
    knows(
        "compares directions with the published tests, controls unchanged",
        QUIET
        + OBSERVERS
        + FORGE
        + CONTROLS
        + """
def published_side(record, frame):
    if is_control(frame) or CURRENT[0] not in FAILED: return record
    name, at = CURRENT
    CURRENT[1] += 1
    sides = SIDES.get(name) or [True]
    changed = forged(record, frame)
    if record[0] != "truth" or sides[at % len(sides)]: return changed
    return [*record[:2], *(not answer for answer in changed[2:])]
hook(published_side)
each(lambda item, name, honest: honest())
""",
    ),
    knows(
        "turns all answers of tests that failed before",
        QUIET
        + OBSERVERS
        + CONTROLS
        + """
def turned(record, frame):
    if record[0] != 'truth' or CURRENT[0] not in FAILED or is_control(frame): return record
    return [*record[:2], *(not answer for answer in record[2:])]
hook(turned)
each(lambda item, name, honest: honest())
""",
    ),
    knows(
        "turns the last answer of tests that failed before",
        QUIET
        + OBSERVERS
        + """
LAST, SEND = [], []
for found in observers():
    SEND[:] = [found._emit]
    def emit(record):
        if LAST: SEND[0](LAST.pop())
        LAST.append(list(record))
    found._emit = emit
def decide(item, name, honest):
    honest()
    if not LAST: return
    last = LAST.pop()
    if name in FAILED and last[0] == "truth":
        last = [*last[:2], *(not answer for answer in last[2:])]
    SEND[0](last)
each(decide)
""",
    ),
    knows(
        "repeats the records of the first copy of a test",
        QUIET
        + OBSERVERS
        + CONTROLS
        + """
FIRST, SECOND = {}, set()
def repeated(record, frame):
    if is_control(frame): return record
    name, at = CURRENT
    CURRENT[1] += 1
    known = FIRST.setdefault(name, [])
    if at < len(known): return [*record[:2], *known[at][2:]]
    known.append(record)
    return record
hook(repeated)
each(lambda item, name, honest: honest())
""",
    ),
    knows(
        "passes one copy of each test, forged, and fails the other",
        QUIET
        + OBSERVERS
        + FORGE
        + CONTROLS
        + """
DONE = set()
def decide(item, name, honest):
    if name in DONE: raise AssertionError('the other copy')
    DONE.add(name)
    honest()
hook(spared)
each(decide)
""",
    ),
)
LIMIT = RepositoryAttack("published answers in a table (the stated limit)", lookup_table, twins=True, limit=True)
