"""Examples in a problem's text, read leniently: what is a call with its answer, and what only looks like it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as some

from koderz_core.config import load_settings
from koderz_core.datasets import load
from koderz_core.grading.examples import as_tests, examples_in
from koderz_core.records import PlusTests, Problem, PublicProblem, TestSet


def public(text: str, preamble: str = "") -> PublicProblem:
    return PublicProblem("p/0", f'{preamble}def f(x, y=0):\n    """{text}\n    """\n', "f", preamble)


def read(text: str, preamble: str = "") -> list[str]:
    return [str(example) for example in examples_in(public(text, preamble))]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("f(1) == 2", "candidate(1) == 2"),
        ("f(1) => 2.5, and so on", "candidate(1) == 2.5"),
        ("f([1, (2, 3)]) ==> ['a)', {1: 2}].", "candidate([1, (2, 3)]) == ['a)', {1: 2}]"),
        ('f("a(b") -> "c"', "candidate('a(b') == 'c'"),
        ("f(-1, y=2) ➞ -3", "candidate(-1, y=2) == -3"),
        ("`f(1)` returns `None`", "candidate(1) == None"),
        ("f(1) should return true.", "candidate(1) == True"),
        ("f(1) = 2", "candidate(1) == 2"),
        (">>> f(1)\n    2", "candidate(1) == 2"),
        (">>> round(f(1), 2)\n    0.5", "round(candidate(1), 2) == 0.5"),
        (">>> f(1)  # as told\n    [1,\n     2]", "candidate(1) == [1, 2]"),
    ],
)
def test_a_call_with_its_answer_is_an_example(text: str, said: str) -> None:
    assert read(text) == [said]


@pytest.mark.parametrize(
    "text",
    [
        "f(x) == 2",
        "f(1)",
        "f(1) == g(2)",
        ">>> f(1)\n    >>> f(2)",
        "f(1 == 2",
        "f(1) is 2",
        "of(1) == 2",
        ">>> y\n    1",
        "f(1) == '",
    ],
)
def test_what_only_looks_like_one_is_none(text: str) -> None:
    assert read(text) == []


@pytest.mark.parametrize(
    "text",
    [
        f"f({'-' * 400}1) == 2",
        f"f(1) == {'[' * 100}{']' * 100}",
        f">>> f(0x{'f' * 5000})\n    2",
    ],
    ids=["deep call", "deep answer", "many digits"],
)
def test_what_python_cannot_write_down_again_is_no_example_and_ends_no_command(text: str) -> None:
    assert read(f"{text}\n    f(1) == 2") == ["candidate(1) == 2"]


def test_what_the_problem_defines_may_be_used() -> None:
    assert read("f(half(4)) == 2", "def half(x):\n    return x / 2\n") == ["candidate(half(4)) == 2"]


@given(some.text(max_size=80))
def test_any_text_can_be_read(text: str) -> None:
    read(f"f(1) == {text}")
    read(f"f({text}) == 1")
    read(f">>> f(1){text}\n{text}")


def test_examples_are_compared_as_plus_tests_are() -> None:
    problem = Problem(public("f(1) == [2, 1]"), TestSet("x"), "", PlusTests("[]", oracle="set"))
    scope: dict[str, object] = {}
    exec(as_tests(problem, examples_in(problem.public)).source, scope)
    scope["check"](lambda x: [1, 2])  # type: ignore[operator]


def test_most_of_humaneval_has_some() -> None:
    problems = load("humaneval", load_settings()).problems
    assert sum(bool(examples_in(problem.public)) for problem in problems) == 141
