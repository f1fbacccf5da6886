"""Which expressions of tests have values that need no program."""

import ast
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from koderz_core.sandbox.repository.literal_values import NotLiteralError, shadowed_names, value_of
from koderz_core.sandbox.repository.names import LocalLiterals


def value(source: str) -> object:
    return value_of(ast.parse(source, mode="eval").body)


@pytest.mark.parametrize(
    "source",
    ["-1", "'a' 'b'", "'\\n'.join(['a', 'b'])", "[0] * 3", "list(range(4))", "set()", "frozenset({1})", "dict(a=1)",
     "{'a': (1, [2.5])}", "float('inf')", "2 ** 10", "b'x' + b'y'", "' a '.strip()", "sorted([2, 1])", "1 + 2j"],
)  # fmt: skip
def test_literals_and_operations_on_them_have_the_value_that_python_gives(source: str) -> None:
    assert value(source) == eval(source)


def test_infinity_is_known() -> None:
    assert value("-math.inf") == -math.inf


@pytest.mark.parametrize(
    "source",
    ["f(1)", "x", "[x]", "10 ** 10 ** 10", "[0] * 10 ** 9", "'a' * 10 ** 9", "list(range(10 ** 9))", "'%9999999d' % 1",
     "bytes(10 ** 9)", "open('x')", "[i for i in (1, 2)]", "f'{1}'", "...", "{**{1: 2}}", "dict(**{'a': 1})",
     "'a'.format(1)", "1 / 0", "int('x')", "(1).bit_length()", "eval('1')", "lambda: 1", "[*(1, 2)]", "sum([[1], 2])",
     "[[0] * 90000] * 90000", "''.join(['a' * 90000] * 90000)", f"[{'[0] * 90000, ' * 20}]"],
)  # fmt: skip
def test_anything_else_has_no_known_value_and_is_not_executed(source: str) -> None:
    with pytest.raises(NotLiteralError):
        value(source)


def test_nesting_is_bounded() -> None:
    with pytest.raises(NotLiteralError):
        value("[" * 80 + "]" * 80)


@given(st.recursive(st.integers() | st.text() | st.booleans(), lambda inner: st.lists(inner) | st.tuples(inner)))
def test_the_value_of_a_repr_is_the_value(given_value: object) -> None:
    assert value(repr(given_value)) == given_value


def test_names_that_a_file_defines_are_not_those_of_python() -> None:
    tree = ast.parse("def list(x): return 1\nfrom m import sorted as set\nlen = 2\n")
    assert shadowed_names(tree) == {"list", "set", "len"}
    with pytest.raises(NotLiteralError):
        value_of(ast.parse("list('ab')", mode="eval").body, shadowed_names(tree))


@pytest.mark.parametrize(
    ("body", "known"),
    [
        ("x = 1; check(x)", [1]),
        ("x = 1; check(x); x = 2; check(x)", [1, 2]),
        ("x = [1]; check(x)", []),  # what reads it may change it
        ("x = (1, 2)\n for y in z:\n  check(x)", [(1, 2)]),
        ("x = 1\n if y:\n  x = 2\n check(x)", []),
        ("x = 1\n for x in y: pass\n check(x)", []),
        ("x = 1; x += 1; check(x)", []),
        ("x = 1\n def inner():\n  check(x)", [1]),
        ("x = 1\n def inner():\n  check(x)\n x = 2", []),
        ("check(x); x = 1", []),
        ("x = y; check(x)", []),
        ("x = 1; exec('x = 2'); check(x)", []),
        ("x = 1; del x; check(x)", []),
    ],
)
def test_a_local_name_is_known_where_only_one_assignment_of_a_literal_reaches(body: str, known: list[object]) -> None:
    function = ast.parse(f"def test_it():\n {body}\n").body[0]
    assert isinstance(function, ast.FunctionDef)
    names = LocalLiterals(function, set(), frozenset())
    reads = [node for node in ast.walk(function) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)]
    found = sorted((node for node in reads if names.has(node)), key=lambda node: (node.lineno, node.col_offset))
    assert [names.value(node) for node in found] == known
