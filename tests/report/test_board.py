"""Experiments as lanes of cells: one each, or a stretch where they are many; and what is told of a lane."""

from __future__ import annotations

from dataclasses import replace

from koderz_core.records.rows import ExperimentRow
from koderz_core.report.timeline import MOST_CELLS, lanes


def experiment(number: int, outcome: str | None, label: str = "direct") -> ExperimentRow:
    state = "finished" if outcome else "planned"
    nothing = dict.fromkeys(("reason", "score_kind", "code", "gate_passed", "gate_tests_passed", "gate_tests_total"))
    nothing |= dict.fromkeys(("held_out_passed", "held_out_tests_passed", "held_out_tests_total", "input_tokens"))
    nothing |= dict.fromkeys(("output_tokens", "cost_usd", "seconds", "started_at", "finished_at", "failure", "error"))
    place = {
        "id": f"exp_{number}",
        "benchmark": "bench_1",
        "configuration": label,
        "label": label,
        "strategy": "direct",
    }
    counts = {"iterations": 1, "calls": 1, "unpriced": 0, "models": {}, "problem": f"HumanEval/{number}", "repeat": 0}
    return ExperimentRow(**place, **counts, state=state, outcome=outcome, **nothing)


def test_a_cell_is_called_by_its_problems_number_and_leads_to_its_experiment_once_that_was_begun() -> None:
    drawn = lanes([experiment(7, "solved"), experiment(8, None)])
    (lane,) = drawn.lanes
    assert [(cell.shown, cell.name, cell.experiment) for cell in lane.cells] == [
        ("solved", "7", "exp_7"),
        ("planned", "8", None),
    ]
    assert (
        lane.summary == "solved 100 % [21, 100] of 1 experiment · partial: 1 of 2 experiments without a result "
        "(worst to best case: 50 to 100 %)"
    )


def test_a_rate_of_which_nothing_is_to_come_is_not_called_partial() -> None:
    (lane,) = lanes([experiment(1, "solved"), experiment(2, "unsolved")]).lanes
    assert lane.summary == "solved 50 % [9, 91] of 2 experiments"


def test_a_rate_has_its_marks_and_what_they_mean_stands_below() -> None:
    rows = [replace(experiment(item, "solved"), saw_base_tests=True) for item in (1, 2)]
    kinds = [replace(row, score_kind=kind) for row, kind in zip(rows, ("oracle", "held_out"), strict=True)]
    drawn = lanes(kinds)
    assert drawn.lanes[0].summary == "solved 100 % [34, 100]*(1/2)† of 2 experiments"
    assert [footnote.split()[0] for footnote in drawn.footnotes] == ["*", "*(1/2):", "†"]


def test_of_ten_thousand_a_cell_stands_for_as_many_as_keep_the_cells_few() -> None:
    rows = [experiment(number, "solved" if number % 25 < 20 else "unsolved") for number in range(10_000)]
    drawn = lanes(rows)
    (lane,) = drawn.lanes
    assert (drawn.each, len(lane.cells)) == (25, MOST_CELLS)
    assert {(cell.shown, cell.name) for cell in lane.cells} == {("solved", "20/25")}
    assert lane.cells[1].experiment == "exp_25"


def test_a_lane_of_errors_says_so_and_that_nothing_is_to_come() -> None:
    (lane,) = lanes([experiment(number, "error") for number in range(6)]).lanes
    assert lane.summary == "no result: 6 of 6 experiments ended with an error"
    (lane,) = lanes([experiment(number, None) for number in range(6)]).lanes
    assert lane.summary == "no result yet (6 experiments planned)"
