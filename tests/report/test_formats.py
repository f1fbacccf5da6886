"""Numbers and hostile texts as people see them."""

from __future__ import annotations

from math import inf, nan

import pytest

from koderz_core.analysis.bounds import Cases
from koderz_core.analysis.rates import wilson
from koderz_core.report.formats import chance, count, duration, isolation, money, plain, rate, share_cases


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [(None, "?"), (0.04, "40 ms"), (0.2, "0.2 s"), (99.9, "99.9 s"), (125, "2 min 05 s"), (7800, "2 h 10 min")],
)
def test_durations(seconds: float | None, shown: str) -> None:
    assert duration(seconds) == shown


@pytest.mark.parametrize(
    ("usd", "shown"),
    [
        (None, "unpriced"),
        (inf, "∞"),
        (nan, "–"),
        (0, "$0.00"),
        (12.345, "$12.35"),
        (0.5, "$0.50"),
        (0.0034, "$0.0034"),
        (1.23e-5, "$0.000012"),
    ],
)
def test_money_keeps_two_digits_and_unknown_is_not_zero(usd: float | None, shown: str) -> None:
    assert money(usd) == shown


def test_a_tier_is_told_with_its_self_test_and_limited_is_marked() -> None:
    assert isolation("hardened", "17/17") == "hardened, self-test 17/17"
    assert isolation("strong", "") == "strong"
    assert "⚠ (programs could read your files" in isolation("limited", "12/12")


def test_a_rate_shows_its_interval() -> None:
    assert rate(wilson(102, 164)) == "62 % [55, 69]"
    assert rate(wilson(0, 0)) == "-"


def test_a_share_of_nearly_all_is_not_rounded_to_all() -> None:
    assert rate(wilson(377, 378)) == ">99 % [99, 100]"
    assert rate(wilson(378, 378)) == "100 % [99, 100]"
    assert share_cases(Cases(377 / 378, 1.0)) == ">99 to 100 %"
    assert share_cases(Cases(0.534, 0.996)) == "53 to >99 %"


@pytest.mark.parametrize(
    ("value", "shown"),
    [(None, "-"), (0.0, "0.00"), (4e-4, "<0.001"), (0.004, "0.004"), (0.05, "0.05"), (0.997, ">0.99"), (1.0, "1.00")],
)
def test_no_chance_is_rounded_to_impossible_or_certain(value: float | None, shown: str) -> None:
    assert chance(value) == shown


def test_counts_are_grouped() -> None:
    assert (count(1234567), count(None)) == ("1 234 567", "?")


def test_nothing_in_a_text_is_obeyed_by_a_terminal() -> None:
    hostile = "a\x1b[31mred\x07\r\u202eevil\u200b\ud800\nnext\tcolumn"
    shown = plain(hostile)
    assert shown.count("\N{REPLACEMENT CHARACTER}") == 6
    assert "\nnext\tcolumn" in shown


def test_a_long_text_is_cut_and_says_by_how_much() -> None:
    assert plain("x" * 30, 10) == "x" * 10 + "… (20 more characters)"
