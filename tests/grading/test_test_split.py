"""The asserts of a check in two parts: together they are the whole, and what is held out is in no gate."""

from __future__ import annotations

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as some

from koderz_core.config import load_settings
from koderz_core.datasets import load
from koderz_core.grading.test_split import SplitSource, split_at_random, split_by_calls
from koderz_core.sandbox.tiers import count_tests

CALLS = some.lists(some.integers(0, 9), min_size=2, max_size=9)
FRACTIONS = some.floats(0.01, 0.99)


def asserts(source: str) -> list[str]:
    return [ast.unparse(node.test) for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Assert)]


@given(CALLS, FRACTIONS, some.text("abc/0", max_size=3))
def test_each_assert_is_on_one_side_and_equal_calls_are_on_the_same(
    calls: list[int], fraction: float, lot: str
) -> None:
    lines = "".join(f"    assert candidate({call}) == {place}\n" for place, call in enumerate(calls))
    parts = split_at_random(f"def check(candidate):\n{lines}", fraction, lot)
    if len(set(calls)) == 1:
        assert isinstance(parts, str)
        return
    assert isinstance(parts, SplitSource)
    gate, rest = asserts(parts.gate), asserts(parts.rest)
    assert sorted(gate + rest) == sorted(f"candidate({call}) == {place}" for place, call in enumerate(calls))
    assert gate
    assert rest
    assert not {line.split(" ")[0] for line in gate} & {line.split(" ")[0] for line in rest}
    assert split_at_random(f"def check(candidate):\n{lines}", fraction, lot) == parts


def test_the_fraction_is_that_of_the_gate() -> None:
    lines = "".join(f"    assert candidate({x}) == {x}\n" for x in range(8))
    sizes = []
    for fraction in (0.01, 0.25, 0.99):
        parts = split_at_random(f"def check(candidate):\n{lines}", fraction, "0/p")
        assert isinstance(parts, SplitSource)
        sizes.append(len(asserts(parts.gate)))
    assert sizes == [1, 2, 7]


def test_other_statements_stay_in_both_and_texts_as_they_are_written() -> None:
    source = (
        "import math\n\ndef check(candidate):\n    é = 'é'; assert candidate(é) == 1; assert candidate(2) == 2\n"
        "    assert True\n"
    )
    parts = split_at_random(source, 0.5, "0/p")
    assert isinstance(parts, SplitSource)
    assert {parts.gate, parts.rest} == {
        source.replace("assert candidate(2) == 2", "pass"),
        source.replace("assert candidate(é) == 1", "pass"),
    }


def test_a_loop_stays_whole_and_with_what_reads_its_names() -> None:
    source = (
        "def check(candidate):\n    assert candidate(9) == 9\n    for x in (1, 2):\n        y = candidate(x)\n"
        "        assert y == x\n    assert y == 2\n"
    )
    for lot in range(8):
        parts = split_at_random(source, 0.5, str(lot))
        assert isinstance(parts, SplitSource)
        assert ("y == 2" in parts.gate) == ("y == x" in parts.gate) != ("y == 2" in parts.rest)


def test_what_makes_a_call_is_parted_from_the_rest_with_its_kin() -> None:
    source = (
        "def check(candidate):\n    assert candidate(1) == 1\n    assert candidate(2) == 2\n"
        "    y = candidate( 1)\n    assert y == candidate(5)\n    assert candidate(6) == 6\n"
        "    for z in (7, 8):\n        assert candidate(1) <= candidate(z)\n"
    )
    parts = split_by_calls(source, {"1"})
    assert asserts(parts.gate) == ["candidate(1) == 1", "y == candidate(5)", "candidate(1) <= candidate(z)"]
    assert asserts(parts.rest) == ["candidate(2) == 2", "candidate(6) == 6"]
    assert split_by_calls(source, {"9"}) == SplitSource("", source)


@pytest.mark.parametrize(("call", "side"), [("1", "gate"), ("2", "gate"), ("3", "rest")])
def test_what_cannot_be_parted_by_calls_stays_whole_on_one_side(call: str, side: str) -> None:
    source = (
        "def check(candidate):\n    def one(x):\n        assert x > candidate(1)\n    one(2)\n"
        "    assert candidate(2) == 2\n"
    )
    parts = split_by_calls(source, {call})
    assert (getattr(parts, side), {parts.gate, parts.rest}) == (source, {source, ""})


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("    assert candidate(1) == 1\n", "one assert or one loop"),
        ("    for x in (1, 2):\n        assert candidate(x) == x\n", "one assert or one loop"),
        ("    assert candidate(1) == 1\n    assert True\n", "one assert or one loop"),
        (
            "    def one(x):\n        assert candidate(x) == x\n    one(1)\n    assert candidate(2) == 2\n",
            "not directly in the body of the function check",
        ),
        ("    assert candidate(1) == 1\n    assert candidate(1) > 0\n", "cannot be separated"),
    ],
)
def test_what_cannot_be_parted_says_why(body: str, said: str) -> None:
    parts = split_at_random(f"def check(candidate):\n{body}", 0.5, "0/p")
    assert isinstance(parts, str)
    assert said in parts


def test_four_of_humaneval_cannot_be_parted() -> None:
    problems = load("humaneval", load_settings()).problems
    parts = {problem.id: split_at_random(problem.tests.source, 0.5, problem.id) for problem in problems}
    without = [name for name, found in parts.items() if isinstance(found, str)]
    assert without == ["HumanEval/32", "HumanEval/34", "HumanEval/38", "HumanEval/50"]
    for problem in problems:
        found = parts[problem.id]
        if isinstance(found, SplitSource):
            assert count_tests(found.gate) + count_tests(found.rest) == count_tests(problem.tests.source)
