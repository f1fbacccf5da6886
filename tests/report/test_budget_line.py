"""A budget on the axis of costs: the amounts to choose from, and the best configuration that it pays for."""

from __future__ import annotations

from dataclasses import replace

import pytest
from msgspec import structs
from test_comparison_tables import TWO, compared, row, trials
from test_frontier_chart import STUDY, drawn

from koderz_core.analysis.comparison import compare
from koderz_core.report.budget import budgets, nearest, within_budget, written
from koderz_core.report.charts_frontier import View, axis_of, cost_against_success
from koderz_core.report.charts_frontier_labels import located
from koderz_core.report.cost_axis import cost_axis

AXIS = cost_axis([0.1, 1.0])


def test_the_amounts_are_readable_and_cover_the_axis() -> None:
    amounts = budgets(AXIS)
    assert [written(usd) for usd in amounts[:6]] == ["0.05", "0.063", "0.08", "0.1", "0.125", "0.16"]
    assert amounts[-1] == 1.6
    assert [written(usd) for usd in budgets(cost_axis([0.00002, 0.0003]))][:3] == ["0.00001", "0.0000125", "0.000016"]
    assert nearest("0.11", amounts) == 0.1
    assert [nearest(word, amounts) for word in ("x", "-1", "nan", "inf", "0")] == [None] * 5


@pytest.mark.parametrize(
    ("usd", "said"),
    [
        (1.0, "For at most $1 per problem: A dear solves the most problems, 75 % [30, 95], for $1.00 per problem."),
        (0.5, "For at most $0.5 per problem: B cheap solves the most problems, 50 % [15, 85], for $0.10 per problem."),
        (
            0.05,
            "For at most $0.05 per problem: no configuration is cheap enough. The cheapest is B cheap ($0.10 per "
            "problem).",
        ),
        (None, "Without a budget: A dear solves the most problems, 75 % [30, 95], for $1.00 per problem."),
    ],
)
def test_the_best_configuration_within_a_budget_is_named_with_its_interval(usd: float | None, said: str) -> None:
    assert within_budget(compared(*TWO), AXIS, usd) == said


def test_an_unknown_price_is_named_and_never_within_a_budget() -> None:
    said = within_budget(compared(*TWO, ("best", 4, None)), AXIS, 1.0)
    assert "A dear solves" in said
    assert said.endswith(" Configurations left out because their cost is unknown: C best.")


def test_a_budget_says_that_it_covers_fewer_problems_than_the_table() -> None:
    rows = [replace(row("dear", 3, 1.0), problems=5, planned=5, unsolved=2, share=0.6), row("cheap", 2, 0.1)]
    more = structs.replace(trials("dear", 0, 1.0)[0], problem="p/4", experiment="exp_more")
    said = within_budget(compare(rows, [*trials("dear", 3, 1.0), more, *trials("cheap", 2, 0.1)]), AXIS, None)
    assert said.endswith(
        " This result covers only the 4 problems for which every configuration has a result; the table of "
        "configurations covers more problems."
    )


def test_a_small_budget_is_also_said_in_the_unit_of_the_axis_and_drawn_there() -> None:
    comparison = drawn(STUDY)
    axis = axis_of(located(comparison))
    assert within_budget(comparison, axis, 0.00005).startswith("For at most $0.00005 per problem ($0.05 per 1,000 pro")
    figure = cost_against_success(comparison, View(budget=0.00005))
    assert [note.text for note in figure.layout.annotations].count("budget $0.05") == 1
    assert any(list(line.x) == [0.00005, 0.00005] for line in figure.data if line.x and len(line.x) == 2)


def test_a_budget_moves_no_name_of_the_chart() -> None:
    def names(view: View) -> list[object]:
        notes = cost_against_success(drawn(STUDY), view).layout.annotations
        return [(note.text, note.xshift, note.yshift) for note in notes if "budget" not in note.text]

    assert names(View()) == names(View(budget=0.00005))
