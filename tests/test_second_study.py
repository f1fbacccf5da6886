"""The program that computes the results of the second study, on draws whose results are known."""

from __future__ import annotations

import sys
from pathlib import Path

import pandas as pd
import pytest

sys.path.append(str(Path(__file__).parents[1] / "docs" / "study2"))

import analysis

COLUMNS = ["dataset", "problem", "model", "method", "temperature", "gate", "solved", "tokens", "seconds"]


def test_tries_are_means_over_all_orders_of_the_draws() -> None:
    """By hand: three draws, of which the first fails the gate, the second passes it wrongly, and the third is right."""
    group = pd.DataFrame({"gate": [False, True, True], "solved": [False, False, True], "tokens": 10, "seconds": 1.0})
    curve = analysis.tries(group, 5)
    assert curve["solved"].tolist() == pytest.approx([0, 1 / 3, 1 / 2, 1 / 2, 1 / 2, 1 / 2])
    assert curve["tokens"].tolist() == pytest.approx([0, 10, 10 * 4 / 3, 10 * 4 / 3, 10 * 4 / 3, 10 * 4 / 3])


def test_the_verdicts_are_those_of_draws_made_to_match_or_fall_short() -> None:
    """60 problems: the small model solves all but the last ``missed`` in one try, the large model solves all."""

    def draws(missed: int) -> pd.DataFrame:
        rows = []
        for number in range(60):
            right = number < 60 - missed
            small = ("set", f"p{number}", analysis.SMALL, "retry", 0.8, right, right, 100, 1.0)
            large = ("set", f"p{number}", analysis.LARGE, "retry", 0.8, True, True, 100, 2.0)
            repair = ("set", f"p{number}", analysis.SMALL, "repair", 0.8, right, right, 100, 1.0)
            greedy = ("set", f"p{number}", analysis.SMALL, "retry", 0.0, False, False, 100, 1.0)
            rows += [*([small] * 5), *([large] * 2), greedy, *([repair] if number % 2 else [])]
        return pd.DataFrame(rows, columns=COLUMNS)

    matching, short = analysis.results(draws(1)), analysis.results(draws(20))
    assert [table["verdict"].iloc[0] for table in (matching, short)] == ["matches", "falls short"]
    assert short["difference"].iloc[0] == pytest.approx(-20 / 60)
    assert short.loc["escalation - 5 tries", "difference"] == pytest.approx(20 / 60)
    assert short.loc["escalation - 1.5B once", "difference"] == 0


def test_holm_adjusts_as_statsmodels_does() -> None:
    multitest = pytest.importorskip("statsmodels.stats.multitest")
    values = [0.04, 0.001, 0.2, 0.03, 0.03]
    assert analysis.holm(values) == pytest.approx(list(multitest.multipletests(values, method="holm")[1]))
