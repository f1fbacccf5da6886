"""Savings in words: what was saved, what was spent more, and that an interval may say neither."""

from __future__ import annotations

from dataclasses import replace

import pytest
from test_comparison_tables import compared

from koderz_core.analysis.rates import Interval
from koderz_core.report.spending import savings_sentences

TWO = (("dear", 3, 1.0), ("cheap", 2, 0.1))


@pytest.mark.parametrize(
    ("share", "words"),
    [
        (Interval(0.92, 0.85, 0.97), "saved 92 % [85, 97] on the 2 problems"),
        (Interval(0.85, -2.0, 1.0), "saved 85 % [-200, 100] (the interval includes 0) on the 2 problems"),
        (Interval(-0.4, -0.6, -0.2), "spent 40 % [20, 60] more on the 2 problems"),
        (Interval(0.9, None, None), "saved 90 % on the 2 problems"),
        (None, "no savings on the 2 problems"),
    ],
)
def test_what_was_saved_is_said_with_how_sure_that_is(share: Interval | None, words: str) -> None:
    comparison = compared(*TWO)
    (pair,) = comparison.pairs
    assert pair.savings is not None
    told = replace(comparison, pairs=(replace(pair, savings=replace(pair.savings, share=share)),))
    assert words in list(savings_sentences(told))[1]


def test_unknown_savings_are_not_zero() -> None:
    (_, said) = savings_sentences(compared(("dear", 3, 1.0), ("unknown", 2, None)))
    assert (
        said
        == "unknown: savings are unknown, because a cost is unknown or no problem was solved by both configurations."
    )
