"""The answer in names: the best, the cheapest, and the significant differences, with no false claim."""

from __future__ import annotations

from dataclasses import replace

from test_comparison_tables import TWO, compared, row, trials

from koderz_core.analysis.bounds import WorstCase
from koderz_core.analysis.comparison import Comparison, compare
from koderz_core.analysis.multiplicity import compatible
from koderz_core.analysis.pairs import Pair
from koderz_core.report.headline import answer

BASE = "but this does not show that the rates are equal"


def significant(pair: Pair) -> Pair:
    return replace(pair, p_adjusted=0.01, test=compatible(pair.test, 0.01))


def planted(*told: tuple[str, int, float | None], sure: tuple[str, ...] = ()) -> Comparison:
    """Configurations of which those named ``sure`` differ significantly from the baseline."""
    found = compared(*told)
    pairs = tuple(significant(pair) if pair.key[1] in sure else pair for pair in found.pairs)
    return replace(found, pairs=pairs)


def test_the_best_the_cheapest_and_what_is_significant_are_named_in_a_sentence_each() -> None:
    best, cheapest, differ, match, cost, brackets = answer(
        planted(("base", 2, 1.0), ("good", 4, 0.5), ("dull", 2, 0.01), ("weak", 0, 0.3), sure=("good", "weak"))
    ).lines
    assert best == "good has the highest success rate: 100 % [51, 100] of 4 experiments."
    assert cheapest.startswith("dull (50 % [15, 85] solved) has the lowest cost per solved problem: $0.020 [")
    assert differ.startswith(
        "2 of 3 configurations differ significantly in success from the baseline base: good (+50 ["
    )
    assert "and weak (-50 [" in differ
    assert "dull" not in differ
    assert match == ("Match with the baseline base within 10 percentage points: undecided for 3 configurations.")
    assert cost.startswith("Cost per solved problem at most 1.25 times that of the baseline: ")
    assert brackets == "Brackets contain 95 % intervals; intervals of differences hold simultaneously for 3 pairs."


def test_of_many_significant_differences_three_are_named_and_the_others_counted() -> None:
    names = [f"other{place}" for place in range(5)]
    differ = answer(planted(("base", 0, 1.0), *((name, 2, 0.1) for name in names), sure=tuple(names))).sentences[2]
    assert differ.startswith("5 of 5 configurations differ significantly")
    assert [name in differ for name in names] == [True, True, True, False, False]
    assert differ.endswith("and 2 more.")


def test_not_significant_is_not_called_equal() -> None:
    differ = answer(planted(("base", 2, 1.0), ("one", 2, 0.1), ("two", 3, 0.1))).sentences[2]
    assert differ == f"No configuration differs significantly in success from the baseline base, {BASE}."


def test_what_matches_the_baseline_and_what_falls_short_are_named() -> None:
    found = planted(("base", 2, 1.0), ("one", 2, 0.1), ("two", 3, 0.1), ("three", 1, 0.1))
    chances = {"one": (0.01, 0.99), "two": (0.99, 0.01), "three": (0.3, 0.7)}
    pairs = tuple(
        replace(pair, match=replace(pair.match, p=p, p_worst=p, p_short=short))
        for pair, (p, short) in zip(found.pairs, chances.values(), strict=True)
        if pair.match
    )
    said = answer(replace(found, pairs=pairs)).sentences[-2:]
    assert said == (
        "Match with the baseline base within 10 percentage points: shown for one; ruled out for two; undecided for 1 "
        "configuration.",
        "Cost per solved problem at most 1.25 times that of the baseline: shown for one and two; undecided for 1 "
        "configuration.",
    )
    alone = answer(replace(found, pairs=pairs[:1])).sentences[-1]
    assert alone == (
        "one matches base within 10 percentage points (one-sided p = 0.01). The cost per solved problem of one is "
        "shown to be at most 1.25 times that of base."
    )


def test_a_difference_that_missing_results_could_undo_is_counted_but_not_called_significant() -> None:
    found = planted(("base", 0, 1.0), ("one", 4, 0.1), ("two", 0, 0.1), sure=("one",))
    unsure = tuple(replace(pair, worst=WorstCase(1, None, 0.5)) for pair in found.pairs)
    differ = answer(replace(found, pairs=unsure)).sentences[2]
    assert differ.startswith("No configuration differs significantly")
    assert differ.endswith("so far, but not in the worst case for the missing results: 1.")


