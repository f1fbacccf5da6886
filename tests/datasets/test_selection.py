"""What a person may write to choose problems."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from koderz_core.datasets.selection import select
from koderz_core.errors import PlanError, UnknownNameError
from koderz_core.records import Dataset, DatasetOrigin, Problem, PublicProblem, TestSet


def problem(number: int) -> Problem:
    return Problem(PublicProblem(f"HumanEval/{number}", "", "f"), TestSet("t"), "")


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
    with pytest.raises(PlanError, match="only 40"):
        select(DATASET, "sample:41")


@pytest.mark.parametrize("text", ["3", "HumanEval/3", "0:2,x", "3-7", "\u0663", "9" * 5000])
def test_a_problem_that_is_not_there_is_told(text: str) -> None:
    with pytest.raises(UnknownNameError, match="Unknown problem"):
        select(DATASET, text)
