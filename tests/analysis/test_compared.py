"""What summaries say of configurations, and what a reader has to be told."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from koderz_core.analysis.configurations import figures_of, letter
from koderz_core.analysis.rates import wilson
from koderz_core.records.progress import SummaryRow, TierCost
from koderz_core.report.findings import remarks as sentences
from koderz_core.report.findings import untested
from koderz_core.report.formats import money

ROW = SummaryRow(
    benchmark="bench_1",
    configuration="conf_1",
    label="direct small",
    strategy="direct",
    models={"coder": ("ollama/small",)},
    parameters={},
    gate="tests",
    dataset="humaneval",
    problem_set="a",
    problems=20,
    planned=20,
    solved=16,
    unsolved=4,
    cancelled=0,
    errors=0,
    running=0,
    score_kind="held_out",
    mean_iterations=1.0,
    input_tokens=10,
    output_tokens=10,
    seconds=40.0,
    cost_usd=8.0,
    ended_cost_usd=8.0,
    unpriced=0,
    tiers=(TierCost("local", 20, 0, 8.0),),
    scored_problems=20,
    share=0.8,
    share_first=0.8,
)


def remarks(*rows: SummaryRow) -> str:
    return "\n".join((*sentences(rows), *untested(rows)))


def test_a_configuration_has_its_rate_with_the_interval_and_what_each_experiment_took() -> None:
    one = figures_of(ROW, 0)
    assert (one.rate, one.share, one.n) == (wilson(16, 20), 0.8, 20)
    assert (one.cost_per_experiment_usd, one.seconds_per_experiment) == (0.4, 2.0)


def test_what_a_configurations_own_limits_ended_is_said_beside_its_rate() -> None:
    assert "unsolved" not in remarks(ROW)
    said = remarks(replace(ROW, context_ends=2, budget_ends=1))
    context = "2 ended because a prompt did not fit into the context window of its model"
    budget = "1 ended because the budget per experiment"
    assert f"direct small: of 4 unsolved experiments, {context} and {budget} was used up." in said


LOCAL = replace(ROW, label="slow", cost_usd=1.7, tiers=(TierCost("local", 20, 0, 1.7, 10.0, 1.5, 0.4),))
RENTED = replace(ROW, label="rented", cost_usd=5.0, tiers=(TierCost("frontier", 20, 0, 5.0),))


def test_where_electricity_decides_the_ranking_its_price_is_told() -> None:
    said = remarks(LOCAL, RENTED)  # 0.2 and 10 kWh against 5.0
    assert "slow below 0.48 USD/kWh, rented above that price." in said
    assert said == remarks(RENTED, LOCAL)


def test_no_ranking_flips_where_the_energy_is_not_known_or_electricity_would_have_to_cost_too_much() -> None:
    assert "electricity" not in remarks(replace(LOCAL, tiers=(TierCost("local", 20, 0, 1.7),)), RENTED)
    assert "electricity" not in remarks(LOCAL, replace(RENTED, cost_usd=50.0))
    assert "electricity" not in remarks(replace(LOCAL, solved=0), RENTED)


def test_electricity_decides_no_ranking_of_configurations_on_different_problems() -> None:
    assert "electricity" not in remarks(LOCAL, replace(RENTED, problem_set="others"))


def test_a_rounding_of_sums_is_no_price_of_electricity() -> None:
    other = replace(LOCAL, label="other", cost_usd=1.6, tiers=(TierCost("local", 20, 0, 1.6, 9.0, 1.4, 0.4),))
    assert "electricity" not in remarks(LOCAL, other)  # both 0.2 beside the energy


def test_beside_local_calls_stands_what_the_same_weights_cost_where_they_are_rented() -> None:
    local, rented = figures_of(LOCAL, 0), figures_of(RENTED, 1)
    assert (local.rental_usd, rented.rental_usd) == (0.4, None)


def test_with_repeats_a_summary_has_a_share_but_no_interval() -> None:
    one = figures_of(replace(ROW, problems=10), 0)
    assert (one.rate, one.share) == (None, 0.8)
    assert "not independent trials" in remarks(replace(ROW, problems=10))


def test_before_anything_has_ended_share_and_time_are_unknown() -> None:
    row = replace(ROW, solved=0, unsolved=0, share=None, running=2, seconds=0.0, cost_usd=1.0, ended_cost_usd=0.0)
    one = figures_of(row, 0)
    assert (one.share, one.seconds_per_experiment) == (None, None)


def test_where_nothing_was_spent_on_nothing_a_cost_per_something_is_undefined_and_not_unknown() -> None:
    free = replace(ROW, solved=0, unsolved=20, ended_cost_usd=0.0)
    begun = replace(free, unsolved=0)
    assert [money(figures_of(item, 0).cost_per_experiment_usd) for item in (free, begun)] == ["$0.00", "–"]


def test_errors_count_for_no_rate_but_their_money_was_spent() -> None:
    one = figures_of(replace(ROW, unsolved=0, share=1.0, errors=3, cancelled=1), 0)
    assert (one.share, one.n, one.cost_per_experiment_usd) == (1.0, 16, 0.4)


def test_what_was_graded_less_safely_is_said() -> None:
    assert "limited" not in remarks(replace(ROW, isolation="strong"))
    assert "could read your files" in remarks(ROW, replace(ROW, isolation="limited"))
    shared = "in 3 experiments, the tests ran in the process of the program, so the program could fake a pass"
    assert shared in remarks(replace(ROW, shared=3))


@pytest.mark.parametrize(
    ("tiers", "expected"),
    [
        ((), None),
        (("local", "frontier", "small_frontier"), "frontier"),
        (("small_frontier", "local"), "small_frontier"),
    ],
)
def test_the_tier_is_the_highest_that_answered(tiers: tuple[str, ...], expected: str | None) -> None:
    row = replace(ROW, tiers=tuple(TierCost(tier, 1, 0, 1.0) for tier in tiers))  # type: ignore[arg-type]
    assert figures_of(row, 0).tier == expected


def test_an_oracle_is_marked_and_told_apart_from_held_out_scores() -> None:
    oracle = replace(ROW, oracle_problems=20)
    assert figures_of(oracle, 0).marks.signs == "*"
    assert "not pass@1" in remarks(oracle)
    assert "come from different kinds of tests" not in remarks(oracle)
    assert "come from different kinds of tests" in remarks(oracle, ROW)


def test_an_oracle_on_one_problem_of_many_is_marked_there_and_its_rate_is_not_called_of_another_kind() -> None:
    mostly_held_out = replace(ROW, oracle_problems=1)
    assert figures_of(mostly_held_out, 0).marks.signs == "*(1/20)"
    assert "*(1/20): the mark applies to 1 of 20 problems" in remarks(mostly_held_out, ROW)
    assert "come from different kinds of tests" not in remarks(mostly_held_out, ROW)
    assert OVERLAP in remarks(mostly_held_out, ROW)


@pytest.mark.parametrize(("oracle_problems", "signs"), [(0, "†"), (1, "*(1/20)†"), (20, "*")])
def test_a_held_out_rate_whose_loop_shows_base_tests_is_marked(oracle_problems: int, signs: str) -> None:
    row = replace(ROW, saw_base_tests=True, oracle_problems=oracle_problems)
    assert figures_of(row, 0).marks.signs == signs
    assert ("the rate is not pass@1 as EvalPlus measures it" in remarks(row, ROW)) == ("†" in signs)
    assert "†" not in remarks(ROW)


OVERLAP = "Overlapping intervals do not show whether two rates differ"


def test_overlapping_intervals_are_not_taken_for_the_absence_of_a_difference() -> None:
    """600 and 645 of 1000 overlap and differ (p = 0.04)."""
    thousand = replace(ROW, problems=1000, planned=1000)
    told = remarks(replace(thousand, solved=600, unsolved=400), replace(thousand, solved=645, unsolved=355))
    assert OVERLAP in told
    assert "koderz compare" in told
    assert "show no difference" not in told


@pytest.mark.parametrize(
    ("solved", "told"), [((20, 2), False), ((2, 20), False), ((2, 20, 3), True), ((9, 2, 9), True)]
)
def test_intervals_that_overlap_are_found_wherever_they_stand(solved: tuple[int, ...], told: bool) -> None:
    rows = [replace(ROW, solved=number, unsolved=20 - number) for number in solved]
    assert (OVERLAP in remarks(*rows)) == told


@pytest.mark.parametrize("other", [{"oracle_problems": 20}, {"problem_set": "b"}])
def test_intervals_of_what_cannot_be_compared_are_not_spoken_of(other: dict[str, Any]) -> None:
    assert OVERLAP in remarks(ROW, ROW)
    assert OVERLAP not in remarks(ROW, replace(ROW, **other))


def test_partial_results_are_called_so() -> None:
    assert "Partial: 5 of 20 experiments" in remarks(replace(ROW, solved=11, running=2))
    assert "Partial" not in remarks(replace(ROW, solved=11, errors=5))


def test_experiments_without_a_result_and_calls_without_a_price_are_counted() -> None:
    told = remarks(replace(ROW, unsolved=1, errors=2, cancelled=1, unpriced=7))
    assert "3 of 20 experiments ended without a result" in told
    assert "7 calls have no known price" in told


def test_different_problems_or_datasets_are_told() -> None:
    assert "different problems" in remarks(ROW, replace(ROW, problem_set="b"))
    assert "different datasets (humaneval, mbpp)" in remarks(ROW, replace(ROW, dataset="mbpp", problem_set="b"))


def test_scripted_answers_are_told() -> None:
    row = replace(ROW, models={"coder": ("ollama/a", "scripted/weak")})
    assert [figures_of(item, 0).scripted for item in (ROW, row)] == [False, True]
    assert "SCRIPTED" in remarks(ROW, row)


def test_a_plain_comparison_needs_no_remark() -> None:
    assert remarks(ROW) == f"Dataset: {ROW.origin.said}."


def test_letters_go_on_after_the_last() -> None:
    assert [letter(place) for place in (0, 25, 26, 51, 52, 702)] == ["A", "Z", "AA", "AZ", "BA", "AAA"]
