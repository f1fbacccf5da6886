"""Calls are told apart by what they pass, however they are written."""

from __future__ import annotations

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as some

from koderz_core.grading.test_split import calls_in, parameters_of
from koderz_core.records import PublicProblem

VALUES = some.recursive(
    some.none() | some.booleans() | some.integers(-99, 99) | some.floats(allow_nan=False) | some.text(max_size=3),
    lambda inner: some.lists(inner, max_size=3) | some.tuples(inner) | some.dictionaries(some.text(max_size=2), inner),
    max_leaves=5,
)


def call(text: str) -> list[str]:
    return list(calls_in(ast.parse(text), "f", ("x", "y")))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("f( [1,2] , 'a')", 'f([1, 2], "a")'),
        ("f(1, y=2)", "f(y=2, x=1)"),
        ("f([1, 0 ** 0])", "f([1, 1])"),
        ("f(3 * 2)", "f(6)"),
        ("f({'a': 1, 'b': {2, 3}})", "f({'b': {3, 2}, 'a': 1})"),
        ("abs(f(1) - 2) < 1e-6", "f(1) == 2"),
        ("f(z)", "f( z)"),
    ],
)
def test_what_passes_the_same_is_the_same_call(one: str, other: str) -> None:
    assert call(one) == call(other) != []


@pytest.mark.parametrize(
    ("one", "other"),
    [("f(1)", "f(1.0)"), ("f(1)", "f(True)"), ("f((1, 2))", "f([1, 2])"), ("f(1)", "f(y=1)"), ("f('1')", "f(1)")],
)
def test_what_passes_something_else_is_another(one: str, other: str) -> None:
    assert call(one) != call(other)


@given(VALUES, VALUES)
def test_calls_are_the_same_only_if_their_arguments_are(one: object, other: object) -> None:
    assert call(f"f({one!r})") == call(f"f( {one!r}, )")
    if call(f"f({one!r})") == call(f"f({other!r})"):
        assert one == other


def test_arithmetic_without_end_is_not_reckoned() -> None:
    assert call("f(9 ** 9 ** 9)") == ["9 ** 9 ** 9"]
    assert call("f('a' * 10 ** 9)") == ["'a' * 10 ** 9"]


def test_parameters_are_those_of_the_function_to_write() -> None:
    prompt = "def g(a):\n    return a\n\ndef f(x, /, y=0):\n    '''Do it.'''\n"
    assert parameters_of(PublicProblem("p/0", prompt, "f")) == ("x", "y")
    assert parameters_of(PublicProblem("p/0", "Write f(x).", "f")) == ()
