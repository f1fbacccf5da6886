"""Slices: a difference that exists in one part of the problems is found there, and only the adjusted p counts."""

from __future__ import annotations

import pytest
from made_trials import trials

from koderz_core.analysis.multiplicity import holm
from koderz_core.analysis.paired import paired
from koderz_core.analysis.slices import UNKNOWN, slices

BASE, OTHER = ("bench", "base"), ("bench", "other")
EASY = [f"easy/{number}" for number in range(20)]
HARD = [f"hard/{number}" for number in range(20)]
FEW = ["rare/0", "rare/1"]
VALUES = {problem: (problem.partition("/")[0],) for problem in (*EASY, *HARD, *FEW)}


def planted(repeat: int = 1) -> dict[tuple[str, str], list]:
    """Both solve every second easy problem; of the hard ones the other solves 18 and the baseline 2."""
    base = {problem: "10"[place % 2] for place, problem in enumerate(EASY)}
    base |= {problem: "1" if place < 2 else "0" for place, problem in enumerate(HARD)} | dict.fromkeys(FEW, "0")
    other = base | {problem: "1" if place < 18 else "0" for place, problem in enumerate(HARD)}
    other |= dict.fromkeys(FEW, "1") | {"lost/0": "1"}
    marks = {"base": base | {"lost/0": "0"}, "other": other}
    return {
        key: trials(key[1], {problem: mark * repeat for problem, mark in marks[key[1]].items()})
        for key in (BASE, OTHER)
    }


def test_a_planted_difference_is_found_in_its_slice_and_p_is_adjusted_over_all_tests() -> None:
    made = planted()
    found = slices("topic", made, BASE, VALUES)
    results = {(result.slice, result.key): result for result in found.results}
    assert list(dict.fromkeys(result.slice for result in found.results)) == ["easy", "hard", "rare", UNKNOWN]
    assert (found.tests, found.few, found.unknown) == (3, ("rare",), 1)
    hard = results["hard", OTHER]
    assert hard.significant
    assert (hard.rate.value, hard.test.difference, hard.test.at_once) == (0.9, 0.8, 3)
    assert not results["easy", OTHER].significant
    raw = [results[name, OTHER].test.p for name in ("easy", "hard", "rare")]
    assert [results[name, OTHER].p_adjusted for name in ("easy", "hard", "rare")] == pytest.approx(holm(raw))
    alone = [[trial for trial in made[key] if trial.problem in HARD] for key in (OTHER, BASE)]
    assert hard.test.p == paired(*alone).p
    assert results["hard", BASE].test is results[UNKNOWN, OTHER].test is None


def test_a_problem_with_several_values_is_in_several_slices_and_a_missing_result_can_undo_a_difference() -> None:
    made = planted()
    kept = [trial for trial in made[BASE] if trial.problem not in HARD[10:]]
    made[BASE] = kept + trials("base", dict.fromkeys(HARD[10:], "e"))
    found = slices("tag", made, BASE, {problem: ("all", *value) for problem, value in VALUES.items()})
    results = {(result.slice, result.key): result for result in found.results}
    assert results["all", OTHER].test.n == 32
    hard = results["hard", OTHER]
    assert (hard.missing, hard.p_adjusted <= 0.05, hard.significant) == (10, True, False)


def test_repeats_count_for_the_smallest_p_that_a_slice_can_have() -> None:
    assert slices("topic", planted(repeat=5), BASE, VALUES).few == ()
