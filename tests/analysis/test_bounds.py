"""What missing results could change: nothing outside the bounds, and no claim that some of them would undo."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from made_trials import trials
from msgspec import structs

from koderz_core.analysis.bounds import Cases, cases, completed, worst_case
from koderz_core.analysis.multiplicity import rank_groups
from koderz_core.analysis.paired import paired
from koderz_core.analysis.pairs import Pair
from koderz_core.analysis.rates import by_problem, clustered
from koderz_core.records.trials import Trial
from koderz_core.report.findings import finding


def marked(name: str, marks: str) -> list[Trial]:
    """One trial per mark, each of a problem of its own."""
    return trials(name, {f"p/{place}": mark for place, mark in enumerate(marks)})


def completions(found: Sequence[Trial]) -> Iterator[list[Trial]]:
    """Every way in which the missing results can turn out."""
    for made_up in product(("solved", "unsolved"), repeat=sum(not result.scored for result in found)):
        left = iter(made_up)
        yield [result if result.scored else structs.replace(result, outcome=next(left)) for result in found]


@given(st.lists(st.text("10e-", min_size=1, max_size=3), min_size=1, max_size=3))
def test_no_completion_leaves_the_bounds_of_a_rate_and_both_are_reached(repeats: list[str]) -> None:
    found = trials("a", {f"p/{place}": marks for place, marks in enumerate(repeats)})
    possible = [clustered(by_problem(completion)).value for completion in completions(found)]
    bounds = cases(found)
    assert bounds is not None
    assert (min(possible), max(possible)) == pytest.approx((bounds.worst, bounds.best))


@settings(max_examples=60)
@given(st.text("1111110e", min_size=9, max_size=12), st.data())
def test_what_is_significant_in_the_worst_case_is_so_in_every_completion(marks: str, data: st.DataObject) -> None:
    other = data.draw(st.text("0000001-", min_size=len(marks), max_size=len(marks)))
    a, b = marked("a", marks), marked("b", other)
    assume(sum(not item.scored for item in (*a, *b)) <= 5)
    test = paired(a, b)
    found = worst_case(a, b, test)
    every = [paired(item, two) for item, two in product(completions(a), completions(b))]
    assert found.difference is not None
    low, high = found.difference.worst - 1e-9, found.difference.best + 1e-9
    assert all(low <= (item.difference or 0.0) <= high for item in every)
    if found.p is not None and found.p < 1:
        assert max(item.p or 0.0 for item in every) == pytest.approx(found.p)
        assert all((item.difference or 0.0) * (test.difference or 0.0) > 0 for item in every)


ONES, SOME = ["11e", *["11"] * 7], ["10", "10", "11", "00e", "10", "00e", "11", "10"]
LOST = st.lists(st.integers(0, 15), min_size=1, max_size=4)
TWICE = st.lists(st.sampled_from(["00", "00", "01", "10", "11"]), min_size=8, max_size=8)


def repeated(name: str, marks: Sequence[str]) -> list[Trial]:
    return trials(name, {f"p/{place}": mark for place, mark in enumerate(marks)})


def test_with_repeats_no_result_of_the_missing_experiments_undoes_what_is_significant_in_the_worst_case() -> None:
    """All missing ones against a give 0.031; b's missing ones unsolved as well give 0.059: repeats are not monotone."""
    a, b = repeated("a", ONES), repeated("b", SOME)
    possible = [paired(item, two).p or 0.0 for item, two in product(completions(a), completions(b))]
    against = paired(completed(a, solved=False), completed(b, solved=True)).p
    assert against == pytest.approx(0.03125)
    assert max(possible) == pytest.approx(0.05875)
    assert (worst_case(a, b, paired(a, b)).p or 0.0) > 0.05


@settings(max_examples=25, deadline=None)
@given(TWICE, LOST)
def test_with_repeats_what_is_significant_in_the_worst_case_is_so_in_every_completion(
    of_b: list[str], lost: list[int]
) -> None:
    """``lost``: the trials of b that have no result."""
    marks = "".join("e" if place in lost else mark for place, mark in enumerate("".join(of_b)))
    a, b = repeated("a", ["1"] * 8), repeated("b", [marks[at : at + 2] for at in range(0, 16, 2)])
    worst = worst_case(a, b, paired(a, b)).p
    largest = max(paired(a, completion).p or 0.0 for completion in completions(b))
    assert (worst is not None and worst <= 0.05) == (largest <= 0.05)


def test_with_too_many_possible_results_nothing_is_significant_in_the_worst_case() -> None:
    """127 problems of the same counts have 128 sets of possible results, and 128 problems one more."""
    few, many = ((repeated("a", ["11e"] * n), repeated("b", ["000"] * n)) for n in (127, 128))
    assert worst_case(*few, paired(*few)).p == pytest.approx(0, abs=1e-8)
    assert worst_case(*many, paired(*many)).p == 1


def test_where_nothing_is_missing_nothing_changes() -> None:
    a, b = marked("a", "1101"), marked("b", "0100")
    test = paired(a, b)
    found = worst_case(a, b, test)
    assert (found.missing, found.difference, found.p) == (0, Cases(0.5, 0.5), test.p)
    assert cases(a) == Cases(0.75, 0.75)


def test_a_problem_that_only_one_was_given_is_not_missing() -> None:
    a, b = marked("a", "1111"), marked("b", "00")
    assert worst_case(a, b, paired(a, b)).missing == 0


LUCKY, PLAIN = marked("lucky", "1" * 12 + "e" * 8), marked("plain", "0" * 8 + "1" * 12)


def test_a_difference_that_missing_results_could_turn_round_tells_nobody_apart() -> None:
    test = paired(LUCKY, PLAIN)
    assert test.p is not None
    assert test.p < 0.01
    assert rank_groups("lp", {"l": LUCKY, "p": PLAIN}) == [("l", "p")]
    assert rank_groups("lp", {"l": LUCKY[:12], "p": PLAIN}) == [("l",), ("p",)]


def test_a_finding_says_under_which_condition_a_difference_is_significant() -> None:
    test = paired(LUCKY, PLAIN)
    labels = {("b", "lucky"): "lucky", ("b", "plain"): "plain"}
    of = Pair(*labels, test, test.p, (), None, None, None, 0, worst_case(LUCKY, PLAIN, test))
    whatever = "in the worst case for the 8 missing results;"
    assert f"significant on the 12 problems with a result of both configurations, but not {whatever}" in finding(
        of, labels
    )
    assert of.worst
    assert f"p = 0.0078): significant, even {whatever}" in finding(replace(of, worst=replace(of.worst, p=0.01)), labels)
    assert "significant;" in finding(replace(of, worst=None), labels)
