"""The rules by which an output is correct, as docs/datasets.md states them."""

from __future__ import annotations

from typing import Any

import pytest

from koderz_core.datasets.output_comparison import Comparison
from koderz_core.datasets.programs import output_tests


def correct(written: object, expected: object, checker: str = "lines", tolerance: float = 0.0) -> bool:
    return bool(written == Comparison(checker, tolerance).like(expected))


@pytest.mark.parametrize(
    ("written", "expected", "same"),
    [
        ("1\n2", "1\n2\n", {"lines", "tokens", "exact"}),
        ("1 \n2\t\n\n\n", "1\n2\n", {"lines", "tokens", "exact"}),
        (" 1\n2", "1\n2\n", {"lines", "tokens"}),
        ("\n1\n2", "1\n2", {"lines", "tokens"}),
        ("1\r\n2\r\n", "1\n2\n", {"lines", "tokens", "exact"}),
        ("1\n\n2", "1\n2", {"tokens"}),
        ("1 2", "1\n2", {"tokens"}),
        ("1  2", "1 2", {"lines", "tokens"}),
        ("YES", "yes", {"tokens"}),
        ("1.50", "1.5", {"lines", "tokens"}),
        ("1e3", "1000", {"lines", "tokens"}),
        ("2", "1", set()),
        ("", "0", set()),
        ("a  b", "a b", {"lines", "tokens"}),
        ("nan", "nan", {"lines", "tokens", "exact"}),
        ("1" * 5000 + ".0", "1" * 5000, set()),
    ],
)
def test_blanks_cases_and_numbers(written: str, expected: str, same: set[str]) -> None:
    assert {checker for checker in ("lines", "tokens", "exact") if correct(written, expected, checker)} == same


@pytest.mark.parametrize(
    ("written", "expected", "same"),
    [
        ("0.3333333", "0.333333333", True),
        ("0.34", "0.3333", False),
        ("1000001.0", "1000000.0", True),  # relative for large numbers
        ("1000001", "1000000", False),  # a whole number is exact
        ("x 0.1", "x 0.1000001", True),
        ("1e999999999999", "1.5", False),
        ("nan", "0.5", False),
    ],
)
def test_a_tolerance_is_for_numbers_that_are_not_whole(written: str, expected: str, same: bool) -> None:
    assert correct(written, expected, tolerance=1e-5) is same


@pytest.mark.parametrize(
    ("written", "expected", "same"),
    [("5", "INF", False), ("-inf", "inf", False), ("Infinity", "inf", True), ("0.34", "0.340001", True)],
)
def test_a_tolerance_does_not_make_every_number_infinite(written: str, expected: str, same: bool) -> None:
    names: dict[str, Any] = {"__name__": "tests"}  # Any: a module's names
    exec(output_tests([("", expected)], "tokens", 1e-5).source, names)
    assert (written == names["like"](expected)) is same


def test_only_a_text_is_an_output() -> None:
    assert not correct(6, "6")
    assert not correct(["6"], "6")


def test_answers_of_published_functions() -> None:
    assert correct((1, 2), [1, 2], "values")
    assert not correct([[1, 2]], [1, 2], "values")
    assert correct([1, 2], [[1, 2]], "values or first")
    assert not correct(2, [1, 2], "values or first")
