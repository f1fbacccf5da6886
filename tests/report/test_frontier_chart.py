"""The picture of cost against success: names that never overlap, axes in readable units, tiers in words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_comparison_tables import TWO, compared, row, trials

from koderz_core.analysis.comparison import Comparison, compare
from koderz_core.analysis.configurations import composition
from koderz_core.records.progress import TierCost
from koderz_core.report.charts import theme_color
from koderz_core.report.charts_frontier import (
    View,
    canvas_of,
    chart_title,
    cost_against_success,
    frontier_alt,
    has_costs,
    outline,
)
from koderz_core.report.charts_frontier_efforts import EFFORT_LINE, effort_lines
from koderz_core.report.charts_frontier_labels import MARK_REACH, labels, located
from koderz_core.report.charts_success import success_alone
from koderz_core.report.compositions import compositions_table
from koderz_core.report.cost_axis import cost_axis
from koderz_core.report.label_places import Box, Label, Placed, around, place
from koderz_core.report.spending import tier_margins_table

WIDE, NARROW = View(), View(narrow=True)
FRAME = Box(58, 50, 984, 370)
STUDY = {
    "direct 0.5b": (0.533, 0.000021),
    "direct 1.5b": (0.633, 0.000036),
    "escalation 0.5b + 1.5b": (0.7, 0.000037),
    "repair 0.5b": (0.617, 0.000079),
    "retry 0.5b": (0.6, 0.00006),
    "retry 1.5b": (0.683, 0.000065),
    "supervised 0.5b + 1.5b": (0.567, 0.0003),
}


def drawn(points: dict[str, tuple[float, float]]) -> Comparison:
    """A comparison whose points are at these shares and dollars."""
    comparison = compared(*((name, 2, usd) for name, (_, usd) in points.items()))
    shares = [share for share, _ in points.values()]
    moved = (replace(point, success=share) for point, share in zip(comparison.tradeoff.points, shares, strict=True))
    return replace(comparison, tradeoff=replace(comparison.tradeoff, points=tuple(moved)))


def assert_none_overlap(wanted: Sequence[Label], placed: Sequence[Placed | None], frame: Box) -> None:
    shown = [(label, found) for label, found in zip(wanted, placed, strict=True) if found]
    assert all(found.box.inside(frame) for _, found in shown)
    assert not any(first.box.overlaps(second.box) for (_, first), (_, second) in combinations(shown, 2))
    assert not any(found.box.overlaps(label.point) for _, found in shown for label in wanted)
    leaders = [found for _, found in shown if found.leader]
    assert not any(other.box.meets(leader.leader) for leader in leaders for _, other in shown if other is not leader)


def placed_in(comparison: Comparison, view: View) -> dict[str, Placed]:
    points = located(comparison)
    canvas = canvas_of(points, view, ["local"])
    found = labels(comparison, canvas, points, ())
    wanted = [Label(*canvas.pixel(usd, point.success), (row.label,)) for usd, point, row in points]
    assert_none_overlap(wanted, [found.get(row.letter) for _, _, row in points], canvas.frame)
    return found


@pytest.mark.parametrize("view", [WIDE, NARROW], ids=["wide", "narrow"])
def test_no_name_of_the_study_overlaps_and_all_have_room(view: View) -> None:
    found = placed_in(drawn(STUDY), view)
    assert len(found) == len(STUDY)
    assert sum(len(label.text) > 1 for label in found.values()) >= (7 if view is WIDE else 5)


def test_no_name_covers_the_mark_of_a_simulated_policy() -> None:
    comparison = drawn(STUDY)
    points, alone = located(comparison), placed_in(comparison, WIDE)
    canvas = canvas_of(points, WIDE, ["local"])
    box = alone["A"].box  # a mark in the middle of the first name
    across = (box.left + box.right - 2 * canvas.frame.left) / (2 * (canvas.frame.right - canvas.frame.left))
    usd = min((cost * 1e-7 for cost in range(1, 5000)), key=lambda usd: abs(canvas.costs.share(usd) - across))
    up = (canvas.frame.bottom - (box.top + box.bottom) / 2) / (canvas.frame.bottom - canvas.frame.top)
    mark = (usd, (canvas.lowest + up * (canvas.highest - canvas.lowest)) / 100)
    assert around(*canvas.pixel(*mark)).overlaps(box)
    moved = labels(comparison, canvas, points, (), [mark])
    assert not any(around(*canvas.pixel(*mark), MARK_REACH).overlaps(found.box) for found in moved.values())
    assert moved["A"].text == alone["A"].text


@pytest.mark.parametrize("view", [WIDE, NARROW], ids=["wide", "narrow"])
def test_no_name_of_49_points_overlaps_and_those_on_the_frontier_come_first(view: View) -> None:
    random = Random(7)
    points = {f"configuration-{at}": (random.uniform(0.2, 0.9), 10 ** random.uniform(-4, 0)) for at in range(49)}
    comparison = drawn(points)
    found = placed_in(comparison, view)
    assert len(found) >= (45 if view is WIDE else 12)
    first = next(row for row in comparison.configurations if row.key == comparison.baseline)
    assert first.letter in found


@given(
    st.lists(
        st.builds(
            Label,
            st.floats(FRAME.left, FRAME.right),
            st.floats(FRAME.top, FRAME.bottom),
            st.lists(st.text("aMi模 ", min_size=1, max_size=30), min_size=1, max_size=2).map(tuple),
            st.booleans(),
        ),
        max_size=25,
    )
)
def test_labels_of_any_points_never_overlap(wanted: list[Label]) -> None:
    assert_none_overlap(wanted, place(wanted, FRAME), FRAME)


def test_a_label_without_room_is_shortened_and_one_without_any_is_left_out() -> None:
    small = Box(0, 0, 40, 40)
    (letter,) = place([Label(8, 20, ("A a long name", "A"))], small)
    assert letter is not None
    assert letter.text == "A"
    assert place([Label(5, 5, ("A",))], Box(0, 0, 10, 10)) == [None]


def test_only_a_distant_label_has_a_leader_line_from_its_point() -> None:
    near = [Box(300, 100, 493, 300), Box(493, 100, 530, 193), Box(493, 207, 530, 300)]
    for taken, led in (([], False), (near, True)):
        (found,) = place([Label(500, 200, ("A",))], FRAME, taken)
        assert found is not None
        assert (found.leader is not None) is led


def test_the_axis_of_costs_is_readable() -> None:
    assert cost_axis([0.00002, 0.0003]).title == "Cost per 1,000 problems (US dollars, logarithmic)"
    assert cost_axis([0.00002, 0.0003]).options(5)["ticktext"] == ["$0.02", "$0.05", "$0.1", "$0.2"]
    assert cost_axis([1.0, 2.0]).title == "Cost per problem (US dollars)"
    assert cost_axis([0.0, 0.01, 1.0]).options(5)["ticktext"][0] == "$0"
    assert cost_axis([0.0, 0.01, 1.0]).shown(0.0) > 0
    assert all(cost_axis(costs).share(costs[0]) > 0 for costs in ([1.0], [0.0, 1.0], [0.001, 1.0], [0.0, 0.001, 1.0]))


def test_points_have_the_colours_of_the_curves_and_shapes_of_tiers() -> None:
    marks = next(part for part in cost_against_success(compared(*TWO)).data if part.customdata)
    assert list(marks.marker.color) == [theme_color(0), theme_color(1)]
    assert list(marks.marker.symbol) == ["circle", "circle"]


def test_the_picture_explains_itself_and_hostile_names_stay_text() -> None:
    hostile = "<b onclick=x>evil"
    view = View(chart_title([hostile, hostile], 60, ["2026-11-21", "2026-11-23"]))
    figure = cost_against_success(compared((hostile, 3, 1.0), ("cheap", 2, 0.1)), view)
    texts = [note.text for note in figure.layout.annotations]
    assert texts[-1].endswith("&lt;b onclick=x&gt;evil · 60 problems · 2026-11-21 to 2026-11-23")
    assert "<b onclick" not in figure.to_json()


def test_the_picture_in_words_names_the_frontier_from_the_cheapest() -> None:
    said = frontier_alt(compared(*TWO, ("worse", 1, 2.0)))
    assert "On the Pareto frontier: B cheap, 50 % solved for $0.10 per problem; A dear, 75 %" in said
    assert "worse" not in said


@pytest.mark.parametrize(("costs", "shown"), [((0.0, 0.0), False), ((None, None), False), ((0.0, 0.1), True)])
def test_without_costs_success_alone_is_drawn(costs: tuple[float | None, ...], shown: bool) -> None:
    comparison = compared(("a", 3, costs[0]), ("b", 1, costs[1]))
    assert has_costs(comparison) is shown
    order = success_alone(comparison, WIDE).layout.yaxis.categoryarray
    assert list(order) == ["a  <b>A</b>", "b  <b>B</b>"]


TIERS = {"small": "local", "mini": "small_frontier", "big": "frontier"}


@pytest.mark.parametrize(
    ("models", "words"),
    [
        ({"coder": ("small",)}, "local"),
        ({"coder": ("mini",), "reviewer": ("mini",)}, "small frontier"),
        ({"coder": ("small",), "reviewer": ("big",)}, "local + frontier reviewer"),
        ({"coder": ("small",), "spec": ("big",), "reviewer": ("big",)}, "local + frontier reviewer"),
        ({"coder": ("small",), "spec": ("mini",), "reviewer": ("small",)}, "local + small frontier spec"),
        ({"coder": ("small", "big")}, "local + frontier"),
        ({"coder": ("unknown",)}, "local"),
    ],
)
def test_the_tiers_of_the_models_are_said_in_words(models: dict[str, tuple[str, ...]], words: str) -> None:
    assert composition(replace(row("it", 1, 1.0), models=models, model_tiers=TIERS)) == words


def mixed() -> Comparison:
    """Two local configurations, one of them with a frontier reviewer, and one of a frontier model."""
    wanted = [("alone", 1, 0.01), ("helped", 3, 0.1), ("cheap", 2, 0.005), ("best", 4, 1.0)]
    models = [{"coder": ("small",)}, {"coder": ("small",), "reviewer": ("big",)}, {"coder": ("small",)}]
    models.append({"coder": ("big",)})
    rows = [
        replace(row(*it), models=used, model_tiers=TIERS, tiers=(TierCost("local", 4, 0, 4 * it[2]),))
        for it, used in zip(wanted, models, strict=True)
    ]
    return compare(rows, [trial for it in wanted for trial in trials(*it)])


def test_each_composition_has_a_row_with_its_best_and_its_cheapest_configuration() -> None:
    rows = [(line[0], line[1], line[3], line[4], line[5]) for line in compositions_table(mixed()).rows]
    assert rows == [
        ("local", "2", "C · cheap", "$0.010", "C · cheap"),
        ("local + frontier reviewer", "1", "B · helped", "$0.13", "B · helped"),
        ("frontier", "1", "D · best", "$1.00", "D · best"),
    ]
    assert compositions_table(compared(*TWO)).rows == ()


def test_the_marginal_cost_of_a_solve_is_given_from_tier_to_tier() -> None:
    rows = [line[:4] for line in tier_margins_table(mixed()).rows]
    assert rows == [
        ("local → local + frontier reviewer", "C → B", "+25.0", "$0.095"),
        ("local + frontier reviewer → frontier", "B → D", "+25.0", "$0.90"),
    ]
    assert tier_margins_table(compared(*TWO)).rows == ()


def test_by_tier_the_legend_names_the_compositions_and_each_has_an_outline() -> None:
    figure = cost_against_success(mixed(), View(by_tier=True))
    named = [part.name for part in figure.data if part.showlegend is None]
    assert named[:3] == ["local", "local + frontier reviewer", "frontier"]
    marks = next(part for part in figure.data if part.customdata)
    assert list(marks.marker.color) == [theme_color(0), theme_color(1), theme_color(0), theme_color(2)]
    assert [part.fillcolor for part in figure.data if part.fill == "toself"] == [theme_color(2), theme_color(0)]


def test_an_outline_is_convex_and_has_only_corners() -> None:
    square = [(0.0, 0.0), (2.0, 0.0), (2.0, 2.0), (0.0, 2.0)]
    assert sorted(outline([*square, (1.0, 1.0), (1.0, 0.0)])) == sorted(square)
    assert outline([(1.0, 1.0)]) == [(1.0, 1.0)]
    assert sorted(outline([(1.0, 1.0), (2.0, 2.0)])) == [(1.0, 1.0), (2.0, 2.0)]


def test_a_line_joins_configurations_that_differ_only_in_their_effort_from_the_lowest_to_the_highest() -> None:
    efforts = {"high": "high", "low": "low", "plain": "", "most": "4096", "other": "low"}
    rows = [
        replace(row(name, 2, 0.1 + at / 10), parameters=_asked(name, text))
        for at, (name, text) in enumerate(efforts.items())
    ]
    found = [trial for at, name in enumerate(efforts) for trial in trials(name, 2, 0.1 + at / 10)]
    comparison = compare(rows, found)
    assert [[found.label for _, _, found in line] for line in effort_lines(located(comparison))] == [
        ["low", "high", "most"]
    ]
    (line,) = (trace for trace in cost_against_success(comparison).data if trace.name == EFFORT_LINE)
    assert len(line.x) == 3
    assert (
        "A line joins the configurations B, A and D, which differ only in their reasoning effort (low to high)."
        in frontier_alt(comparison)
    )
    assert "differ only" not in frontier_alt(drawn(STUDY))


def _asked(name: str, effort: str) -> dict[str, str | float]:
    return {"temperature": 0.5 if name == "other" else 0.0} | ({"coder.effort": effort} if effort else {})
