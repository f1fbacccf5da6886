"""Which programs are the same."""

from __future__ import annotations

import pytest

from koderz_core.prompts.programs import DEEPEST, shape
from koderz_core.prompts.token_runs import token_lines

PROGRAM = 'def f(x):\n    """Twice."""\n    return x + x\n'


@pytest.mark.parametrize(
    "other",
    [
        "def f(x):\n\n    # twice\n    return (x+x)  # done",
        "'''Doubles.'''\ndef f(x):\n    'Another text.'\n    return x + x",
    ],
)
def test_comments_docstrings_and_layout_make_no_other_program(other: str) -> None:
    assert shape(PROGRAM) == shape(other)


@pytest.mark.parametrize(
    "other", ["def f(x):\n    return x * 2", "def f(x):\n    return x + x\nf(1)", "def f(x): 'Twice.'"]
)
def test_programs_that_do_something_else_are_others(other: str) -> None:
    assert shape(PROGRAM) != shape(other)


def test_what_does_not_parse_is_told_apart_by_its_text() -> None:
    assert shape("def f(x:\n") == shape("\ndef f(x:") != shape("def f(y:")


@pytest.mark.parametrize("terms", [1000, 30_000])
def test_however_deep_a_program_nests_another_one_is_another(terms: int) -> None:
    deep = f"x = {'1 + ' * terms}1"
    assert shape(deep) == shape(f"{deep}\n") != shape(f"{deep}0")


@pytest.mark.parametrize("terms", [150, 300, 900])
def test_what_is_the_same_does_not_hang_on_how_deep_the_caller_stands(terms: int) -> None:
    deep = f"x = {'1 + ' * terms}1"

    def same(depth: int) -> bool:
        return same(depth - 1) if depth else shape(deep) == shape(f"{deep}  # again")

    assert {same(depth) for depth in (0, 300, 600)} == {terms < DEEPEST}


def test_numbers_too_long_to_be_written_out_are_told_apart() -> None:
    long = "x = 0x" + "f" * 9000
    assert shape(long) == shape(f"{long}  # again") != shape(f"{long}0")


def test_a_line_with_only_a_backslash_has_no_tokens() -> None:
    assert list(token_lines("x = 1\n\\\n\ny = 2\n", anonymous=False)) == [("x", "=", "1"), ("y", "=", "2")]
