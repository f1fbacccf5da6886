"""The chart of success against what was used: where each configuration's curve ends, in lines and in words."""

from __future__ import annotations

import dataclasses

from msgspec.structs import replace
from test_comparison_tables import TWO, compared, row, trials

from koderz_core.analysis.comparison import Comparison, compare
from koderz_core.report.benchmark_report_html import charts_of
from koderz_core.report.captions import CURVES, about_curves, curves_beside_rates, missing_curves
from koderz_core.report.charts_curves import apart, curves_alt, success_by
from koderz_core.report.charts_frontier import View
from koderz_core.report.formats import energy


def retried() -> Comparison:
    """One is asked once, the other solves its problems at attempts 2, 4 and 5 and gives up on the last at 5."""
    once, retry = trials("once", 2, 1.0), trials("retry", 3, 0.1)
    used = [replace(item, iterations=made) for item, made in zip(retry, (2, 4, 5, 5), strict=True)]
    return compare([row("once", 2, 1.0), row("retry", 3, 0.1)], [*once, *used])


def traces(comparison: Comparison, axis: str, letter: str) -> list[dict[str, list[float]]]:
    """The band, the solid line and, where there is one, the dotted line of a configuration."""
    drawn = success_by(comparison, axis, View()).data
    return [
        {"x": list(line.x), "y": list(line.y)} for line in drawn if line.legendgroup == letter and not line.customdata
    ]


def test_a_line_and_its_band_end_where_the_configuration_ended_and_a_dotted_line_goes_on() -> None:
    band, solid, dotted = traces(compared(*TWO), "usd", "B")
    assert max(band["x"]) == max(solid["x"]) == dotted["x"][0] == 0.1
    assert dotted["x"][1] > 1.0
    assert dotted["y"] == [50, 50] == [solid["y"][-1]] * 2
    assert len(traces(compared(*TWO), "usd", "A")) == 2


def test_every_attempt_of_the_longest_configuration_has_its_place_on_the_axis() -> None:
    axis = success_by(retried(), "attempts", View()).layout.xaxis
    assert (axis.range, axis.dtick) == ((0.5, 5.5), 1)
    _, once, dotted = traces(retried(), "attempts", "A")
    _, retry = traces(retried(), "attempts", "B")
    assert (once["x"], dotted["x"]) == ([0.5, 1.5], [1.5, 5.5])
    assert retry["y"][::2] == [0, 25, 25, 50, 75]


def test_the_chart_in_words_says_where_each_ends_and_who_has_no_further_tries() -> None:
    said = "A 50 % within 1 attempt, then no further attempts; B 75 % within 5 attempts."
    assert curves_alt(retried(), "attempts").endswith(said)
    assert [chart.alt for chart in charts_of(retried()) if chart.name == "by-attempts"] == [
        curves_alt(retried(), "attempts")
    ]


def test_the_pointer_shows_every_curve_at_the_same_amount_and_their_end_is_the_rate_of_the_table() -> None:
    figure = success_by(compared(*TWO), "usd", View())
    one, other = (part for part in figure.data if part.customdata)
    assert figure.layout.hovermode == "x unified"
    assert list(one.x) == list(other.x)
    assert one.customdata[-1].endswith("</span> <b>A</b> dear: 75 %, no further attempts")
    assert other.customdata[20].endswith("<b>B</b> cheap: 50 %, no further attempts")
    assert [100 * row.share for row in compared(*TWO).configurations] == [one.y[-1], other.y[-1]]


def test_the_budget_is_drawn_in_the_curves_against_dollars_alone() -> None:
    texts = {
        axis: [note.text for note in success_by(retried(), axis, View(budget=0.5)).layout.annotations]
        for axis in ("usd", "attempts")
    }
    assert ["budget $0.5" in notes for notes in texts.values()] == [True, False]


def test_letters_at_the_ends_keep_their_order_and_a_distance_and_stay_near_their_levels() -> None:
    assert apart([10, 50, 51, 52, 90], 5) == [10, 46, 51, 56, 90]
    assert apart([], 5) == []


def test_what_was_not_measured_has_no_curve_and_a_reason() -> None:
    unmeasured = missing_curves(compared(("a", 3, None), ("b", 1, None)))
    assert unmeasured.startswith("Quantities without a curve for these configurations: dollars (unknown prices), ")
    assert unmeasured.endswith("joules (known only for local models).")
    assert [energy(joules) for joules in (0.5, 12.4, 999.6, 1878.0, 2.5e6)] == [
        "0.5 J",
        "12 J",
        "1000 J",
        "1.9 kJ",
        "2.5 MJ",
    ]


def test_a_curve_that_ends_beside_its_rate_says_why() -> None:
    made = trials("a", 2, 1.0)
    left = replace(made[3], outcome="cancelled", iterations=1)
    late = [replace(made[0], iterations=1), *(replace(trial, iterations=2) for trial in made[1:3]), left]
    partial = compare([dataclasses.replace(row("a", 2, 1.0), unsolved=1, share=2 / 3, cancelled=1)], late)
    assert about_curves(retried(), "attempts") == CURVES
    assert partial.curves["attempts"].curves[0].share[-1] == 0.625
    ends = "Curves whose end differs from the rate in the table: A."
    assert curves_beside_rates(partial, "attempts")[0].endswith(ends)


def test_curves_of_fewer_problems_than_the_table_say_so() -> None:
    fewer = compare([row("a", 2, 1.0), row("b", 2, 1.0)], [*trials("a", 2, 1.0), *trials("b", 2, 1.0)[:2]])
    assert "only problems that were given to all configurations" in about_curves(fewer, "usd")
