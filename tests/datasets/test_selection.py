"""What a person may write to choose problems."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from koderz_core.datasets.selection import chosen_by, select, typed, way_of, without_date
from koderz_core.errors import PlanError, UnknownNameError
from koderz_core.records import Dataset, DatasetOrigin, Facts, Problem, PublicProblem, TestSet


def own(name: str) -> Problem:
    return Problem(PublicProblem(name, "", "f"), TestSet("t"), "")


def problem(number: int) -> Problem:
    return own(f"HumanEval/{number}")


# The numbers in the ids are not the places.
DATASET = Dataset(DatasetOrigin("own", "", ""), tuple(problem(number) for number in range(100, 140)))


def numbers(text: str, seed: int = 0) -> list[int]:
    return [int(chosen.id.removeprefix("HumanEval/")) for chosen in select(DATASET, text, seed)]


@pytest.mark.parametrize(
    ("text", "chosen"),
    [
        ("0:3", [100, 101, 102]),
        ("38:99", [138, 139]),
        (":2", [100, 101]),
        ("38:", [138, 139]),
        ("103", [103]),
        ("0103", [103]),
        ("HumanEval/103", [103]),
        ("139, 0:2 ,HumanEval/101", [100, 101, 139]),
        ("all", list(range(100, 140))),
    ],
)
def test_each_form_chooses_in_the_publishers_order_and_once(text: str, chosen: list[int]) -> None:
    assert numbers(text) == chosen


@given(st.integers(1, 40), st.integers(1, 40), st.integers(0, 2**64))
def test_a_larger_sample_of_the_same_seed_contains_the_smaller(one: int, other: int, seed: int) -> None:
    small, large = sorted((one, other))
    assert len(numbers(f"sample:{small}", seed)) == small
    assert set(numbers(f"sample:{small}", seed)) <= set(numbers(f"sample:{large}", seed))
    assert numbers(f"sample:{large}", seed) == sorted(numbers(f"sample:{large}", seed))


def test_a_sample_never_changes() -> None:
    assert numbers("sample:5", seed=7) == [103, 118, 130, 136, 139]
    assert numbers("sample:5", seed=8) != numbers("sample:5", seed=7)


@pytest.mark.parametrize(
    "text", ["", ",", "3:3", "40:50", "sample:0", "sample:x", "sample:", "1:2:3", "-1:2", "0:x", "105,"]
)
def test_what_chooses_nothing_lists_the_forms(text: str) -> None:
    with pytest.raises(PlanError, match="'sample:20'"):
        select(DATASET, text)


def test_a_sample_larger_than_the_dataset_is_refused() -> None:
    with pytest.raises(PlanError, match="from only 40"):
        select(DATASET, "sample:41")


@pytest.mark.parametrize("text", ["3", "HumanEval/3", "0:2,x", "3-7", "\u0663", "9" * 5000])
def test_a_problem_that_is_not_there_is_told(text: str) -> None:
    with pytest.raises(UnknownNameError, match="Unknown problem"):
        select(DATASET, text)


@given(st.sets(st.integers(0, 39), min_size=1))
def test_what_was_chosen_can_be_said_again(places: set[int]) -> None:
    chosen = tuple(DATASET.problems[place] for place in sorted(places))
    assert select(DATASET, chosen_by(DATASET, {problem.id for problem in chosen})) == chosen


def test_an_id_that_would_be_read_as_something_else_is_said_by_its_place() -> None:
    odd = replace(DATASET, problems=tuple(own(name) for name in ("all", "a,b", "fine", "0:2", " ", "sample:1")))
    for problem in odd.problems:
        assert select(odd, chosen_by(odd, {problem.id})) == (problem,)
    assert chosen_by(odd, {"all", "fine", " "}) == "0:1,fine,4:5"


def test_a_range_and_a_list_are_said_shortly() -> None:
    def said(*numbers: int) -> str:
        return chosen_by(DATASET, [f"HumanEval/{number}" for number in numbers])

    assert (said(103, 104, 105), said(102, 104), said(107)) == ("3:6", "HumanEval/102,104", "HumanEval/107")


def test_a_number_that_means_another_problem_is_said_in_full() -> None:
    alike = replace(DATASET, problems=tuple(own(name) for name in ("a/1", "b/1", "c/2", "2", "d/3")))
    assert chosen_by(alike, {"b/1", "c/2", "d/3"}) == "b/1,c/2,d/3"


def test_without_its_dataset_an_id_must_be_one_that_can_be_typed() -> None:
    assert typed("HumanEval/2") == "HumanEval/2"
    with pytest.raises(PlanError, match="cannot be used on a command line"):
        typed("all, or 0:3")


def test_a_number_is_a_position_only_if_no_id_ends_with_a_number() -> None:
    named = replace(DATASET, problems=tuple(own(f"set/{name}") for name in ("bowling", "clock", "wordy")))
    assert [chosen.id for chosen in select(named, "0, 2")] == ["set/bowling", "set/wordy"]
    with pytest.raises(UnknownNameError):
        select(named, "3")
    with pytest.raises(UnknownNameError):
        select(replace(named, problems=(*named.problems, own("set/9"))), "2")


@pytest.mark.parametrize(
    ("text", "way"), [("all", "all"), ("0:3", "range"), ("sample:4", "sample"), ("1,0:2", "list"), ("5:", "list")]
)
def test_the_kind_of_a_choice_is_told_by_its_text(text: str, way: str) -> None:
    assert way_of(text) == way


def test_gradable_leaves_out_what_lacks_a_module_or_has_an_obstacle() -> None:
    every = [replace(problem(0), needs=("numpy",)), replace(problem(1), obstacle="it fails"), problem(2), problem(3)]
    dataset = Dataset(DATASET.origin, tuple(every))
    assert select(dataset, "gradable") == (every[2], every[3])
    assert select(dataset, "gradable:1,0:1")[0] == every[0]
    with pytest.raises(PlanError, match="from only 2 problems"):
        select(dataset, "gradable:3")


def test_a_problem_has_its_name_without_the_datasets() -> None:
    dataset = Dataset(DATASET.origin, (own("exercism/leap"), own("exercism/two-fer")))
    assert [chosen.id for chosen in select(dataset, "two-fer")] == ["exercism/two-fer"]
    assert chosen_by(dataset, ["exercism/two-fer"]) == "exercism/two-fer"


DATED = replace(
    DATASET,
    problems=tuple(
        replace(item, facts=Facts(date=f"2024-{month:02}-15" if month else ""))
        for month, item in enumerate(DATASET.problems[:13])
    ),
)


@pytest.mark.parametrize(
    ("text", "chosen"),
    [
        ("since:2024-11-15", [111, 112]),
        ("until:2024-02-20,all", [101, 102]),
        ("since:2024-03-01, until:2024-05-31, 1:9", [104, 105]),  # positions count within the period
        ("104,since:2024-03-01", [104]),
        ("sample:1,since:2024-12-01", [112]),
    ],
)
def test_a_period_leaves_out_all_other_problems_and_those_without_a_date(text: str, chosen: list[int]) -> None:
    assert [int(item.id.removeprefix("HumanEval/")) for item in select(DATED, text)] == chosen
    assert (without_date(DATED, text), without_date(DATED, "all")) == (1, 0)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("since:2024-13-01", "since: '2024-13-01' is not a date. Write year, month and day, such as 2024-05-31."),
        ("all,until:", "until: '' is not a date"),
        ("since:2025-01-01", "No problem of own is dated on or after 2025-01-01. Problems with a date: 12 of 13."),
    ],
)
def test_a_wrong_or_empty_period_is_refused(text: str, said: str) -> None:
    with pytest.raises(PlanError, match=re.escape(said)):
        select(DATED, text)