def test_a_pinned_pair_comes_first() -> None:
    found = planted(("base", 2, 1.0), ("good", 4, 0.5), ("dull", 2, 0.01), sure=("good",))
    about, *others = answer(found, ("bench", "dull")).sentences
    assert about.startswith("On 4 problems, dull and base do not differ significantly in success (")
    assert tuple(others) == answer(found).sentences
    assert answer(found, ("bench", "elsewhere")) == answer(found)


def test_two_configurations_are_compared_in_success_and_in_cost() -> None:
    said = answer(compared(*TWO)).sentences[2]
    assert said.startswith("On 4 problems, cheap and dear do not differ significantly in success (-25 [")
    assert said.endswith("; cheap costs less per solved problem (ratio 0.15 [0.033, 0.67]).")
    sure = answer(planted(*TWO, sure=("cheap",))).sentences[2]
    assert sure.startswith(
        "On 4 problems, cheap solves significantly fewer problems than dear (-25 [-72, <0] percentage"
    )
    near = answer(compared(("dear", 3, 1.0), ("cheap", 2, 0.5))).sentences[2]
    assert "; the difference in cost per solved problem is not significant (ratio 0.75 [" in near


def test_unknown_costs_are_said() -> None:
    def cheapest(*told: tuple[str, int, float | None]) -> str:
        return answer(compared(*told)).sentences[1]

    assert cheapest(("one", 3, None), ("other", 2, None)) == (
        "The cost per solved problem is unknown, because some calls of every configuration have no known price."
    )
    some = cheapest(("one", 3, None), ("other", 2, 1.0))
    assert some.startswith(
        "other (50 % [15, 85] solved) is the only configuration with a known cost per solved problem: "
    )
    assert some.endswith("The cost of 1 configuration is unknown, because some calls have no known price.")
    assert "no cost per solved problem is known" in cheapest(("one", 0, 1.0), ("other", 0, 0.0))
    assert cheapest(("one", 3, 0.0), ("other", 2, 0.0)).endswith("have the lowest cost per solved problem: nothing.")
    assert (
        "costs per solved problem cannot be compared"
        in answer(compared(("one", 3, None), ("other", 2, None))).sentences[2]
    )


def test_rates_and_costs_of_different_problems_have_the_same_caveat() -> None:
    caveat = ", but the configurations did not run on the same problems"
    best, cheapest, *_ = answer(replace(compared(*TWO), across="They ran on different problems.")).sentences
    assert best.endswith(f"{caveat}.")
    assert f"cheap (50 % [15, 85] solved) has the lowest cost per solved problem{caveat}: $0.20 [" in cheapest
    free = replace(compared(("one", 3, 0.0), ("other", 2, 0.0)), across="They ran on different problems.")
    assert answer(free).sentences[1].endswith(f" have the lowest cost per solved problem{caveat}: nothing.")


def test_equally_good_ones_are_all_named_and_nothing_solved_has_no_best() -> None:
    assert (
        answer(compared(("one", 3, 1.0), ("other", 3, 0.1))).sentences[0].endswith(") have the highest success rate.")
    )
    assert answer(compared(("one", 0, 1.0), ("other", 0, 0.1))).sentences[0] == "No configuration solved a problem."


def test_one_alone_is_its_rate_and_its_cost() -> None:
    solved, cost, brackets = answer(compared(TWO[0])).lines
    assert solved == "dear solved 75 % [30, 95] of 4 experiments."
    assert cost.startswith("It cost $1.33 [")
    assert brackets == "Brackets contain 95 % intervals."


def test_a_rate_keeps_its_marks_and_a_hostile_name_stays_on_its_line() -> None:
    rows = [replace(row("x", 3, 1.0), label="a\nb\x1b", scored_problems=4, oracle_problems=4)]
    assert (
        answer(compare(rows, trials("x", 3, 1.0))).sentences[0]
        == "a b\N{REPLACEMENT CHARACTER} solved 75 % [30, 95]* of 4 experiments."
    )
