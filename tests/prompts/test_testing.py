"""What is read of a tester's answer and of a problem's text, however hostile."""

from __future__ import annotations

import pytest

from koderz_core.prompts.testing import MOST, OwnTest, asserts_in, calls_in
from koderz_core.records import PublicProblem

PROBLEM = PublicProblem("p/0", "def f(x, y=0):\n    pass\n", "f", "import math\ndef near(a, b):\n    return True\n")


def calls(reply: str) -> list[str]:
    return [test.call for test in asserts_in(reply, PROBLEM, MOST)]


def test_each_assert_is_a_call_and_whether_it_holds() -> None:
    assert asserts_in(
        "Here:\n```python\nassert f(1) == 2, 'no'\nassert f([ ]) is None\n```\nassert f(9) == 9", PROBLEM, 9
    ) == (
        OwnTest("f(1)", "bool(f(1) == 2)"),
        OwnTest("f([])", "bool(f([]) is None)"),
    )


@pytest.mark.parametrize(
    ("reply", "found"),
    [
        ("assert f(1) == 2\nassert f(1)==2", ["f(1)"]),
        ("```\ndef test():\n    assert f(1) == 2\n    assert near(f(2), math.pi)\n```", ["f(1)", "f(2)"]),
        ("```python\nassert f(1) == 2\nassert f(2 == \nassert f(3) == 4\n```", ["f(1)", "f(3)"]),
        ("<think>assert f(1) == 1</think>\n```python\nassert f(2) == 2\n```", ["f(2)"]),
        ("```python\nassert all(f(x) == x for x in (1, 2))\n```", ["f(x)"]),
        ("```python\nx = 3\nassert f(x) == 3\nassert g(1)\nassert True\nassert np.isclose(f(1), 1)\n```", []),
        ("```bash\nassert f(1) == 2\n```", []),
        ("", []),
        ("assert f(" + "(" * 5000, []),
        ("assert f(" + "-" * 100_000 + "1) == 1", []),
        ("assert f(1) == 0x" + "f" * 5000 + "\nassert f(2) == 2", ["f(2)"]),
    ],
)
def test_only_asserts_on_the_function_that_need_nothing_else_are_tests(reply: str, found: list[str]) -> None:
    assert calls(reply) == found


def test_no_more_tests_are_taken_than_were_asked_for() -> None:
    reply = "\n".join(f"assert f({n}) == {n}" for n in range(1000))
    assert len(asserts_in(reply, PROBLEM, 3)) == 3


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("f([1, (2)], ')') == 3, and f([]) gives f(0)", ["f([1, 2], ')')", "f([])", "f(0)"]),
        (">>> f(1)\n>>> f( 1 )", ["f(1)"]),
        ("g.f(1), of(1), f(x), f(1, y=2), f(", []),
        ("def f():", []),
        ("f(" * 50 + ")" * 50, ["f()"]),
    ],
)
def test_calls_with_literals_are_read_off_the_text(text: str, found: list[str]) -> None:
    assert list(calls_in(PublicProblem("p/0", text, "f"))) == found


MODULE = PublicProblem(
    "m/0", "As `Clock(8, 0)` or tick(3), class Clock(object).", "Clock", kind="module", names=("tick",)
)
PROGRAM = PublicProblem("s/0", "Print it.", "run", kind="program")


@pytest.mark.parametrize(
    ("problem", "reply", "found"),
    [
        (MODULE, "assert str(Clock(8, 0).add(3)) == '08:03'\nassert tick(1) == 2\nassert tock(1) == 2", 2),
        (PROGRAM, 'assert run("3\\n") == "6\\n"\nassert solve(3) == 6', 1),
    ],
)
def test_tests_use_the_names_that_their_kind_of_problem_has(problem: PublicProblem, reply: str, found: int) -> None:
    assert len(asserts_in(reply, problem)) == found


def test_the_call_of_a_modules_test_is_a_whole_expression_because_an_object_cannot_be_compared() -> None:
    (test,) = asserts_in("assert str(Clock(8, 0).add(3)) == '08:03'", MODULE)
    assert test.call == "str(Clock(8, 0).add(3))"
    assert calls_in(MODULE) == ("Clock(8, 0)", "tick(3)")
