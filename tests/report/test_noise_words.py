"""What further experiments would buy, in words."""

from __future__ import annotations

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any, cast

import pytest
from made_trials import trials
from msgspec.structs import replace

from koderz_core.analysis.noise import uncertainty
from koderz_core.records.trials import id_apart
from koderz_core.report.noise_words import noise_section
from koderz_core.report.sections import Section

A = ("bench", "a")


def section_of(marks: Mapping[str, str], most: int | None) -> Section:
    made = [replace(trial, usd=0.5) for trial in trials("a", marks)]
    row = SimpleNamespace(letter="A", key=A)
    comparison = SimpleNamespace(of=lambda _: row, pairs=(), baseline=None)
    return noise_section(cast(Any, comparison), uncertainty({A: made}, None, most))


def said(marks: list[str], most: int | None) -> str:
    return section_of({str(at): mark for at, mark in enumerate(marks)}, most).remarks[0]


def test_a_problem_has_the_id_of_its_dataset_also_beside_another_dataset() -> None:
    section = section_of({id_apart("a" * 64, "p/1"): "1", id_apart("b" * 64, "p/2"): "0"}, None)
    assert [row["problem"] for row in section.listing("problems").numbers] == ["p/1", "p/2"]


def test_all_problems_are_used_so_only_repeats_are_left() -> None:
    found = said(["10", "11", "00", "01"], 4)
    assert found == (
        "The standard error of the rate of A is 20.4 percentage points. All 4 problems of the dataset that can be run "
        "with these gates are used, so more experiments can only be repeats. 3 repeats of each problem would lower the "
        "standard error to about 17.7 points, for $2.00 more."
    )


@pytest.mark.parametrize(
    ("marks", "most", "words"),
    [
        (
            ["1", "0", "1"],
            12,
            "The dataset has at most 9 further problems with tests for these gates: with all 12, the standard error "
            "would be 16.7 points, for $4.50 more.",
        ),
        (
            ["1", "0", "1"],
            3,
            "With 3 repeats, the standard error would be between 19.2 points (if all variance comes from draws) "
            "and its current value (if all variance comes from problems).",
        ),
        (["1", "0", "1"], None, "The number of unused problems is unknown"),
        (
            ["11", "00"],
            2,
            "On every problem, all repeats have the same result, so further repeats would not lower the standard "
            "error.",
        ),
        (
            [*["10"] * 18, "11", "00"],
            20,
            "These results do not show the effect of further repeats on the standard error.",
        ),
        (["1", "1"], 2, "All problems have the same result for A, so the standard error of the rate is unknown."),
    ],
)
def test_sentences_claim_no_more_than_is_known(marks: list[str], most: int | None, words: str) -> None:
    assert words in said(marks, most)
