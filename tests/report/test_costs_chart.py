"""The chart of costs by role and model: the total and the rate of each bar, and parts that differ without colour."""

from __future__ import annotations

from dataclasses import replace

import pytest
from test_comparison_tables import compared

from koderz_core.analysis.comparison import Comparison
from koderz_core.records.progress import RoleCost
from koderz_core.report.charts_costs import cost_by_role, costs_alt, has_role_costs
from koderz_core.report.spending import roles_listing


def part(configuration: str, role: str, model: str, usd: float | None) -> RoleCost:
    cost = None if usd is None else 4 * usd
    return RoleCost("bench", configuration, role, model, "local", 4, 4 if usd is None else 0, 40, cost, usd)


@pytest.fixture
def comparison() -> Comparison:
    """One configuration of one model, and a supervised one of which the coder costs a quarter of the dollars."""
    parts = (
        part("one", "coder", "small", 1.0),
        part("two", "coder", "small", 0.5),
        part("two", "reviewer", "big", 1.5),
    )
    return replace(compared(("one", 4, 1.0), ("two", 2, 2.0)), roles=parts)


def test_the_coder_comes_first_and_models_differ_by_pattern(comparison: Comparison) -> None:
    coder, reviewer = cost_by_role(replace(comparison, roles=comparison.roles[::-1])).data
    assert (coder.name, reviewer.name) == ("coder: small", "reviewer: big")
    assert coder.marker.pattern.shape != reviewer.marker.pattern.shape
    assert coder.marker.color != reviewer.marker.color


def test_each_part_has_its_value_and_each_bar_its_total_and_its_rate(comparison: Comparison) -> None:
    figure = cost_by_role(comparison)
    assert [(list(bar.x), list(bar.text)) for bar in figure.data] == [([1.0, 1.0], ["", "$1.00"]), ([3.0], ["$3.00"])]
    ends = [text for text in figure.layout.annotations if text.text.endswith("solved")]
    assert [(text.x, text.text) for text in ends] == [(1.0, "$1.00, 100 % solved"), (4.0, "$4.00, 50 % solved")]
    assert "A one: $1.00 per solved problem, 100 %; B two: $4.00 per solved problem, 50 %" in costs_alt(comparison)


def test_an_unknown_price_is_neither_drawn_nor_zero(comparison: Comparison) -> None:
    measured = {key: replace(found, price=None) for key, found in comparison.measured.items()}
    unknown = (
        part("one", "coder", "small", None),
        part("two", "coder", "small", 0.5),
        part("two", "reviewer", "b", None),
    )
    found = replace(comparison, roles=unknown, measured=measured)
    figure = cost_by_role(found)
    assert [list(bar.x) for bar in figure.data] == [[None, 1.0], [None]]
    assert figure.data[1].name == "reviewer: b (4 calls without a known price)"
    ends = [text.text for text in figure.layout.annotations if text.text.endswith("solved")]
    assert ends == ["unpriced, 100 % solved", "partly unpriced, 50 % solved"]
    assert [line[-1] for line in roles_listing(found).table.rows] == ["unpriced", "$1.00", "unpriced"]
    assert has_role_costs(found)
    assert not has_role_costs(replace(found, roles=unknown[:1]))


def test_nothing_solved_for_dollars_is_unbounded(comparison: Comparison) -> None:
    found = replace(compared(("one", 0, 1.0)), roles=(part("one", "coder", "small", 1.0),))
    (row,) = roles_listing(found).numbers
    assert (row["usd_per_solved"], row["usd_per_solved_is"], row["usd_per_problem"]) == (None, "unbounded", 1.0)
    assert not has_role_costs(found)


def test_a_hostile_name_of_a_model_is_text_in_the_chart(comparison: Comparison) -> None:
    hostile = tuple(replace(cost, model="<b>x</b>\n") for cost in comparison.roles)
    figure = cost_by_role(replace(comparison, roles=hostile))
    assert [bar.name for bar in figure.data] == [f"{role}: &lt;b&gt;x&lt;/b&gt;" for role in ("coder", "reviewer")]
    assert all("<b>x" not in text for bar in figure.data for text in bar.customdata)
