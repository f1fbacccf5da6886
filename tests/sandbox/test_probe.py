"""What calls of a program give: plain values as texts, everything else as a value too, nothing in the judge."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from small_problem import best_tier, judge_of

from koderz_core.errors import PlanError
from koderz_core.records import Observed, PublicProblem
from koderz_core.sandbox.inside.serving import text_of
from koderz_core.sandbox.judge import MOST_CALLS, MOST_CHARACTERS, BoxedJudge

ECHO = "class Node: pass\ndef echo(x):\n    return x"
SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text() | st.binary()
KEYS = st.recursive(SCALARS, lambda inner: st.frozensets(inner) | st.lists(inner).map(tuple), max_leaves=8)


def probed(code: str, *calls: str, judge: BoxedJudge | None = None) -> list[Observed]:
    problem = PublicProblem("small/1", "", "echo", "import math\n")
    return list((judge or judge_of(best_tier())).probe(problem, code, calls))


def test_calls_see_the_program_and_its_preamble_and_give_texts_in_a_sorted_order() -> None:
    seen = probed(ECHO, "echo({10, 9, 'a', (1,)})", "{2: math.pi > 3, 1: [1.5, b'x']}", "Node()", " echo(x=None)")
    assert [answer.value for answer in seen] == [
        "{9, 10, 'a', (1,)}",
        "{1: [1.5, b'x'], 2: True}",
        "<object of type Node>",
        "None",
    ]
    assert [answer.call for answer in seen][3] == " echo(x=None)"


def test_a_program_that_is_too_long_is_not_run() -> None:
    seen = probed(ECHO + "\n#" + "x" * MOST_CHARACTERS, "echo(1)", "echo(2)")
    assert [(answer.value, answer.error) for answer in seen] == [(None, "memory")] * 2
    assert "at most 1,000,000 are run" in seen[0].message


@given(st.lists(KEYS, max_size=6))
def test_equal_sets_have_equal_texts_however_they_were_filled(members: list[object]) -> None:
    backwards = set[object]()
    for member in reversed(list(dict.fromkeys(members))):
        backwards.add(member)
    assert text_of(set(members)) == text_of(backwards)


@given(st.recursive(SCALARS, lambda inner: st.lists(inner) | st.lists(inner).map(tuple), max_leaves=12))
def test_the_text_of_what_has_an_order_is_its_repr(value: object) -> None:
    assert text_of(value) == repr(value)


def test_long_values_are_bounded_and_still_differ_where_they_are_cut() -> None:
    one, other, same = (
        str(seen.value) for seen in probed(ECHO, "[0] * 9999", "[0] * 5000 + [1] + [0] * 4998", "9999*[0]")
    )
    assert len(one) < 600
    assert one[:500] == other[:500]
    assert one == same != other


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        ("echo(1", "syntax", "never closed"),
        ("x = 1", "syntax", "invalid syntax"),
        ("echo('\0')", "syntax", "null bytes"),
        ("echo(1, 2)", "type", "positional"),
        ("nothing", "name", "nothing"),
        ("1 // 0", "exception", "ZeroDivisionError"),
        ("[0] * 10**12", "memory", "MemoryError"),
        ("'x' * 10**8", "exception", "at most"),
        ("(" * 5000, "syntax", ""),
    ],
)
def test_what_goes_wrong_is_a_value_and_the_next_call_goes_on(call: str, error: str, message: str) -> None:
    wrong, right = probed(ECHO, call, "echo(1)")
    assert (wrong.value, wrong.error, right.value) == (None, error, "1")
    assert message in wrong.message


@pytest.mark.parametrize(
    ("end", "error", "message"),
    [
        ("__import__('os')._exit(3)", "exception", "exit code 3"),
        ("__import__('os').kill(__import__('os').getpid(), 11)", "exception", "SIGSEGV"),
        ("[0 for _ in iter(int, 1)]", "timeout", "stopped after"),
        ("__import__('sys').exit()", "exception", "SystemExit"),
    ],
)
def test_what_ends_the_program_is_the_answer_to_the_rest(end: str, error: str, message: str) -> None:
    before, *rest = probed(ECHO, "echo(1)", end, "echo(2)", judge=judge_of(best_tier(), 1.0))
    assert before == Observed("echo(1)", "1")
    assert [(answer.value, answer.error) for answer in rest] == [(None, error)] * 2
    assert all(message in answer.message for answer in rest)


@pytest.mark.parametrize("code", ["def echo(:", "def other(): ...", "raise ValueError"])
def test_a_program_that_does_not_load_answers_each_call_with_why(code: str) -> None:
    seen = probed(code, "1", "2")
    assert [answer.value for answer in seen] == [None, None]
    assert seen[0].error
    assert seen[0].message == seen[1].message != ""


def test_no_call_is_evaluated_where_the_answers_are_made_up() -> None:
    forging = "setattr(__import__('sys').modules['inside.serving'], 'text_of', lambda _: 'forged')"
    assert [answer.value for answer in probed(ECHO, forging, "echo(1)")] == ["None", "1"]


def test_hostile_values_neither_hang_nor_break_the_judge() -> None:
    nested = "__import__('functools').reduce(lambda inner, _: frozenset({inner}), range(90), frozenset())"
    liar = "type('Liar', (int,), {'__repr__': lambda _: 1 / 0, '__eq__': 1, '__hash__': lambda _: 0})(7)"
    seen = probed(ECHO, nested, liar, "10 ** 9999", "'\\ud800'", judge=judge_of(best_tier(), 5.0))
    assert [answer.error for answer in seen] == [None] * 4
    assert [str(answer.value)[:9] for answer in seen] == ["frozenset", "7", hex(10**9999)[:9], "'\\ud800'"]


def test_too_many_calls_are_refused_and_the_longest_answers_to_as_many_as_may_be_come_through() -> None:
    with pytest.raises(PlanError, match=f"at most {MOST_CALLS} expressions per call"):
        probed(ECHO, *["1"] * (MOST_CALLS + 1))
    seen = probed(ECHO, *["'\U0001f600' * 9999"] * MOST_CALLS)
    assert {answer.error for answer in seen} == {None}
