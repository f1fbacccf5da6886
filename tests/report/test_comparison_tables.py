"""A comparison in words and in numbers."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace

import pytest
from msgspec import structs

from koderz_core.analysis.comparison import Comparison, compare
from koderz_core.records.progress import SummaryRow, TierCost
from koderz_core.records.trials import Trial
from koderz_core.report.charts_curves import success_by
from koderz_core.report.charts_frontier import View, cost_against_success
from koderz_core.report.comparison import (
    common,
    comparison_numbers,
    configurations_table,
    curve_rows,
    curves_table,
    frontier_table,
    pairs_table,
    settings_table,
    tables,
)
from koderz_core.report.configuration_columns import configuration_rows
from koderz_core.report.pair_columns import pair_rows
from koderz_core.report.spending import tiers_listing


def row(name: str, solved: int, usd: float | None, strategy: str = "direct") -> SummaryRow:
    return SummaryRow(
        benchmark="bench",
        configuration=name,
        label=name,
        strategy=strategy,
        models={"coder": ("local/it",)},
        parameters={},
        gate="tests",
        dataset="humaneval",
        problem_set="abcdefgh",
        problems=4,
        planned=4,
        solved=solved,
        unsolved=4 - solved,
        share=solved / 4,
        share_first=solved / 4,
        cancelled=0,
        errors=0,
        running=0,
        score_kind="held_out",
        mean_iterations=1.0,
        input_tokens=1,
        output_tokens=1,
        reasoning_tokens=1,
        seconds=4.0,
        cost_usd=None if usd is None else 4 * usd,
        ended_cost_usd=None if usd is None else 4 * usd,
        unpriced=4 if usd is None else 0,
        tiers=(TierCost("local", 4, 4 if usd is None else 0, None if usd is None else 4 * usd),),
    )


def trials(name: str, solved: int, usd: float | None) -> list[Trial]:
    shared = {"benchmark": "bench", "configuration": name, "repeat": 0, "reason": None, "score_kind": "held_out"}
    spent = {"usd": usd, "frontier_usd": 0.0, "tokens": 10, "frontier_tokens": 0, "seconds": 2.0}
    return [
        Trial(
            **shared,  # type: ignore[arg-type]
            **spent,  # type: ignore[arg-type]
            experiment=f"exp_{name}{place}",
            problem=f"p/{place}",
            outcome="solved" if place < solved else "unsolved",
            gate_passed=None,
            code=None,
            iterations=1,
        )
        for place in range(4)
    ]


def compared(*told: tuple[str, int, float | None]) -> Comparison:
    rows: Sequence[SummaryRow] = [row(*entry) for entry in told]
    return compare(rows, [trial for entry in told for trial in trials(*entry)])


TWO = (("dear", 3, 1.0), ("cheap", 2, 0.1))


def test_a_line_says_the_rate_the_price_and_the_group() -> None:
    first, _ = configurations_table(compared(*TWO)).rows
    assert first[:5] == ("A", "dear", "75 % [30, 95]", "4/4", "1")
    assert first[5].startswith("$1.33 [")


def test_a_pair_says_by_how_much_and_how_surely() -> None:
    table = pairs_table(compared(*TWO))
    shown = dict(zip(table.columns, table.rows[0], strict=True))
    assert shown["points [95 %]"].startswith("-25 [")
    assert (shown["p (Holm)"], shown["significant"], shown["only this row"], shown["only A"]) == (
        "1.00",
        "no",
        "0",
        "1",
    )
    assert (shown["break-even cost"], shown["saved"]) == ("never", "90 %")


def test_nothing_solved_for_money_costs_endlessly_much_and_for_nothing_it_has_no_price() -> None:
    paid, free, unknown = configuration_rows(compared(("paid", 0, 1.0), ("free", 0, 0.0), ("unknown", 0, None)))
    assert (paid["usd_per_solved"], paid["usd_per_solved_is"]) == (None, "unbounded")
    assert (free["usd_per_solved"], free["usd_per_solved_is"]) == (None, "undefined")
    assert (unknown["usd_per_solved"], "usd_per_solved_is" in unknown) == (None, False)


def test_all_of_it_is_json_without_any_number_that_json_does_not_know() -> None:
    told = comparison_numbers(compared(("paid", 0, 1.0), ("free", 0, 0.0), ("unknown", 1, None)))
    read = json.loads(json.dumps(told, allow_nan=False))
    assert [configuration["letter"] for configuration in read["configurations"]] == ["A", "B", "C"]
    assert [len(pair["partings"]) for pair in read["pairs"]] == [0, 1]


def test_words_and_numbers_say_the_same() -> None:
    comparison = compared(*TWO)
    (pair,) = pair_rows(comparison)
    assert (pair["difference"], pair["only_b"], pair["break_even_is"]) == (-0.25, 1, "never")
    assert (pair["break_even_usd"], pair["break_even_low_is"]) == (None, "reached")
    assert [row["letter"] for row in configuration_rows(comparison)] == ["A", "B"]
    assert {row["letter"] for row in curve_rows(comparison, "usd")} == {"A", "B"}


def test_a_sequential_pair_keeps_the_bounds_that_missing_results_set_to_its_difference() -> None:
    *ended, last = [trial for entry in TWO for trial in trials(*entry)]
    rows, held = [row(*entry) for entry in TWO], [*ended, structs.replace(last, outcome="error")]
    fixed = compare(rows, held)
    found = compare(rows, held, untested=[(("bench", "dear"), ("bench", "cheap"))])
    names = ("missing", "difference_worst", "difference_best", "p_worst")
    assert [[pair_rows(each)[0][name] for name in names] for each in (fixed, found)] == [
        [1, -0.25, 0.0, 1.0],
        [1, -0.25, 0.0, None],
    ]
    assert "p worst" not in pairs_table(found).columns


def test_a_curve_is_read_off_at_a_few_places() -> None:
    table = curves_table(compared(*TWO), "usd")
    assert table.columns[2:9] == ("$0.016", "$0.031", "$0.062", "$0.12", "$0.25", "$0.50", "$1.00")
    dear, cheap = table.rows
    assert [cell.partition(" [")[0] for cell in cheap[2:9]] == ["0 %"] * 3 + ["50 % ‡"] * 4
    assert [cell.partition(" [")[0] for cell in dear[2:9]] == ["0 %"] * 6 + ["75 %"]
    assert (dear[9], cheap[9]) == ("75 % [30, 95] by $1.00", "50 % [15, 85] by $0.10")
    assert table.title == (
        "Share of problems solved as a function of the dollars per problem "
        "(‡: the configuration made no further attempts)"
    )


def test_rows_of_a_curve_end_where_its_own_configuration_ended() -> None:
    found = [(row["letter"], row["usd"], row["share"]) for row in curve_rows(compared(*TWO), "usd")]
    assert (found[2], found[-1]) == (("A", 1.0, 0.75), ("B", 0.1, 0.5))


def test_of_a_baseline_that_solved_nothing_it_is_said_that_there_is_nothing_to_reach() -> None:
    comparison = compared(("dear", 0, 1.0), ("cheap", 2, 0.1))
    shown = dict(zip(pairs_table(comparison).columns, pairs_table(comparison).rows[0], strict=True))
    assert (shown["break-even cost"], shown["P(never)"]) == ("baseline solved nothing", "-")
    (pair,) = pair_rows(comparison)
    assert (pair["break_even_usd"], pair["break_even_is"], pair["break_even_never"]) == (None, "no_target", None)


def test_no_two_columns_of_a_curve_are_called_the_same_where_nothing_cost_any() -> None:
    table = curves_table(compared(("free", 0, 0.0), ("as free", 1, 0.0)), "usd")
    assert table.columns == ("", "configuration", "$0.00", "at end of curve", "stopped by false passes", "interrupted")
    assert {len(line) for line in table.rows} == {len(table.columns)}


def test_the_frontier_says_who_is_unbeaten_and_how_often() -> None:
    dear, cheap = frontier_table(compared(*TWO)).rows
    assert (dear[4], cheap[4], cheap[5]) == ("yes", "yes", "1.00")


def test_a_rate_has_its_marks_in_every_table_in_the_charts_and_in_the_numbers() -> None:
    rows = [replace(row(*entry), scored_problems=4, oracle_problems=1, saw_base_tests=True) for entry in TWO]
    found = compare(rows, [trial for entry in TWO for trial in trials(*entry)])
    said = [
        configurations_table(found).rows[0][2],
        frontier_table(found).rows[0][3],
        curves_table(found, "usd").rows[0][-3].partition(" by ")[0],
        *(part.customdata[-1] for part in success_by(found, "usd", View()).data if part.customdata),
        *(part.customdata[-1][0] for part in cost_against_success(found).data if part.customdata),
    ]
    assert [text for text in said if "*(1/4)†" not in text] == []
    numbers = configuration_rows(found)[0]
    assert [numbers[name] for name in ("score_kind", "oracle_problems", "saw_base_tests")] == ["mixed", 1, True]


def test_a_tier_without_a_price_is_unpriced_and_one_that_solved_nothing_endless() -> None:
    table = tiers_listing(compared(("paid", 0, 1.0), ("unknown", 1, None), ("dear", 2, 1.0))).table
    costs = [line[-1] for line in table.rows]
    assert costs == ["∞", "unpriced", "$2.00"]


def test_what_is_the_same_for_all_is_said_once_and_no_table_is_empty() -> None:
    comparison = compared(*TWO)
    assert settings_table(comparison).rows == ()
    assert "strategy direct" in common(comparison)
    assert "Settings that differ" not in [table.title for table in tables(comparison)]


@pytest.mark.parametrize(
    "made", [configurations_table, pairs_table, frontier_table, lambda it: tiers_listing(it).table]
)
def test_every_line_has_a_cell_for_each_column(made) -> None:
    table = made(compared(*TWO))
    assert {len(line) for line in table.rows} == {len(table.columns)}


def test_an_interval_of_costs_stays_inside_its_chart_unless_it_is_endless() -> None:
    comparison = compared(*TWO)
    dear, cheap = comparison.tradeoff.points
    for high, end in ((1.8, 1.8), (50.0, 2.0)):
        points = (replace(dear, usd_high=high), cheap)
        shown = cost_against_success(replace(comparison, tradeoff=replace(comparison.tradeoff, points=points)))
        assert 10 ** shown.layout.xaxis.range[1] == pytest.approx(1.6 * end)
