"""Everything that can be said of configurations together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from operator import attrgetter

import pytest
from made_trials import trials
from msgspec import structs
from test_compared import ROW

from koderz_core.analysis.bounds import Cases, WorstCase
from koderz_core.analysis.comparison import Comparison, compare
from koderz_core.analysis.configurations import figures_of
from koderz_core.analysis.differences import differences
from koderz_core.analysis.paired import paired
from koderz_core.analysis.pairs import Key, leading_pair
from koderz_core.analysis.rates import Interval, wilson
from koderz_core.records.progress import SummaryRow, TierCost
from koderz_core.report.findings import NO_BASELINE, with_sentences
from koderz_core.report.registration import about_untested, not_valid

DEAR, CHEAP, FREE = 1.0, 0.01, 0.0
MARKS = {"dear": "1110111011", "cheap": "1101101011", "weak": "0000100000"}
USD = {"dear": DEAR, "cheap": CHEAP, "weak": FREE}


def row(name: str, strategy: str = "direct", tier: str = "local", **more: object) -> SummaryRow:
    solved = MARKS[name].count("1")
    cost = 10 * USD[name]
    made = replace(
        ROW,
        benchmark="bench",
        configuration=name,
        label=name,
        strategy=strategy,
        problems=10,
        planned=10,
        solved=solved,
        unsolved=10 - solved,
        share=solved / 10,
        cost_usd=cost,
        ended_cost_usd=cost,
        tiers=(TierCost(tier, 10, 0, cost),),  # type: ignore[arg-type]
        scored_problems=10,
    )
    return replace(made, **more)  # type: ignore[arg-type]


ROWS = [row("weak"), row("cheap", "supervised"), row("dear", tier="frontier")]


def compared(
    rows: Sequence[SummaryRow] = ROWS,
    baseline: SummaryRow | None = None,
    untested: Sequence[tuple[Key, Key]] = (),
) -> Comparison:
    """The first ``oracle_problems`` of each are scored by the tests that it stopped on."""
    held = [
        structs.replace(
            trial,
            usd=USD[name],
            frontier_usd=0.0,
            tokens=1,
            frontier_tokens=0,
            code=f"{name} {trial.problem}",
            score_kind="oracle" if int(trial.problem[2:]) < row.oracle_problems else "held_out",
        )
        for row, name in [(row, row.configuration) for row in rows]
        for trial in trials(name, {f"p/{place}": mark for place, mark in enumerate(MARKS[name])})
        if row.scored_problems
    ]
    return with_sentences(compare(rows, held, baseline, untested=untested), rows)


def test_the_others_are_held_against_the_frontier_model_that_was_asked_once() -> None:
    assert compared().baseline == ("bench", "dear")
    assert [pair.key[1] for pair in compared().pairs] == ["weak", "cheap"]


def test_without_a_frontier_model_the_dearest_that_was_asked_once_stands_in_and_that_is_said() -> None:
    found = compared([row("weak"), row("cheap"), row("dear", "supervised", "frontier")])
    assert found.baseline == ("bench", "cheap")
    assert NO_BASELINE in found.findings
    assert NO_BASELINE not in compared().findings


def test_problems_of_different_datasets_are_different_ones_whatever_their_ids() -> None:
    found = compared([row("cheap", dataset_sha256="a" * 64), row("dear", tier="frontier", dataset_sha256="b" * 64)])
    assert (found.pairs[0].test.n, found.tradeoff.problems) == (0, 0)
    assert "cannot be compared" in found.findings[0]


def test_the_problems_of_a_pair_have_the_ids_of_their_dataset_beside_a_benchmark_of_another() -> None:
    one, other = ({"dataset_sha256": letter * 64} for letter in "ab")
    found = compared([row("weak", **other), row("cheap", **one), row("dear", tier="frontier", **one)])
    (pair,) = (pair for pair in found.pairs if pair.key[1] == "cheap")
    assert [problem.problem for problem in pair.partings] == ["p/2", "p/5", "p/3"]


def test_curves_are_of_the_problems_that_all_were_given() -> None:
    marks = {"cheap": {"p/1": "1", "p/2": "0"}, "dear": {"p/1": "0", "p/2": "0", "p/3": "1", "p/4": "1"}}
    found = compare(
        [row("cheap"), row("dear", tier="frontier")],
        [trial for name, of in marks.items() for trial in trials(name, of)],
    )
    assert [(curve.problems, curve.share[-1]) for curve in found.curves["attempts"].curves] == [(2, 0.5), (2, 0.0)]


def test_the_finding_is_of_scores_of_one_kind_where_there_are_such() -> None:
    found = compared([row("cheap", "supervised", oracle_problems=10), row("weak"), row("dear", tier="frontier")])
    assert found.findings[0].startswith("On 10 problems, weak solved")
    assert "cheap*" in found.findings[2]


def test_a_frontier_model_without_any_result_is_no_measured_baseline() -> None:
    failed = row("dear", tier="frontier", solved=0, unsolved=0, share=None, errors=10)
    assert NO_BASELINE in compared([row("weak"), row("cheap"), failed]).findings


def test_another_baseline_can_be_named() -> None:
    assert compared(baseline=ROWS[1]).baseline == ("bench", "cheap")


def test_of_one_configuration_there_is_no_pair_and_of_none_nothing_breaks() -> None:
    assert (compared(ROWS[:1]).baseline, compared(ROWS[:1]).pairs) == (None, ())
    assert compare([], []).configurations == ()


def test_a_pair_names_the_problems_that_part_the_two_with_an_experiment_and_a_program_of_each() -> None:
    pair = next(item for item in compared().pairs if item.key[1] == "cheap")
    assert (pair.test.only_a, pair.test.only_b) == (1, 2)
    assert [(problem.problem, problem.solved_by_baseline) for problem in pair.partings] == [
        ("p/2", True),
        ("p/5", True),
        ("p/3", False),
    ]
    first = pair.partings[0]
    assert (first.experiment, first.baseline_experiment) == ("cheap/p/2/0", "dear/p/2/0")
    assert (first.code, first.baseline_code) == ("cheap p/2", "dear p/2")


def test_of_repeats_a_parting_shows_one_that_went_each_way() -> None:
    rows = [replace(row("cheap"), planned=20), replace(row("dear"), planned=20)]
    held = trials("cheap", {"p/1": "01", "p/2": "00"}) + trials("dear", {"p/1": "00", "p/2": "01"})
    (pair,) = compare(rows, held).pairs
    assert [(problem.experiment, problem.baseline_experiment) for problem in pair.partings] == [
        ("cheap/p/2/0", "dear/p/2/1"),
        ("cheap/p/1/1", "dear/p/1/0"),
    ]


def test_p_is_adjusted_for_how_many_pairs_there_are() -> None:
    weak, cheap = compared().pairs
    assert weak.p_adjusted == pytest.approx(2 * weak.test.p)
    assert (weak.significant, cheap.significant) == (weak.p_adjusted <= 0.05, False)


def test_no_line_says_that_two_are_told_apart_beside_an_interval_that_holds_0_or_the_reverse() -> None:
    held = trials("cheap", {f"p/{n}": "11" for n in range(10)}) + trials("dear", {f"p/{n}": "01" for n in range(10)})
    (pair,) = compare([replace(row("cheap"), planned=20), replace(row("dear"), planned=20)], held).pairs
    raw = paired(held[:20], held[20:])
    assert pair.significant
    assert raw.low is not None
    assert (pair.test.low, pair.test.high) == (max(raw.low, 0.0), raw.high)
    one_way = compare(
        [row("cheap"), row("dear")],
        trials("cheap", {f"p/{n}": "1" for n in range(5)}) + trials("dear", {f"p/{n}": "0" for n in range(5)}),
    ).pairs[0]
    assert (one_way.significant, one_way.test.low) == (False, 0.0)  # p = 0.06, and Bonett-Price begins above 0


def test_a_pair_on_which_its_benchmark_depends_has_no_tests_and_no_intervals_and_does_not_adjust_others() -> None:
    found = compared(untested=[(("bench", "cheap"), ("bench", "dear"))])
    other, pair = found.pairs
    assert [*about_untested(found)] == [not_valid("B", "C")]
    assert (pair.test.p, pair.test.low, pair.p_adjusted, pair.match, pair.cost_match) == (None,) * 5
    assert pair.price and pair.break_even and pair.savings and pair.savings.share  # noqa: PT018
    saved, share = pair.savings.saved_usd, pair.savings.share
    assert (pair.price.low, pair.break_even.low, saved.low, share.low, pair.break_even.never) == (None,) * 5
    assert (pair.price.high, pair.break_even.high, saved.high, share.high) == (None,) * 4
    assert (pair.test.difference, pair.price.value) == (compared().pairs[1].test.difference, pytest.approx(8 / 700))
    (alone,) = compared([ROWS[0], ROWS[2]]).pairs
    assert (other.test, other.p_adjusted, other.match) == (alone.test, alone.p_adjusted, alone.match)
    assert leading_pair((pair, other)) == other


def test_of_equally_good_configurations_the_better_one_has_the_cheaper_experiments() -> None:
    once = row("weak", cost_usd=10.0, ended_cost_usd=10.0)
    repeated = row("weak", planned=50, solved=5, unsolved=45, cost_usd=20.0, ended_cost_usd=20.0)
    unknown = row("weak", cost_usd=None, ended_cost_usd=None)
    found = [figures_of(it, place) for place, it in enumerate((repeated, unknown, once))]
    ranked = sorted(found, key=attrgetter("standing"))
    assert [it.letter for it in ranked] == ["B", "C", "A"]
    assert {it.share for it in ranked} == {0.1}


def test_all_intervals_of_pairs_are_wider_the_more_pairs_there_are() -> None:
    one, (_, of_two) = compared(ROWS[1:]).pairs[0], compared().pairs
    assert (one.test.at_once, of_two.test.at_once) == (1, 2)
    assert of_two.test.low < one.test.low < one.test.high < of_two.test.high  # type: ignore[operator]
    assert of_two.price.low < one.price.low  # type: ignore[operator, union-attr]


def test_the_first_finding_is_of_the_pair_that_matters() -> None:
    found = compared()
    assert leading_pair(found.pairs) == found.pairs[0]  # significantly fewer, and the other says nothing
    assert found.findings[0] == found.pairs[0].finding
    assert found.findings[1].startswith("This pair was selected from 2 pairs after the results were known")
    assert not any("picked" in finding for finding in compared(ROWS[1:]).findings)


def test_a_pair_that_says_nothing_never_leads_while_another_is_significant() -> None:
    weak, cheap = compared().pairs
    better = replace(cheap, p_adjusted=0.01, test=replace(cheap.test, difference=0.1))
    dearer = replace(better, price=Interval(2.0, None, None))
    worse = replace(weak, p_adjusted=0.01)
    unsure = replace(better, worst=WorstCase(1, Cases(0.0, 0.2), 0.5))
    nothing = replace(cheap, p_adjusted=1.0)
    order = [better, dearer, worse, unsure, nothing]
    for place, pair in enumerate(order):
        assert leading_pair([*reversed(order[place:])]) == pair
    assert leading_pair([weak]) == weak
    assert leading_pair([]) is None


def test_with_repeats_the_rate_is_clustered_by_problem_and_without_it_is_wilsons() -> None:
    held = trials("cheap", {f"p/{place}": "11" if place < 5 else "00" for place in range(10)})
    (one,) = compare([replace(row("cheap"), planned=20)], held).configurations
    assert one.rate is not None
    assert (one.share, one.rate.low) == (0.5, pytest.approx(wilson(5, 10).low, abs=0.01))
    assert compared(ROWS[:1]).configurations[0].rate == wilson(1, 10)


def test_cost_per_solved_problem_has_an_interval_and_is_endless_where_nothing_was_solved() -> None:
    price = compared().measured["bench", "dear"].price
    assert price is not None
    assert price.value == pytest.approx(10 / 8)
    held = [structs.replace(trial, usd=1.0) for trial in trials("weak", {"p/1": "0", "p/2": "0"})]
    nothing = compare([row("weak")], held).measured["bench", "weak"].price
    assert nothing is not None
    assert nothing.value == float("inf")


def test_two_kinds_of_scores_are_noticed_only_where_both_have_some() -> None:
    oracle = row("cheap", "supervised", oracle_problems=10)
    assert compared([ROWS[0], oracle]).mixed
    assert not compared(ROWS).mixed
    assert not compared([oracle, replace(ROWS[0], solved=0, unsolved=0, scored_problems=0)]).mixed


def test_two_kinds_of_scores_on_one_problem_are_told_of_that_problem_and_move_no_pair_to_the_end() -> None:
    found = compared([row("weak"), row("cheap", "supervised", oracle_problems=1), row("dear", tier="frontier")])
    weak, pair = found.pairs
    dull = replace(weak, p_adjusted=1.0, price=Interval(2.0, None, None))
    assert (found.mixed_problems, dull.mixed, pair.mixed) == (1, 0, 1)
    assert "On 1 of the 10 problems, one configuration is scored by its own gate tests" in pair.finding
    assert leading_pair([dull, pair]) == pair


def test_only_what_differs_is_listed_and_what_does_not_once() -> None:
    found = differences([row("weak", parameters={"spec": True}), row("cheap", "supervised", parameters={"spec": 1})])
    differing = {setting.name: setting.values for setting in found.differing}
    assert differing == {"strategy": ("direct", "supervised"), "spec": (True, 1)}
    assert (found.common["gate"], found.common["dataset"], found.common["coder model"]) == (
        "tests",
        "humaneval",
        "ollama/small",
    )


def test_a_setting_that_one_of_them_lacks_differs() -> None:
    found = differences([row("weak"), row("cheap", parameters={"max_iterations": 3})])
    assert [(setting.name, setting.values) for setting in found.differing] == [("max iterations", (None, 3))]
