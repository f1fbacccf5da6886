"""The rates of configurations while their benchmark runs: marks, footnotes, and what is missing."""

from __future__ import annotations

from dataclasses import replace

from koderz_core.records.rows import ExperimentRow
from koderz_core.report.board import rates


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


def test_a_rate_of_some_experiments_is_partial_and_has_its_best_and_worst_case() -> None:
    (line,), _ = rates([experiment(7, "solved"), experiment(8, None)])
    assert (
        line == "A direct: solved 100 % [21, 100] of 1 experiment · partial: 1 of 2 experiments without a result "
        "(success rate from worst to best case: 50 to 100 %)"
    )


def test_a_rate_of_which_nothing_is_to_come_is_not_called_partial() -> None:
    rows = [experiment(1, "solved"), experiment(2, "unsolved"), experiment(3, "solved", "repair")]
    lines, _ = rates(rows)
    assert lines == (
        "A direct: solved 50 % [9, 91] of 2 experiments",
        "B repair: solved 100 % [21, 100] of 1 experiment",
    )
    assert rates(rows[::-1])[0] == lines  # the first problem of a shard may lack some configurations


def test_a_rate_has_its_marks_and_what_they_mean_stands_below() -> None:
    rows = [replace(experiment(item, "solved"), saw_base_tests=True) for item in (1, 2)]
    kinds = [replace(row, score_kind=kind) for row, kind in zip(rows, ("oracle", "held_out"), strict=True)]
    lines, footnotes = rates(kinds)
    assert lines == ("A direct: solved 100 % [34, 100]*(1/2)† of 2 experiments",)
    assert [footnote.split()[0] for footnote in footnotes] == ["*", "*(1/2):", "†"]


def test_errors_without_any_result_are_counted() -> None:
    assert rates([experiment(number, "error") for number in range(6)])[0] == (
        "A direct: no result: 6 of 6 experiments ended with an error",
    )
    assert rates([experiment(number, None) for number in range(6)])[0] == (
        "A direct: no result yet (6 experiments planned)",
    )


def test_experiments_that_a_decision_left_out_are_not_missing_while_their_benchmark_is_paused() -> None:
    rows = [replace(experiment(1, "solved"), started_at=1.0), replace(experiment(2, None), state="paused")]
    (line,), _ = rates(rows, decided=True)
    assert line.endswith("of 1 experiment · 1 experiment not run because of the stopping rule")
