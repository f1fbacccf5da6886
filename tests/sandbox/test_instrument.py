import ast

import pytest
from small_problem import checks

from koderz_core.sandbox.inside.faults import excerpt, shown
from koderz_core.sandbox.inside.instrument import asserts_in, instrument
from koderz_core.sandbox.tiers import count_tests


@pytest.mark.parametrize("constant", ["assert True, 'fine'", "assert 1 == 1", "assert 'text'", "assert not False"])
def test_constant_asserts_do_not_count(constant):
    assert count_tests(checks(constant, "assert candidate(1) == 2")) == 1


def test_a_test_is_an_assert_in_the_source_however_often_it_runs():
    tests = checks("for n in range(9):", "    assert candidate(n) == n", "if candidate: assert not candidate(0)")
    assert count_tests(tests) == 2


def test_the_sources_of_the_tests_are_in_order_and_as_many_as_counted():
    tests = checks("assert candidate(1) == 2, 'one'", "assert True", "assert   candidate( 3 )  in (4,5)")
    assert instrument(tests).sources == ("assert candidate(1) == 2", "assert candidate( 3 )  in (4,5)")
    assert count_tests(tests) == 2


def test_asserts_are_found_in_the_order_in_which_they_are_numbered():
    tests = checks(
        "def inner(x):\n        assert x\n    if candidate: assert inner(1)\n    else: assert 1 == 1",
        "try: assert candidate(2)",
        "finally: assert candidate(3)",
        "assert candidate(4)",
    )
    found = [f"assert {ast.unparse(node.test)}" for node in asserts_in(ast.parse(tests))]
    assert tuple(found) == instrument(tests).sources
    assert len(found) == 5


def test_tests_that_are_not_python_cannot_be_counted():
    with pytest.raises(SyntaxError):
        count_tests("def check(candidate:")


def test_excerpts_keep_both_ends_within_the_limit():
    text = excerpt("a" * 400 + "b" * 400)
    assert len(text) == 500
    assert (text[0], text[-1]) == ("a", "b")


def test_excerpts_hold_no_lone_surrogates():
    assert excerpt("\ud800!") == "\\ud800!"


LARGE = {
    "list": list(range(10**6)),
    "text": "x" * 10**6,
    "dict": {"k" * 900: b"y" * 900},
    "int": 1 << 10**6,
    "nested": [[[]] * 50] * 50,
}


@pytest.mark.parametrize("kind", LARGE)
def test_a_shown_value_is_bounded_whatever_its_size(kind):
    assert 5 < len(shown(LARGE[kind])) <= 500


def test_small_values_are_shown_whole():
    assert shown({"a": (1, [2.5, None])}) == "{'a': (1, [2.5, None])}"
