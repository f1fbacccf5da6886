"""Configurations at equal cost on the command line."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

CONFIGURATIONS = ("--configuration", "direct coder=scripted/weak", "--configuration", "repair coder=scripted/strong")


@pytest.fixture
def ran(ran_once: Callable[..., None]) -> None:
    plan = ("--dataset", "humaneval", "--problems", "0:12", "--name", "loops", "--no-baselines")
    ran_once("benchmark", *plan, *CONFIGURATIONS)


def test_configurations_are_ordered_at_equal_amounts(koderz: Any, ran: None) -> None:
    found = koderz("compare", "loops", "--equal-cost", "tokens", "--format", "json").json["equal_cost"]
    assert (found["axis"], found["problems"], found["left_out"]) == ("tokens", 12, [])
    assert {row["letter"] for row in found["areas"]} == {"A", "B"}
    assert all(row["low"] <= row["share"] <= row["high"] for row in found["bands"])
    shown = " ".join(koderz("compare", "loops", "--equal-cost", "tokens").out.split())
    for part in (
        "Share of problems solved at equal tokens per problem",
        "Area under the curve",
        "Share of problems solved with one budget for all problems",
    ):
        assert part in shown
    assert "At equal tokens per problem, on 12 problems: no two configurations differ" in shown


def test_free_experiments_have_no_equal_cost(koderz: Any, ran: None) -> None:
    shown = " ".join(koderz("compare", "loops", "--equal-cost", "usd").out.split())
    assert "Comparison at equal dollars per problem: All experiments have a cost of 0 in this unit" in shown
    assert koderz("compare", "loops", "--equal-cost", "usd", "--format", "csv").code == 2
